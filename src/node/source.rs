//! Where an exported function finds its messages: in the records of a gathering, or in a resident transcript.

use napi::bindgen_prelude::{External, FromNapiRef, FromNapiValue, Uint32ArraySlice, Unknown};
use napi::{Env, JsValue, ValueType};

use super::error::{Result, internal};
use crate::plan::cut::{Context, CutPoint, find_cut};
use crate::transcript::outline::Outline;
use crate::transcript::part::{Message, messages};
use crate::transcript::resident::Resident;
use crate::transcript::serialize::{Dialect, Extent, extent};
use crate::transcript::weigh::Sizing;

/// Messages of a gathering or of a resident transcript.
pub(super) enum Source<'a> {
    Records(&'a [u32]),
    Resident(&'a Resident, std::ops::Range<usize>),
}

impl Source<'_> {
    /// Runs the body on what `source` holds between `start` and `end`: words of records, or messages.
    pub(super) fn with<T>(
        env: Env,
        source: Unknown<'_>,
        (start, end): (u32, u32),
        body: impl FnOnce(Source<'_>) -> Result<T>,
    ) -> Result<T> {
        let span = start as usize..end as usize;
        if source.get_type().map_err(|e| internal(&e))? == ValueType::External {
            // SAFETY: the value belongs to this call, and napi checks that it is an external of this type.
            let resident = unsafe { External::<Resident>::from_napi_ref(env.raw(), source.raw()) };
            return body(Source::Resident(resident.map_err(|e| internal(&e))?, span));
        }
        let words = Uint32ArraySlice::from_unknown(source).map_err(|e| internal(&e))?;
        body(Source::Records(words.get(span).unwrap_or_default()))
    }

    /// The messages.
    pub(super) fn range(&self) -> Vec<Message<'_>> {
        match self {
            Self::Records(records) => messages(records).collect(),
            Self::Resident(resident, range) => resident.messages(range.clone()).collect(),
        }
    }

    /// pi's cut point in them.
    pub(super) fn cut(&self, keep: u64, sizing: Sizing) -> CutPoint {
        match self {
            Self::Records(_) => find_cut(&self.range(), keep, sizing),
            Self::Resident(resident, range) => {
                find_cut(&ResidentRange(resident, range.clone()), keep, sizing)
            }
        }
    }

    /// What a plan has to know of them.
    pub(super) fn outline(&self, dialect: Dialect) -> Outline<'_> {
        match self {
            Self::Records(_) => Outline::of(&self.range(), dialect),
            Self::Resident(resident, range) => resident.outline(range.clone(), dialect),
        }
    }

    /// Their printed size.
    pub(super) fn extent(&self, dialect: Dialect) -> Extent {
        match self {
            Self::Records(records) => extent(records, dialect),
            Self::Resident(resident, range) => resident.extent(range.clone(), dialect),
        }
    }
}

/// A range of a resident transcript.
struct ResidentRange<'a>(&'a Resident, std::ops::Range<usize>);

impl Context for ResidentRange<'_> {
    fn length(&self) -> usize {
        self.1.len()
    }

    fn message(&self, at: usize) -> Option<Message<'_>> {
        self.0.message(self.1.start + at)
    }
}
