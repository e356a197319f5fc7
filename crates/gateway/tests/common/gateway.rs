//! Starts and stops gateways, and asks them things.

use blastshield_config::{ConfigError, Settings, Values};
use blastshield_gateway::Gateway;
use blastshield_store::{FetchEvent, Store, StoreOptions};
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// What an operator says who lets the gateway reach origins on this machine.
pub(crate) const LOOPBACK: [(&str, &str); 3] = [
    ("BLASTSHIELD_ALLOWED_RANGES", "127.0.0.0/8,::1/128"),
    ("BLASTSHIELD_ALLOW_HTTP", "true"),
    ("BLASTSHIELD_ALLOWED_PORTS", "*"),
];

/// Settings from these variables alone.
pub(crate) fn settings(variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let pairs = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Settings::from_values(&Values::read(None, pairs)?)
}

/// Settings of a gateway on a free port with its data in `folder`. Later variables win over earlier ones.
pub(crate) fn settings_in(folder: &Path, variables: &[(&str, &str)]) -> Settings {
    let data = folder.to_str().unwrap();
    let mut all = vec![("BLASTSHIELD_DATA_DIR", data), ("BLASTSHIELD_PORT", "0")];
    all.extend(LOOPBACK);
    all.retain(|(name, _)| !variables.iter().any(|(other, _)| other == name));
    all.extend(variables);
    settings(&all).unwrap()
}

/// A gateway that serves until it is stopped or dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) folder: TempDir,
    end: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
}

/// A gateway with these variables beside the ones for loopback.
pub(crate) async fn start(variables: &[(&str, &str)]) -> Running {
    start_in(tempfile::tempdir().unwrap(), variables).await
}

/// As [`start`], with the data of an earlier gateway.
pub(crate) async fn start_in(folder: TempDir, variables: &[(&str, &str)]) -> Running {
    let gateway = Gateway::bind(settings_in(folder.path(), variables))
        .await
        .unwrap();
    let address = gateway.address();
    let (end, ended) = oneshot::channel();
    let served = tokio::spawn(gateway.serve(async move {
        let _ = ended.await;
    }));
    Running {
        address,
        folder,
        end: Some(end),
        served,
    }
}

/// An answer, whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) body: Value,
}

impl Answer {
    /// A header as text, or nothing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// The content; fails when there is none.
    pub(crate) fn content(&self) -> &str {
        self.body["content"]
            .as_str()
            .unwrap_or_else(|| panic!("no content in {}", self.text))
    }

    pub(crate) fn score(&self) -> f64 {
        self.body["safety"]["score"].as_f64().unwrap()
    }

    pub(crate) fn flags(&self) -> Vec<&str> {
        let flags = self.body["safety"]["flags"].as_array().unwrap();
        flags.iter().map(|flag| flag.as_str().unwrap()).collect()
    }

    /// The page came through.
    #[track_caller]
    pub(crate) fn is_allowed(&self) -> bool {
        let safety = &self.body["safety"];
        let allowed = safety["decision"] == "allow";
        if allowed {
            assert_eq!(self.status, 200, "{}", self.text);
            assert!(self.body["content"].is_string(), "{}", self.text);
            assert!(safety.get("reason").is_none(), "{}", self.text);
        }
        allowed
    }

    /// The page was held back, with a reason and without a word of it.
    #[track_caller]
    pub(crate) fn is_blocked(&self) -> bool {
        let safety = &self.body["safety"];
        let blocked = self.status == 422 && safety["decision"] == "block";
        if blocked {
            for absent in ["content", "content_summary", "truncated"] {
                assert!(self.body.get(absent).is_none(), "{absent}: {}", self.text);
            }
            assert!(safety["reason"].is_string(), "{}", self.text);
            assert!(safety.get("bypassed").is_none(), "{}", self.text);
        }
        blocked
    }
}

fn client() -> reqwest::Client {
    static PROVIDER: OnceLock<()> = OnceLock::new();
    PROVIDER.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(30))
        .build()
        .unwrap()
}

/// Sends a request and reads the answer.
pub(crate) async fn answer(request: RequestBuilder) -> Answer {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Answer {
        status,
        headers,
        text,
        body,
    }
}

impl Running {
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        client().request(method, format!("http://{}{path}", self.address))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        answer(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        answer(self.request(Method::POST, path).json(body)).await
    }

    pub(crate) async fn post_text(&self, path: &str, body: impl Into<String>) -> Answer {
        let request = self
            .request(Method::POST, path)
            .header("content-type", "application/json")
            .body(body.into());
        answer(request).await
    }

    pub(crate) async fn web_fetch(&self, url: &str) -> Answer {
        self.post("/v1/web-fetch", &json!({ "url": url })).await
    }

    pub(crate) async fn fetch(&self, result_id: &str) -> Answer {
        self.post("/v1/fetch", &json!({ "result_id": result_id }))
            .await
    }

    pub(crate) async fn search(&self, query: &str) -> Answer {
        self.post("/v1/search", &json!({ "query": query })).await
    }

    /// The token that the gateway made for its owner.
    pub(crate) fn owner_token(&self) -> String {
        let text = std::fs::read_to_string(self.folder.path().join("owner-token")).unwrap();
        text.trim().to_owned()
    }

    /// A request with the owner's token.
    pub(crate) async fn as_owner(&self, path: &str) -> Answer {
        answer(
            self.request(Method::GET, path)
                .bearer_auth(self.owner_token()),
        )
        .await
    }

    /// Asks the gateway to end, without waiting for it.
    pub(crate) fn ask_to_end(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
    }

    /// Waits for the gateway to end; its data stay.
    pub(crate) async fn stop(mut self) -> TempDir {
        self.ask_to_end();
        (&mut self.served).await.unwrap();
        let empty = tempfile::tempdir().unwrap();
        std::mem::replace(&mut self.folder, empty)
    }

    /// Stops the gateway; what it recorded about fetches, newest first.
    pub(crate) async fn stop_and_read_events(self) -> (Vec<FetchEvent>, TempDir) {
        let folder = self.stop().await;
        let store = Store::open(StoreOptions::sqlite(folder.path().join("blastshield.db")))
            .await
            .unwrap();
        let events = store.recent_fetches(100).await.unwrap();
        store.close().await;
        (events, folder)
    }
}
