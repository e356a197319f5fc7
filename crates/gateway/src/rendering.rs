//! The browser behind retrieval: a Browserless service, or a Chromium of our own.

use blastshield_render::{Chromium, RenderOptions};
use blastshield_upstream::{Browserless, CallError, RenderError};
use blastshield_web::{FetchError, Phase};
use url::Url;

/// A configured renderer.
#[allow(clippy::large_enum_variant, reason = "there is one per process")]
pub(crate) enum Renderer {
    /// Polices nothing but what we check before and after.
    Browserless(Browserless),
    /// Every request of a page passes our guard.
    Chromium {
        browser: Chromium,
        options: RenderOptions,
    },
}

/// A page as a browser built it.
pub(crate) struct Rendered {
    pub(crate) html: String,
    /// Where it ended, if the renderer says so.
    pub(crate) final_url: Option<String>,
    pub(crate) status: Option<u16>,
}

impl Renderer {
    /// Its name on the wire.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Browserless(_) => "browserless",
            Self::Chromium { .. } => "chromium",
        }
    }

    /// Renders a page.
    pub(crate) async fn render(&self, url: &Url) -> Result<Rendered, FetchError> {
        match self {
            Self::Browserless(service) => {
                let page = service.render(url).await.map_err(by_service)?;
                Ok(Rendered {
                    html: page.html,
                    final_url: page.final_url,
                    status: page.status,
                })
            }
            Self::Chromium { browser, options } => {
                let page = browser.render(url, options).await.map_err(by_browser)?;
                Ok(Rendered {
                    html: page.html,
                    final_url: Some(page.final_url.into()),
                    status: Some(page.status),
                })
            }
        }
    }

    /// Whether it answers.
    pub(crate) async fn reach(&self) -> Result<(), ()> {
        match self {
            Self::Browserless(service) => service.reach().await.map_err(drop),
            Self::Chromium { browser, .. } => browser.reach().await.map_err(drop),
        }
    }

    /// Ends what it started.
    pub(crate) async fn close(&self) {
        if let Self::Chromium { browser, .. } = self {
            browser.shutdown().await;
        }
    }
}

fn by_service(error: RenderError) -> FetchError {
    match error {
        RenderError::Call(CallError::Timeout) => FetchError::Timeout(Phase::Total),
        RenderError::Call(CallError::TooLarge { .. }) => FetchError::DecodedLimit,
        RenderError::Call(_) => FetchError::Connect,
        RenderError::Url | RenderError::BadAnswer => FetchError::Protocol,
    }
}

fn by_browser(error: blastshield_render::RenderError) -> FetchError {
    use blastshield_render::RenderError;
    match error {
        RenderError::Fetch(error) => error,
        RenderError::Timeout => FetchError::Timeout(Phase::Total),
        RenderError::TooLarge => FetchError::DecodedLimit,
        RenderError::TooMuchTraffic => FetchError::WireLimit,
        RenderError::NotAPage | RenderError::Crashed => FetchError::Protocol,
        _ => FetchError::Connect,
    }
}
