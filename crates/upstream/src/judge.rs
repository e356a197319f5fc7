//! A model's opinion on a page in the gray zone: clear or block, by schema, or an error.
//!
//! The page cannot speak as anyone but the page: it stands between markers that are drawn anew for each call, its
//! angle brackets are exchanged so that it can forge neither markers nor a chat template's own tokens, and only
//! an answer of exactly the agreed form counts. All of the page is read, in overlapping pieces; one piece that is
//! blocked blocks the page. The model gets the page's text, its host and our detector's figures, nothing else.

mod answer;
mod cache;
mod prompt;
mod wire;

use crate::base::BaseUrl;
use crate::error::{CallError, ConfigError, Fault};
use crate::secret::Secret;
use crate::transport::{Limits, Transport};
use cache::{Cache, Key};
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use wire::Wire;

const RETRY_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_RETRY_PAUSE: Duration = Duration::from_secs(2);
const ANSWER_BYTES: usize = 256 * 1024;

/// Which of OpenAI's two interfaces is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenAiApi {
    /// `POST {base}/responses`.
    #[default]
    Responses,
    /// `POST {base}/chat/completions`, which most compatible servers speak.
    ChatCompletions,
}

/// Where the model runs.
#[derive(Clone, Debug)]
pub enum JudgeProvider {
    /// OpenAI or a server that speaks like it.
    OpenAi {
        /// The API's address, version included (`https://api.openai.com/v1`).
        base: BaseUrl,
        /// The API key.
        key: Secret,
        /// Which interface.
        api: OpenAiApi,
    },
    /// Ollama.
    Ollama {
        /// The server's address (`http://127.0.0.1:11434`).
        base: BaseUrl,
    },
}

/// How the judge works.
#[derive(Clone, Debug)]
pub struct JudgeOptions {
    /// Where the model runs.
    pub provider: JudgeProvider,
    /// Its name there.
    pub model: String,
    /// How long one call may take.
    pub timeout: Duration,
    /// Sent to OpenAI as it is; `None` leaves it out, for models that take no temperature.
    pub temperature: Option<f32>,
    /// How much of a page one call shows, in bytes, from 1,000 to 200,000.
    pub chunk_bytes: usize,
    /// How much of a piece the next one repeats, at most half of it.
    pub overlap_bytes: usize,
    /// A page of more pieces is not judged.
    pub max_chunks: usize,
    /// How many calls of one page run at once.
    pub parallel: usize,
    /// How many rulings are remembered.
    pub cache_entries: usize,
}

impl JudgeOptions {
    /// The defaults for this model.
    #[must_use]
    pub fn new(provider: JudgeProvider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            timeout: Duration::from_secs(15),
            temperature: Some(0.0),
            chunk_bytes: 12_000,
            overlap_bytes: 600,
            max_chunks: 24,
            parallel: 4,
            cache_entries: 1_024,
        }
    }
}

/// What the model is told about a page besides its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgeContext {
    /// The page's host.
    pub host: String,
    /// The detector's score.
    pub score: f32,
    /// The detector's categories.
    pub categories: Vec<String>,
}

/// Clear or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The page does not steer its reader.
    Clear,
    /// It does.
    Block,
}

/// Why, from a fixed list, so that no word of the page or the model travels on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasonCode {
    /// Ordinary content.
    Benign,
    /// It quotes, teaches or reports attacks without making one.
    DiscussesAttacks,
    /// It tells an assistant to drop or change its instructions or role.
    InstructionOverride,
    /// It asks for secrets, prompts or data to be revealed or sent.
    DataExfiltration,
    /// It asks for tools, commands, payments or messages to be used.
    ToolAbuse,
    /// It hides or disguises what it says to an assistant.
    HiddenInstructions,
    /// It speaks to whoever checks it.
    JudgeManipulation,
    /// Another attempt to steer.
    OtherAttack,
}

impl ReasonCode {
    /// The code as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Benign => "benign",
            Self::DiscussesAttacks => "discusses_attacks",
            Self::InstructionOverride => "instruction_override",
            Self::DataExfiltration => "data_exfiltration",
            Self::ToolAbuse => "tool_abuse",
            Self::HiddenInstructions => "hidden_instructions",
            Self::JudgeManipulation => "judge_manipulation",
            Self::OtherAttack => "other_attack",
        }
    }

    fn harmless(self) -> bool {
        matches!(self, Self::Benign | Self::DiscussesAttacks)
    }
}

/// What the model decided about a whole page.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ruling {
    /// Clear or block.
    pub verdict: Verdict,
    /// From 0 to 1; of a clear page, that of its least certain piece.
    pub confidence: f32,
    /// Why.
    pub reason_code: ReasonCode,
}

/// No ruling, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JudgeError {
    /// The exchange with the model's server failed.
    #[error("judge: {0}")]
    Call(#[from] CallError),
    /// The answer is not a verdict of the agreed form.
    #[error("the judge's answer is not a verdict")]
    Nonsense,
    /// The page has more pieces than may be asked about.
    #[error("the page is too long for the judge: {chunks} pieces, {max} allowed")]
    TooLong {
        /// Its pieces.
        chunks: usize,
        /// The bound.
        max: usize,
    },
    /// The system has no random numbers.
    #[error("no randomness for the judge's markers")]
    Randomness,
}

