//! A page as a browser shows it, rendered by a Browserless service.
//!
//! The service dials the page itself: whoever calls this checks the address before, and the final one after.
//! The final address is the one of the document's response; a script may have moved on since.

use crate::base::BaseUrl;
use crate::error::{CallError, ConfigError, Fault};
use crate::secret::Secret;
use crate::transport::{Limits, Reply, Transport};
use reqwest::Request;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};
use std::str::FromStr;
use std::time::Duration;
use url::Url;

const URL_HEADER: &str = "x-response-url";
const STATUS_HEADER: &str = "x-response-code";
const FINAL_URL_BYTES: usize = 4_096;
const SELECTOR_BYTES: usize = 1_000;
/// What the service may need beside waiting for the page: starting a browser, sending the answer.
const GRACE: Duration = Duration::from_secs(3);

/// When a page counts as loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitUntil {
    /// The document is parsed.
    DomContentLoaded,
    /// Images and styles are there too.
    Load,
    /// The network has been quiet for a moment.
    #[default]
    NetworkIdle,
}

impl WaitUntil {
    fn puppeteer(self) -> &'static str {
        match self {
            Self::DomContentLoaded => "domcontentloaded",
            Self::Load => "load",
            Self::NetworkIdle => "networkidle0",
        }
    }
}

impl FromStr for WaitUntil {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        match text.trim() {
            "domcontentloaded" => Ok(Self::DomContentLoaded),
            "load" => Ok(Self::Load),
            "networkidle" => Ok(Self::NetworkIdle),
            _ => Err(ConfigError::Unusable {
                what: "the renderer's wait condition (domcontentloaded, load or networkidle)",
            }),
        }
    }
}

/// How pages are rendered.
#[derive(Clone, Debug)]
pub struct BrowserlessOptions {
    /// The service's address.
    pub base: BaseUrl,
    /// Its token, if it wants one.
    pub token: Option<Secret>,
    /// How long a page may take to load, and again a selector to appear.
    pub timeout: Duration,
    /// When it counts as loaded.
    pub wait_until: WaitUntil,
    /// An element to wait for.
    pub wait_for_selector: Option<String>,
    /// How large the HTML may be; more is an error, never cut.
    pub max_html_bytes: usize,
    /// Whether the service leaves advertisements out.
    pub block_ads: bool,
}

impl BrowserlessOptions {
    /// The defaults for this service.
    #[must_use]
    pub fn new(base: BaseUrl) -> Self {
        Self {
            base,
            token: None,
            timeout: Duration::from_secs(12),
            wait_until: WaitUntil::default(),
            wait_for_selector: None,
            max_html_bytes: 1_500_000,
            block_ads: true,
        }
    }
}

/// A rendered page. All of it is an outsider's word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The document after scripts ran.
    pub html: String,
    /// Where redirects ended, as the service says; to be checked like any other address.
    pub final_url: Option<String>,
    /// The document's HTTP status, as the service says.
    pub status: Option<u16>,
}

/// No rendered page, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// Only http and https pages are rendered.
    #[error("only http and https pages without user or password can be rendered")]
    Url,
    /// The exchange with the service failed.
    #[error("renderer: {0}")]
    Call(#[from] CallError),
    /// The service answered with something that is not a page.
    #[error("the renderer's answer is not an HTML page")]
    BadAnswer,
}

impl RenderError {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(self) -> Fault {
        match self {
            Self::Url => Fault::Caller,
            Self::Call(call) => call.fault(),
            Self::BadAnswer => Fault::Service,
        }
    }
}

/// A client of a Browserless service.
#[derive(Debug)]
pub struct Browserless {
    options: BrowserlessOptions,
    transport: Transport,
}

