//! Plans on their way to JavaScript: plain arrays and objects, which `js/edits.js` applies.

use napi::bindgen_prelude::Utf16String;
use napi_derive::napi;

use crate::plan::edit::{Change, Edit, IMAGE_PLACEHOLDER};
use crate::transcript::part::Tag;

/// One change to one message. `place` says what it changes; `block` and `member` where.
#[napi(object, object_from_js = false)]
pub struct EditOut {
    /// Index of the message.
    pub message: u32,
    /// `content`, `text`, `thinking`, `argument`, `arguments`, `image`, `command`, `output`, `summary`, `drop`, `condense`.
    pub place: &'static str,
    /// Index of the content block.
    pub block: u32,
    /// Index of the argument.
    pub member: u32,
    /// The new text; empty for `drop`.
    pub text: Utf16String,
}

impl From<Edit> for EditOut {
    fn from(edit: Edit) -> Self {
        let (place, block, member, text) = match edit.change {
            Change::Text { tag, block, member, text } => (place_of(tag, block), block, member, text),
            Change::Arguments { block, text } => ("arguments", block, 0, text),
            Change::Image { block } => ("image", block, 0, IMAGE_PLACEHOLDER.encode_utf16().collect()),
            Change::Drop { block } => ("drop", block, 0, Vec::new()),
            Change::Condense { text } => ("condense", 0, 0, text),
        };
        Self { message: edit.message as u32, place, block, member, text: text.into() }
    }
}

fn place_of(tag: Tag, block: u32) -> &'static str {
    match tag {
        Tag::Thinking => "thinking",
        Tag::Command => "command",
        Tag::Output => "output",
        Tag::Summary => "summary",
        Tag::Quoted | Tag::Literal => "argument",
        _ if block == crate::transcript::part::Part::WHOLE => "content",
        _ => "text",
    }
}

/// All changes of a plan.
pub(super) fn edits(edits: Vec<Edit>) -> Vec<EditOut> {
    edits.into_iter().map(EditOut::from).collect()
}
