//! Questions to the owner: one for each agent and host, however many connections wait for it.
//!
//! A question lives until it is decided. Those who wait for it when the owner says yes go on; if nobody waits any more, a
//! yes for one time is kept for the next who comes. A no is remembered for a while, so that the owner is not asked again
//! and again. What was asked before a restart is found again, not asked twice.

use crate::agents::ANYBODY;
use crate::refusal::Refusal;
use blastshield_owner::{Action, Approvals, Ask, AskError, Request, Scope, State, WaitError};
use blastshield_policy::Host;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

/// Questions and remembered answers at most.
const MAX_QUESTIONS: usize = 4096;
/// How long a no counts without asking again.
const DENIED_FOR: Duration = Duration::from_secs(300);
/// How long silence counts as no.
const SILENT_FOR: Duration = Duration::from_secs(60);
/// Requests that are looked through for one that was made before.
const LOOK_BACK: u32 = 200;
/// One wait; the question outlives it.
const WAIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(500);
const TRIES: usize = 20;

type Key = (Box<str>, Host);

/// Where a question stands: made, shown to the owner, decided. Nothing follows a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    Made,
    Shown(String),
    /// For those who wait now.
    Yes(String),
    /// For the next one who comes.
    Kept(String),
    Refused(Refusal),
}

struct Question {
    standing: watch::Sender<Standing>,
    /// A refusal counts until then.
    until: Mutex<Option<Instant>>,
}

/// Where questions are asked.
#[derive(Clone)]
pub(crate) struct Desk(Arc<Inner>);

struct Inner {
    approvals: Option<Approvals>,
    wait: Duration,
    waiting: Semaphore,
    questions: Mutex<HashMap<Key, Arc<Question>>>,
}

/// What became of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The owner allowed this host before, for a time.
    Granted,
    /// The owner says yes.
    Yes(String),
    /// No, or not yet.
    No(Refusal),
}

impl Desk {
    pub(crate) fn new(approvals: Option<Approvals>, wait: Duration, waiting: usize) -> Self {
        Self(Arc::new(Inner {
            approvals,
            wait,
            waiting: Semaphore::new(waiting),
            questions: Mutex::default(),
        }))
    }

    /// Asks, or joins those who ask, and waits for the answer no longer than allowed.
    pub(crate) async fn ask(&self, agent: &str, host: &Host) -> Answer {
        let Some(approvals) = &self.0.approvals else {
            return Answer::No(Refusal::NoOwner("approvals are switched off here"));
        };
        match approvals.granted(Action::Http, &asked_host(host)).await {
            Ok(Some(_)) => return Answer::Granted,
            Ok(None) => {}
            Err(_) => return Answer::No(Refusal::NoOwner("the store does not answer")),
        }
        let Ok(_place) = self.0.waiting.try_acquire() else {
            return Answer::No(Refusal::Busy(
                "too many connections wait for the owner; try again later",
            ));
        };
        let (question, kept) = match self.join(agent, host) {
            Ok(joined) => joined,
            Err(refusal) => return Answer::No(refusal),
        };
        if let Some(id) = kept {
            return self.use_kept(&id, agent, host).await;
        }
        let mut standing = question;
        let open = |standing: &Standing| matches!(standing, Standing::Made | Standing::Shown(_));
        // Whether it was decided or the wait is over, where it stands now is what counts.
        let _ = timeout(self.0.wait, standing.wait_for(|standing| !open(standing)))
            .await
            .map(drop);
        let decided = standing.borrow().clone();
        match decided {
            Standing::Yes(id) => Answer::Yes(id),
            Standing::Refused(refusal) => Answer::No(refusal),
            Standing::Shown(id) | Standing::Kept(id) => Answer::No(Refusal::Pending(id)),
            Standing::Made => {
                Answer::No(Refusal::NoOwner("the question could not be asked in time"))
            }
        }
    }

    fn questions(&self) -> MutexGuard<'_, HashMap<Key, Arc<Question>>> {
        self.0
            .questions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The question of this agent about this host, new or under way; or a yes that was kept for whoever comes next.
    fn join(
        &self,
        agent: &str,
        host: &Host,
    ) -> Result<(watch::Receiver<Standing>, Option<String>), Refusal> {
        let key: Key = (agent.into(), host.clone());
        let mut questions = self.questions();
        if let Some(question) = questions.get(&key) {
            let standing = question.standing.borrow().clone();
            let receiver = question.standing.subscribe();
            match standing {
                Standing::Kept(id) => {
                    questions.remove(&key);
                    return Ok((receiver, Some(id)));
                }
                Standing::Refused(_) if question.is_over() => {
                    questions.remove(&key);
                }
                _ => return Ok((receiver, None)),
            }
        }
        if questions.len() >= MAX_QUESTIONS {
            questions.retain(|_, question| !question.is_over());
        }
        if questions.len() >= MAX_QUESTIONS {
            return Err(Refusal::Busy(
                "too many questions wait for the owner; try again later",
            ));
        }
        let question = Arc::new(Question {
            standing: watch::Sender::new(Standing::Made),
            until: Mutex::new(None),
        });
        let receiver = question.standing.subscribe();
        questions.insert(key.clone(), Arc::clone(&question));
        drop(questions);
        let desk = self.clone();
        tokio::spawn(async move { desk.follow(key, &question).await });
        Ok((receiver, None))
    }

