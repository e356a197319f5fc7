//! What holds for every route there is. The routes and their inputs come from the published document, and the document
//! is held against the source: a route that is added is tested here without a word.

use crate::common::*;
use reqwest::Method;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The part of the planted token that nobody may write down.
const CORE: &str = "16C7e42F292c6912E7710c838347Ae178B4a";
/// Looks like no secret, so that no filter takes it away: what holds it back must be the parser.
const MARK: &str = "quagmire of zebra words";

struct Route {
    method: Method,
    path: String,
    /// Where an input stands, and its name.
    parameters: Vec<(String, String)>,
    /// The schema of a JSON body.
    body: Option<Value>,
    /// A body of another type.
    text: bool,
}

impl Route {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The path with every part that is asked for filled in.
    fn filled(&self, with: &str) -> String {
        let parts = self
            .path
            .split('/')
            .map(|part| if part.starts_with('{') { with } else { part });
        parts.collect::<Vec<_>>().join("/")
    }
}

/// One client for hundreds of requests.
struct Asker {
    client: reqwest::Client,
    base: String,
}

impl Asker {
    async fn of(gateway: &Running) -> Self {
        // The first request of a gateway sets TLS up, without which no client is made.
        assert_eq!(gateway.get("/healthz").await.status, 200);
        Self {
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            base: format!("http://{}", gateway.address),
        }
    }

    fn request(&self, method: &Method, path: &str) -> reqwest::RequestBuilder {
        let url = format!("{}{path}", self.base);
        self.client.request(method.clone(), url)
    }
}

fn document() -> Value {
    serde_json::to_value(blastshield_gateway::openapi()).unwrap()
}

fn routes(document: &Value) -> Vec<Route> {
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let content = &operation["requestBody"]["content"];
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            all.push(Route {
                method: method.to_uppercase().parse().unwrap(),
                path: path.clone(),
                parameters: parameters
                    .map(|one| ["in", "name"].map(|key| one[key].as_str().unwrap().to_owned()))
                    .map(|[place, name]| (place, name))
                    .collect(),
                body: content
                    .get("application/json")
                    .map(|json| json["schema"].clone()),
                text: content.get("text/plain").is_some(),
            });
        }
    }
    all
}

/// Every path that the source gives to a router.
fn paths_in_source(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            paths_in_source(&path, found);
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        for call in source.split(".route(").skip(1) {
            let literal = call.trim_start().strip_prefix('"');
            let literal = literal.unwrap_or_else(|| panic!("{path:?}: a route without a name"));
            found.insert(literal.split('"').next().unwrap().to_owned());
        }
    }
}

#[test]
fn every_path_in_the_source_is_in_the_document() {
    let mut found = BTreeSet::new();
    paths_in_source(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut found,
    );
    let documented = routes(&document());
    let documented: BTreeSet<String> = documented.into_iter().map(|route| route.path).collect();
    // The document itself, and files that are the same for everybody.
    found.retain(|path| !path.contains('.'));
    assert_eq!(found, documented);
}

/// A value of a schema in which every text is `with`.
fn planted(document: &Value, schema: &Value, with: &str, depth: usize) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        let schema = &document["components"]["schemas"][name.rsplit('/').next().unwrap()];
        return planted(document, schema, with, depth);
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        if let Some(choices) = schema[several].as_array() {
            let choice = choices.iter().find(|one| one["type"] != "null");
            return planted(document, choice.unwrap(), with, depth);
        }
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").unwrap(),
        kind => kind,
    };
    match kind.as_str() {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("array") => json!([planted(document, &schema["items"], with, depth + 1)]),
        Some("object") if depth < 6 => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let mut object: Map<String, Value> = properties
                .map(|(name, one)| (name.clone(), planted(document, one, with, depth + 1)))
                .collect();
            if object.is_empty() && schema.get("additionalProperties") != Some(&json!(false)) {
                object.insert("note".to_owned(), json!(with));
            }
            Value::Object(object)
        }
        _ => json!(with),
    }
}

