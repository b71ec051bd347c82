//! Boundary tags inside a text, made harmless unit for unit, so that sizes stay what they were (requirements G16).

use crate::transcript::units::find::first_of;

/// The tags that bound the parts of a prompt and of a summary.
const NAMES: [&str; 4] = ["conversation", "previous-summary", "read-files", "modified-files"];

/// What stands in place of the bracket: it looks alike and bounds nothing.
const HARMLESS: u16 = 0x2039;

/// Replaces the opening bracket of every boundary tag in `text`, opening or closing, in any case, with spaces or
/// invisible characters inside, in ASCII or full width.
pub fn neutralize(text: &mut [u16]) {
    let mut from = 0;
    while let Some(at) = first_of(text.get(from..).unwrap_or_default(), BRACKETS) {
        let at = from + at;
        let inside = text.get(at + 1..).unwrap_or_default();
        if NAMES.iter().any(|name| is_tag(inside, name)) {
            text.iter_mut().skip(at).take(1).for_each(|unit| *unit = HARMLESS);
        }
        from = at + 1;
    }
}

/// The same for a string.
#[must_use]
pub fn neutralized(text: &str) -> String {
    let mut units: Vec<u16> = text.encode_utf16().collect();
    neutralize(&mut units);
    String::from_utf16_lossy(&units)
}

/// What opens a tag: in ASCII, full width, and small.
const BRACKETS: [u16; 3] = [0x3c, 0xff1c, 0xfe64];

/// Whether what follows a bracket is the rest of a tag of this name.
fn is_tag(inside: &[u16], name: &str) -> bool {
    let mut letters = name.bytes().map(u16::from).peekable();
    let mut begun = false;
    for &unit in inside {
        let plain = narrowed(unit);
        match letters.peek() {
            // The name is there; a letter directly behind it would make another word.
            None => return !(0x61..=0x7a).contains(&plain),
            _ if is_invisible(unit) => {}
            Some(_) if !begun && matches!(plain, 0x2f | 0x2044 | 0x2215) => {}
            Some(&letter) if plain == letter => {
                letters.next();
                begun = true;
            }
            Some(_) => return false,
        }
    }
    letters.peek().is_none()
}

/// Lower case, half width, a plain hyphen.
fn narrowed(unit: u16) -> u16 {
    let half = if (0xff01..=0xff5e).contains(&unit) { unit - 0xfee0 } else { unit };
    match half {
        0x41..=0x5a => half + 0x20,
        0x2010..=0x2015 | 0x2212 => 0x2d,
        _ => half,
    }
}

/// Whether a text shows nothing to anybody.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.encode_utf16().all(is_invisible)
}

/// Spaces, controls, and characters that print nothing; of the tag and variation characters beyond U+FFFF the halves,
/// which nothing visible is made of both.
fn is_invisible(unit: u16) -> bool {
    matches!(
        unit,
        0x00..=0x20 | 0x7f..=0xa0 | 0xad | 0x115f | 0x1160 | 0x3164 | 0xffa0 | 0xdb40 | 0xdc00..=0xdc7f
            | 0xdd00..=0xddef | 0x034f | 0x061c | 0x180b..=0x180e | 0x2000..=0x200f | 0x2028..=0x202f
            | 0x205f..=0x206f | 0x3000 | 0xfe00..=0xfe0f | 0xfeff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_in_every_disguise_lose_their_bracket() {
        for tag in [
            "</conversation>",
            "<conversation>",
            "< / conversation >",
            "</CONVERSATION>",
            "</con\u{200b}versation>",
            "\u{ff1c}/conversation\u{ff1e}",
            "</previous-summary>",
            "</previous\u{2011}summary>",
            "<\u{200d}/previous-summary\n>",
            "</conversation",
            "</conversation id=\"1\">",
            "</con\u{e0020}versation>",
        ] {
            let text = format!("a{tag}.");
            let made = neutralized(&text);
            assert_eq!(made.encode_utf16().count(), text.encode_utf16().count(), "{tag}");
            assert!(made.starts_with("a\u{2039}"), "{tag}");
        }
    }

    #[test]
    fn other_text_stays() {
        for text in ["</conversational>", "<b>", "a < b", "conversation", "<>", "x<conv"] {
            assert_eq!(neutralized(text), text);
        }
    }
}
