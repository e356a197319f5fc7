use super::*;
use proptest::prelude::*;

fn known() -> Relationships {
    let mut all = Relationships::default();
    all.set_tier("ally", Tier::Ally).unwrap();
    all.note(
        "friend",
        "comment",
        "threads/1",
        "said hello",
        Time::from_millis(1),
    )
    .unwrap();
    all
}

#[test]
fn what_is_written_is_read_back() {
    let all = known();
    assert_eq!(Relationships::parse(&all.to_bytes().unwrap()), Ok(all));
}

#[test]
fn anything_else_is_refused() {
    for bad in [
        "",
        "[]",
        r#"{"relationships":{}}"#,
        r#"{"version":2,"relationships":{}}"#,
        r#"{"version":1,"relationships":{},"x":1}"#,
        r#"{"version":1,"relationships":{"a":{"tier":"Owner","status":"ACTIVE"}}}"#,
        r#"{"version":1,"relationships":{"a":{"tier":"Ally","status":"ACTIVE","trusted":true}}}"#,
        r#"{"version":1,"relationships":{"a b":{"tier":"Ally","status":"ACTIVE"}}}"#,
        r#"{"version":1,"relationships":{"аlly":{"tier":"Ally","status":"ACTIVE"}}}"#,
        r#"{"version":1,"relationships":{"a":{"tier":"Friend","status":"ACTIVE"},"a":{"tier":"Ally","status":"ACTIVE"}}}"#,
        r#"{"version":1,"relationships":{"a":{"tier":"Ally","status":"ACTIVE","interactions":[{"at":"never","kind":"","place":"","summary":""}]}}}"#,
    ] {
        assert!(Relationships::parse(bad.as_bytes()).is_err(), "{bad}");
    }
    let deep = format!(r#"{{"version":1,"relationships":{}"#, "[".repeat(100_000));
    assert!(Relationships::parse(deep.as_bytes()).is_err());
    assert_eq!(
        Relationships::parse(&vec![b' '; 3 << 20]),
        Err(WorkspaceError::TooLarge)
    );
}

#[test]
fn interactions_and_names_are_bounded() {
    let mut all = Relationships::default();
    for at in 0..50 {
        all.note(
            "a",
            "comment",
            &"p".repeat(500),
            &"é".repeat(500),
            Time::from_millis(at),
        )
        .unwrap();
    }
    let one = all.get("a").unwrap();
    assert_eq!(one.interactions.len(), MAX_INTERACTIONS);
    assert!(one.interactions[0].at.contains(".030Z"));
    assert!(Relationships::parse(&all.to_bytes().unwrap()).is_ok());
    for name in 0..MAX_RELATIONSHIPS - 1 {
        all.set_tier(&format!("n{name}"), Tier::Friend).unwrap();
    }
    assert_eq!(
        all.set_tier("one-too-many", Tier::Ally),
        Err(WorkspaceError::TooLarge)
    );
    assert!(all.set_tier("a\u{200b}", Tier::Ally).is_err());
}

#[test]
fn review_takes_the_tier_away() {
    let mut all = known();
    assert_eq!(all.tier("ally"), Tier::Ally);
    assert!(all.set_status("ally", Status::ReviewRequired));
    assert_eq!(all.tier("ally"), Tier::Acquaintance);
    assert_eq!(all.tier("stranger"), Tier::Acquaintance);
    assert_eq!(all.under_review().collect::<Vec<_>>(), ["ally"]);
    assert!(!all.set_status("nobody", Status::Blocked));
}

#[test]
fn differences_are_named() {
    let (one, mut two) = (known(), known());
    assert!(one.differences(&two).is_empty());
    two.set_tier("friend", Tier::Ally).unwrap();
    two.set_tier("mallory", Tier::Ally).unwrap();
    assert_eq!(one.differences(&two), ["friend", "mallory"]);
}

proptest! {
    /// What is read at all is within bounds and is written as it was read.
    #[test]
    fn damage_is_refused_or_harmless(at in 0_usize..700, byte in any::<u8>(), cut in 0_usize..700) {
        let mut bytes = known().to_bytes().unwrap();
        if let Some(place) = bytes.get_mut(at) {
            *place = byte;
        }
        if cut < 100 {
            bytes.truncate(cut);
        }
        if let Ok(read) = Relationships::parse(&bytes) {
            prop_assert!(read.iter().all(|(name, one)| is_name(name) && one.is_bounded()));
            prop_assert_eq!(Relationships::parse(&read.to_bytes().unwrap()), Ok(read));
        }
    }
}