/// Bodies that are no value of any schema; each with what is wrong with it.
fn broken() -> Vec<(&'static str, Vec<u8>)> {
    let quoted = json!(MARK).to_string();
    let deep = |open: &str, close: &str| {
        format!(
            "{}{quoted}{}",
            open.repeat(25_000 / open.len()),
            close.repeat(25_000 / open.len())
        )
    };
    let text = |text: String| text.into_bytes();
    vec![
        ("nothing", Vec::new()),
        ("half", text(format!("{{\"text\": \"{MARK}"))),
        ("a word", text(MARK.to_owned())),
        ("a string", text(quoted.clone())),
        ("a list", text(format!("[{quoted}]"))),
        ("null", b"null".to_vec()),
        ("two values", text(format!("{{}} {quoted}"))),
        (
            "a mark before it",
            text(format!("\u{feff}{{\"x\": {quoted}}}")),
        ),
        (
            "an unknown field",
            text(format!("{{\"{MARK}\": {quoted}}}")),
        ),
        (
            "no text",
            [
                b"{\"text\": \"\xff\xfe ".as_slice(),
                MARK.as_bytes(),
                b"\"}",
            ]
            .concat(),
        ),
        (
            "no text in a name",
            [b"{\"\xc3\x28".as_slice(), MARK.as_bytes(), b"\": 1}"].concat(),
        ),
        (
            "half a surrogate",
            text(format!("{{\"text\": \"{MARK} \\ud800\"}}")),
        ),
        ("deep lists", text(deep("[", "]"))),
        (
            "deep objects",
            text(format!("{{\"text\": {}}}", deep("{\"a\":", "}"))),
        ),
        (
            "too much",
            text(format!("{{\"text\": {}}}", json!(MARK.repeat(4_000)))),
        ),
    ]
}

/// Bodies of every route that takes one, broken in every way: a clear refusal, and nothing of the body in it or on disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_body_is_refused_everywhere_and_kept_nowhere() {
    let gateway = start(&[
        ("BLASTSHIELD_MAX_BODY_BYTES", "60000"),
        ("BLASTSHIELD_GUARD_MAX_BODY_BYTES", "60000"),
    ])
    .await;
    let (owner, asker) = (gateway.owner_token(), Asker::of(&gateway).await);
    let routes = routes(&document());
    let taking: Vec<&Route> = routes.iter().filter(|route| route.body.is_some()).collect();
    assert!(taking.len() > 20, "{}", taking.len());
    for route in taking {
        for (wrong, body) in broken() {
            let request = asker
                .request(&route.method, &route.filled("x"))
                .header("content-type", "application/json")
                .bearer_auth(&owner)
                .body(body);
            let answer = answer(request).await;
            let name = route.name();
            let expected = if wrong == "too much" { 413 } else { 400 };
            assert!(
                answer.status == expected || answer.status == 404,
                "{name}, {wrong}: {} {}",
                answer.status,
                answer.text
            );
            let error = &answer.body["error"];
            assert!(
                error["code"].is_string() && error["message"].is_string(),
                "{name}, {wrong}: {}",
                answer.text
            );
            assert!(
                !answer.text.contains("zebra"),
                "{name}, {wrong}: {}",
                answer.text
            );
        }
        let other = asker
            .request(&route.method, &route.filled("x"))
            .header("content-type", "text/plain")
            .bearer_auth(&owner)
            .body(MARK);
        let other = answer(other).await;
        assert!(
            matches!(other.status, 404 | 415),
            "{}: {}",
            route.name(),
            other.text
        );
    }
    assert_eq!(gateway.get("/readyz").await.status, 200);
    let folder = gateway.stop().await;
    assert!(!written(folder.path()).contains("zebra"));
}

