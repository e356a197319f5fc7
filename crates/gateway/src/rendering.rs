//! The browser behind retrieval: a Browserless service, or a Chromium of our own.

use blastshield_render::{Chromium, RenderOptions};
use blastshield_upstream::{Browserless, CallError, RenderError};
use blastshield_web::{Fault, FetchError, Phase};
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

/// Why there is no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoPage {
    /// Policy, the network or the origin.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The renderer wants another token.
    #[error("the renderer refuses the configured token")]
    RendererDenied,
    /// The renderer cannot be reached, is full, or answers with something else than a page.
    #[error("the renderer cannot render pages at the moment")]
    RendererFailed,
}

impl NoPage {
    /// A stable name.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Fetch(error) => error.code(),
            Self::RendererDenied => "renderer_denied",
            Self::RendererFailed => "renderer_failed",
        }
    }

    /// Whether our own rules refuse it: then no other way may be tried.
    pub(crate) fn is_policy(self) -> bool {
        matches!(self, Self::Fetch(error) if error.fault() == Fault::Policy)
    }
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
    pub(crate) async fn render(&self, url: &Url) -> Result<Rendered, NoPage> {
        match self {
            Self::Browserless(service) => {
                let page = service.render(url).await.map_err(by_service)?;
                // It hands over an empty page where its browser reached nothing, and then names neither address nor status.
                if page.final_url.is_none() || page.status.is_none() {
                    return Err(NoPage::RendererFailed);
                }
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

fn by_service(error: RenderError) -> NoPage {
    match error {
        RenderError::Call(CallError::Timeout) => FetchError::Timeout(Phase::Total).into(),
        RenderError::Call(CallError::TooLarge { .. }) => FetchError::DecodedLimit.into(),
        RenderError::Call(CallError::Denied { .. }) => NoPage::RendererDenied,
        RenderError::Call(_) | RenderError::Url | RenderError::BadAnswer => NoPage::RendererFailed,
    }
}

fn by_browser(error: blastshield_render::RenderError) -> NoPage {
    use blastshield_render::RenderError;
    let error = match error {
        RenderError::Fetch(error) => error,
        RenderError::Timeout => FetchError::Timeout(Phase::Total),
        RenderError::TooLarge => FetchError::DecodedLimit,
        RenderError::TooMuchTraffic => FetchError::WireLimit,
        RenderError::NotAPage | RenderError::Crashed => FetchError::Protocol,
        _ => return NoPage::RendererFailed,
    };
    error.into()
}
