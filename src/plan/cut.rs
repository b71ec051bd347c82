//! pi's cut point: what of a context stays when the older part is summarized.

use super::turns::begins_turn;
use crate::transcript::part::{Message, Role};
use crate::transcript::serialize::Dialect;
use crate::transcript::weigh::Sizing;

/// Where a context is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutPoint {
    /// Index of the first message that stays.
    pub first_kept: usize,
    /// The message that begins the turn which is cut through, if one is.
    pub turn_start: Option<usize>,
    /// Whether it would be the same with any messages before these.
    pub settled: bool,
}

/// A context, of which a cut looks at the newest messages only.
pub trait Context {
    /// How many messages there are.
    fn length(&self) -> usize;
    /// One of them.
    fn message(&self, at: usize) -> Option<Message<'_>>;

    /// Who wrote one of them.
    fn role(&self, at: usize) -> Role {
        self.message(at).map_or(Role::Unknown, |message| message.role())
    }
}

impl Context for Vec<Message<'_>> {
    fn length(&self) -> usize {
        self.len()
    }

    fn message(&self, at: usize) -> Option<Message<'_>> {
        self.get(at).copied()
    }
}

/// The cut that keeps the newest messages of at least `keep` tokens, as each pi finds it.
///
/// 0.87 cuts at the oldest point when trailing tool results alone reach the target, and so finds nothing to
/// compact; this steps back to the call before them in both dialects, as 1.6 does.
#[must_use]
pub fn find_cut(context: &impl Context, keep: u64, sizing: Sizing) -> CutPoint {
    let Some((first_kept, reached)) = first_kept(context, keep, sizing) else {
        return CutPoint { first_kept: 0, turn_start: None, settled: false };
    };
    let cuts_through = !stands_alone(context.role(first_kept), sizing.dialect);
    let mut before = (0..=first_kept).rev().filter(|_| cuts_through);
    let turn_start = before.find(|&i| starts_turn(context.role(i), sizing.dialect));
    CutPoint { first_kept, turn_start, settled: reached && (turn_start.is_some() || !cuts_through) }
}

/// The first message that stays, and whether those behind it reach the target; `None` where a cut is allowed nowhere.
fn first_kept(context: &impl Context, keep: u64, sizing: Sizing) -> Option<(usize, bool)> {
    let is_point = |at: &usize| is_cut_point(context.role(*at));
    let mut kept = 0;
    for i in (0..context.length()).rev() {
        let tokens = context.message(i).map_or(0, |message| sizing.message_tokens(&message));
        kept += tokens;
        let counts = tokens > 0 || sizing.dialect == Dialect::Pi087;
        if counts && kept >= keep {
            let point = (i..context.length()).find(is_point).or_else(|| (0..i).rev().find(is_point));
            return point.map(|at| (at, true));
        }
    }
    (0..context.length()).find(is_point).map(|at| (at, false))
}

/// Never before a tool result, nor before what is no part of a conversation.
fn is_cut_point(role: Role) -> bool {
    !matches!(role, Role::ToolResult | Role::System | Role::Unknown)
}

/// Whether a cut before this message cuts through no turn.
fn stands_alone(role: Role, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Pi087 => role == Role::User,
        Dialect::Pi16 => begins_turn(role),
    }
}

fn starts_turn(role: Role, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Pi087 => matches!(role, Role::User | Role::Bash),
        Dialect::Pi16 => begins_turn(role),
    }
}
