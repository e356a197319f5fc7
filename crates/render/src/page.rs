//! One page in a browser context of its own: opened, loaded, read, and gone.

use std::sync::Arc;
use std::time::Duration;

use blastshield_web::FetchError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use url::Url;

use crate::browser::Browser;
use crate::cdp::{CallError, Cdp, Event};
use crate::context::{Context, Turn, failed};
use crate::door::{Door, USER};
use crate::error::RenderError;
use crate::options::{RenderOptions, Rendered};
use crate::progress::Progress;
use crate::wire::{
    Appeared, Attached, Challenge, Evaluated, NavigateAnswer, Paused, TargetCreated, World,
};

/// How often the selector is looked for.
const LOOK: Duration = Duration::from_millis(100);
/// Longer selectors are not passed on.
const MAX_SELECTOR: usize = 1024;
/// Documents that may replace each other while they are read.
const MAX_READS: usize = 4;

/// An open page.
pub(crate) struct Page {
    context: Context,
    door: Door,
    session: String,
    target: String,
    events: mpsc::Receiver<Event>,
    progress: Progress,
    challenged: Vec<String>,
}

impl Page {
    /// Opens an empty page whose only way out is the door.
    pub(crate) async fn open(
        browser: Arc<Browser>,
        door: Door,
        turn: Turn,
    ) -> Result<Self, RenderError> {
        let context = Context::create(browser, &door, turn).await?;
        let (sender, events) = Cdp::inbox();
        let cdp = &context.browser.cdp;
        let id = &context.id;
        cdp.listen(id, &sender);
        let deny = json!({ "behavior": "deny", "browserContextId": id });
        cdp.call::<IgnoredAny>(None, "Browser.setDownloadBehavior", deny)
            .await
            .map_err(failed)?;
        let none = json!({ "permissions": [], "browserContextId": id });
        cdp.call::<IgnoredAny>(None, "Browser.grantPermissions", none)
            .await
            .map_err(failed)?;
        let blank = json!({ "url": "about:blank", "browserContextId": id });
        let created: TargetCreated = cdp
            .call(None, "Target.createTarget", blank)
            .await
            .map_err(failed)?;
        let target = created.target_id;
        let flat = json!({ "targetId": target, "flatten": true });
        let attached: Attached = cdp
            .call(None, "Target.attachToTarget", flat)
            .await
            .map_err(failed)?;
        let session = attached.session_id;
        cdp.listen(&session, &sender);
        for (method, params) in preparations() {
            cdp.call::<IgnoredAny>(Some(&session), method, params)
                .await
                .map_err(failed)?;
        }
        Ok(Self {
            progress: Progress::of_frame(&target),
            context,
            door,
            session,
            target,
            events,
            challenged: Vec::new(),
        })
    }

    /// Loads the URL, waits as asked, and reads the document.
    pub(crate) async fn render(
        &mut self,
        url: &Url,
        options: &RenderOptions,
        deadline: Instant,
    ) -> Result<Rendered, RenderError> {
        let settle_by = if options.best_attempt {
            deadline - options.timeout / 5
        } else {
            deadline
        };
        let settled = match timeout_at(settle_by, self.load(url, options)).await {
            Ok(loaded) => loaded.map(|()| true)?,
            Err(_) if options.best_attempt && self.progress.has_reached("DOMContentLoaded") => {
                false
            }
            Err(_) => return Err(RenderError::Timeout),
        };
        for _ in 0..MAX_READS {
            let loader = self.progress.loader().map(ToOwned::to_owned);
            let html = self.read(options.max_html_bytes).await?;
            self.check()?;
            if let Some(html) = html
                && loader.as_deref() == self.progress.loader()
            {
                return self.finish(html, settled);
            }
            self.wait(options).await?;
        }
        Err(RenderError::Timeout)
    }

    /// Loads the URL and runs scripts in it, each until it gives something else than null.
    #[cfg(feature = "hands")]
    pub(crate) async fn act(
        &mut self,
        url: &Url,
        scripts: &[&str],
        options: &RenderOptions,
    ) -> Result<Vec<Value>, RenderError> {
        self.load(url, options).await?;
        let mut given = Vec::new();
        for script in scripts {
            given.push(loop {
                match self.evaluate(script).await? {
                    None | Some(Value::Null) => self.drive(sleep(LOOK)).await?,
                    Some(value) => break value,
                }
            });
        }
        Ok(given)
    }

