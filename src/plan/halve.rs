//! Where a chunk is halved that turns out too large (requirements D41, D63, D71).

use std::ops::Range;

use super::turns::{Grain, Joints};
use crate::transcript::part::Message;
use crate::transcript::serialize::{Dialect, range_extent};

/// The message before which a span of a range is halved: of the boundaries between turns, else of those between call
/// groups, the one that makes its halves most alike in size. `None` where a cut would part a call from its result.
#[must_use]
pub fn middle(
    range: &[Message<'_>],
    joints: &Joints,
    span: &Range<usize>,
    dialect: Dialect,
) -> Option<usize> {
    let units = |span: Range<usize>| range_extent(range.get(span).unwrap_or_default(), dialect).units();
    [Grain::Turn, Grain::Group].iter().find_map(|&grain| {
        let boundaries =
            joints.pieces(span.clone(), grain).map(|piece| piece.end).filter(|&at| at < span.end);
        let halves = boundaries.map(|at| (at, units(span.start..at), units(at..span.end)));
        let with_text = halves.filter(|&(_, before, after)| before > 0 && after > 0);
        with_text.min_by_key(|&(_, before, after)| before.abs_diff(after)).map(|(at, ..)| at)
    })
}
