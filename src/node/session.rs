//! Session files, read on the runtime's threads.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use napi::Status;
use napi::bindgen_prelude::{External, Function, Utf16String};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use tokio_util::sync::CancellationToken;

use super::error::Result;
use super::error::internal;
use super::host::{FailureOut, OwnedRun};
use super::runtime::runtime;
use crate::error::{CompactionError, ErrorCode};
use crate::session::desk::Desk;
use crate::session::entry::Id;
use crate::session::file::{Identity, Session, open, refused};
use crate::session::open::Opened;
use crate::session::scan::{Gathering, read_stretch};
use crate::session::stretch::{Buffer, LONGEST_LINE, Stretch, Stretches};
use crate::transcript::resident::Resident;
use crate::transcript::store::Filling;

/// Threads that read one file: a third would wait for the others.
const READERS: usize = 2;
/// Calls that may wait; progress that finds the queue full is not told.
const QUEUE: usize = 16;

/// A line of a session file and what is the matter with it.
#[napi(object, object_from_js = false)]
pub struct SessionLine {
    /// The line, from 1.
    pub line: u32,
    /// Why it is named.
    pub reason: &'static str,
}

/// What the callback in `js/session.js` is called with: progress, or an end.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct SessionCall {
    /// Bytes read so far, where that is told.
    pub bytes: Option<f64>,
    /// Bytes of the file.
    pub total: Option<f64>,
    /// The context.
    pub opened: Option<SessionOut>,
    /// Why there is none.
    pub failure: Option<FailureOut>,
}

/// The context of a session's branch.
#[napi(object, object_from_js = false)]
pub struct SessionOut {
    /// The messages by their places.
    pub session: External<Arc<Session>>,
    /// The transcript of them, without those that have to be built in JavaScript.
    pub resident: External<Resident>,
    /// How many there are.
    pub places: u32,
    /// Those that have to be built of their lines in JavaScript.
    pub odd: Vec<u32>,
    /// The one that is the summary of the latest compaction.
    pub summary: Option<u32>,
    /// Messages at the start whose usage reports speak of another context.
    pub stale: u32,
    /// Whether the branch ends in a compaction.
    pub ends_in_compaction: bool,
    /// Whether entries have no ids.
    pub linear: bool,
    /// Whether extension messages still have the role `hookMessage`.
    pub hook_role: bool,
    /// Where the branch begins too late.
    pub gap: Option<SessionLine>,
    /// The first lines that could not be used.
    pub skipped: Vec<SessionLine>,
    /// How many lines that is, listed or not.
    pub skipped_count: u32,
    /// Bytes that were read.
    pub bytes_read: f64,
    /// The most bytes that were held at once.
    pub peak_buffered: f64,
}

type Callback = ThreadsafeFunction<SessionCall, (), SessionCall, Status, false, false, QUEUE>;

/// The callback, once it is known whether there is one: it is made while the readers wake up.
type Awaited = Arc<OnceLock<Option<Callback>>>;

/// Its one maker. When it ends without a callback, there is none.
#[derive(Default)]
struct Maker(Awaited);

impl Maker {
    fn make(self, callback: &Function<SessionCall, ()>) -> Result<()> {
        let builder = callback.build_threadsafe_function().max_queue_size::<QUEUE>();
        let callback = builder.build_callback(|context| Ok(context.value)).map_err(|e| internal(&e))?;
        self.0.get_or_init(|| Some(callback));
        Ok(())
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        self.0.get_or_init(|| None);
    }
}

/// One file under reading.
struct Reading {
    path: PathBuf,
    leaf: Option<Id>,
    /// Opened by whichever reader comes first; empty where that failed.
    source: OnceLock<Option<Source>>,
    gathering: Mutex<Gathering>,
    peak: Mutex<[usize; READERS]>,
    failure: Mutex<Option<CompactionError>>,
    cancel: CancellationToken,
    /// Stretches between two tellings of progress; 0 for none.
    telling: u32,
    callback: Awaited,
}

