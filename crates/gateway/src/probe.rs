//! How the dependencies are: asked by one, told to all who ask within a moment.

use crate::state::App;
use crate::wire::{Dependencies, Health};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// A dependency that takes longer to answer is down.
const PATIENCE: Duration = Duration::from_secs(2);
/// An answer holds for this long: whoever asks more often, and nobody needs a token to ask, costs nothing.
const FRESH: Duration = Duration::from_secs(1);

/// The last answer, and the right to ask anew.
#[derive(Default)]
pub(crate) struct Probe(Arc<Mutex<Option<(Instant, Health)>>>);

impl Probe {
    /// How the gateway is, or was a moment ago.
    pub(crate) async fn health(&self, app: &Arc<App>) -> Health {
        let mut last = Arc::clone(&self.0).lock_owned().await;
        if let Some((at, health)) = last.as_ref()
            && at.elapsed() < FRESH
        {
            return health.clone();
        }
        let app = Arc::clone(app);
        // In a task of its own: a client that leaves must not leave the next one to begin again.
        let asked = tokio::spawn(async move {
            let health = ask(&app).await;
            *last = Some((Instant::now(), health.clone()));
            health
        });
        asked.await.unwrap_or_else(|_| told(["down"; 4]))
    }
}

async fn ask(app: &App) -> Health {
    let (store, search, renderer, judge) = tokio::join!(
        answers(Some(app.store.ping())),
        search(app),
        answers(app.renderer.as_ref().map(|renderer| renderer.reach())),
        answers(app.judge.as_ref().map(|judge| judge.reach())),
    );
    told([store, search, renderer, judge])
}

fn told(all: [&str; 4]) -> Health {
    let [store, search, renderer, judge] = all;
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
