use super::clean::without_paths;
use super::*;
use crate::folder::Folder;

fn words(trigger: Trigger) -> LastWords<'static> {
    LastWords {
        trigger,
        detail: "Stage 4: pattern 'ignore_prev_instructions' matched",
        last_action: "web_fetch: moltbook.com/threads/4829",
        requests: 47,
        suspicious: Some(Suspicious::of(b"hostile")),
        files_written: &[],
    }
}

#[test]
fn the_fields_are_those_of_the_pattern() {
    let scanner = Scanner::shipped();
    let time = Time::parse("2026-02-23T14:32:01.443Z").unwrap();
    let report = CrashReport::new(&words(Trigger::InjectionDetected), &scanner, time);
    let json = report.to_json();
    let fields: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut expected = vec![
        "crash_id",
        "timestamp",
        "trigger",
        "trigger_detail",
        "last_action",
        "session_request_count",
        "suspicious_content_hash",
        "suspicious_content_length",
        "adversarial",
        "files_written_this_session",
    ];
    let mut fields = fields;
    fields.sort_unstable();
    expected.sort_unstable();
    assert_eq!(fields, expected);
    assert_eq!(json["crash_id"], "crash-2026-02-23T14:32:01.443Z");
    assert_eq!(json["adversarial"], true);
    assert_eq!(json["suspicious_content_hash"].as_str().unwrap().len(), 16);
    assert_eq!(json["last_action"], "web_fetch: moltbook.com/threads/4829");
    let calm = CrashReport::new(&words(Trigger::Exception), &scanner, time).to_json();
    assert!(
        calm["suspicious_content_hash"].is_null() && calm["suspicious_content_length"].is_null()
    );
    assert_eq!(calm["adversarial"], false);
}

#[test]
fn no_secret_path_or_control_character_stays() {
    let scanner = Scanner::shipped();
    let key = ["sk-", "Zx8Qw3Rt7Yp2Lm9K", "d4Fh6Jn1Bv5Cg0SaUe"].concat();
    let detail =
        format!("open \"/data/.openclaw/memory/owner/x.md\" failed\n\u{1b}[2J with {key}\u{202e}");
    let shown = clean(&detail, &scanner, MAX_DETAIL);
    assert!(
        !shown.contains(&key) && !shown.contains(".openclaw") && !shown.contains('\u{1b}'),
        "{shown}"
    );
    assert!(!shown.contains('\u{202e}') && !shown.contains('\n'));
    assert_eq!(
        clean(&"x".repeat(100_000), &scanner, 10).chars().count(),
        10
    );
}

#[test]
fn two_ends_in_a_millisecond_are_two_files() {
    let place = tempfile::tempdir().unwrap();
    let workspace = Workspace::lay_out(Folder::open(place.path()).unwrap()).unwrap();
    let report = CrashReport::new(
        &words(Trigger::TaskComplete),
        &Scanner::shipped(),
        Time::from_millis(1_000),
    );
    let (one, two) = (
        report.write(&workspace).unwrap(),
        report.write(&workspace).unwrap(),
    );
    assert_eq!(one.as_str(), "logs/crash-1970-01-01T00:00:01.000Z.json");
    assert_eq!(two.as_str(), "logs/crash-1970-01-01T00:00:01.001Z.json");
}

#[test]
fn triggers_are_read_back() {
    for trigger in Trigger::ALL {
        assert_eq!(Trigger::parse(trigger.as_str()), Some(trigger));
    }
    assert_eq!(Trigger::parse("task_complete"), None);
}

#[test]
fn paths_of_the_system_lose_all_but_their_last_step() {
    for (text, shown) in [
        (
            "web_fetch: moltbook.com/threads/4829",
            "web_fetch: moltbook.com/threads/4829",
        ),
        (
            "GET https://moltbook.com/a/b?c=/d",
            "GET https://moltbook.com/a/b?c=…/d",
        ),
        ("cannot open /srv/agent/notes.md", "cannot open …/notes.md"),
        (
            "path=/srv/agent/notes.md, (/srv/b/) '/c d'",
            "path=…/notes.md, (…/b) '…/c d'",
        ),
        ("file:///srv/agent/x", "file://…/x"),
        (
            "posts/a.json and 1/2 or and/or",
            "posts/a.json and 1/2 or and/or",
        ),
        ("/", "/"),
        ("", ""),
        ("é/ü /é/ü", "é/ü …/ü"),
    ] {
        assert_eq!(without_paths(text), shown, "{text}");
    }
}