    async fn load(&mut self, url: &Url, options: &RenderOptions) -> Result<(), RenderError> {
        let to = json!({ "url": url.as_str() });
        match self.ask::<NavigateAnswer>("Page.navigate", to).await? {
            Ok(NavigateAnswer { error_text: None }) => {}
            Ok(NavigateAnswer {
                error_text: Some(name),
            }) => return Err(self.cause().unwrap_or(RenderError::from_net_error(&name))),
            Err(error) => return Err(failed(error)),
        }
        self.wait(options).await
    }

    async fn wait(&mut self, options: &RenderOptions) -> Result<(), RenderError> {
        while !self.progress.has_reached(options.wait_until.event()) {
            let event = self.events.recv().await.ok_or_else(|| self.lost())?;
            self.handle(&event)?;
            self.check()?;
        }
        let Some(selector) = &options.wait_for_selector else {
            return Ok(());
        };
        if selector.len() > MAX_SELECTOR {
            return Err(RenderError::Selector);
        }
        let look = format!("document.querySelector({}) !== null", json!(selector));
        loop {
            match self.evaluate(&look).await? {
                Some(Value::Bool(true)) => return Ok(()),
                Some(Value::Bool(false)) | None => {}
                Some(_) => return Err(RenderError::Selector),
            }
            self.drive(sleep(LOOK)).await?;
            self.check()?;
        }
    }

