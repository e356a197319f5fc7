//! Parts of one task that call each other: a connection, and whoever waits for what comes over it.

use futures_util::task::AtomicWaker;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

/// Rounds before others get a turn.
const ROUNDS: usize = 8;

/// Polls such parts. A call among them is answered by another round at once; by way of the scheduler it would wake a
/// second thread for what this one is about to do.
pub(crate) struct Together {
    calls: Arc<Calls>,
    waker: Waker,
}

#[derive(Default)]
struct Calls {
    /// The task that all parts belong to.
    task: AtomicWaker,
    /// A round is on.
    polling: AtomicBool,
    /// Somebody called since the round began.
    called: AtomicBool,
}

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // In this order, and the other way round in `poll`: one of the two sees the other.
        self.called.store(true, SeqCst);
        if !self.polling.load(SeqCst) {
            self.task.wake();
        }
    }
}

impl Together {
    pub(crate) fn new() -> Self {
        let calls = Arc::new(Calls::default());
        let waker = Waker::from(Arc::clone(&calls));
        Self { calls, waker }
    }

    /// Runs rounds until one is ready or nobody called meanwhile.
    pub(crate) fn poll<T>(
        &self,
        context: &mut Context<'_>,
        mut round: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let Calls {
            task,
            polling,
            called,
        } = &*self.calls;
        task.register(context.waker());
        let mut inner = Context::from_waker(&self.waker);
        for _ in 0..ROUNDS {
            called.store(false, SeqCst);
            polling.store(true, SeqCst);
            let outcome = round(&mut inner);
            polling.store(false, SeqCst);
            if outcome.is_ready() || !called.load(SeqCst) {
                return outcome;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    /// Rounds and wakes of the task, when each of the first `calls` rounds calls for another.
    fn rounds(calls: usize) -> (usize, usize) {
        let task = Arc::new(Counted::default());
        let waker = Waker::from(Arc::clone(&task));
        let mut rounds = 0;
        let outcome = Together::new().poll(&mut Context::from_waker(&waker), |context| {
            rounds += 1;
            if rounds <= calls {
                context.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        });
        assert!(outcome.is_pending());
        (rounds, task.0.load(SeqCst))
    }

    #[test]
    fn a_call_within_a_round_is_answered_by_another_and_not_by_the_scheduler() {
        assert_eq!(rounds(0), (1, 0));
        assert_eq!(rounds(1), (2, 0));
        assert_eq!(rounds(3), (4, 0));
    }

    #[test]
    fn parts_that_never_stop_calling_leave_others_a_turn() {
        assert_eq!(rounds(usize::MAX), (ROUNDS, 1));
    }

    #[test]
    fn a_call_between_polls_wakes_the_task() {
        let task = Arc::new(Counted::default());
        let waker = Waker::from(Arc::clone(&task));
        let together = Together::new();
        let mut inner = None;
        let _ = together.poll(&mut Context::from_waker(&waker), |context| {
            inner = Some(context.waker().clone());
            Poll::<()>::Pending
        });
        inner.unwrap().wake();
        assert_eq!(task.0.load(SeqCst), 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_call_from_another_thread_is_lost() {
        for _ in 0..2_000 {
            let (sender, mut wanted) = tokio::sync::oneshot::channel();
            let together = Together::new();
            let other = tokio::spawn(async move { sender.send(7) });
            let got = std::future::poll_fn(|context| {
                together.poll(context, |context| {
                    std::pin::Pin::new(&mut wanted).poll(context)
                })
            });
            let got = tokio::time::timeout(std::time::Duration::from_secs(20), got).await;
            assert_eq!(got.unwrap(), Ok(7));
            other.await.unwrap().unwrap();
        }
    }
}
