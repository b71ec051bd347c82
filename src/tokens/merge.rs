//! Byte-pair encoding of one piece: the pair of lowest rank is merged, the first of equals, until no pair is a token.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::table::Table;

/// Stands for a pair that is no token.
const NONE: u32 = u32::MAX;
/// Bytes of a piece up to which looking at every pair beats keeping them in order.
const SHORT: usize = 64;

/// Room that is used again from piece to piece.
#[derive(Default)]
pub(super) struct Merger {
    parts: Vec<Part>,
    nodes: Vec<Node>,
    waiting: BinaryHeap<Reverse<(u32, u32)>>,
}

/// A part of a short piece.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    /// Rank of this part and the next as one.
    rank: u32,
}

/// A part of a long piece, kept where it begins.
#[derive(Clone, Copy)]
struct Node {
    before: u32,
    next: u32,
    /// Rank of this part and the next as one.
    rank: u32,
}

impl Merger {
    /// Tokens of a piece.
    pub(super) fn tokens(&mut self, table: &Table, piece: &[u8]) -> usize {
        if piece.len() <= SHORT { self.short(table, piece) } else { self.long(table, piece) }
    }

    fn short(&mut self, table: &Table, piece: &[u8]) -> usize {
        let parts = &mut self.parts;
        parts.clear();
        parts
            .extend((0..piece.len()).map(|start| Part { start, rank: rank(table, piece, start, start + 2) }));
        while let Some((at, _)) =
            parts.iter().enumerate().filter(|(_, part)| part.rank != NONE).min_by_key(|(_, part)| part.rank)
        {
            parts.remove(at + 1);
            let end_of = |at: usize| parts.get(at + 1).map_or(piece.len(), |part| part.start);
            let ends = [end_of(at), end_of(at + 1)];
            if let Some(before) = at.checked_sub(1).and_then(|before| parts.get_mut(before)) {
                before.rank = rank(table, piece, before.start, ends[0]);
            }
            if let Some(part) = parts.get_mut(at) {
                part.rank =
                    if ends[0] < piece.len() { rank(table, piece, part.start, ends[1]) } else { NONE };
            }
        }
        parts.len()
    }

    /// In time that grows a little faster than the piece: pairs wait in the order of their ranks.
    fn long(&mut self, table: &Table, piece: &[u8]) -> usize {
        let Self { nodes, waiting, .. } = self;
        let length = piece.len() as u32;
        nodes.clear();
        nodes.extend((0..length).map(|at| {
            let rank = rank(table, piece, at as usize, at as usize + 2);
            Node { before: at.wrapping_sub(1), next: at + 1, rank }
        }));
        waiting.clear();
        let pairs = nodes.iter().zip(0..).filter(|(node, _)| node.rank != NONE);
        waiting.extend(pairs.map(|(node, at)| Reverse((node.rank, at))));
        let mut tokens = piece.len();
        while let Some(Reverse((rank, at))) = waiting.pop() {
            // A pair that changed since waits under its new rank too.
            if nodes.get(at as usize).is_some_and(|node| node.rank == rank) {
                merge(nodes, at, |start, end| self::rank(table, piece, start, end), waiting);
                tokens -= 1;
            }
        }
        // What one long piece took is not held for the short ones behind it.
        (self.nodes, self.waiting) = Default::default();
        tokens
    }
}

/// Merges the part at `at` with the next, and ranks both pairs that it is now in.
fn merge(
    nodes: &mut [Node],
    at: u32,
    rank: impl Fn(usize, usize) -> u32,
    waiting: &mut BinaryHeap<Reverse<(u32, u32)>>,
) {
    let node = |nodes: &[Node], at: u32| nodes.get(at as usize).copied();
    let Some((merged, taken)) = node(nodes, at).and_then(|own| Some((own, node(nodes, own.next)?))) else {
        return;
    };
    if let Some(gone) = nodes.get_mut(merged.next as usize) {
        gone.rank = NONE;
    }
    let end = taken.next;
    let behind = nodes.get_mut(end as usize).map(|behind| {
        behind.before = at;
        behind.next
    });
    let own = behind.map_or(NONE, |next| rank(at as usize, next as usize));
    if let Some(node) = nodes.get_mut(at as usize) {
        *node = Node { next: end, rank: own, ..merged };
    }
    let mut wait = |rank: u32, at: u32| {
        if rank != NONE {
            waiting.push(Reverse((rank, at)));
        }
    };
    wait(own, at);
    if let Some(before) = nodes.get_mut(merged.before as usize) {
        before.rank = rank(merged.before as usize, end as usize);
        wait(before.rank, merged.before);
    }
}

fn rank(table: &Table, piece: &[u8], start: usize, end: usize) -> u32 {
    piece.get(start..end).and_then(|bytes| table.rank(bytes)).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;

    #[test]
    fn both_ways_of_merging_agree() {
        let table = samples::o200k();
        let mut merger = Merger::default();
        for seed in 0..5_000 {
            let text = samples::text(seed);
            let piece = text.as_bytes();
            assert_eq!(merger.short(table, piece), merger.long(table, piece), "{text:?}");
        }
    }

    #[test]
    fn a_megabyte_of_one_letter_is_counted() {
        let table = samples::o200k();
        let mut merger = Merger::default();
        assert_eq!(merger.tokens(table, &vec![b'a'; 1_000_000]), 125_000);
        assert_eq!(merger.tokens(table, &vec![b' '; 1_000_000]), 7_813);
    }
}