impl JudgeError {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(self) -> Fault {
        match self {
            Self::Call(call) => call.fault(),
            Self::Nonsense => Fault::Service,
            Self::TooLong { .. } => Fault::Caller,
            Self::Randomness => Fault::Us,
        }
    }
}

/// The model judge.
#[derive(Debug)]
pub struct Judge {
    options: JudgeOptions,
    wire: Wire,
    cache: Cache,
    transport: Transport,
}

impl Judge {
    /// A judge with these options.
    ///
    /// # Errors
    /// A missing model or key, or a bound outside its range.
    pub fn new(options: JudgeOptions) -> Result<Self, ConfigError> {
        let unusable = |what| Err(ConfigError::Unusable { what });
        if options.model.trim().is_empty() {
            return Err(ConfigError::Missing {
                what: "the judge's model",
            });
        }
        if !(1_000..=200_000).contains(&options.chunk_bytes) {
            return unusable("the judge's piece size");
        }
        if options.overlap_bytes > options.chunk_bytes / 2 {
            return unusable("the judge's overlap");
        }
        if options.max_chunks == 0 || options.parallel == 0 {
            return unusable("the judge's number of pieces");
        }
        Ok(Self {
            wire: Wire::new(&options)?,
            cache: Cache::new(options.cache_entries),
            transport: Transport::new()?,
            options,
        })
    }

    /// Whether the model's server answers; asks the model nothing.
    ///
    /// # Errors
    /// When there is no HTTP answer in time.
    pub async fn reach(&self) -> Result<(), CallError> {
        self.transport
            .reach(self.wire.root(), self.options.timeout)
            .await
    }

    /// Judges all of `content`. A piece that is blocked blocks it, whatever became of the others.
    ///
    /// # Errors
    /// No ruling could be had; the caller decides what that means, which should be: block.
    pub async fn judge(&self, content: &str, context: &JudgeContext) -> Result<Ruling, JudgeError> {
        let key = Key::of(&self.options.model, content);
        if let Some(ruling) = self.cache.get(&key) {
            return Ok(ruling);
        }
        let shown = prompt::neutralise(content);
        let chunks = prompt::chunks(&shown, self.options.chunk_bytes, self.options.overlap_bytes);
        if chunks.len() > self.options.max_chunks {
            return Err(JudgeError::TooLong {
                chunks: chunks.len(),
                max: self.options.max_chunks,
            });
        }
        let ruling = self.judge_chunks(&chunks, context).await?;
        self.cache.put(key, ruling);
        Ok(ruling)
    }

    async fn judge_chunks(
        &self,
        chunks: &[&str],
        context: &JudgeContext,
    ) -> Result<Ruling, JudgeError> {
        let total = chunks.len();
        // Nothing is asked before it is polled: the list costs no calls.
        let questions: Vec<_> = chunks
            .iter()
            .zip(1..)
            .map(|(chunk, part)| self.judge_chunk(chunk, (part, total), context))
            .collect();
        let mut rulings = stream::iter(questions).buffer_unordered(self.options.parallel);
        let mut clear: Option<Ruling> = None;
        let mut failure = None;
        while let Some(ruling) = rulings.next().await {
            match ruling {
                Ok(ruling) if ruling.verdict == Verdict::Block => return Ok(ruling),
                Ok(ruling) => {
                    clear = Some(match clear {
                        Some(least) if least.confidence <= ruling.confidence => least,
                        _ => ruling,
                    });
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) => Err(error),
            None => clear.ok_or(JudgeError::Nonsense),
        }
    }

    async fn judge_chunk(
        &self,
        chunk: &str,
        part: (usize, usize),
        context: &JudgeContext,
    ) -> Result<Ruling, JudgeError> {
        match self.ask(chunk, part, context).await {
            Err(JudgeError::Call(error)) if error.passing() => {
                let wait = match error {
                    CallError::RateLimited {
                        retry_after: Some(wait),
                    } => wait.min(LONGEST_RETRY_PAUSE),
                    _ => RETRY_PAUSE,
                };
                tracing::debug!(%error, "asking the judge once more");
                tokio::time::sleep(wait).await;
                self.ask(chunk, part, context).await
            }
            settled => settled,
        }
    }

    async fn ask(
        &self,
        chunk: &str,
        part: (usize, usize),
        context: &JudgeContext,
    ) -> Result<Ruling, JudgeError> {
        let fence = prompt::Fence::draw().ok_or(JudgeError::Randomness)?;
        let user = prompt::user(&fence, chunk, part, context);
        let limits = Limits {
            deadline: self.options.timeout,
            max_bytes: ANSWER_BYTES,
        };
        let request = self.wire.request(&prompt::system(&fence), &user);
        let reply = self.transport.call(request, limits).await?;
        self.wire.ruling(&reply.body).ok_or(JudgeError::Nonsense)
    }
}
