//! Exported: exact tokens. Texts are read on the main thread and counted off it.

use std::path::PathBuf;
use std::sync::Arc;

use napi::Status;
use napi::bindgen_prelude::{External, Function, Object, Utf16String};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use tokio::sync::OnceCell;
use tokio::task::yield_now;

use super::error::{Result, internal};
use super::host::FailureOut;
use super::read::{Fields, misuse, prompt_limit};
use super::runtime::runtime;
use crate::budget::exact::{ExactGuard, SummaryTexts};
use crate::budget::window::PromptLimit;
use crate::error::{CompactionError, ErrorCode};
use crate::prompt::build::Prompts;
use crate::tokens::exact::{Count, Encoding, EncodingName};
use crate::transcript::part::Message;
use crate::transcript::passage::Unread;
use crate::transcript::serialize::{Dialect, conversation};

/// An answer on its way to `js/tokens.js`: one of the three.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct TokensOut {
    /// Why there is none.
    pub failure: Option<FailureOut>,
    /// Tokens of a text.
    pub tokens: Option<f64>,
    /// Whether a summary request fits.
    pub fits: Option<bool>,
}

/// Names of the encodings.
#[napi(catch_unwind)]
pub fn encoding_names() -> Vec<&'static str> {
    EncodingName::ALL.map(EncodingName::as_str).to_vec()
}

/// Counts the tokens of a text; `done` hears of the end.
#[napi(catch_unwind)]
pub fn count_tokens(
    text: Utf16String,
    encoding: String,
    tables: String,
    done: Function<TokensOut, ()>,
) -> Result<()> {
    let tables = Tables::of(&encoding, tables)?;
    answer(&done, async move {
        let mut count = Count::new(tables.encoding().await?, vec![String::from_utf16_lossy(&text)]);
        drop(text);
        while count.step() {
            yield_now().await;
        }
        Ok(TokensOut { tokens: Some(count.tokens() as f64), ..TokensOut::default() })
    })
}

/// The guard's verdict by exact tokens; `done` hears of it. Empties both passages.
#[napi(catch_unwind)]
pub fn summary_fits(
    passages: (&mut External<Unread>, &mut External<Unread>),
    previous: String,
    limits: &[f64],
    encoding: String,
    tables: String,
    options: Object,
    done: Function<TokensOut, ()>,
) -> Result<()> {
    let options = Fields::of(&options, "options");
    let question = Question {
        history: std::mem::take(&mut **passages.0),
        prefix: std::mem::take(&mut **passages.1),
        previous,
        dialect: options.sizing()?.dialect,
        prompts: options.prompt_texts()?,
        limit: prompt_limit(limits)?,
    };
    let tables = Tables::of(&encoding, tables)?;
    answer(&done, async move {
        let mut guard = question.guard(tables.encoding().await?)?;
        loop {
            if let Some(exceeds) = guard.step() {
                return Ok(TokensOut { fits: Some(!exceeds), ..TokensOut::default() });
            }
            yield_now().await;
        }
    })
}

/// All that a verdict depends on but the encoding.
struct Question {
    history: Unread,
    prefix: Unread,
    previous: String,
    dialect: Dialect,
    prompts: Prompts,
    limit: PromptLimit,
}

impl Question {
    fn guard(self, encoding: Arc<Encoding>) -> crate::error::Result<ExactGuard> {
        let text = |passage: Unread| {
            let passage = passage.read()?;
            let range: Vec<Message<'_>> = passage.messages().collect();
            Ok(String::from_utf16_lossy(&conversation(&range, self.dialect)))
        };
        let texts = SummaryTexts {
            history: text(self.history)?,
            prefix: text(self.prefix)?,
            previous: self.previous,
        };
        Ok(ExactGuard::new(encoding, texts, &self.prompts, self.limit))
    }
}

/// Where the table of an encoding is to be found.
struct Tables {
    name: EncodingName,
    folder: PathBuf,
}

impl Tables {
    fn of(encoding: &str, folder: String) -> Result<Self> {
        Ok(Self { name: EncodingName::of(encoding).ok_or_else(misuse)?, folder: folder.into() })
    }

    /// The encoding, loaded once for the whole process.
    async fn encoding(&self) -> crate::error::Result<Arc<Encoding>> {
        static O200K: OnceCell<Arc<Encoding>> = OnceCell::const_new();
        static CL100K: OnceCell<Arc<Encoding>> = OnceCell::const_new();
        let loaded = match self.name {
            EncodingName::O200kBase => &O200K,
            EncodingName::Cl100kBase => &CL100K,
        };
        loaded.get_or_try_init(|| async { self.load() }).await.cloned()
    }

    fn load(&self) -> crate::error::Result<Arc<Encoding>> {
        let path = self.folder.join(format!("{}.tokens", self.name.as_str()));
        let table = std::fs::read(path).map_err(|_| self.name.missing())?;
        Encoding::new(self.name, table).map(Arc::new)
    }
}

/// Works on a task of its own, so that a panic ends the task and not the process.
fn answer(
    done: &Function<TokensOut, ()>,
    work: impl Future<Output = crate::error::Result<TokensOut>> + Send + 'static,
) -> Result<()> {
    type Callback = ThreadsafeFunction<TokensOut, (), TokensOut, Status, false, false, 1>;
    let builder = done.build_threadsafe_function::<TokensOut>().max_queue_size::<1>();
    let done: Callback = builder.build_callback(|context| Ok(context.value)).map_err(|e| internal(&e))?;
    let runtime = runtime()?;
    let work = runtime.spawn(work);
    runtime.spawn(async move {
        let panic = |_| Err(CompactionError::new(ErrorCode::Internal, "panic while tokens were counted"));
        let answered = work.await.unwrap_or_else(panic);
        let failure = |error| TokensOut { failure: Some(FailureOut::from(&error)), ..TokensOut::default() };
        done.call(answered.unwrap_or_else(failure), ThreadsafeFunctionCallMode::NonBlocking);
    });
    Ok(())
}
