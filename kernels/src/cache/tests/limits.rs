//! How much the folder has, and what goes first.

use std::fs::{self, File};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::*;
use crate::cache::DiskStore;

/// A folder for so many entries of `fetch`.
fn limited(folder: &Path, entries: u64) -> Cache<Broken> {
    let bytes = entry(0, 1000).encode(&key(0)).len() as u64;
    Cache::new(CacheConfig {
        disk_limit: entries * bytes,
        ..on_disk(folder)
    })
}

fn file(folder: &Path, of: u64) -> std::path::PathBuf {
    folder.join(format!("{}.entry", key(of)))
}

/// Sets when a file was last used, in seconds from now.
fn used(path: &Path, seconds: i64) {
    let by = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    let time = if seconds < 0 { now - by } else { now + by };
    File::open(path).unwrap().set_modified(time).unwrap();
}

fn usage(folder: &Path) -> crate::cache::Usage {
    DiskStore::open(folder).unwrap().usage().unwrap()
}

/// Without it the folder would grow until the disk is full, or lose what is used at each start.
#[test]
fn the_least_recently_used_entry_makes_room() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cache = limited(folder, 4);
    for of in 0..4 {
        assert!(fetch(&cache, of));
        used(&file(folder, of), -1000 + i64::try_from(of).unwrap());
    }
    // The oldest is used: then it is the youngest.
    assert!(!fetch(&cache, 0));
    assert!(fetch(&cache, 4) && fetch(&cache, 5));
    let there = |of| file(folder, of).exists();
    assert_eq!(
        [0, 1, 2, 3, 4, 5].map(there),
        [true, false, false, true, true, true]
    );
    assert_eq!(cache.stats().evicted, 2);
    for of in 0..40 {
        fetch(&cache, of);
        assert!(usage(folder).entries <= 4);
    }
    // One in its own place; and one that never fits.
    let cache = limited(folder, 4);
    fs::write(file(folder, 39), "damaged").unwrap();
    fetch(&cache, 39);
    assert_eq!((usage(folder).entries, cache.stats().evicted), (4, 0));
    let large = cache
        .get_or_compile(&key(100), || Ok(entry(100, 100_000)))
        .unwrap();
    assert_eq!(large.entry.payload.len(), 100_000);
    assert_eq!(usage(folder).entries, 4);
}

/// Without it a clock that is ahead would keep entries for ever, or one that is behind would make
/// each hit the oldest.
#[test]
fn times_that_are_ahead_say_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cache = limited(folder, 3);
    for (of, seconds) in [(0, 40 * 365 * 86_400), (1, 3600), (2, -5000)] {
        fetch(&cache, of);
        used(&file(folder, of), seconds);
    }
    fetch(&cache, 3);
    assert!(!file(folder, 0).exists(), "an impossible time");
    fetch(&cache, 4);
    assert!(file(folder, 1).exists() && !file(folder, 2).exists());
    // A hit puts the time right.
    fetch(&cache, 1);
    let found = fs::metadata(file(folder, 1)).unwrap().modified().unwrap();
    assert!(found < SystemTime::now() + Duration::from_secs(1800));
}

/// Without it what killed processes leave would fill the disk, or the temporary of a process that
/// writes would be taken from it.
#[test]
fn what_dead_processes_left_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let cache = limited(folder, 100);
    let names = ["temporary-1-a", "temporary-1-b", "temporary-1-c"];
    for (name, seconds) in names.iter().zip([-4000, -3000, 3 * 86_400]) {
        fs::write(folder.join(name), "half").unwrap();
        used(&folder.join(name), seconds);
    }
    let lock = |of| folder.join(format!("{}.lock", key(of)));
    for of in [1, 2, 3] {
        fs::write(lock(of), "").unwrap();
        used(&lock(of), if of == 3 { -3000 } else { -4000 });
    }
    let held = File::open(lock(1)).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    fs::write(folder.join("README"), "another's").unwrap();
    used(&folder.join("README"), -1_000_000);
    fetch(&cache, 9);
    let left = names.map(|name| folder.join(name).exists());
    assert_eq!(left, [false, true, false], "an hour, or a day ahead");
    assert_eq!(
        [1, 2, 3].map(|of| lock(of).exists()),
        [true, false, true],
        "held, stale, young"
    );
    assert!(folder.join("README").exists());
    assert_eq!(cache.stats().swept, 3);
    // What is not swept yet counts.
    let bytes = entry(0, 1000).encode(&key(0)).len();
    fs::write(folder.join(names[0]), vec![0; 98 * bytes]).unwrap();
    fetch(&cache, 10);
    assert_eq!(usage(folder).entries, 1);
}

/// Without it writers that make room at the same time could pass the limit by more than their own.
#[test]
fn writers_pass_the_limit_by_one_entry_each() {
    const WRITERS: u64 = 4;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let most = Arc::new(std::sync::atomic::AtomicU64::new(0));
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let most = Arc::clone(&most);
            scope.spawn(move || {
                let cache = limited(folder, 5);
                for of in 0..50 {
                    fetch(&cache, 1000 * writer + of);
                    most.fetch_max(usage(folder).entries, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    let most = most.load(std::sync::atomic::Ordering::Relaxed);
    assert!((4..=5 + WRITERS).contains(&most), "{most}");
}

/// Without it people would be told what is not so.
#[test]
fn a_folder_is_listed_and_cleared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    assert!(
        DiskStore::open(&folder.join("none"))
            .unwrap_err()
            .is_absence()
    );
    let cache = limited(folder, 100);
    for of in 0..3 {
        fetch(&cache, of);
    }
    used(&file(folder, 2), -5000);
    fs::write(file(folder, 1), "damaged").unwrap();
    fs::write(folder.join("README"), "another's").unwrap();
    let store = DiskStore::open(folder).unwrap();
    let listed = store.list().unwrap();
    assert_eq!((listed.len(), listed[0].key), (3, key(2)));
    let right = |of| matches!(store.check(&key(of)), crate::cache::Condition::Right { .. });
    assert_eq!([0, 1, 2, 3].map(right), [true, false, true, false]);
    assert!(file(folder, 1).exists(), "a check changes nothing");
    assert_eq!(store.clear().unwrap(), 3);
    assert_eq!(usage(folder).entries, 0);
    assert!(folder.join("README").exists());
}
