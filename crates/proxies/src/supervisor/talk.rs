//! What is said between core and a worker, from the task to the end.

use super::Inner;
use super::hands::Hand;
use super::session::LAST_WORDS;
use crate::broker::{Broker, Reply};
use crate::protocol::{Ending, FromWorker, Job, LineError, Outcome, ToWorker, polled};
use blastshield_recovery::Exit;
use blastshield_sandbox::Exit as Ended;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// What came over the line.
pub(super) struct Talk {
    pub(super) outcome: Option<Outcome>,
    pub(super) timed_out: bool,
    pub(super) shut_down: bool,
}

impl Inner {
    /// Serves the worker until it has said what came of the task, is gone, or its time is up.
    pub(super) async fn talk(
        &self,
        hand: &mut Hand,
        broker: &mut Broker<'_>,
        job: Job,
        deadline: Instant,
    ) -> Talk {
        let mut talk = Talk {
            outcome: None,
            timed_out: false,
            shut_down: false,
        };
        let most = broker.definition.bounds.response_bytes * 2 + (256 << 10);
        let mut closing = self.closing.subscribe();
        if polled::send(&mut hand.line, &ToWorker::Task(Box::new(job)))
            .await
            .is_err()
        {
            return talk;
        }
        crate::fault::point("core:told");
        loop {
            let heard = tokio::select! {
                heard = timeout_at(deadline, polled::receive::<FromWorker>(&mut hand.line, most)) => heard,
                () = super::closed(&mut closing) => {
                    talk.shut_down = true;
                    let _ = polled::send(&mut hand.line, &ToWorker::End(Ending::Shutdown)).await;
                    return talk;
                }
            };
            let ask = match heard {
                Err(_) => {
                    talk.timed_out = true;
                    let _ = polled::send(&mut hand.line, &ToWorker::End(Ending::TimeOut)).await;
                    return talk;
                }
                Ok(Err(LineError::Closed)) => return talk,
                Ok(Err(LineError::TooLarge | LineError::Malformed) | Ok(FromWorker::Ready)) => {
                    broker.violated("broke the protocol");
                    hand.kill();
                    return talk;
                }
                Ok(Ok(FromWorker::Done(outcome))) => {
                    talk.outcome = Some(outcome);
                    return talk;
                }
                Ok(Ok(FromWorker::Ask(ask))) => ask,
            };
            let reply = tokio::select! {
                reply = timeout_at(deadline, broker.answer(&ask)) => reply,
                // Nobody waits for the answer any more.
                () = hand.gone() => return talk,
                () = super::closed(&mut closing) => {
                    talk.shut_down = true;
                    let _ = polled::send(&mut hand.line, &ToWorker::End(Ending::Shutdown)).await;
                    return talk;
                }
            };
            let told = match reply {
                Err(_) => {
                    talk.timed_out = true;
                    let _ = polled::send(&mut hand.line, &ToWorker::End(Ending::TimeOut)).await;
                    return talk;
                }
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
                return talk;
            }
        }
    }
}

/// Waits for the end, and brings it about when it does not come.
pub(super) async fn end(hand: &mut Hand, talk: &Talk, deadline: Instant) -> Exit {
    let grace = if talk.timed_out || talk.shut_down {
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
