//! How a summary prompt is put together, and its size beyond conversation and previous summary.

use super::neutralize::neutralize;
use crate::transcript::part::Message;
use crate::transcript::serialize::{Dialect, range_extent, write_conversation};

/// Our own words for one part of a request; a host may give its own instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// System prompt of every request.
    System,
    /// The first checkpoint of a session.
    Initial,
    /// A checkpoint that carries an earlier one on.
    Update,
    /// The beginning of a turn whose rest is kept.
    TurnPrefix,
    /// A checkpoint that has grown too long.
    Compress,
}

impl Template {
    /// Every template, with the name by which `prompts` overrides it.
    pub const NAMED: [(Self, &'static str); 5] = [
        (Self::System, "system"),
        (Self::Initial, "initial"),
        (Self::Update, "update"),
        (Self::TurnPrefix, "turnPrefix"),
        (Self::Compress, "compress"),
    ];

    /// The text, without the newline that ends its file.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::System => include_str!("templates/system.md"),
            Self::Initial => include_str!("templates/initial.md"),
            Self::Update => include_str!("templates/update.md"),
            Self::TurnPrefix => include_str!("templates/turn-prefix.md"),
            Self::Compress => include_str!("templates/compress.md"),
        }
        .trim_end()
    }
}

const CONVERSATION: (&str, &str) = ("<conversation>\n", "\n</conversation>\n\n");
const PREVIOUS: (&str, &str) = ("<previous-summary>\n", "\n</previous-summary>\n\n");
/// Names the length of a compressed summary, around a number.
const AIM: &str = "\n\nLength to aim for: about ";
const AIM_UNIT: &str = " characters.";
/// Digits of the longest such number.
const MOST_DIGITS: usize = 20;
const CUSTOM: &str = "\n\nWhat the person asks of this checkpoint in particular:\n";

/// The words around the text of every request: ours, or the host's own.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Prompts {
    overridden: [Option<String>; Template::NAMED.len()],
    /// What the person asks of this checkpoint in particular; empty for nothing.
    pub custom: String,
}

/// Text of the session between two tags of ours; tags inside it are made harmless.
fn within(message: &mut Vec<u16>, (open, close): (&str, &str), write: impl FnOnce(&mut Vec<u16>)) {
    message.extend(open.encode_utf16());
    let start = message.len();
    write(message);
    neutralize(message.get_mut(start..).unwrap_or_default());
    message.extend(close.encode_utf16());
}

impl Prompts {
    /// Our words, and what the person asks in particular.
    #[must_use]
    pub fn with_custom(custom: String) -> Self {
        Self { custom, ..Self::default() }
    }

    /// The host's own text for a template.
    pub fn set(&mut self, template: Template, text: &str) {
        for ((known, _), slot) in Template::NAMED.iter().zip(&mut self.overridden) {
            if *known == template {
                *slot = Some(text.to_owned());
            }
        }
    }

    /// The text of a template.
    #[must_use]
    pub fn text(&self, template: Template) -> &str {
        let slot = Template::NAMED.iter().zip(&self.overridden).find(|((known, _), _)| *known == template);
        slot.and_then(|(_, text)| text.as_deref()).unwrap_or_else(|| template.text())
    }

