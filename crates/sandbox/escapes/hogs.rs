//! Taking more than was given. Each one is bounded by itself, and runs only where a limit is on.

use crate::facts::Facts;
use crate::{Attempt, Outcome, raw, stopped};
use std::io::Write;
use std::time::{Duration, Instant};

const MIB: usize = 1024 * 1024;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("memory_hog", |facts| {
        limited(facts, || memory(libc::MAP_PRIVATE))
    }),
    ("shared_memory_hog", |facts| {
        limited(facts, || memory(libc::MAP_SHARED))
    }),
    ("fork_bomb", |facts| limited(facts, fork_bomb)),
    ("thread_bomb", |facts| limited(facts, thread_bomb)),
    ("descriptor_hog", |facts| limited(facts, descriptor_hog)),
    ("file_hog", |facts| limited(facts, || file_hog(facts))),
    ("scratch_hog", |facts| limited(facts, scratch_hog)),
    ("processor_hog", |facts| limited(facts, processor_hog)),
    ("raise_limits", |_| raise_limits()),
    ("core_dump", |_| core_dump()),
    ("lock_memory", |_| {
        stopped(raw::call(libc::SYS_mlockall, &[1]), |_| "locked".to_owned())
    }),
];

fn limited(facts: &Facts, run: impl FnOnce() -> Outcome) -> Outcome {
    if facts.limited {
        run()
    } else {
        Outcome::Untried("no limit is on".to_owned())
    }
}

/// Twice what the tests allow.
fn memory(flags: i32) -> Outcome {
    for taken in 0..32 {
        if let Err(error) = raw::map(4 * MIB, flags) {
            return Outcome::Stopped(format!("{error} after {} MiB", taken * 4));
        }
    }
    Outcome::Escaped("took 128 MiB".to_owned())
}

fn fork_bomb() -> Outcome {
    const MOST: usize = 400;
    match raw::forks(MOST) {
        (MOST, _) => Outcome::Escaped("400 children".to_owned()),
        (some, error) => Outcome::Stopped(format!("{error} after {some}")),
    }
}

fn thread_bomb() -> Outcome {
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Arc::new(std::sync::Mutex::new(held));
    for count in 0..400 {
        let held = std::sync::Arc::clone(&held);
        let thread = std::thread::Builder::new()
            .stack_size(64 * 1024)
            .spawn(move || {
                let _ = held.lock().map(|held| held.recv());
            });
        if let Err(error) = thread {
            return Outcome::Stopped(format!("{error} after {count}"));
        }
    }
    drop(hold);
    Outcome::Escaped("400 threads".to_owned())
}

fn descriptor_hog() -> Outcome {
    let mut held = Vec::new();
    while held.len() < 2048 {
        match rustix::io::dup(rustix::stdio::stdin()) {
            Ok(one) => held.push(one),
            Err(error) => return Outcome::Stopped(format!("{error} after {}", held.len())),
        }
    }
    Outcome::Escaped("2048 descriptors".to_owned())
}

fn file_hog(facts: &Facts) -> Outcome {
    raw::ignore(libc::SIGXFSZ);
    fill(&facts.write.join("large"), 8)
}

fn scratch_hog() -> Outcome {
    raw::ignore(libc::SIGXFSZ);
    for count in 0..8 {
        if let stopped @ Outcome::Stopped(_) = fill(format!("/tmp/large{count}").as_ref(), 1) {
            return stopped;
        }
    }
    Outcome::Escaped("wrote 8 MiB".to_owned())
}

fn fill(path: &std::path::Path, megabytes: usize) -> Outcome {
    let piece = vec![1; MIB / 2];
    let mut file = match std::fs::File::create(path) {
        Ok(file) => file,
        Err(error) => return Outcome::Stopped(error.to_string()),
    };
    for _ in 0..megabytes * 2 {
        if let Err(error) = file.write_all(&piece) {
            return Outcome::Stopped(error.to_string());
        }
    }
    Outcome::Escaped(format!("wrote {megabytes} MiB"))
}

fn processor_hog() -> Outcome {
    let start = Instant::now();
    let mut sum = 0u64;
    while start.elapsed() < Duration::from_secs(10) {
        for number in 0..100_000u64 {
            sum = std::hint::black_box(sum.wrapping_add(number));
        }
    }
    Outcome::Escaped("ten seconds".to_owned())
}

/// Higher hard limits than there are.
fn raise_limits() -> Outcome {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Some(hard) = getrlimit(Resource::Nofile).maximum else {
        return Outcome::Escaped("there is none".to_owned());
    };
    let more = Rlimit {
        current: Some(hard + 1),
        maximum: Some(hard + 1),
    };
    stopped(setrlimit(Resource::Nofile, more), |()| "raised".to_owned())
}

fn core_dump() -> Outcome {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    match getrlimit(Resource::Core).maximum {
        Some(0) => {}
        _ => return Outcome::Escaped("a core may be written".to_owned()),
    }
    let one = Rlimit {
        current: Some(1),
        maximum: Some(1),
    };
    stopped(setrlimit(Resource::Core, one), |()| "raised".to_owned())
}
