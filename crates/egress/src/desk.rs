//! Questions to the owner: one for each agent and host, however many connections wait for it.
//!
//! A question lives until it is decided. Those who wait for it when the owner says yes go on; if nobody waits any more, a
//! yes for one time is kept for the next who comes. A no is remembered for a while, so that the owner is not asked again
//! and again. What was asked before a restart is found again, not asked twice.

use crate::refusal::Refusal;
use crate::wording::{DENIED_FOR, SILENT_FOR, asked_host, find_or_ask, requester, wording};
use blastshield_owner::{Action, Approvals, Ask, Request, Scope, State, WaitError};
use blastshield_policy::Host;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

/// Questions and remembered answers at most.
const MAX_QUESTIONS: usize = 4096;
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
    /// The owner allowed this host to this agent before, for a time.
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
        let (host_asked, asker) = (asked_host(host), requester(agent));
        let granted = approvals.granted(Action::Http, &host_asked, &asker).await;
        match granted {
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
