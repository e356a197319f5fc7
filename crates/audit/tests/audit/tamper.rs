//! Whatever is done to the files is noticed, and the place is named.

use super::*;
use blastshield_audit::log::{LOG_NAME, Why, tail};
use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::LazyLock;

/// A log of several files, built once: name and content of each.
static ORIGINAL: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path(), small(), &Hands::new());
    for step in 0..16 {
        log.append(&note(&format!("entry {step}"))).unwrap();
    }
    drop(log);
    files(folder.path())
        .into_iter()
        .map(|name| {
            let bytes = std::fs::read(folder.path().join(&name)).unwrap();
            (name, bytes)
        })
        .collect()
});

fn is_log(name: &str) -> bool {
    name.ends_with(".log")
}

struct Copy {
    folder: tempfile::TempDir,
}

impl Copy {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in ORIGINAL.iter() {
            std::fs::write(folder.path().join(name), bytes).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    #[track_caller]
    fn broken(&self) -> (String, u64, u64, Why) {
        match verify(self.folder.path()).unwrap() {
            Verdict::Broken {
                file,
                line,
                seq,
                why,
            } => (file, line, seq, why),
            whole => panic!("not noticed: {whole:?}"),
        }
    }
}

#[test]
fn untouched_it_is_whole() {
    assert_eq!(entries(Copy::new().folder.path()), 17);
    assert!(ORIGINAL.iter().filter(|(name, _)| is_log(name)).count() >= 3);
}

#[test]
fn every_single_byte_counts() {
    let copy = Copy::new();
    let mut flip = 1_u8;
    for (name, bytes) in ORIGINAL.iter() {
        let mut changed = bytes.clone();
        for place in 0..bytes.len() {
            flip = flip.rotate_left(3) | 1;
            changed[place] ^= flip;
            copy.put(name, &changed);
            let (file, line, _, _) = copy.broken();
            if is_log(name) {
                let newlines = bytes[..place].iter().filter(|byte| **byte == b'\n').count() as u64;
                assert_eq!(&file, name, "byte {place}");
                assert!(
                    line.abs_diff(newlines + 1) <= 1,
                    "byte {place} of {name}: line {line}"
                );
            }
            changed[place] = bytes[place];
        }
        copy.put(name, bytes);
    }
}

#[test]
fn every_missing_file_is_missed() {
    for (name, _) in ORIGINAL.iter() {
        let copy = Copy::new();
        std::fs::remove_file(copy.path(name)).unwrap();
        copy.broken();
    }
    let copy = Copy::new();
    for (name, _) in ORIGINAL.iter().filter(|(name, _)| is_log(name)) {
        std::fs::remove_file(copy.path(name)).unwrap();
    }
    assert!(matches!(copy.broken(), (_, 0, 1, Why::EndMissing(17))));
}

#[test]
fn a_deleted_beginning_needs_a_record() {
    let copy = Copy::new();
    let (name, _) = ORIGINAL.iter().find(|(name, _)| is_log(name)).unwrap();
    std::fs::remove_file(copy.path(name)).unwrap();
    let (_, line, _, why) = copy.broken();
    assert_eq!((line, why), (1, Why::StartMissing));
}

#[test]
fn swapped_files_are_noticed() {
    let copy = Copy::new();
    let logs: Vec<_> = ORIGINAL.iter().filter(|(name, _)| is_log(name)).collect();
    copy.put(&logs[0].0, &logs[1].1);
    copy.put(&logs[1].0, &logs[0].1);
    assert_eq!(copy.broken().0, logs[0].0);
}

#[test]
fn a_replaced_chain_does_not_meet_its_head() {
    let copy = Copy::new();
    let other = tempfile::tempdir().unwrap();
    let log = open(other.path(), Options::default(), &Hands::new());
    for _ in 0..30 {
        log.append(&note("another story")).unwrap();
    }
    drop(log);
    for (name, _) in ORIGINAL.iter().filter(|(name, _)| is_log(name)) {
        std::fs::remove_file(copy.path(name)).unwrap();
    }
    std::fs::copy(other.path().join(LOG_NAME), copy.path(LOG_NAME)).unwrap();
    let (_, _, seq, why) = copy.broken();
    assert_eq!((seq, why), (17, Why::NotAsKnown));
}

#[test]
fn a_lost_end_is_told_by_the_next_start_and_never_forgotten() {
    let copy = Copy::new();
    let (_, bytes) = ORIGINAL.iter().find(|(name, _)| name == LOG_NAME).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let lost = lines.len() - 1;
    copy.put(LOG_NAME, &lines[..lost].concat());
    let (file, line, seq, why) = copy.broken();
    assert_eq!(
        (file.as_str(), line, seq, why),
        (LOG_NAME, lost as u64, 17, Why::EndMissing(17))
    );
    drop(open(copy.folder.path(), Options::default(), &Hands::new()));
    let told = tail(copy.folder.path(), 2).unwrap().remove(0);
    assert_eq!(
        (told.severity, told.category),
        (Severity::Critical, Category::Audit)
    );
    assert_eq!(told.details["event"], "audit_end_lost");
    assert_eq!(copy.broken().3, Why::OutOfOrder(18));
}

#[test]
fn a_lost_head_is_told_by_the_next_start() {
    let copy = Copy::new();
    let head = ORIGINAL
        .iter()
        .find(|(name, _)| name.ends_with(".head"))
        .unwrap();
    std::fs::remove_file(copy.path(&head.0)).unwrap();
    assert_eq!(copy.broken().3, Why::HeadMissing);
    drop(open(copy.folder.path(), Options::default(), &Hands::new()));
    let Verdict::Verified { incidents, .. } = verify(copy.folder.path()).unwrap() else {
        panic!("broken");
    };
    assert_eq!(incidents.len(), 1);
}

#[test]
fn an_edited_log_goes_on_and_stays_evidence() {
    for grow in [false, true] {
        let copy = Copy::new();
        let (_, bytes) = ORIGINAL.iter().find(|(name, _)| name == LOG_NAME).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        let edited = text.replacen("entry", if grow { "something else" } else { "ENTRY" }, 1);
        copy.put(LOG_NAME, edited.as_bytes());
        let before = copy.broken();
        let log = open(copy.folder.path(), Options::default(), &Hands::new());
        log.append(&note("goes on")).unwrap();
        drop(log);
        assert_eq!(copy.broken(), before);
        let now = std::fs::read(copy.path(LOG_NAME)).unwrap();
        assert!(now.starts_with(edited.as_bytes()), "evidence was touched");
    }
}

#[derive(Clone, Debug)]
enum Act {
    Cut(prop::sample::Index),
    Drop(prop::sample::Index),
    Repeat(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Insert(prop::sample::Index, Vec<u8>),
    Overwrite(prop::sample::Index, Vec<u8>),
}

fn act() -> impl Strategy<Value = Act> {
    use prop::sample::Index;
    let place = || any::<Index>();
    let bytes = || prop::collection::vec(any::<u8>(), 1..40);
    prop_oneof![
        place().prop_map(Act::Cut),
        place().prop_map(Act::Drop),
        place().prop_map(Act::Repeat),
        (place(), place()).prop_map(|(a, b)| Act::Swap(a, b)),
        (place(), bytes()).prop_map(|(at, bytes)| Act::Insert(at, bytes)),
        (place(), bytes()).prop_map(|(at, bytes)| Act::Overwrite(at, bytes)),
    ]
}

impl Act {
    fn on(&self, bytes: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        let mut flat = bytes.to_vec();
        match self {
            Self::Cut(at) => return bytes[..at.index(bytes.len())].to_vec(),
            Self::Drop(at) => {
                lines.remove(at.index(lines.len()));
            }
            Self::Repeat(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at].clone());
            }
            Self::Swap(a, b) => {
                let (a, b) = (a.index(lines.len()), b.index(lines.len()));
                lines.swap(a, b);
            }
            Self::Insert(at, new) => {
                let at = at.index(flat.len());
                flat.splice(at..at, new.iter().copied());
                return flat;
            }
            Self::Overwrite(at, new) => {
                let at = at.index(flat.len());
                for (to, from) in flat[at..].iter_mut().zip(new) {
                    *to = *from;
                }
                return flat;
            }
        }
        lines.concat()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn no_change_goes_unnoticed(file in any::<prop::sample::Index>(), act in act()) {
        let (name, bytes) = file.get(&ORIGINAL);
        let changed = act.on(bytes);
        prop_assume!(&changed != bytes);
        // The two halves of the head say the same in either order.
        prop_assume!(is_log(name) || !matches!(act, Act::Swap(..)));
        let copy = Copy::new();
        copy.put(name, &changed);
        let (file, line, _, _) = copy.broken();
        if is_log(name) {
            let same = changed.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            let at = bytes[..same].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            if &file == name {
                prop_assert!(line.abs_diff(at) <= 1, "{act:?}: line {line}, not {at}");
            } else {
                // Whole lines missing at the end of a file show at the start of the next.
                prop_assert_eq!(line, 1);
            }
        }
    }
}
