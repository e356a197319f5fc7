use super::*;
use blastshield_recovery::relationships::Tier;
use serde_json::{Map, Value, json};

#[expect(clippy::needless_pass_by_value, reason = "reads better in tests")]
fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn moltbook() -> Definition {
    Definition::parse(MOLTBOOK, false).unwrap()
}

fn broken(find: &str, replace: &str) -> String {
    assert!(MOLTBOOK.contains(find), "{find}");
    let text = MOLTBOOK.replacen(find, replace, 1);
    Definition::parse(&text, false).unwrap_err().to_string()
}

#[test]
fn the_shipped_definition_has_the_known_limits() {
    let moltbook = moltbook();
    let limits = moltbook.limits;
    assert_eq!(
        (
            limits.max_per_minute,
            limits.max_per_hour,
            limits.burn_limit
        ),
        (10, 100, 200)
    );
    assert_eq!(
        (limits.cb_threshold, limits.cb_base_ms, limits.cb_max_ms),
        (3, 30_000, 900_000)
    );
    let names: Vec<&str> = moltbook.operations.keys().map(String::as_str).collect();
    assert_eq!(names, ["comment", "post", "read_feed", "read_thread"]);
    assert_eq!(moltbook.credential.unwrap().variable, "MOLTBOOK_API_TOKEN");
    assert_eq!(moltbook.operations["comment"].approval, Approval::Policy);
    assert_eq!(moltbook.tiers.of(Tier::Ally).engagement, Engagement::Reply);
}

#[test]
fn a_template_is_a_definition() {
    let text = template("weather-board").unwrap();
    let definition = Definition::parse(&text, false).unwrap();
    assert_eq!(definition.name, "weather-board");
    assert_eq!(
        definition.credential.unwrap().variable,
        "WEATHER_BOARD_API_TOKEN"
    );
    for wrong in ["", "../x", "A", "9a", "a b"] {
        assert_eq!(template(wrong), None);
    }
}

#[test]
fn paths_are_made_of_checked_parameters() {
    let moltbook = moltbook();
    let thread = &moltbook.operations["read_thread"];
    let input = thread
        .input(&map(json!({"thread_id": "4829", "sort": "new"})), 1000)
        .unwrap();
    assert_eq!(thread.target(&input), "/posts/4829/comments?sort=new");
    assert_eq!(thread.file(&input).unwrap(), "posts/thread-4829-clean.json");
    assert_eq!(thread.summary(&input, 7), "7 comments of thread 4829");
    for wrong in [
        json!({}),
        json!({"thread_id": "../../admin"}),
        json!({"thread_id": "a%2f"}),
        json!({"thread_id": "x", "extra": 1}),
        json!({"thread_id": "x", "sort": "new&x=1"}),
    ] {
        assert!(thread.input(&map(wrong.clone()), 1000).is_err(), "{wrong}");
    }
}

#[test]
fn bodies_have_the_shape_of_the_request() {
    let moltbook = moltbook();
    let comment = &moltbook.operations["comment"];
    let input = comment
        .input(&map(json!({"thread_id": "a", "content": "hello"})), 1000)
        .unwrap();
    assert_eq!(input.body, Some(json!({"content": "hello"})));
    let wrong = |value| comment.input(&map(value), 100).unwrap_err();
    assert_eq!(
        wrong(json!({"thread_id": "a"})),
        BadInput::Shape("the top".to_owned())
    );
    assert!(matches!(
        wrong(json!({"thread_id": "a", "content": 7})),
        BadInput::Shape(_)
    ));
    assert_eq!(
        wrong(json!({"thread_id": "a", "content": "x".repeat(200)})),
        BadInput::TooLarge(100)
    );
}

#[test]
fn what_is_wrong_is_named() {
    for (find, replace, says) in [
        (
            "purpose = \"Read",
            "porpoise = 1\npurpose = \"Read",
            "unknown field",
        ),
        (
            "name = \"moltbook\"",
            "name = \"Molt/Book\"",
            "name must be",
        ),
        (
            "https://www.moltbook.com/api/v1",
            "http://www.moltbook.com",
            "base_url must be",
        ),
        (
            "https://www.moltbook.com/api/v1",
            "https://u:p@moltbook.com",
            "base_url must be",
        ),
        (
            "\"MOLTBOOK_API_TOKEN\"",
            "\"sk-abcdef\"",
            "credential.variable must be",
        ),
        (
            "\"MOLTBOOK_API_TOKEN\"",
            "\"BLASTSHIELD_OWNER_TOKEN\"",
            "credential.variable must be",
        ),
        (
            "maxPerMinute = 10",
            "maxPerMinute = 0",
            "limits.maxPerMinute must be 1 to 6000",
        ),
        (
            "capability_ms = 600000",
            "capability_ms = 7200001",
            "timeouts.capability_ms must be 1 to 7200000",
        ),
        (
            "path = \"/posts/{thread_id}/comments\"",
            "path = \"/posts/{thread}/comments\"",
            "names the parameter thread",
        ),
        ("path = \"/posts\"", "path = \"/../posts\"", "path must be"),
        (
            "path = \"/posts\"",
            "path = \"//evil.example/\"",
            "path must be",
        ),
        (
            "writes = \"posts/feed.json\"",
            "writes = \"logs/audit.jsonl\"",
            "writes must be",
        ),
        (
            "writes = \"posts/feed.json\"",
            "writes = \"posts/../relationships.json\"",
            "writes must be",
        ),
        (
            "allowed_tools = [\"fetch\", \"send\", \"write\"]",
            "allowed_tools = [\"fetch\", \"write\"]",
            "needs the tool send",
        ),
        (
            "allowed_tools = [\"fetch\", \"send\", \"write\"]",
            "allowed_tools = [\"exec\"]",
            "allowed_tools must be",
        ),
        (
            "approval = \"policy\"",
            "approval = \"maybe\"",
            "approval must be",
        ),
        (
            "\"required\": [\"posts\"],",
            "\"required\": [\"posts\"], \"$ref\": \"https://x.example\",",
            "must be a JSON Schema",
        ),
    ] {
        let error = broken(find, replace);
        assert!(error.contains(says), "{replace}: {error}");
        assert!(!error.contains("sk-abcdef"));
    }
}

#[test]
fn plain_http_is_for_loopback_and_by_leave_alone() {
    let at = |base: &str| MOLTBOOK.replace("https://www.moltbook.com/api/v1", base);
    assert!(Definition::parse(&at("http://127.0.0.1:9"), true).is_ok());
    assert!(Definition::parse(&at("http://127.0.0.1:9"), false).is_err());
    assert!(Definition::parse(&at("http://localhost:9"), true).is_err());
    assert!(Definition::parse(&at("http://10.0.0.1:9"), true).is_err());
}
