//! A browser context: what a page has for itself, and takes with it when it goes.

use std::sync::Arc;
use std::time::Duration;

use serde::de::IgnoredAny;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::browser::Browser;
use crate::cdp::CallError;
use crate::door::Door;
use crate::error::RenderError;
use crate::wire::ContextCreated;

/// How long a browser may take to throw a page away.
const DISPOSAL: Duration = Duration::from_secs(3);

/// A place among the pages that are rendered at once; free again when the page is gone from the browser.
pub(crate) type Turn = Arc<OwnedSemaphorePermit>;

/// A browser context. When dropped, it is disposed of with all that is in it; a browser that cannot is given up.
pub(crate) struct Context {
    pub(crate) browser: Arc<Browser>,
    pub(crate) id: String,
    turn: Turn,
}

impl Context {
    pub(crate) async fn create(
        browser: Arc<Browser>,
        door: &Door,
        turn: Turn,
    ) -> Result<Self, RenderError> {
        // Given up half-way, the context would be left behind without a name.
        let unsure = RetireUnlessDone(Some(&browser));
        let params = json!({
            "proxyServer": format!("http://{}", door.address),
            "proxyBypassList": "<-loopback>",
        });
        let created: ContextCreated = browser
            .cdp
            .call(None, "Target.createBrowserContext", params)
            .await
            .map_err(failed)?;
        unsure.done();
        Ok(Self {
            browser,
            id: created.browser_context_id,
            turn,
        })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.browser.cdp.unlisten(&self.id);
        let Ok(runtime) = Handle::try_current() else {
            self.browser.stop();
            return;
        };
        let browser = Arc::clone(&self.browser);
        let params = json!({ "browserContextId": self.id });
        let turn = Arc::clone(&self.turn);
        runtime.spawn(async move {
            let disposed =
                browser
                    .cdp
                    .call::<IgnoredAny>(None, "Target.disposeBrowserContext", params);
            if !matches!(timeout(DISPOSAL, disposed).await, Ok(Ok(_))) {
                browser.retire();
            }
            drop(turn);
        });
    }
}

struct RetireUnlessDone<'a>(Option<&'a Browser>);

impl RetireUnlessDone<'_> {
    fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for RetireUnlessDone<'_> {
    fn drop(&mut self) {
        if let Some(browser) = self.0 {
            browser.retire();
        }
    }
}

/// A browser that does not do what every browser does.
pub(crate) fn failed(_: CallError) -> RenderError {
    RenderError::Browser
}