struct Source {
    identity: Identity,
    stretches: Mutex<Stretches<File>>,
}

/// Begins to read a session file; the callback hears of the end, and of progress once in `telling` stretches (0: never).
#[napi(catch_unwind)]
pub fn open_session(
    run: &External<OwnedRun>,
    path: String,
    leaf: Option<Utf16String>,
    telling: u32,
    callback: Function<SessionCall, ()>,
) -> Result<()> {
    let maker = Maker::default();
    let reading = Reading {
        path: PathBuf::from(path),
        leaf: leaf.map(|leaf| Id::of_string(&leaf)),
        source: OnceLock::new(),
        gathering: Mutex::default(),
        peak: Mutex::default(),
        failure: Mutex::default(),
        cancel: run.0.cancel.clone(),
        telling,
        callback: Arc::clone(&maker.0),
    };
    reading.begin()?;
    maker.make(&callback)
}

impl Reading {
    fn begin(self) -> Result<()> {
        let runtime = runtime()?;
        // Each reader has its share, and nobody else: the last one must know that it is the last.
        for (reader, reading) in std::iter::repeat_n(Arc::new(self), READERS).enumerate() {
            runtime.spawn_blocking(move || reading.run(reader));
        }
        Ok(())
    }

    /// Reads what the other reader leaves. The last one to end tells the host.
    fn run(self: Arc<Self>, reader: usize) {
        let panicked = |_| Err(CompactionError::new(ErrorCode::Internal, "panic in openSession"));
        if let Err(error) = catch_unwind(AssertUnwindSafe(|| self.read(reader))).unwrap_or_else(panicked) {
            self.fail(error);
        }
        if let Some(reading) = Arc::into_inner(self)
            && !reading.cancel.is_cancelled()
        {
            reading.end();
        }
    }

    fn fail(&self, error: CompactionError) {
        if let Ok(mut failure) = self.failure.lock() {
            failure.get_or_insert(error);
        }
    }

    /// Reads stretches until there are none.
    fn read(&self, reader: usize) -> crate::error::Result<()> {
        let Some(source) = self.source.get_or_init(|| self.open()) else { return Ok(()) };
        let mut desk = Desk::take();
        while !self.cancel.is_cancelled() {
            let Some(stretch) = self.next(source, &mut desk.text)? else { break };
            if let Some(peak) = self.peak.lock().ok().as_deref_mut().and_then(|peak| peak.get_mut(reader)) {
                *peak = stretch.held.max(*peak);
            }
            read_stretch(stretch, desk.text.filled(), &mut desk.index, &mut desk.found);
            // A desk that could not be emptied is not left for another file.
            let mut gathering = self.gathering.lock().map_err(|_| poisoned())?;
            desk.found = gathering.add(stretch.index, desk.found);
            drop(gathering);
            if stretch.index.checked_rem(self.telling) == Some(0) {
                self.tell(source);
            }
        }
        desk.leave();
        Ok(())
    }

