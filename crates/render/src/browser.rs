//! One running browser: its process, its protocol, and the end of both.

use std::future::pending;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde::de::IgnoredAny;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::cdp::{CallError, Cdp};
use crate::error::LaunchError;
use crate::options::ChromiumOptions;
use crate::process::Process;

/// How long a browser may take to close by itself.
const FAREWELL: Duration = Duration::from_secs(3);

/// A browser. It is closed when the last page that uses it is done and nobody holds it.
pub(crate) struct Browser {
    pub(crate) cdp: Arc<Cdp>,
    pages: AtomicU32,
    max_pages: u32,
    retired: AtomicBool,
    stop: CancellationToken,
    ended: watch::Receiver<bool>,
}

impl Browser {
    /// Starts one and waits until it answers.
    pub(crate) async fn launch(
        binary: &Path,
        options: &ChromiumOptions,
    ) -> Result<Self, LaunchError> {
        let nowhere = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(|_| LaunchError::Listen)?;
        let address = nowhere.local_addr().map_err(|_| LaunchError::Listen)?;
        let (process, input, output) = Process::start(binary, options, address)?;
        let (cdp, outgoing) = Cdp::new();
        let cdp = Arc::new(cdp);
        let stop = CancellationToken::new();
        let (end, ended) = watch::channel(false);
        let life = Life {
            cdp: Arc::clone(&cdp),
            process,
            stop: stop.clone(),
            end,
        };
        tokio::spawn(life.run(nowhere, outgoing, input, output));
        let browser = Self {
            cdp,
            pages: AtomicU32::new(0),
            max_pages: options.max_pages.max(1),
            retired: AtomicBool::new(false),
            stop,
            ended,
        };
        match timeout(options.start_timeout, browser.greet()).await {
            Ok(Ok(())) => Ok(browser),
            _ => Err(LaunchError::Silent),
        }
    }

    async fn greet(&self) -> Result<(), CallError> {
        self.reach().await?;
        let pages = json!({ "discover": true, "filter": [{ "type": "page" }] });
        self.cdp
            .call::<IgnoredAny>(None, "Target.setDiscoverTargets", pages)
            .await?;
        Ok(())
    }

    /// Whether it answers.
    pub(crate) async fn reach(&self) -> Result<(), CallError> {
        self.cdp
            .call::<IgnoredAny>(None, "Browser.getVersion", json!({}))
            .await?;
        Ok(())
    }

    /// Whether it may take another page.
    pub(crate) fn is_usable(&self) -> bool {
        !self.cdp.is_closed()
            && !self.retired.load(Ordering::Relaxed)
            && self.pages.load(Ordering::Relaxed) < self.max_pages
    }

    pub(crate) fn count_page(&self) {
        self.pages.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes no more pages.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Relaxed);
    }

    /// Closes it now, whoever uses it.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Becomes true when the process and its profile are gone.
    pub(crate) fn ended(&self) -> watch::Receiver<bool> {
        self.ended.clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The task that outlives every handle on the browser, until its process is gone.
struct Life {
    cdp: Arc<Cdp>,
    process: Process,
    stop: CancellationToken,
    end: watch::Sender<bool>,
}

impl Life {
    async fn run(
        self,
        nowhere: TcpListener,
        outgoing: mpsc::Receiver<Vec<u8>>,
        input: ChildStdin,
        output: ChildStdout,
    ) {
        let mut talk = Box::pin(async {
            tokio::select! {
                () = self.cdp.read(output) => {}
                () = forever(Cdp::write(outgoing, input)) => {}
                () = refuse_all(nowhere) => {}
            }
        });
        tokio::select! {
            () = &mut talk => {}
            () = self.stop.cancelled() => {
                self.cdp.tell(None, "Browser.close", json!({}));
                // One that does not close is killed below.
                let _ = timeout(FAREWELL, &mut talk).await;
            }
        }
        drop(talk);
        self.cdp.close();
        self.process.settle().await;
        self.process.end().await;
        self.end.send_replace(true);
    }
}

async fn forever(work: impl Future<Output = ()>) {
    work.await;
    pending::<()>().await;
}

/// The proxy of whatever belongs to no page.
async fn refuse_all(listener: TcpListener) {
    loop {
        if listener.accept().await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
