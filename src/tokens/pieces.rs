//! Text cut into the pieces that are encoded each on its own: the patterns of the two encodings, by hand.
//!
//! `o200k_base`, where `U` is `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]` and `L` is `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?U*L+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?U+L*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
//! ```
//!
//! `cl100k_base`:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s
//! ```

use super::class::Class;

/// The pattern of an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    O200k,
    Cl100k,
}

impl Pattern {
    /// Where the piece ends that begins at a byte; behind that byte wherever text is left.
    pub(super) fn end_of_piece(self, text: &str, start: usize) -> usize {
        let text = Scan(text);
        let word = match self {
            Self::O200k => text.cased_word(start),
            Self::Cl100k => text.contraction(start).or_else(|| text.word(start)),
        };
        let end = word.or_else(|| text.digits(start)).or_else(|| text.signs(start, self));
        end.unwrap_or_else(|| text.blanks(start, self))
    }
}

#[derive(Clone, Copy)]
struct Scan<'a>(&'a str);

impl Scan<'_> {
    fn at(self, at: usize) -> (Class, usize) {
        Class::at(self.0, at)
    }

    fn byte(self, at: usize) -> Option<u8> {
        self.0.as_bytes().get(at).copied()
    }

    /// Where a run ends, and the class behind it.
    fn run(self, mut at: usize, of: impl Fn(Class) -> bool) -> (usize, Class) {
        loop {
            let (class, length) = self.at(at);
            if !of(class) {
                return (at, class);
            }
            at += length;
        }
    }

    /// `[^\r\n\p{L}\p{N}]?\p{L}+`
    fn word(self, start: usize) -> Option<usize> {
        let (first, length) = self.at(start);
        let from = if first.leads() { start + length } else { start };
        let (end, _) = self.run(from, Class::is_letter);
        (end > from).then_some(end)
    }

    /// The two alternatives for words, each with and without a first character that is none.
    fn cased_word(self, start: usize) -> Option<usize> {
        let (first, length) = self.at(start);
        let ahead = first.leads().then_some(start + length);
        let mixed = ahead.and_then(|from| self.ends_lower(from)).or_else(|| self.ends_lower(start));
        let end = mixed.or_else(|| ahead.and_then(|from| self.upper(from))).or_else(|| self.upper(start))?;
        Some(self.contraction(end).unwrap_or(end))
    }

    /// `U*L+`: where no lower letter follows the run of `U`, it ends behind the last that is also `L`.
    fn ends_lower(self, start: usize) -> Option<usize> {
        let (mut at, mut last) = (start, None);
        loop {
            let (class, length) = self.at(at);
            if class == Class::Lower {
                return Some(self.run(at, Class::may_be_lower).0);
            }
            if !class.may_be_upper() {
                return last;
            }
            at += length;
            if class.may_be_lower() {
                last = Some(at);
            }
        }
    }

    /// `U+L*`, where no `U*L+` begins: the run is of `U` alone.
    fn upper(self, start: usize) -> Option<usize> {
        let (end, _) = self.run(start, Class::may_be_upper);
        (end > start).then_some(end)
    }

    /// `'(?i:[sdmt]|ll|ve|re)`; the long s folds to an s.
    fn contraction(self, start: usize) -> Option<usize> {
        if self.byte(start) != Some(b'\'') {
            return None;
        }
        let letter = |at: usize| self.byte(at).map_or(0, |byte| byte.to_ascii_lowercase());
        match (letter(start + 1), letter(start + 2)) {
            (b's' | b'd' | b'm' | b't', _) => Some(start + 2),
            (b'l', b'l') | (b'v' | b'r', b'e') => Some(start + 3),
            (0xc5, 0xbf) => Some(start + 1 + 'ſ'.len_utf8()),
            _ => None,
        }
    }

    /// `\p{N}{1,3}`
    fn digits(self, start: usize) -> Option<usize> {
        let mut end = start;
        for _ in 0..3 {
            match self.at(end) {
                (Class::Number, length) => end += length,
                _ => break,
            }
        }
        (end > start).then_some(end)
    }

    /// ` ?[^\s\p{L}\p{N}]+` and the line ends behind it.
    fn signs(self, start: usize, pattern: Pattern) -> Option<usize> {
        let from = start + usize::from(self.byte(start) == Some(b' '));
        let (mut end, behind) = self.run(from, Class::is_sign);
        if end == from {
            return None;
        }
        if behind == Class::Newline {
            let slash = pattern == Pattern::O200k;
            while self.byte(end).is_some_and(|byte| matches!(byte, b'\r' | b'\n') || slash && byte == b'/') {
                end += 1;
            }
        }
        Some(end)
    }

    /// The alternatives of blanks alone: to the last line end, else all but the last character before what follows.
    fn blanks(self, start: usize, pattern: Pattern) -> usize {
        let (mut at, mut last, mut line_end) = (start, start, None);
        let class = loop {
            let (class, length) = self.at(at);
            if !class.is_blank() {
                break class;
            }
            last = at;
            at += length;
            if class == Class::Newline {
                line_end = Some(at);
            }
        };
        match line_end {
            _ if class == Class::End && pattern == Pattern::Cl100k => at,
            Some(line_end) => line_end,
            None if class != Class::End && last > start => last,
            None => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use fancy_regex::Regex;
    use proptest::prelude::*;

    use super::super::samples;
    use super::*;

    const O200K: &str = concat!(
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    );
    const CL100K: &str = concat!(
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|",
        r"\s+(?!\S)|\s",
    );

    fn pieces(pattern: Pattern, text: &str) -> Vec<&str> {
        let (mut pieces, mut at) = (Vec::new(), 0);
        while at < text.len() {
            let end = pattern.end_of_piece(text, at);
            pieces.push(&text[at..end]);
            at = end;
        }
        pieces
    }

    fn check(pattern: Pattern, regex: &Regex, text: &str) {
        let expected: Vec<&str> = regex.find_iter(text).map(|found| found.unwrap().as_str()).collect();
        assert_eq!(pieces(pattern, text), expected, "{pattern:?} {text:?}");
    }

    fn regexes() -> &'static [(Pattern, Regex); 2] {
        static REGEXES: OnceLock<[(Pattern, Regex); 2]> = OnceLock::new();
        REGEXES.get_or_init(|| {
            [(Pattern::O200k, O200K), (Pattern::Cl100k, CL100K)]
                .map(|(pattern, source)| (pattern, Regex::new(source).unwrap()))
        })
    }

    #[test]
    fn pieces_are_those_of_the_patterns() {
        for (pattern, regex) in regexes() {
            for seed in 0..20_000 {
                check(*pattern, regex, &samples::text(seed));
            }
        }
    }

    #[test]
    fn every_character_is_cut_as_the_patterns_do() {
        for (pattern, regex) in regexes() {
            // Beyond those planes stand tags and variants at the start of one, and nothing that is assigned.
            for character in ('\0'..='\u{33fff}').chain('\u{e0000}'..='\u{e0fff}') {
                check(*pattern, regex, &format!("aA{character}bB {character}{character}\n"));
            }
        }
    }

    proptest! {
        #[test]
        fn pieces_of_any_text(text in ".{0,60}") {
            for (pattern, regex) in regexes() {
                check(*pattern, regex, &text);
            }
        }
    }
}
