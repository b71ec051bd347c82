//! What a run has done so far: what a host hears of it, however it ends.

use std::sync::Mutex;

use super::events::Event;
use super::run::Host;
use crate::model::Usage;
use crate::plan::shape::Shape;

/// Who hears of a run, and what it has done.
pub struct Log<'a, H> {
    host: &'a H,
    tally: Mutex<Tally>,
}

impl<'a, H: Host> Log<'a, H> {
    /// The log of a run that has not begun.
    pub fn new(host: &'a H) -> Self {
        Self { host, tally: Mutex::default() }
    }

    /// Who hears of it.
    pub fn host(&self) -> &'a H {
        self.host
    }

    /// Notes a step and tells the host.
    pub fn tell(&self, event: Event) {
        self.count(|tally| tally.note(&event));
        self.host.hear(event);
    }

    /// Notes a step that no event tells of.
    pub fn reach(&self, stage: Stage) {
        self.count(|tally| tally.reach(stage));
    }

    /// What was done so far.
    pub fn tally(&self) -> Tally {
        self.tally.lock().map(|tally| tally.clone()).unwrap_or_default()
    }

    /// Requests sent so far.
    pub fn requests(&self) -> u32 {
        self.tally.lock().map(|tally| tally.requests).unwrap_or_default()
    }

    pub(super) fn count(&self, by: impl FnOnce(&mut Tally)) {
        if let Ok(mut tally) = self.tally.lock() {
            by(&mut tally);
        }
    }
}

/// What a run has done so far, however it ends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Requests sent, first tries and retries alike.
    pub requests: u32,
    /// What they cost together, as far as it was reported.
    pub usage: Option<Usage>,
    /// Requests that an earlier run had made already.
    pub cache_hits: u32,
    /// How often a chunk was halved.
    pub splits: u32,
    /// How often the running summary was compressed.
    pub compressions: u32,
    /// Steps, in the order in which they were first reached.
    pub stages: Vec<Stage>,
    /// What a host was warned of, each once.
    pub warnings: Vec<&'static str>,
}

impl Tally {
    fn note(&mut self, event: &Event) {
        let reached = match event {
            Event::Plan { reduced, shape, .. } => {
                let also = [(*reduced, Stage::Reduce), (*shape == Shape::Chunks, Stage::Chunks)];
                let also = also.into_iter().filter_map(|(holds, stage)| holds.then_some(stage));
                std::iter::once(Stage::Plan).chain(also).collect()
            }
            Event::Request { .. } => vec![Stage::Request],
            Event::Replan { .. } => vec![Stage::Replan],
            Event::Split { .. } => vec![Stage::Split],
            Event::Compress { .. } => vec![Stage::Compress],
            _ => Vec::new(),
        };
        self.splits += u32::from(matches!(event, Event::Split { .. }));
        self.compressions += u32::from(matches!(event, Event::Compress { .. }));
        if let Event::Warning(warning) = event
            && !self.warnings.contains(warning)
        {
            self.warnings.push(warning);
        }
        for stage in reached {
            self.reach(stage);
        }
    }

    fn reach(&mut self, stage: Stage) {
        if !self.stages.contains(&stage) {
            self.stages.push(stage);
        }
    }
}

/// A step that a run may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The requests were planned.
    Plan,
    /// Tool output was thinned for them.
    Reduce,
    /// The range was split.
    Chunks,
    /// A request was sent.
    Request,
    /// The rest was planned again.
    Replan,
    /// A chunk was halved.
    Split,
    /// The running summary was compressed.
    Compress,
    /// The checkpoint was measured with what stands beside it.
    Recheck,
}

impl Stage {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Reduce => "reduce",
            Self::Chunks => "chunks",
            Self::Request => "request",
            Self::Replan => "replan",
            Self::Split => "split",
            Self::Compress => "compress",
            Self::Recheck => "recheck",
        }
    }
}