/// The same of what stands in an address: no route takes what is no text, and none repeats it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_odd_address_is_refused_everywhere() {
    let gateway = start(&[]).await;
    let (owner, asker) = (gateway.owner_token(), Asker::of(&gateway).await);
    let long = "z".repeat(5_000);
    for route in routes(&document()) {
        let mut addresses = Vec::new();
        if route.path.contains('{') {
            addresses.extend(["%ff%fe", "%00", &long].map(|odd| route.filled(odd)));
        }
        for (_, name) in route
            .parameters
            .iter()
            .filter(|(place, _)| place == "query")
        {
            addresses.push(format!("{}?{name}=%ff%00", route.filled("x")));
        }
        if !route.parameters.is_empty() {
            addresses.push(format!("{}?zebra=zebra", route.filled("x")));
        }
        for address in addresses {
            let mut request = asker.request(&route.method, &address).bearer_auth(&owner);
            if route.body.is_some() {
                request = request
                    .header("content-type", "application/json")
                    .body("{}");
            }
            let answer = answer(request).await;
            let name = route.name();
            assert!(
                answer.status < 500,
                "{name}: {} {}",
                answer.status,
                answer.text
            );
            assert!(!answer.text.contains(&long), "{name}");
        }
    }
    assert_eq!(gateway.get("/readyz").await.status, 200);
}

/// A secret in every input of every route, from the owner and from a stranger: in no error, log, alert, metric or file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_in_every_input_of_every_route_is_written_nowhere() {
    let secret = token();
    let gateway = start(&[]).await;
    let (owner, asker) = (gateway.owner_token(), Asker::of(&gateway).await);
    let document = document();
    let mut asked = 0;
    for route in routes(&document) {
        let query: Vec<String> = route
            .parameters
            .iter()
            .filter(|(place, _)| place == "query")
            .map(|(_, name)| format!("{name}={secret}"))
            .collect();
        let texts = [format!("{ATTACK} {secret}"), secret.clone()];
        let mut bodies: Vec<Option<Value>> = vec![None];
        if let Some(schema) = &route.body {
            for text in &texts {
                let whole = planted(&document, schema, text, 0);
                // Each field alone among harmless ones, so that one that is refused does not hide the next.
                for name in whole
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| name)
                {
                    let mut one = planted(&document, schema, "x", 0);
                    one[name] = whole[name].clone();
                    bodies.push(Some(one));
                }
                bodies.push(Some(whole));
            }
            bodies.push(Some(json!({ secret.as_str(): secret })));
        }
        for body in bodies {
            let whole = body.as_ref().is_none_or(|body| body.get(&secret).is_some());
            let others = [(secret.as_str(), &owner), ("x", &secret)];
            let others = others.into_iter().filter(|_| whole);
            for (part, bearer) in [("x", &owner)].into_iter().chain(others) {
                let address = format!("{}?{}", route.filled(part), query.join("&"));
                let address = address.trim_end_matches('?');
                let mut request = asker.request(&route.method, address);
                request = request.bearer_auth(bearer);
                for header in [
                    "user-agent",
                    "referer",
                    "cookie",
                    "x-request-id",
                    "x-forwarded-for",
                ] {
                    request = request.header(header, &secret);
                }
                request = match &body {
                    Some(body) => request.json(body),
                    None if route.text => request.body(secret.clone()),
                    None => request,
                };
                let answer = answer(request).await;
                asked += 1;
                let error = answer.body["error"].to_string();
                assert!(!error.contains(CORE), "{}: {error}", route.name());
                for (name, value) in &answer.headers {
                    assert!(
                        !value.to_str().unwrap().contains(CORE),
                        "{}: {name}",
                        route.name()
                    );
                }
            }
        }
    }
    assert!(asked > 300, "{asked}");
    for path in [
        "/v1/alerts",
        "/metrics",
        "/v1/metrics",
        "/v1/status",
        "/v1/sessions",
    ] {
        let shown = gateway.as_owner(path).await;
        // The owner alone learns the keys of held sessions, which somebody else chose.
        assert!(
            path == "/v1/sessions" || !shown.text.contains(CORE),
            "{path}: {}",
            shown.text
        );
    }
    let folder = gateway.stop().await;
    let files = written(folder.path());
    assert!(files.contains("credential_leak"));
    assert!(!files.contains(CORE));
}