    /// The document as text; `None` if it was replaced meanwhile.
    async fn read(&mut self, max_bytes: usize) -> Result<Option<String>, RenderError> {
        let script = format!(
            "(() => {{
                const root = document.documentElement;
                if (!root) return '';
                const type = document.doctype
                    ? new XMLSerializer().serializeToString(document.doctype) : '';
                const html = root.outerHTML;
                return type.length + html.length > {max_bytes} ? false : (type + html).toWellFormed();
            }})()"
        );
        match self.evaluate(&script).await? {
            None => Ok(None),
            Some(Value::String(html)) if html.len() <= max_bytes => Ok(Some(html)),
            Some(Value::String(_) | Value::Bool(false)) => Err(RenderError::TooLarge),
            Some(_) => Err(RenderError::Crashed),
        }
    }

    /// Runs a script where the page's own scripts cannot meddle. A script that fails gives null.
    async fn evaluate(&mut self, script: &str) -> Result<Option<Value>, RenderError> {
        let frame = json!({ "frameId": self.target, "worldName": "reader" });
        let world = match self.ask::<World>("Page.createIsolatedWorld", frame).await? {
            Ok(world) => world.execution_context_id,
            Err(CallError::Rejected) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let params = json!({ "expression": script, "contextId": world, "returnByValue": true });
        match self.ask::<Evaluated>("Runtime.evaluate", params).await? {
            Ok(Evaluated {
                exception_details: Some(_),
                ..
            }) => Ok(Some(Value::Null)),
            Ok(evaluated) => Ok(Some(evaluated.result.value)),
            Err(CallError::Rejected) => Ok(None),
            Err(CallError::TooLarge) => Err(RenderError::TooLarge),
            Err(error) => Err(failed(error)),
        }
    }

    fn finish(&self, html: String, settled: bool) -> Result<Rendered, RenderError> {
        let document = self.progress.document().ok_or(RenderError::NotAPage)?;
        if matches!(document.status, 403 | 502)
            && let Some(cause) = self.door.traffic.failure(&document.url)
        {
            return Err(self.counted(cause));
        }
        Ok(Rendered {
            html,
            final_url: document.url.clone(),
            status: document.status,
            media_type: document.media_type.clone(),
            settled,
            blocked_requests: self.door.traffic.refused(),
        })
    }

    /// Asks the page's session while its events are handled.
    async fn ask<T: for<'a> Deserialize<'a>>(
        &mut self,
        method: &str,
        params: Value,
    ) -> Result<Result<T, CallError>, RenderError> {
        let cdp = Arc::clone(&self.context.browser.cdp);
        let session = self.session.clone();
        self.drive(async move { cdp.call(Some(&session), method, params).await })
            .await
    }

    /// Handles events until the work is done, and all those that came before its end.
    async fn drive<T>(&mut self, work: impl Future<Output = T>) -> Result<T, RenderError> {
        let mut work = std::pin::pin!(work);
        let done = loop {
            tokio::select! {
                event = self.events.recv() => {
                    let event = event.ok_or_else(|| self.lost())?;
                    self.handle(&event)?;
                }
                done = &mut work => break done,
            }
        };
        for _ in 0..self.events.len() {
            if let Ok(event) = self.events.try_recv() {
                self.handle(&event)?;
            }
        }
        Ok(done)
    }

    fn handle(&mut self, event: &Event) -> Result<(), RenderError> {
        match event.method.as_str() {
            "Inspector.targetCrashed" => return Err(RenderError::Crashed),
            "Page.javascriptDialogOpening" => {
                self.tell("Page.handleJavaScriptDialog", json!({ "accept": false }));
            }
            "Fetch.authRequired" => self.show_password(event),
            "Fetch.requestPaused" => {
                if let Some(paused) = event.read::<Paused>() {
                    let request = json!({ "requestId": paused.request_id });
                    self.tell("Fetch.continueRequest", request);
                }
            }
            "Target.targetCreated" => self.close_popup(event),
            _ => self.progress.note(event),
        }
        Ok(())
    }

    /// The door's password, once per request and to nobody else.
    fn show_password(&mut self, event: &Event) {
        let Some(challenge) = event.read::<Challenge>() else {
            return;
        };
        let by_door = challenge.auth_challenge.source.as_deref() == Some("Proxy");
        let again = self.challenged.contains(&challenge.request_id);
        let response = if by_door && !again && self.challenged.len() < 256 {
            self.challenged.push(challenge.request_id.clone());
            let password = &self.door.password;
            json!({ "response": "ProvideCredentials", "username": USER, "password": password })
        } else {
            json!({ "response": "CancelAuth" })
        };
        let params =
            json!({ "requestId": challenge.request_id, "authChallengeResponse": response });
        self.tell("Fetch.continueWithAuth", params);
    }

    fn close_popup(&self, event: &Event) {
        if let Some(appeared) = event.read::<Appeared>()
            && appeared.target_info.target_id != self.target
        {
            let popup = json!({ "targetId": appeared.target_info.target_id });
            self.context
                .browser
                .cdp
                .tell(None, "Target.closeTarget", popup);
        }
    }

    fn tell(&self, method: &str, params: Value) {
        self.context
            .browser
            .cdp
            .tell(Some(&self.session), method, params);
    }

    fn check(&self) -> Result<(), RenderError> {
        if self.door.traffic.is_overrun() {
            Err(RenderError::TooMuchTraffic)
        } else if self.progress.is_misled() {
            Err(self.cause().unwrap_or(RenderError::NotAPage))
        } else {
            Ok(())
        }
    }

    /// Why the main document could not be had, if the door knows.
    fn cause(&self) -> Option<RenderError> {
        if self.door.traffic.is_overrun() {
            return Some(RenderError::TooMuchTraffic);
        }
        let (url, _) = self.progress.asked_last()?;
        let cause = self.door.traffic.failure(url)?;
        Some(self.counted(cause))
    }

    /// With the number of documents that were asked for before.
    fn counted(&self, cause: FetchError) -> RenderError {
        let hop = self.progress.asked_last().map_or(0, |(_, hop)| hop);
        RenderError::Fetch(match cause {
            FetchError::Refused { refusal, .. } => FetchError::Refused { hop, refusal },
            other => other,
        })
    }

    /// Why no more events come.
    fn lost(&self) -> RenderError {
        if self.context.browser.cdp.is_closed() {
            RenderError::Browser
        } else {
            RenderError::Crashed
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.context.browser.cdp.unlisten(&self.session);
    }
}

/// What a page's session is told before it loads anything.
fn preparations() -> [(&'static str, Value); 6] {
    // The door asks for its password at the first document; from then on the browser shows it by itself.
    let documents = json!([{ "urlPattern": "*", "resourceType": "Document" }]);
    let fetch = json!({ "handleAuthRequests": true, "patterns": documents });
    [
        ("Page.enable", json!({})),
        (
            "Network.enable",
            json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0 }),
        ),
        ("Inspector.enable", json!({})),
        ("Page.setLifecycleEventsEnabled", json!({ "enabled": true })),
        ("Network.setBypassServiceWorker", json!({ "bypass": true })),
        ("Fetch.enable", fetch),
    ]
}
