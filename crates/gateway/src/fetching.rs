//! Gets a page: through the renderer when there is one, else directly.

use crate::rendering::{NoPage, Rendered};
use crate::retrieve::{Arrived, all_allowed};
use crate::state::App;
use blastshield_policy::{Standing, Target, check_url};
use blastshield_web::FetchError;
use bytes::Bytes;
use url::Url;

/// Fetches a target that policy has let through.
pub(crate) async fn fetch(app: &App, target: &Target) -> Result<Arrived, NoPage> {
    let Some(renderer) = &app.renderer else {
        return Ok(plain(app, target, false).await?);
    };
    admitted(app, target).await?;
    match renderer.render(&target.url).await {
        Ok(rendered) => Ok(arrived_from(app, target, rendered, renderer.name()).await?),
        // What policy refused stays refused, whoever asks.
        Err(error) if error.is_policy() => Err(error),
        Err(error) => {
            tracing::warn!(target: "upstream", dependency = "renderer", %error, "rendering failed");
            if app.settings.renderer.fallback_to_http {
                Ok(plain(app, target, true).await?)
            } else {
                Err(error)
            }
        }
    }
}

async fn plain(app: &App, target: &Target, fallback_used: bool) -> Result<Arrived, FetchError> {
    let fetched = app.fetcher.fetch(target.url.as_str(), &app.limits).await?;
    Ok(Arrived {
        trusted: all_allowed(fetched.hops.iter().map(|hop| &hop.standing)),
        by_exception: fetched.hops.iter().any(|hop| hop.by_exception),
        final_url: fetched.final_url,
        body: fetched.body,
        content_type: fetched.content_type,
        wire_bytes: fetched.wire_bytes,
        backend: "http",
        rendered: false,
        fallback_used,
    })
}

/// The renderer dials by itself: at least the names that it starts and ends with must be public.
async fn admitted(app: &App, target: &Target) -> Result<bool, FetchError> {
    let answers = app
        .resolver
        .resolve(&target.host, app.limits.connect)
        .await
        .map_err(FetchError::Dns)?;
    let addresses = app
        .policy
        .admit(target, &answers)
        .map_err(|refusal| FetchError::Refused { hop: 0, refusal })?;
    Ok(addresses.iter().any(|address| address.by_exception()))
}

async fn arrived_from(
    app: &App,
    target: &Target,
    rendered: Rendered,
    backend: &'static str,
) -> Result<Arrived, FetchError> {
    if let Some(status) = rendered
        .status
        .filter(|status| !(200..300).contains(status))
    {
        return Err(FetchError::Status(status));
    }
    let last = match &rendered.final_url {
        Some(url) => check_url(url, &app.policy)
            .map_err(|refusal| FetchError::Refused { hop: 1, refusal })?,
        None => target.clone(),
    };
    let by_exception = admitted(app, &last).await?;
    // Hosts in between are not known: a page that moved elsewhere gets no waiver.
    let trusted = last.host == target.host
        && rendered.final_url.is_some()
        && target.standing == Standing::Allowed;
    Ok(Arrived {
        final_url: without_fragment(last.url),
        wire_bytes: rendered.html.len() as u64,
        body: Bytes::from(rendered.html),
        content_type: Some("text/html; charset=utf-8".to_owned()),
        trusted,
        by_exception,
        backend,
        rendered: true,
        fallback_used: false,
    })
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}