    /// Sees a question through to its end.
    async fn follow(&self, key: Key, question: &Arc<Question>) {
        let Some(approvals) = &self.0.approvals else {
            return;
        };
        let ask = wording(&key.0, &key.1);
        let outcome = async {
            let mut request = find_or_ask(approvals, &ask, &key.0, &key.1).await?;
            question
                .standing
                .send_replace(Standing::Shown(request.id.to_string()));
            let mut tries = 0;
            while request.state == State::Pending {
                match approvals.wait(request.id.as_str(), WAIT).await {
                    Ok(news) => request = news,
                    Err(WaitError::TooMany) => sleep(PAUSE).await,
                    Err(_) if tries < TRIES => {
                        tries += 1;
                        sleep(PAUSE).await;
                    }
                    Err(_) => return Err(Refusal::NoOwner("the store does not answer")),
                }
            }
            Ok(request)
        };
        let request: Result<Request, Refusal> = outcome.await;
        match request {
            Ok(request) if request.state == State::Approved => {
                self.approved(key, question, &ask, &request).await;
            }
            Ok(request) => {
                let id = request.id.to_string();
                let (refusal, counts) = if request.state == State::Denied {
                    (Refusal::Denied(id), DENIED_FOR)
                } else {
                    (Refusal::Expired(id), SILENT_FOR)
                };
                question.refuse(refusal, Some(counts));
            }
            Err(refusal) => {
                self.questions().remove(&key);
                question.refuse(refusal, None);
            }
        }
    }

    async fn approved(&self, key: Key, question: &Arc<Question>, ask: &Ask, request: &Request) {
        let id = request.id.to_string();
        {
            let mut questions = self.questions();
            if question.standing.receiver_count() == 0 && request.scope == Some(Scope::Once) {
                question.standing.send_replace(Standing::Kept(id));
                return;
            }
            questions.remove(&key);
        }
        let Some(approvals) = &self.0.approvals else {
            return;
        };
        match approvals.claim(&id, ask).await {
            Ok(()) => {
                question.standing.send_replace(Standing::Yes(id));
            }
            Err(_) => question.refuse(Refusal::Pending(id), None),
        }
    }

    async fn use_kept(&self, id: &str, agent: &str, host: &Host) -> Answer {
        let Some(approvals) = &self.0.approvals else {
            return Answer::No(Refusal::Internal);
        };
        match approvals.claim(id, &wording(agent, host)).await {
            Ok(()) => Answer::Yes(id.to_owned()),
            Err(_) => Answer::No(Refusal::NoOwner(
                "an earlier approval is used up; try again",
            )),
        }
    }
}

impl Question {
    fn refuse(&self, refusal: Refusal, counts: Option<Duration>) {
        let until = counts.map(|counts| Instant::now() + counts);
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        self.standing.send_replace(Standing::Refused(refusal));
    }

    /// Whether its refusal no longer counts.
    fn is_over(&self) -> bool {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = matches!(*self.standing.borrow(), Standing::Refused(_));
        refused && until.is_none_or(|until| until <= Instant::now())
    }
}

/// The request that was made for this before, if it still counts; otherwise a new one.
async fn find_or_ask(
    approvals: &Approvals,
    ask: &Ask,
    agent: &str,
    host: &Host,
) -> Result<Request, Refusal> {
    let (agent, host) = (requester(agent), asked_host(host));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let earlier = approvals
        .list(LOOK_BACK)
        .await
        .map_err(|_| Refusal::NoOwner("the store does not answer"))?;
    let same = |request: &&Request| {
        let named = request.host.as_deref().unwrap_or_default();
        request.action == Action::Http
            && request.requester == agent
            && named.trim_start_matches('[').trim_end_matches(']') == host
    };
    if let Some(request) = earlier.iter().find(same)
        && still_counts(request, now_ms())
    {
        return Ok(request.clone());
    }
    approvals.ask(ask).await.map_err(|error| {
        Refusal::NoOwner(match error {
            AskError::TooManyOfYours => {
                "too many of this agent's requests wait for an answer already"
            }
            AskError::TooOften => "this agent asked too often within an hour",
            AskError::TooMany => "too many requests wait for an answer already",
            AskError::Unrecorded => "the request could not be recorded",
            AskError::Invalid(_) => "the host cannot be shown to the owner",
            AskError::Store(_) | AskError::NoRandom => "the request could not be kept",
        })
    })
}

/// Whether an earlier request says something about the next connection: open, approved for one time and unused, or
/// refused a moment ago.
fn still_counts(request: &Request, now_ms: i64) -> bool {
    let ago = now_ms
        .saturating_sub(request.decided_ms.unwrap_or(0))
        .max(0)
        .unsigned_abs();
    let within = |time: Duration| u128::from(ago) < time.as_millis();
    match request.state {
        State::Pending => request.expires_ms > now_ms,
        State::Approved => {
            request.scope == Some(Scope::Once) && !request.used && within(Duration::from_secs(3600))
        }
        State::Denied => within(DENIED_FOR),
        State::Expired => within(SILENT_FOR),
    }
}

fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

/// The same words for the same agent and host, so that an approval fits however often it is asked for.
fn wording(agent: &str, host: &Host) -> Ask {
    Ask::new(
        Action::Http,
        "A connection to a host that is not on the allowlist",
        requester(agent),
    )
    .to_host(asked_host(host))
}

/// Agents with names ask as parts of the agent, which may look at what becomes of their requests.
fn requester(agent: &str) -> String {
    if agent == ANYBODY {
        ANYBODY.to_owned()
    } else {
        format!("{ANYBODY}/{agent}")
    }
}

/// A host as approvals name it.
fn asked_host(host: &Host) -> String {
    match host {
        Host::Ip(IpAddr::V6(ip)) => format!("[{ip}]"),
        host => host.to_string(),
    }
}