    fn open(&self) -> Option<Source> {
        match open(&self.path) {
            Ok((file, identity)) => {
                Some(Source { identity, stretches: Mutex::new(Stretches::new(file, LONGEST_LINE)) })
            }
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    fn next(&self, source: &Source, text: &mut Buffer) -> crate::error::Result<Option<Stretch>> {
        let Ok(mut stretches) = source.stretches.lock() else { return Ok(None) };
        stretches.next(text).map_err(|error| refused(&self.path, &error))
    }

    fn tell(&self, source: &Source) {
        let bytes = source.stretches.lock().map_or(0, |stretches| stretches.read);
        let call = SessionCall {
            bytes: Some(bytes as f64),
            total: Some(source.identity.size as f64),
            ..SessionCall::default()
        };
        if let Some(Some(callback)) = self.callback.get() {
            callback.call(call, ThreadsafeFunctionCallMode::NonBlocking);
        }
    }

    fn end(mut self) {
        let call = match self.opened() {
            Ok(opened) => SessionCall { opened: Some(opened), ..SessionCall::default() },
            Err(error) => SessionCall { failure: Some((&error).into()), ..SessionCall::default() },
        };
        if let Some(callback) = self.callback.wait() {
            callback.call(call, ThreadsafeFunctionCallMode::Blocking);
        }
    }

    fn opened(&mut self) -> crate::error::Result<SessionOut> {
        if let Some(failure) = self.failure.get_mut().map_err(|_| poisoned())?.take() {
            return Err(failure);
        }
        let source = self.source.take().flatten().ok_or_else(poisoned)?;
        let scanned = std::mem::take(self.gathering.get_mut().map_err(|_| poisoned())?).scanned();
        let opened = Opened::of(&self.path, source.identity, scanned, self.leaf)?;
        let line = |line: u32, reason| SessionLine { line, reason };
        Ok(SessionOut {
            places: opened.resident.len() as u32,
            session: External::new(opened.session),
            resident: External::new(opened.resident),
            odd: opened.odd,
            summary: opened.summary,
            stale: opened.stale,
            ends_in_compaction: opened.ends_in_compaction,
            linear: opened.linear,
            hook_role: opened.hook_role,
            gap: opened.gap.map(|gap| line(gap.line, gap.reason)),
            skipped: opened.skipped.listed().map(|(at, reason)| line(at, reason)).collect(),
            skipped_count: opened.skipped.count(),
            bytes_read: source.stretches.into_inner().map_or(0, |stretches| stretches.read) as f64,
            peak_buffered: self.peak.get_mut().map_or(0, |peak| peak.iter().sum::<usize>()) as f64,
        })
    }
}

fn poisoned() -> CompactionError {
    CompactionError::new(ErrorCode::Internal, "a lock was poisoned")
}

/// The transcript of a session with stores in place of the messages that were built in JavaScript.
#[napi(catch_unwind)]
pub fn session_filled(
    resident: &External<Resident>,
    odd: Vec<u32>,
    stores: Vec<&mut External<Filling>>,
) -> External<Resident> {
    let stores = stores.into_iter().map(|store| std::mem::take(&mut **store).filled());
    let here = odd.into_iter().map(|place| place as usize).zip(stores);
    External::new(resident.filled(here.collect()))
}

/// The lines that some messages come from.
#[napi(catch_unwind)]
pub fn session_lines(session: &External<Arc<Session>>, places: Vec<u32>) -> Result<Vec<String>> {
    let lines = session.lines(&places)?;
    Ok(lines.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect())
}

/// The line of the edit of a message; empty where there is none.
#[napi(catch_unwind)]
pub fn session_edit(session: &External<Arc<Session>>, place: u32) -> Result<String> {
    Ok(String::from_utf8_lossy(&session.edit_line(place)?).into_owned())
}

/// Says that the file is another by now.
#[napi(catch_unwind)]
pub fn session_changed(session: &External<Arc<Session>>) -> Result<()> {
    Err(session.changed().into())
}

/// The number of a call's id, where a message of the file has it.
#[napi(catch_unwind)]
pub fn session_call(session: &External<Arc<Session>>, id: Utf16String) -> Option<u32> {
    session.call(Id::of_string(&id))
}

/// How many ids have numbers.
#[napi(catch_unwind)]
pub fn session_call_count(session: &External<Arc<Session>>) -> u32 {
    session.call_count() as u32
}

/// The context's size that a message reports.
#[napi(catch_unwind)]
pub fn session_reported(session: &External<Arc<Session>>, place: u32) -> Option<f64> {
    session.reported(place)
}

/// Bytes that were read since a session was opened.
#[napi(catch_unwind)]
pub fn session_bytes_read(session: &External<Arc<Session>>) -> f64 {
    session.read_since() as f64
}
