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
}

/// The cut that keeps the newest messages of at least `keep` tokens, as each pi finds it.
///
/// 0.87 cuts at the oldest point when trailing tool results alone reach the target, and so finds nothing to
/// compact; this steps back to the call before them in both dialects, as 1.6 does.
#[must_use]
pub fn find_cut(context: &[Message<'_>], keep: u64, sizing: Sizing) -> CutPoint {
    let points: Vec<usize> =
        context.iter().enumerate().filter(|(_, m)| is_cut_point(m.role())).map(|(i, _)| i).collect();
    let first_kept = first_kept(context, &points, keep, sizing);
    let role = |at: usize| context.get(at).map_or(Role::Unknown, Message::role);
    let cuts_through = !points.is_empty() && !stands_alone(role(first_kept), sizing.dialect);
    let mut before = (0..=first_kept).rev().filter(|_| cuts_through);
    let turn_start = before.find(|&i| starts_turn(role(i), sizing.dialect));
    CutPoint { first_kept, turn_start }
}

fn first_kept(context: &[Message<'_>], points: &[usize], keep: u64, sizing: Sizing) -> usize {
    let mut kept = 0;
    for (i, message) in context.iter().enumerate().rev() {
        let tokens = sizing.message_tokens(message);
        kept += tokens;
        let counts = tokens > 0 || sizing.dialect == Dialect::Pi087;
        if counts && kept >= keep {
            return points.iter().find(|&&point| point >= i).or(points.last()).copied().unwrap_or(0);
        }
    }
    points.first().copied().unwrap_or(0)
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
