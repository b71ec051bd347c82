//! Known secrets, masked unit for unit, so that sizes stay what they were (requirements E126, G16).

use crate::transcript::quote::write_quoted;

/// What stands in the place of each unit; of these the first that is part of no secret, so that masking makes none.
const MASKS: &str = "*#-_.x█▓▒░";

/// Exact strings that must not leave. Empty ones are ignored.
#[derive(Clone)]
pub struct Secrets {
    /// Longest first: a secret may be the beginning of another.
    forms: Vec<Vec<u16>>,
    mask: u16,
}

impl Default for Secrets {
    fn default() -> Self {
        Self::new([])
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.forms.len())
    }
}

impl Secrets {
    /// The secrets as they are, and as they stand inside a JSON string.
    #[must_use]
    pub fn new(secrets: impl IntoIterator<Item = Vec<u16>>) -> Self {
        let mut forms: Vec<Vec<u16>> = Vec::new();
        for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
            let mut quoted = Vec::new();
            write_quoted(&secret, &mut quoted);
            forms.push(quoted.get(1..quoted.len() - 1).unwrap_or_default().to_vec());
            forms.push(secret);
        }
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        let mask = unused(&forms);
        Self { forms, mask }
    }

    /// Secrets that are texts.
    #[must_use]
    pub fn of(secrets: &[impl AsRef<str>]) -> Self {
        Self::new(secrets.iter().map(|secret| secret.as_ref().encode_utf16().collect()))
    }

    /// UTF-16 units of the longest form: a text has to be read that much further than it is printed.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.forms.first().map_or(0, Vec::len)
    }

    /// Masks every secret in `text`, also where two of them overlap.
    pub fn mask(&self, text: &mut [u16]) {
        // Found before anything is masked: a secret that reaches into another is gone as a whole, too.
        let found: Vec<(usize, usize)> =
            self.forms.iter().flat_map(|form| places(text, form).map(|start| (start, form.len()))).collect();
        for (start, units) in found {
            text.iter_mut().skip(start).take(units).for_each(|unit| *unit = self.mask);
        }
    }

    /// The same for a string.
    #[must_use]
    pub fn masked(&self, text: &str) -> String {
        if self.forms.is_empty() {
            return text.to_owned();
        }
        let mut units: Vec<u16> = text.encode_utf16().collect();
        self.mask(&mut units);
        String::from_utf16_lossy(&units)
    }
}

/// A unit that no form holds.
fn unused(forms: &[Vec<u16>]) -> u16 {
    let is_free = |unit: &u16| forms.iter().all(|form| !form.contains(unit));
    let first = MASKS.encode_utf16().find(is_free);
    first.or_else(|| (0x2588..0xd800).find(is_free)).unwrap_or(u16::from(b'*'))
}

/// Where a form begins in a text.
fn places<'t>(text: &'t [u16], form: &'t [u16]) -> impl Iterator<Item = usize> + 't {
    let mut from = 0;
    std::iter::from_fn(move || {
        let first = form.first()?;
        loop {
            let at = from + text.get(from..)?.iter().position(|unit| unit == first)?;
            from = at + 1;
            if text.get(at..at + form.len()).is_some_and(|window| window == form) {
                return Some(at);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_as_they_are_and_as_json() {
        let secrets = Secrets::of(&["sk-1", "sk-12345", "a\"b", ""]);
        assert_eq!(secrets.masked("x sk-12345 sk-1 y"), "x ******** **** y");
        assert_eq!(secrets.masked(r#"{"k":"a\"b"}"#), r#"{"k":"****"}"#);
        assert_eq!(format!("{secrets:?}"), "Secrets(4)");
    }

    #[test]
    fn e126_overlapping_secrets_leave_nothing() {
        assert_eq!(Secrets::of(&["abcdef", "efghi"]).masked("<abcdefghi>"), "<*********>");
        assert_eq!(Secrets::of(&["aba"]).masked("ababa b"), "***** b");
        assert_eq!(Secrets::of(&["abc", "b"]).masked("abcb"), "****");
    }

    #[test]
    fn e126_masking_makes_no_secret() {
        assert_eq!(Secrets::of(&["***"]).masked("a***b"), "a###b");
        assert_eq!(Secrets::of(&["xyz", "b*"]).masked("bxyz b*"), "b### ##");
        assert_eq!(Secrets::of(&[MASKS]).masked(MASKS), "▉▉▉▉▉▉▉▉▉▉");
        assert_eq!(Secrets::default().masked("a"), "a");
    }
}
