//! Every call of the file system fails once, in every way; the disk is full; the power goes.

use std::process::Command;
use std::sync::{Arc, Mutex};

use rustix::io::Errno;

use super::faulty::{CALLS, Faulty};
use super::*;
use crate::cache::disk::file_system::FileSystem;
use crate::cache::{Condition, DiskStore};

const ERRORS: [Errno; 10] = [
    Errno::NOSPC,
    Errno::ROFS,
    Errno::ACCESS,
    Errno::STALE,
    Errno::BUSY,
    Errno::IO,
    Errno::NOLCK,
    Errno::NOENT,
    Errno::MFILE,
    Errno::DQUOT,
];

/// Two starts that compile two kernels and load one; right whatever fails.
fn starts(files: &Arc<dyn FileSystem>, folder: &Path) -> u64 {
    let cache = Cache::with(on_disk(folder), files);
    fetch(&cache, 1);
    fetch(&cache, 2);
    let again = Cache::with(on_disk(folder), files);
    fetch(&again, 1);
    [cache, again]
        .iter()
        .map(|cache| cache.stats().io_failures)
        .sum()
}

/// What a folder has after that is right: a start without faults finds entries or nothing.
fn is_whole(folder: &Path) {
    has_entries_alone(folder);
    let cache = open(folder);
    fetch(&cache, 1);
    assert!(!fetch(&cache, 1) && cache.stats().corrupt == 0);
}

fn has_entries_alone(folder: &Path) {
    let store = DiskStore::open(folder).unwrap();
    for listed in store.list().unwrap() {
        let condition = store.check(&listed.key);
        assert!(
            matches!(condition, Condition::Right { .. }),
            "{condition:?}"
        );
    }
}

/// Without it some failure of a file system could stop a program, or leave what is taken for an
/// entry.
#[test]
fn every_call_may_fail_once_in_every_way() {
    let mut number = 0;
    loop {
        let mut reached = true;
        for error in ERRORS {
            let folder = tempfile::tempdir().unwrap();
            let failed = Arc::new(Mutex::new(""));
            let note = Arc::clone(&failed);
            let faulty = Arc::new(Faulty::new(move |n, name| {
                (n == number).then(|| {
                    *note.lock().unwrap() = name;
                    error
                })
            }));
            let path = folder.path().join("cache");
            let told = starts(&(Arc::clone(&faulty) as Arc<dyn FileSystem>), &path);
            reached = faulty.calls() > number;
            // What goes while the folder is looked through is left out, and a lock that stays is
            // swept.
            let name = *failed.lock().unwrap();
            if error == Errno::IO && !["", "stat", "remove"].contains(&name) {
                assert!(told > 0, "call {number}, {name}");
            }
            if path.exists() {
                is_whole(&path);
            }
        }
        if !reached {
            break;
        }
        number += 1;
    }
    assert!(number > 30, "{number} calls are not all");
}

/// Without it a file system that lacks a call, or is only read, would be no place to start from.
#[test]
fn every_call_may_fail_always() {
    for call in CALLS.into_iter().chain(["touch", "getdents"]) {
        for error in ERRORS {
            let folder = tempfile::tempdir().unwrap();
            let faulty = Faulty::new(move |_, name| (name == call).then_some(error));
            starts(&(Arc::new(faulty) as Arc<dyn FileSystem>), folder.path());
            is_whole(folder.path());
        }
    }
}

/// Without it an entry could have its name before its bytes are on the disk: after a loss of power
/// half of it would be found, which costs a compile of every program until it is removed.
#[test]
fn the_power_may_go_at_every_call() {
    for number in 0..1000 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache");
        std::fs::create_dir(&path).unwrap();
        let faulty = Arc::new(Faulty::new(move |n, _| (n >= number).then_some(Errno::IO)));
        starts(&(Arc::clone(&faulty) as Arc<dyn FileSystem>), &path);
        faulty.lose_power(&path);
        is_whole(&path);
        if faulty.calls() < number {
            return;
        }
    }
    panic!("so many calls are not made");
}

/// A file system of 256 KiB, where the system lets the test have one.
struct Small(tempfile::TempDir);

impl Small {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=256k", "none"])
            .arg(folder.path());
        let mounted = mount.output().is_ok_and(|done| done.status.success());
        mounted.then_some(Self(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

/// Without it a full disk would stop a start, or leave temporaries that keep it full. (Where nothing
/// may be mounted the two tests above stand in.)
#[test]
fn a_full_disk_costs_compiles() {
    let Some(small) = Small::mount() else {
        return;
    };
    let folder = small.0.path().join("cache");
    let cache = open(&folder);
    for of in 0..20 {
        let fetched = cache
            .get_or_compile(&key(of), || Ok(entry(of, 40_000)))
            .unwrap();
        assert_eq!(*fetched.entry, entry(of, 40_000));
    }
    let stats = cache.stats();
    assert!(stats.stored >= 4 && stats.io_failures >= 10, "{stats:?}");
    let usage = DiskStore::open(&folder).unwrap().usage().unwrap();
    assert_eq!((usage.entries, usage.temporaries), (stats.stored, 0));
    has_entries_alone(&folder);
}
