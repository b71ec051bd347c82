//! What providers say of sizes when a prompt is too large.

use super::pattern::Pattern;

/// The numbers in the words of an overflow, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overflow {
    /// What the model takes.
    pub limit: Option<u64>,
    /// What the prompt had.
    pub prompt: Option<u64>,
}

impl Overflow {
    /// The numbers that the words state. Sizes in bytes or characters are no numbers of tokens.
    #[must_use]
    pub fn of(words: &str) -> Self {
        // A number may have its thousands apart.
        let once = THOUSANDS.replace_all(words, "$1$2");
        let joined = THOUSANDS.replace_all(&once, "$1$2");
        if BYTES.is_match(&joined) {
            return Self::default();
        }
        let prompt = if CHARACTERS.is_match(&joined) { None } else { first(&PROMPT, &joined) };
        Self { limit: first(&LIMIT, &joined), prompt }
    }
}

impl Overflow {
    /// The numbers, unless the limit they state is none that a prompt of `sent` estimated tokens could be over.
    #[must_use]
    pub fn plausible(self, sent: u64) -> Self {
        let over = self.prompt.unwrap_or(sent);
        if self.limit.is_some_and(|limit| limit >= over.max(sent)) { Self::default() } else { self }
    }
}

fn first(patterns: &[Pattern], words: &str) -> Option<u64> {
    patterns.iter().find_map(|pattern| pattern.captures(words)?.get(1)?.as_str().parse().ok())
}

static THOUSANDS: Pattern = Pattern::new(r"(\d),(\d\d\d)");
static BYTES: Pattern = Pattern::new(r"(?i)bytes|string|<html| vs\. ");
static CHARACTERS: Pattern = Pattern::new(r"\d characters");

static LIMIT: [Pattern; 5] = [
    Pattern::new(r"(?i)range of input length should be \[\d+, ?(\d+)\]"),
    Pattern::new(r"(?i)limit (\d+), (?:used \d+, )?requested \d+"),
    Pattern::new(r"(?i)[<>]=? ?(?:n_ctx:? ?\(?)?(\d+)"),
    Pattern::new(r"(?i)(\d+) maximum context length"),
    Pattern::new(concat!(
        r"(?i)(?:max(?:imum)?(?: \w+){0,3} length|max_seq_len|maximum number of tokens allowed|max(?:imum)? input tokens",
        r"|(?:model )?maximum|maximum allowed token size|context (?:length|window|size|limit)",
        r"|configured (?:limit|context size)|(?:token|the|this model) limit|limit for this model|max size",
        r"|max tokens|max|supports up to|cannot exceed|must have less than|truncate to|limit of)",
        r"(?: is| of| only|[:,=]| max length:)* ?\(?(\d+)(?: tokens)?(?:\W|$)",
    )),
];

static PROMPT: [Pattern; 7] = [
    Pattern::new(r"(?i)limit \d+, (?:used \d+, )?requested (\d+)"),
    Pattern::new(concat!(
        r"(?i)(\d+) (?:tokens )?(?:in the messages|in your prompt|of text input|from the input messages|input tokens",
        r"|`inputs` tokens)",
    )),
    Pattern::new(
        r"(?i)(?:prompt contains(?: at least)?|request contains|prompt has|request has|passed) (\d+) (?:input )?tokens",
    ),
    Pattern::new(concat!(
        r"(?i)(?:requested|got|received|given|required|count(?: is| of)?|too long|resulted in|keep the first|n_keep)",
        r"[:= ]*\(?(?:about )?(\d+)",
    )),
    Pattern::new(r"(?i)(?:prompt|input|request)(?: tokens| length)?(?: of)? \(?(?:total )?(?:length )?(\d+)"),
    Pattern::new(r"(?i)tokens \((\d+)\)"),
    Pattern::new(r"(\d+) \+ \d+ >"),
];

#[cfg(test)]
mod tests {
    use super::super::classify::{Class, tests::wordings};
    use super::*;

    #[test]
    fn the_numbers_of_real_wordings_are_read() {
        let overflows = wordings().into_iter().filter(|(class, ..)| *class == Class::Overflow);
        for (_, failure, limit, prompt) in overflows {
            assert_eq!(Overflow::of(&failure.words), Overflow { limit, prompt }, "{}", failure.words);
        }
    }
}