    /// The user message of a request as UTF-16 text: the record, the checkpoint that is carried on if any, and at the
    /// end the instructions. Tags inside record and checkpoint are made harmless.
    #[must_use]
    pub fn user_message(
        &self,
        range: &[Message<'_>],
        dialect: Dialect,
        previous: Option<&str>,
        instructions: Template,
    ) -> Vec<u16> {
        let carried = previous.map_or(0, str::len);
        let around = self.sizes().overhead(instructions, previous.is_some()) + carried;
        let mut message = Vec::with_capacity(range_extent(range, dialect).units() + around);
        within(&mut message, CONVERSATION, |text| write_conversation(range, dialect, text));
        if let Some(previous) = previous {
            within(&mut message, PREVIOUS, |text| text.extend(previous.encode_utf16()));
        }
        self.instruct(&mut message, instructions);
        message
    }

    /// The user message that asks for a shorter summary of about `aim` UTF-16 units (requirements D72, D73).
    #[must_use]
    pub fn compression(&self, summary: &str, aim: usize) -> Vec<u16> {
        let mut message = Vec::with_capacity(summary.len() + self.sizes().compression_overhead());
        within(&mut message, PREVIOUS, |text| text.extend(summary.encode_utf16()));
        self.instruct(&mut message, Template::Compress);
        message.extend(format!("{AIM}{aim}{AIM_UNIT}").encode_utf16());
        message
    }

    fn instruct(&self, message: &mut Vec<u16>, instructions: Template) {
        message.extend(self.text(instructions).encode_utf16());
        if !self.custom.is_empty() {
            message.extend(CUSTOM.encode_utf16().chain(self.custom.encode_utf16()));
        }
    }

    /// The lengths of all of it.
    #[must_use]
    pub fn sizes(&self) -> PromptSizes {
        let units = |text: &str| text.encode_utf16().count();
        let mut sizes = PromptSizes { custom: units(&self.custom), ..PromptSizes::default() };
        for (template, text) in Template::NAMED.iter().zip(&self.overridden) {
            if let Some(text) = text {
                sizes.set(template.0, units(text));
            }
        }
        sizes
    }
}

/// Lengths in UTF-16 units of what a host gives in place of our words, and of what it adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromptSizes {
    overridden: [Option<usize>; Template::NAMED.len()],
    /// Custom instructions; 0 for none.
    pub custom: usize,
}

impl PromptSizes {
    /// The host's own text for a template is `units` long.
    pub fn set(&mut self, template: Template, units: usize) {
        for ((known, _), slot) in Template::NAMED.iter().zip(&mut self.overridden) {
            if *known == template {
                *slot = Some(units);
            }
        }
    }

    fn units(&self, template: Template) -> usize {
        let slot = Template::NAMED.iter().zip(self.overridden).find(|((known, _), _)| *known == template);
        // Our own templates are ASCII, so that bytes are units; a test holds them to that.
        slot.and_then(|(_, units)| units).unwrap_or_else(|| template.text().len())
    }

    /// Units of a request beyond the conversation and the previous summary (requirements G16).
    #[must_use]
    pub fn overhead(&self, instructions: Template, carries_previous: bool) -> usize {
        let previous = if carries_previous { tags(PREVIOUS) } else { 0 };
        previous + tags(CONVERSATION) + self.instructions(instructions)
    }

    /// The larger of the two for a chunk: without a previous summary and with one.
    #[must_use]
    pub fn chunk_overhead(&self) -> usize {
        self.overhead(Template::Initial, false).max(self.overhead(Template::Update, true))
    }

    /// Units of a request for a shorter summary, beyond that summary; no fewer than it takes.
    #[must_use]
    pub fn compression_overhead(&self) -> usize {
        tags(PREVIOUS) + self.instructions(Template::Compress) + AIM.len() + MOST_DIGITS + AIM_UNIT.len()
    }

    fn instructions(&self, template: Template) -> usize {
        let custom = if self.custom > 0 { CUSTOM.len() + self.custom } else { 0 };
        self.units(Template::System) + self.units(template) + custom
    }
}

fn tags((before, after): (&str, &str)) -> usize {
    before.len() + after.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overhead_is_what_the_words_around_the_text_take() {
        let mut prompts = Prompts { custom: "only \u{1f980}".to_owned(), ..Prompts::default() };
        prompts.set(Template::Update, "carry on");
        for (template, previous) in [(Template::Initial, None), (Template::Update, Some("p"))] {
            let message = prompts.user_message(&[], Dialect::Pi087, previous, template);
            let around = message.len() + prompts.text(Template::System).len() - previous.map_or(0, str::len);
            assert_eq!(prompts.sizes().overhead(template, previous.is_some()), around, "G16");
        }
        let message = prompts.compression("p", usize::MAX);
        let around = message.len() + prompts.text(Template::System).len() - 1;
        assert_eq!(prompts.sizes().compression_overhead(), around, "D76");
    }

    #[test]
    fn templates_are_ascii_and_small_enough_for_the_margin() {
        for (template, name) in Template::NAMED {
            assert!(template.text().is_ascii(), "{name}");
            let tokens = PromptSizes::default().overhead(template, true).div_ceil(4);
            assert!(tokens < 2_048, "requirements G16: {name} needs {tokens} tokens of the margin");
        }
    }
}