impl Browserless {
    /// A client with these options.
    ///
    /// # Errors
    /// A selector that is too long, a size or time of zero.
    pub fn new(options: BrowserlessOptions) -> Result<Self, ConfigError> {
        let unusable = |what| Err(ConfigError::Unusable { what });
        let selector = options.wait_for_selector.as_deref().unwrap_or_default();
        if selector.len() > SELECTOR_BYTES {
            return unusable("the renderer's selector");
        }
        if options.timeout.is_zero() {
            return unusable("the renderer's timeout");
        }
        if options.max_html_bytes == 0 {
            return unusable("the renderer's HTML limit");
        }
        Ok(Self {
            transport: Transport::new()?,
            options,
        })
    }

    /// Whether the service answers; renders nothing.
    ///
    /// # Errors
    /// When there is no HTTP answer in time.
    pub async fn reach(&self) -> Result<(), CallError> {
        self.transport
            .reach(self.options.base.join(&[]), self.options.timeout)
            .await
    }

    /// Renders the page at an address that was checked already.
    ///
    /// # Errors
    /// An address that is not the web's, a service that failed, or an answer that is not a page.
    pub async fn render(&self, page: &Url) -> Result<Rendered, RenderError> {
        let web = matches!(page.scheme(), "http" | "https")
            && page.username().is_empty()
            && page.password().is_none();
        if !web {
            return Err(RenderError::Url);
        }
        let limits = Limits {
            deadline: self.deadline(),
            max_bytes: self.options.max_html_bytes,
        };
        match self.transport.call(self.request(page), limits).await {
            Ok(reply) => read(reply).ok_or(RenderError::BadAnswer),
            Err(CallError::Rejected { status: 408 }) => Err(CallError::Timeout.into()),
            Err(error) => Err(error.into()),
        }
    }

    fn selector(&self) -> Option<&str> {
        let selector = self.options.wait_for_selector.as_deref()?.trim();
        (!selector.is_empty()).then_some(selector)
    }

    fn deadline(&self) -> Duration {
        let waits = 1 + u32::from(self.selector().is_some());
        self.options.timeout * waits + GRACE
    }

    fn request(&self, page: &Url) -> Request {
        let mut url = self.options.base.join(&["chromium", "content"]);
        if let Some(token) = self
            .options
            .token
            .as_ref()
            .filter(|token| !token.is_empty())
        {
            url.query_pairs_mut().append_pair("token", token.expose());
        }
        // The service takes this one beside the token; in the body it refuses it.
        if self.options.block_ads {
            url.query_pairs_mut().append_pair("blockAds", "true");
        }
        let mut request = Request::new(reqwest::Method::POST, url);
        *request.body_mut() = Some(self.body(page).to_string().into());
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request
    }

    fn body(&self, page: &Url) -> Value {
        let timeout = u64::try_from(self.options.timeout.as_millis()).unwrap_or(u64::MAX);
        let mut body = json!({
            "url": page.as_str(),
            "gotoOptions": {"waitUntil": self.options.wait_until.puppeteer(), "timeout": timeout},
            "bestAttempt": true,
        });
        if let (Some(selector), Some(fields)) = (self.selector(), body.as_object_mut()) {
            fields.insert(
                "waitForSelector".to_owned(),
                json!({"selector": selector, "timeout": timeout}),
            );
        }
        body
    }
}

fn read(reply: Reply) -> Option<Rendered> {
    if !is_html(&reply.headers) {
        return None;
    }
    let final_url = single(&reply.headers, URL_HEADER)?
        .filter(|url| url.len() <= FINAL_URL_BYTES)
        .map(str::to_owned);
    let status = single(&reply.headers, STATUS_HEADER)?
        .and_then(|code| code.parse().ok())
        .filter(|code| (100..=599).contains(code));
    Some(Rendered {
        html: String::from_utf8(reply.body).ok()?,
        final_url,
        status,
    })
}

fn is_html(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(CONTENT_TYPE) else {
        return true;
    };
    let kind = kind.to_str().unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("text/html")
        || essence.eq_ignore_ascii_case("application/xhtml+xml")
}

/// A header's only value; nothing at all where it stands twice and one could be believed for the other.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<Option<&'a str>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() {
        return None;
    }
    Some(
        first
            .and_then(|value| value.to_str().ok())
            .map(str::trim)
            .filter(|text| !text.is_empty()),
    )
}
