//! `GET /healthz` and `GET /readyz`.

use crate::state::App;
use crate::wire::{Dependencies, Health};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// A dependency that takes longer to answer is down.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the gateway lives, and how its dependencies are.
#[utoipa::path(get, path = "/healthz", responses((status = 200, body = Health)))]
pub(crate) async fn healthz(State(app): State<Arc<App>>) -> Json<Health> {
    Json(health(&app).await)
}

/// Whether requests can be answered, for orchestrators.
#[utoipa::path(
    get,
    path = "/readyz",
    responses((status = 200, body = Health), (status = 503, body = Health))
)]
pub(crate) async fn readyz(State(app): State<Arc<App>>) -> (StatusCode, Json<Health>) {
    let health = health(&app).await;
    let status = if health.ready {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, Json(health))
}

async fn health(app: &App) -> Health {
    let (store, search, renderer, judge) = tokio::join!(
        answers(Some(app.store.ping())),
        search(app),
        answers(app.renderer.as_ref().map(|renderer| renderer.reach())),
        answers(app.judge.as_ref().map(|judge| judge.reach())),
    );
    let all = [store, search, renderer, judge];
    Health {
        status: if all.contains(&"down") {
            "degraded".to_owned()
        } else {
            "ok".to_owned()
        },
        ready: store == "ok",
        version: env!("CARGO_PKG_VERSION").to_owned(),
        dependencies: Dependencies {
            store: store.to_owned(),
            search: search.to_owned(),
            renderer: renderer.to_owned(),
            judge: judge.to_owned(),
        },
    }
}

/// One provider that answers is enough.
async fn search(app: &App) -> &'static str {
    let mut state = "off";
    for provider in app.search.providers() {
        state = answers(Some(provider.reach())).await;
        if state == "ok" {
            break;
        }
    }
    state
}

async fn answers<E>(dependency: Option<impl Future<Output = Result<(), E>>>) -> &'static str {
    match dependency {
        None => "off",
        Some(asked) => match timeout(PATIENCE, asked).await {
            Ok(Ok(())) => "ok",
            Ok(Err(_)) | Err(_) => "down",
        },
    }
}
