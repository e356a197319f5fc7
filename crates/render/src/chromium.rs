//! The renderer: gives pages their turn, and always has a browser that is neither dead nor worn out.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use blastshield_policy::check_url;
use blastshield_web::Connector;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::browser::Browser;
use crate::context::Turn;
use crate::door::{Door, Way};
use crate::error::{LaunchError, RenderError};
use crate::flags;
use crate::options::{ChromiumOptions, RenderOptions, Rendered};
use crate::page::Page;

/// How long a healthy browser may take to say so.
const HEALTH: Duration = Duration::from_secs(3);

/// Renders pages in a Chromium of its own. Cheap to clone; the browser is closed when the last clone is dropped.
#[derive(Clone)]
pub struct Chromium(Arc<Inner>);

struct Inner {
    options: ChromiumOptions,
    binary: PathBuf,
    way: Way,
    turns: Arc<Semaphore>,
    current: tokio::sync::Mutex<Option<Arc<Browser>>>,
    running: Mutex<Vec<watch::Receiver<bool>>>,
    closing: CancellationToken,
}

impl Chromium {
    /// Finds the executable; the browser itself is started by the first page, or by [`Chromium::reach`].
    ///
    /// # Errors
    /// When there is none, or it could not run as this user.
    pub fn new(options: ChromiumOptions) -> Result<Self, LaunchError> {
        let binary = flags::find(&options)?;
        if !options.no_sandbox && rustix::process::geteuid().is_root() {
            return Err(LaunchError::RootNeedsNoSandbox);
        }
        let connector =
            Connector::new(&[], options.upstream_proxy.clone()).map_err(|_| LaunchError::Spawn)?;
        Ok(Self(Arc::new(Inner {
            binary,
            way: Way {
                policy: Arc::clone(&options.policy),
                resolver: options.resolver.clone(),
                connector,
                limits: options.traffic,
            },
            turns: Arc::new(Semaphore::new(options.max_concurrent.max(1))),
            current: tokio::sync::Mutex::default(),
            running: Mutex::default(),
            closing: CancellationToken::new(),
            options,
        })))
    }

    /// As [`Chromium::new`], and starts the browser.
    ///
    /// # Errors
    /// When it cannot be started or does not answer.
    pub async fn launch(options: ChromiumOptions) -> Result<Self, LaunchError> {
        let chromium = Self::new(options)?;
        Arc::clone(&chromium.0).obtain().await?;
        Ok(chromium)
    }

    /// Renders one page in a fresh browser context.
    ///
    /// # Errors
    /// When policy refuses the page, any limit is reached, the page ends up as no document of an origin, or the browser fails.
    pub async fn render(
        &self,
        url: &Url,
        options: &RenderOptions,
    ) -> Result<Rendered, RenderError> {
        let deadline = Instant::now() + options.timeout;
        tokio::select! {
            biased;
            () = self.0.closing.cancelled() => Err(RenderError::ShuttingDown),
            outcome = timeout_at(deadline, self.0.render(url, options, deadline)) => {
                outcome.unwrap_or(Err(RenderError::Timeout))
            }
        }
    }

    /// Opens a page and runs scripts in it, one after the other; each is tried until it gives something else than null.
    /// For tests of our own pages.
    ///
    /// # Errors
    /// As [`Chromium::render`]; a script that gives nothing in time is a timeout.
    #[cfg(feature = "hands")]
    pub async fn act(
        &self,
        url: &Url,
        scripts: &[&str],
        options: &RenderOptions,
    ) -> Result<Vec<serde_json::Value>, RenderError> {
        let deadline = Instant::now() + options.timeout;
        let acted = async {
            let turn = Arc::clone(&self.0.turns).acquire_owned().await;
            let turn = Arc::new(turn.map_err(|_| RenderError::ShuttingDown)?);
            let mut page = self.0.open(&turn).await?;
            page.act(url, scripts, options).await
        };
        timeout_at(deadline, acted)
            .await
            .unwrap_or(Err(RenderError::Timeout))
    }

    /// Whether a browser runs and answers; starts one if none does.
    ///
    /// # Errors
    /// When it cannot be started or does not answer.
    pub async fn reach(&self) -> Result<(), RenderError> {
        if self.0.closing.is_cancelled() {
            return Err(RenderError::ShuttingDown);
        }
        let browser = self.0.obtain_detached().await?;
        match timeout(HEALTH, browser.reach()).await {
            Ok(Ok(())) => Ok(()),
            _ => {
                browser.retire();
                Err(RenderError::Browser)
            }
        }
    }

    /// Ends every render and waits until no process and no profile is left.
    pub async fn shutdown(&self) {
        self.0.closing.cancel();
        self.0.turns.close();
        if let Some(browser) = self.0.current.lock().await.take() {
            browser.stop();
        }
        let running = std::mem::take(&mut *self.0.running());
        for mut ended in running {
            // An error means that the task is gone, and the browser with it.
            let _ = ended.wait_for(|ended| *ended).await;
        }
    }
}

impl Inner {
    async fn render(
        self: &Arc<Self>,
        url: &Url,
        options: &RenderOptions,
        deadline: Instant,
    ) -> Result<Rendered, RenderError> {
        let target =
            check_url(url.as_str(), &(self.options.policy)()).map_err(RenderError::refused)?;
        let turn = match timeout_at(deadline, Arc::clone(&self.turns).acquire_owned()).await {
            Ok(Ok(turn)) => Arc::new(turn),
            Ok(Err(_)) => return Err(RenderError::ShuttingDown),
            Err(_) => return Err(RenderError::Busy),
        };
        let mut page = match self.open(&turn).await {
            // A browser that died unnoticed is replaced before anyone hears of it.
            Err(RenderError::Browser) => self.open(&turn).await?,
            opened => opened?,
        };
        page.render(&target.url, options, deadline).await
    }

    async fn open(self: &Arc<Self>, turn: &Turn) -> Result<Page, RenderError> {
        let browser = self.obtain_detached().await?;
        browser.count_page();
        let door = Door::open(self.way.clone())
            .await
            .ok_or(LaunchError::Listen)?;
        Page::open(browser, door, Arc::clone(turn)).await
    }

    /// A caller that gives up does not undo the start of a browser that the next one needs.
    async fn obtain_detached(self: &Arc<Self>) -> Result<Arc<Browser>, RenderError> {
        let obtained = tokio::spawn(Arc::clone(self).obtain());
        Ok(obtained.await.map_err(|_| RenderError::Browser)??)
    }

    async fn obtain(self: Arc<Self>) -> Result<Arc<Browser>, LaunchError> {
        let mut current = self.current.lock().await;
        if let Some(browser) = current.as_ref().filter(|browser| browser.is_usable()) {
            return Ok(Arc::clone(browser));
        }
        // Pages that still use the old one keep it until they are done.
        *current = None;
        if self.closing.is_cancelled() {
            return Err(LaunchError::Silent);
        }
        let browser = Arc::new(Browser::launch(&self.binary, &self.options).await?);
        let mut running = self.running();
        running.retain(|ended| !*ended.borrow());
        running.push(browser.ended());
        drop(running);
        *current = Some(Arc::clone(&browser));
        Ok(browser)
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Vec<watch::Receiver<bool>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
