use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

fn look(place: &Path, earlier: Option<&Snapshot>) -> Snapshot {
    Snapshot::take(&Folder::open(place).unwrap(), &Bounds::default(), earlier).unwrap()
}

#[test]
fn every_change_shows() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("posts")).unwrap();
    fs::create_dir(place.path().join("empty")).unwrap();
    for name in ["posts/a", "posts/b", "c"] {
        fs::write(place.path().join(name), "one").unwrap();
    }
    let before = look(place.path(), None);
    assert!(
        before
            .changes(&look(place.path(), Some(&before)))
            .is_empty()
    );
    fs::write(place.path().join("posts/a"), "two").unwrap();
    fs::remove_file(place.path().join("c")).unwrap();
    fs::remove_dir(place.path().join("empty")).unwrap();
    fs::write(place.path().join("d"), "").unwrap();
    let changes = before.changes(&look(place.path(), Some(&before)));
    assert_eq!(changes.files, ["c", "d", "empty", "posts/a"]);
    assert!(changes.oddities.is_empty());
}

#[test]
fn a_clock_set_back_hides_no_change() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("a");
    fs::write(&file, "one").unwrap();
    let before = look(place.path(), None);
    fs::write(&file, "two").unwrap();
    let old = SystemTime::UNIX_EPOCH;
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(old)
        .unwrap();
    assert_eq!(
        before.changes(&look(place.path(), Some(&before))).files,
        ["a"]
    );
}

#[test]
fn what_a_hostile_process_leaves_is_named_and_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let before = look(place.path(), None);
    symlink("/etc/passwd", place.path().join("link")).unwrap();
    symlink("/", place.path().join("root")).unwrap();
    fs::write(place.path().join("one"), "x").unwrap();
    fs::hard_link(place.path().join("one"), place.path().join("two")).unwrap();
    rustix::fs::mknodat(
        Folder::open(place.path()).unwrap().fd(),
        "pipe",
        FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    fs::File::create(place.path().join("huge"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    fs::write(place.path().join("a\nb"), "x").unwrap();
    fs::create_dir_all(place.path().join("1/2/3/4/5/6/7/8")).unwrap();
    let changes = before.changes(&look(place.path(), Some(&before)));
    let odd: Vec<(&str, Oddity)> = changes
        .oddities
        .iter()
        .map(|(path, odd)| (path.as_str(), *odd))
        .collect();
    assert_eq!(
        odd,
        [
            ("1", Oddity::Folder),
            ("1/2", Oddity::Folder),
            ("1/2/3", Oddity::Folder),
            ("1/2/3/4", Oddity::Folder),
            ("1/2/3/4/5", Oddity::Folder),
            ("1/2/3/4/5/6", Oddity::Folder),
            ("1/2/3/4/5/6/7", Oddity::TooMany),
            ("a%0ab", Oddity::Name),
            ("huge", Oddity::TooLarge),
            ("link", Oddity::Link),
            ("one", Oddity::HardLink),
            ("pipe", Oddity::Special),
            ("root", Oddity::Link),
            ("two", Oddity::HardLink),
        ]
    );
}

#[test]
fn entries_and_bytes_are_bounded() {
    let place = tempfile::tempdir().unwrap();
    for name in 0..20 {
        fs::write(place.path().join(name.to_string()), "0123456789").unwrap();
    }
    let folder = Folder::open(place.path()).unwrap();
    let bounds = Bounds {
        entries: 5,
        ..Bounds::default()
    };
    let few = Snapshot::take(&folder, &bounds, None).unwrap();
    assert_eq!((few.paths().count(), few.oddities().count()), (5, 1));
    let bounds = Bounds {
        total_bytes: 35,
        ..Bounds::default()
    };
    let small = Snapshot::take(&folder, &bounds, None).unwrap();
    assert_eq!(small.paths().count(), 3);
    assert!(small.oddities().all(|(_, odd)| odd == Oddity::TooLarge));
}
