//! What is said between core and a worker, from the task to the end.

use super::Inner;
use super::cuts::Cuts;
use super::hands::Hand;
use super::session::LAST_WORDS;
use crate::broker::{Broker, Reply};
use crate::protocol::{Ending, FromWorker, Job, LineError, Outcome, ToWorker, polled};
use blastshield_recovery::Exit;
use blastshield_sandbox::Exit as Ended;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// What came over the line.
#[derive(Default)]
pub(super) struct Talk {
    pub(super) outcome: Option<Outcome>,
    /// Why core ended it before it was done.
    pub(super) cut: Option<Ending>,
}

impl Inner {
    pub(super) fn cuts(&self) -> Cuts {
        Cuts {
            closing: self.closing.subscribe(),
            stop: self.config.stop.clone(),
        }
    }

    /// Serves the worker until it has said what came of the task, is gone, its time is up, or somebody cuts it short.
    pub(super) async fn talk(
        &self,
        hand: &mut Hand,
        broker: &mut Broker<'_>,
        job: Job,
        deadline: Instant,
    ) -> Talk {
        let most = broker.definition.bounds.response_bytes * 2 + (256 << 10);
        let mut cuts = self.cuts();
        let task = ToWorker::Task(Box::new(job));
        if polled::send(&mut hand.line, &task).await.is_err() {
            return Talk::default();
        }
        crate::fault::point("core:told");
        loop {
            let heard = tokio::select! {
                heard = timeout_at(deadline, polled::receive::<FromWorker>(&mut hand.line, most)) => heard,
                ending = cuts.comes() => return cut(hand, ending).await,
            };
            let ask = match heard {
                Err(_) => return cut(hand, Ending::TimeOut).await,
                Ok(Err(LineError::Closed)) => return Talk::default(),
                Ok(Err(LineError::TooLarge | LineError::Malformed) | Ok(FromWorker::Ready)) => {
                    broker.violated("broke the protocol");
                    hand.kill();
                    return Talk::default();
                }
                Ok(Ok(FromWorker::Done(outcome))) => {
                    return Talk {
                        outcome: Some(outcome),
                        cut: None,
                    };
                }
                Ok(Ok(FromWorker::Ask(ask))) => ask,
            };
            let reply = tokio::select! {
                reply = timeout_at(deadline, broker.answer(&ask)) => reply,
                // Nobody waits for the answer any more.
                () = hand.gone() => return Talk::default(),
                ending = cuts.comes() => return cut(hand, ending).await,
            };
            let told = match reply {
                Err(_) => return cut(hand, Ending::TimeOut).await,
                Ok(Reply::Answer(head, body)) => {
                    let sent = polled::send(&mut hand.line, &ToWorker::Answer(head)).await;
                    match sent {
                        Ok(()) => polled::send_bytes(&mut hand.line, &body).await,
                        Err(error) => Err(error),
                    }
                }
                Ok(Reply::Refused(refused)) => {
                    polled::send(&mut hand.line, &ToWorker::Refused(refused)).await
                }
            };
            if told.is_err() {
                return Talk::default();
            }
        }
    }
}

/// Tells the worker to go through its checklist and end.
async fn cut(hand: &mut Hand, ending: Ending) -> Talk {
    // If it does not hear it, its end shows that.
    let _ = polled::send(&mut hand.line, &ToWorker::End(ending)).await;
    Talk {
        outcome: None,
        cut: Some(ending),
    }
}

/// Waits for the end, and brings it about when it does not come.
pub(super) async fn end(hand: &mut Hand, talk: &Talk, deadline: Instant) -> Exit {
    let grace = if talk.cut.is_some() {
        LAST_WORDS
    } else {
        deadline
            .saturating_duration_since(Instant::now())
            .min(LAST_WORDS)
            .max(Duration::from_secs(1))
    };
    let told = |exit| match exit {
        Ended::Code(code) => Exit::Code(code),
        Ended::Signal(signal) => Exit::Signal(signal),
    };
    if let Some(exit) = hand.exit(grace).await {
        return told(exit);
    }
    hand.kill();
    let _ = hand.exit(LAST_WORDS).await;
    Exit::TimedOut
}
