//! What is a summary, and what never is one (requirements G17).

use super::{Answer, Ending};
use crate::error::ErrorCode;
use crate::prompt::frame::words;
use crate::prompt::neutralize::is_blank;

/// Why an answer is no summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadAnswer {
    /// The code of the failure.
    pub code: ErrorCode,
    /// What is wrong, and the way out.
    pub message: &'static str,
}

const fn bad(code: ErrorCode, message: &'static str) -> BadAnswer {
    BadAnswer { code, message }
}

const CUT: BadAnswer = bad(
    ErrorCode::SummaryIncomplete,
    "the summary was cut off by the model's output limit; allow more output, or a smaller range",
);
const SPENT: BadAnswer = bad(
    ErrorCode::SummaryIncomplete,
    "the model spent its whole output limit on thinking; lower its reasoning effort or allow more output",
);
const BLANK: BadAnswer =
    bad(ErrorCode::SummaryEmpty, "the model answered without text; try again or choose another model");
const THOUGHT: BadAnswer = bad(
    ErrorCode::SummaryEmpty,
    "the model answered with thinking only; lower its reasoning effort or choose another model",
);
const TOOL: BadAnswer = bad(
    ErrorCode::SummaryRefused,
    "the model called a tool instead of writing a summary; choose another model",
);
const REFUSED: BadAnswer = bad(
    ErrorCode::SummaryRefused,
    "the model or a content filter refused to write the summary; choose another model",
);

const UNKNOWN: BadAnswer = bad(
    ErrorCode::SummaryProvider,
    "the answer ended in a way that is not known to be complete; check that summarizer.model.api is what the server \
     speaks, or choose another model",
);
const FOREIGN: BadAnswer = bad(
    ErrorCode::SummaryProvider,
    "the summarizer's client must answer with an assistant message: an object with content blocks and a stop reason",
);

impl Answer {
    /// The summary, where the answer is one: text that is not blank, and a normal end.
    ///
    /// # Errors
    /// The first fault in this order: cut off, nothing said, refused. A foreign abort is no answer; the caller
    /// treats it as a failure of the transport (requirements G3).
    pub fn summary(&self) -> Result<&str, BadAnswer> {
        // A copied list of files, or a copied notice, says nothing of the range.
        let blank = is_blank(&words(&self.text));
        match self.ending {
            Ending::Foreign => Err(FOREIGN),
            Ending::Unknown => Err(UNKNOWN),
            Ending::Length if blank && self.thinks => Err(SPENT),
            Ending::Length => Err(CUT),
            Ending::Refusal => Err(REFUSED),
            Ending::ToolCall => Err(TOOL),
            _ if self.calls_tool => Err(TOOL),
            _ if blank && self.thinks => Err(THOUGHT),
            _ if blank => Err(BLANK),
            Ending::Complete | Ending::Aborted => Ok(&self.text),
        }
    }
}
