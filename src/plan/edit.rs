//! A change to one message. The caller applies it to a shallow copy; nothing is ever changed in place.

use crate::transcript::part::{Part, Tag};

/// What becomes of one place in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The text of a part is replaced. The block is that of the enclosing call for an argument.
    Text {
        /// Kind of the part.
        tag: Tag,
        /// Index of its content block; [`Part::WHOLE`] for string content.
        block: u32,
        /// Index of the argument, for [`Tag::Quoted`] and [`Tag::Literal`].
        member: u32,
        /// The new text.
        text: Vec<u16>,
    },
    /// All arguments of a call are replaced by one that holds their text.
    Arguments {
        /// Index of the call's content block.
        block: u32,
        /// The text.
        text: Vec<u16>,
    },
    /// A content block is taken out.
    Drop {
        /// Its index.
        block: u32,
    },
    /// An image is replaced by a text block that names it.
    Image {
        /// Index of its content block.
        block: u32,
    },
    /// All content is replaced by one text block.
    Condense {
        /// Its text.
        text: Vec<u16>,
    },
}

impl Change {
    /// New text for a part that is no argument.
    #[must_use]
    pub fn of_part(part: &Part, text: Vec<u16>) -> Self {
        Self::Text { tag: part.tag, block: part.address, member: 0, text }
    }
}

/// A change and the message it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Index of the message.
    pub message: usize,
    /// The change.
    pub change: Change,
}

/// Marks a cut in a message that was too large for a summary request.
pub const CHUNK_MARKER: &str = "\n[... cut to fit the summary request ...]\n";
/// Marks a cut in a message that was too large for the retained tail.
pub const TAIL_MARKER: &str = "\n[... cut to fit the kept context ...]\n";
/// Stands where an image was.
pub const IMAGE_PLACEHOLDER: &str = "[image left out]";
/// Ends a tool result that was thinned for a summary request (requirements A45).
pub const REDUCTION_MARKER: &str = "\n\n[... tool output truncated for the summary request]";
