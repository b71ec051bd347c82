//! What a character is to the patterns that cut text into pieces.

use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// The patterns tell these apart and no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// `\p{Lu}`, `\p{Lt}`
    Upper,
    /// `\p{Ll}`
    Lower,
    /// `\p{Lm}`, `\p{Lo}`: a letter without case.
    Caseless,
    /// `\p{M}`
    Mark,
    /// `\p{N}`
    Number,
    /// `\r`, `\n`
    Newline,
    /// Any other `\s`.
    Space,
    /// Anything else.
    Other,
    /// Behind the text.
    End,
}

impl Class {
    /// The class of each ASCII character; those of others are not read here.
    const ASCII: [Self; 256] = {
        let mut classes = [Self::Other; 256];
        let mut at = 0;
        while at < 128 {
            #[expect(clippy::indexing_slicing, reason = "evaluated when this is compiled")]
            {
                classes[at] = Self::of_ascii(at as u8);
            }
            at += 1;
        }
        classes
    };

    const fn of_ascii(byte: u8) -> Self {
        match byte {
            b'A'..=b'Z' => Self::Upper,
            b'a'..=b'z' => Self::Lower,
            b'0'..=b'9' => Self::Number,
            b'\r' | b'\n' => Self::Newline,
            b' ' | b'\t' | 0x0b | 0x0c => Self::Space,
            _ => Self::Other,
        }
    }

    /// The class of the character that begins at a byte, and its length in bytes; 0 at the end.
    pub(super) fn at(text: &str, at: usize) -> (Self, usize) {
        match text.as_bytes().get(at) {
            None => (Self::End, 0),
            Some(&byte) if byte.is_ascii() => {
                (Self::ASCII.get(usize::from(byte)).copied().unwrap_or(Self::Other), 1)
            }
            Some(_) => Self::beyond_ascii(text, at),
        }
    }

    fn beyond_ascii(text: &str, at: usize) -> (Self, usize) {
        let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else {
            return (Self::Other, 1);
        };
        (Self::of(character), character.len_utf8())
    }

    pub(super) fn of(character: char) -> Self {
        match get_general_category(character) {
            Category::UppercaseLetter | Category::TitlecaseLetter => Self::Upper,
            Category::LowercaseLetter => Self::Lower,
            Category::ModifierLetter | Category::OtherLetter => Self::Caseless,
            Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark => Self::Mark,
            Category::DecimalNumber | Category::LetterNumber | Category::OtherNumber => Self::Number,
            _ if matches!(character, '\r' | '\n') => Self::Newline,
            _ if character.is_whitespace() => Self::Space,
            _ => Self::Other,
        }
    }

    /// `\p{L}`
    pub(super) fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower | Self::Caseless)
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
    pub(super) fn may_be_upper(self) -> bool {
        matches!(self, Self::Upper | Self::Caseless | Self::Mark)
    }

    /// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
    pub(super) fn may_be_lower(self) -> bool {
        matches!(self, Self::Lower | Self::Caseless | Self::Mark)
    }

    /// `[^\r\n\p{L}\p{N}]`
    pub(super) fn leads(self) -> bool {
        matches!(self, Self::Mark | Self::Space | Self::Other)
    }

    /// `[^\s\p{L}\p{N}]`
    pub(super) fn is_sign(self) -> bool {
        matches!(self, Self::Mark | Self::Other)
    }

    /// `\s`
    pub(super) fn is_blank(self) -> bool {
        matches!(self, Self::Space | Self::Newline)
    }
}
