//! How a summary prompt is put together, and its size beyond conversation and previous summary.

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
const CUSTOM: &str = "\n\nWhat the person asks of this checkpoint in particular:\n";

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
        let tags = |(before, after): (&str, &str)| before.len() + after.len();
        let previous = if carries_previous { tags(PREVIOUS) } else { 0 };
        let custom = if self.custom > 0 { CUSTOM.len() + self.custom } else { 0 };
        self.units(Template::System) + tags(CONVERSATION) + previous + self.units(instructions) + custom
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_ascii_and_small_enough_for_the_margin() {
        for (template, name) in Template::NAMED {
            assert!(template.text().is_ascii(), "{name}");
            let tokens = PromptSizes::default().overhead(template, true).div_ceil(4);
            assert!(tokens < 2_048, "requirements G16: {name} needs {tokens} tokens of the margin");
        }
    }
}
