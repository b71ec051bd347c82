//! Known secrets, masked unit for unit, so that sizes stay what they were (requirements E126, G16).

use crate::transcript::quote::write_quoted;

const MASK: u16 = b'*' as u16;

/// Exact strings that must not leave. Empty ones are ignored.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Longest first: a secret may be the beginning of another.
    forms: Vec<Vec<u16>>,
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
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms.dedup();
        Self { forms }
    }

    /// UTF-16 units of the longest form: a text has to be read that much further than it is printed.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.forms.first().map_or(0, Vec::len)
    }

    /// Masks every secret in `text`.
    pub fn mask(&self, text: &mut [u16]) {
        for form in &self.forms {
            let mut from = 0;
            while let Some(at) = find(text.get(from..).unwrap_or_default(), form) {
                let start = from + at;
                text.iter_mut().skip(start).take(form.len()).for_each(|unit| *unit = MASK);
                from = start + form.len();
            }
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

fn find(text: &[u16], form: &[u16]) -> Option<usize> {
    let first = form.first()?;
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.iter().position(|unit| unit == first)?;
        if text.get(at..at + form.len()).is_some_and(|window| window == form) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_as_they_are_and_as_json() {
        let secrets =
            Secrets::new(["sk-1", "sk-12345", "a\"b", ""].map(|secret| secret.encode_utf16().collect()));
        assert_eq!(secrets.masked("x sk-12345 sk-1 y"), "x ******** **** y");
        assert_eq!(secrets.masked(r#"{"k":"a\"b"}"#), r#"{"k":"****"}"#);
        assert_eq!(format!("{secrets:?}"), "Secrets(4)");
    }
}
