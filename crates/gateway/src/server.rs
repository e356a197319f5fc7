//! Listens, serves, and ends without dropping a request.

use crate::egress::Door;
use crate::front::Peer;
use crate::routes::router;
use crate::state::{App, StartError};
use axum::Router;
use axum::body::Body;
use axum::http::HeaderValue;
use blastshield_config::Settings;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt as _;

/// Connections at once; more wait in the system's queue.
const MAX_CONNECTIONS: usize = 1024;
/// A client that takes longer to send its request's head is cut off.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How often old records are deleted.
const PRUNE_EVERY: Duration = Duration::from_secs(3600);
/// How soon a canary is looked for that another process placed.
const REFRESH_EVERY: Duration = Duration::from_secs(5);

/// A gateway that listens.
pub struct Gateway {
    app: Arc<App>,
    listener: TcpListener,
    door: Option<Door>,
}

impl Gateway {
    /// Builds everything and starts to listen. Nothing is answered before [`Gateway::serve`].
    ///
    /// # Errors
    /// When anything that the settings ask for cannot be had, and when another process writes the audit log.
    pub async fn bind(mut settings: Settings) -> Result<Self, StartError> {
        let address = settings.server.address;
        let cannot = |error: std::io::Error| StartError::Listen {
            address,
            kind: error.kind(),
        };
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        settings.server.address = listener.local_addr().map_err(cannot)?;
        let app = Arc::new(App::new(settings).await?);
        if !app.guard.records() {
            return Err(StartError::Beside);
        }
        app.proxies.serve(&app).await?;
        let door = crate::egress::bind(&app).await?;
        Ok(Self {
            app,
            listener,
            door,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.app.settings.server.address
    }

    /// Where its forward proxy listens, if it has one.
    #[must_use]
    pub fn egress_address(&self) -> Option<SocketAddr> {
        self.door.as_ref()?.address()
    }

    /// Makes the running gateway look at its environment again: for a signal.
    #[must_use]
    pub fn recheck(&self) -> Recheck {
        Recheck(self.app.owner.again())
    }

    /// Serves until `end` is ready, then finishes what is in flight within the grace time.
    pub async fn serve(self, end: impl Future<Output = ()>) {
        let Self {
            app,
            listener,
            door,
        } = self;
        let router = router(&app);
        let turns = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let graceful = GracefulShutdown::new();
        let pruning = tokio::spawn(prune(Arc::clone(&app)));
        let refreshing = tokio::spawn(refresh(Arc::clone(&app)));
        let clearing = tokio::spawn(crate::clearing::keep_asking(Arc::clone(&app)));
        app.owner.start(&app);
        app.purse.start(&app);
        app.proxies.start();
        app.exits.start(&app, door);
        tokio::pin!(end);
        loop {
            let turn = tokio::select! {
                () = &mut end => break,
                turn = Arc::clone(&turns).acquire_owned() => turn,
            };
            let Ok(turn) = turn else { break };
            let accepted = tokio::select! {
                () = &mut end => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => connection(stream, peer, &router, &graceful, turn),
                Err(error) => {
                    // Out of descriptors, most likely: breathe, then go on.
                    tracing::warn!(target: "upstream", kind = %error.kind(), "cannot accept");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(listener);
        let grace = app.settings.server.shutdown_grace;
        if tokio::time::timeout(grace, graceful.shutdown())
            .await
            .is_err()
        {
            tracing::warn!(target: "access", "some requests did not finish in time");
        }
        pruning.abort();
        refreshing.abort();
        clearing.abort();
        app.close().await;
    }
}

/// Makes a gateway look at its environment again.
#[derive(Clone, Debug)]
pub struct Recheck(Arc<Notify>);

impl Recheck {
    /// Does so soon.
    pub fn now(&self) {
        self.0.notify_one();
    }
}

/// The same endpoints without a listener, for the command line.
pub struct Local {
    app: Arc<App>,
    router: Router,
}

impl Local {
    /// Builds everything but the listener.
    pub async fn new(settings: Settings) -> Result<Self, StartError> {
        let app = Arc::new(App::new(settings).await?);
        // The kill switch, thrown elsewhere, ends what is done here too.
        app.exits.start(&app, None);
        let router = router(&app);
        Ok(Self { app, router })
    }

    /// Posts a JSON value to an endpoint.
    pub async fn post(&self, path: &str, body: &serde_json::Value) -> (u16, serde_json::Value) {
        let mut request = hyper::Request::new(Body::from(body.to_string()));
        *request.method_mut() = hyper::Method::POST;
        let headers = request.headers_mut();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        self.ask(path, request).await
    }

    /// Gets an endpoint's answer.
    pub async fn get(&self, path: &str) -> (u16, serde_json::Value) {
        self.ask(path, hyper::Request::new(Body::empty())).await
    }

    /// Asks as the owner, on this machine.
    async fn ask(&self, path: &str, mut request: hyper::Request<Body>) -> (u16, serde_json::Value) {
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        *request.uri_mut() = hyper::Uri::try_from(path).unwrap_or_default();
        request.extensions_mut().insert(Peer(peer));
        let headers = request.headers_mut();
        if let Some(owner) = self.app.tokens.owner_header() {
            headers.insert("authorization", owner);
        }
        let response = answer(self.router.clone(), request).await;
        let status = response.status().as_u16();
        let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await;
        let value = bytes
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or(serde_json::Value::Null);
        (status, value)
    }

    /// Writes what is left to write.
    pub async fn close(self) {
        self.app.close().await;
    }
}

fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: &Router,
    graceful: &GracefulShutdown,
    turn: OwnedSemaphorePermit,
) {
    // Small answers should not wait for each other.
    let _ = stream.set_nodelay(true);
    let router = router.clone();
    let service = hyper::service::service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        let router = router.clone();
        async move { Ok::<_, Infallible>(answer(router, request.map(Body::new)).await) }
    });
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(64 * 1024);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(64)
        .max_header_list_size(64 * 1024);
    let served = builder
        .serve_connection(TokioIo::new(stream), service)
        .into_owned();
    let watched = graceful.watch(served);
    tokio::spawn(async move {
        // A client that goes away is no event.
        let _ = watched.await;
        drop(turn);
    });
}

async fn answer(router: Router, request: hyper::Request<Body>) -> axum::response::Response {
    match router.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

async fn refresh(app: Arc<App>) {
    let mut ticks = tokio::time::interval(REFRESH_EVERY);
    loop {
        ticks.tick().await;
        // What failed is in the log, and tried again.
        let _ = app.guard.refresh(&app.store).await;
    }
}

async fn prune(app: Arc<App>) {
    let mut ticks = tokio::time::interval(PRUNE_EVERY);
    loop {
        ticks.tick().await;
        let days = app.settings.store.retention_days;
        if let Err(error) = app.store.prune(crate::clock::now_ms(), days).await {
            tracing::warn!(target: "upstream", dependency = "store", %error, "old records stay for now");
        }
    }
}
