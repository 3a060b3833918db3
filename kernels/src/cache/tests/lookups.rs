//! What a look for an entry comes to.

use std::collections::HashSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use std::{fs, thread};

use super::super::{CacheError, RejectedTwice, SharedLayer, Source};
use super::*;
use crate::cache::LoadPolicy;

fn source(cache: &Cache<Broken>, of: u64) -> Source {
    let fetched = cache
        .get_or_compile(&key(of), || Ok(entry(of, 1000)))
        .unwrap();
    assert_eq!(*fetched.entry, entry(of, 1000));
    fetched.source
}

/// Without it each start would compile again, or each look read the disk.
#[test]
fn an_entry_is_compiled_once_and_found_in_memory_and_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let config = CacheConfig {
        folder: Some(folder.path().join("a/b")),
        ..CacheConfig::default()
    };
    let cache = Cache::<Broken>::new(config.clone());
    assert_eq!(source(&cache, 1), Source::Compiled);
    assert_eq!(source(&cache, 1), Source::Memory);
    assert_eq!(source(&cache, 2), Source::Compiled);
    let again = Cache::new(config);
    assert_eq!(source(&again, 1), Source::Disk);
    assert_eq!(source(&again, 1), Source::Memory);
    let stats = cache.stats();
    assert_eq!((stats.compiles, stats.stored, stats.memory_hits), (2, 2, 1));
    assert_eq!((stats.io_failures, stats.refused), (0, 0), "{stats:?}");
    // Nothing but entries stays: no lock, no temporary.
    let usage = super::super::DiskStore::open(again.folder().unwrap())
        .unwrap()
        .usage()
        .unwrap();
    assert_eq!((usage.entries, usage.temporaries, usage.locks), (2, 0, 0));
}

/// Without it a damaged entry would be loaded, or stop every start for ever.
#[test]
fn a_damaged_entry_is_dropped_and_made_again() {
    let folder = tempfile::tempdir().unwrap();
    assert!(fetch(&open(folder.path()), 1));
    let file = folder.path().join(format!("{}.entry", key(1)));
    let right = fs::read(&file).unwrap();
    type Damage = fn(&mut Vec<u8>);
    let damages: [Damage; 4] = [
        |bytes| bytes.truncate(100),
        |bytes| bytes.clear(),
        |bytes| bytes[300] ^= 1,
        |bytes| bytes.push(0),
    ];
    for damage in damages {
        let mut bytes = right.clone();
        damage(&mut bytes);
        fs::write(&file, bytes).unwrap();
        let cache = open(folder.path());
        assert!(fetch(&cache, 1));
        assert_eq!(cache.stats().corrupt, 1);
        assert_eq!(fs::read(&file).unwrap(), right);
    }
    // An entry under another's name.
    fs::copy(&file, folder.path().join(format!("{}.entry", key(2)))).unwrap();
    assert!(fetch(&open(folder.path()), 2) && !fetch(&open(folder.path()), 2));
}

/// Without it a changed header would lead to the old binary.
#[test]
fn an_entry_is_stale_when_its_files_change() {
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("a.h");
    let compile = |cache: &Cache<Broken>| {
        let compile = || {
            let mut entry = entry(1, 10);
            entry.payload = entry.manifest.read(&header).unwrap().unwrap_or_default();
            Ok(entry)
        };
        let fetched = cache.get_or_compile(&key(1), compile).unwrap();
        (fetched.entry.payload.clone(), fetched.source)
    };
    let both = CacheConfig {
        memory_limit: 1 << 20,
        ..on_disk(&folder.path().join("cache"))
    };
    let cache = Cache::new(both.clone());
    assert_eq!(compile(&cache), (b"".to_vec(), Source::Compiled));
    assert_eq!(compile(&cache), (b"".to_vec(), Source::Memory));
    for text in ["one", "two"] {
        fs::write(&header, text).unwrap();
        let other = Cache::new(both.clone());
        assert_eq!(
            compile(&other),
            (text.into(), Source::Compiled),
            "from disk"
        );
        assert_eq!(other.stats().stale, 2, "before and after the lock");
        assert_eq!(compile(&cache), (text.into(), Source::Disk), "from memory");
    }
    // A file that changes during the compile: the bytes are used and not kept.
    let compile = || {
        let mut entry = entry(2, 10);
        entry.manifest.read(&header).unwrap();
        fs::write(&header, "three").unwrap();
        Ok(entry)
    };
    assert_eq!(
        cache.get_or_compile(&key(2), compile).unwrap().source,
        Source::Compiled
    );
    assert!(fetch(&cache, 2));
}

/// Without it a source that cannot be compiled would be tried at each launch; or a fixed header, or a
/// moment's lack of memory, would not help.
#[test]
fn failures_are_remembered_while_their_inputs_are_at_fault() {
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("a.h");
    let cache = open(&folder.path().join("cache"));
    let compiles = AtomicUsize::new(0);
    let fail = |of, error: fn(Manifest) -> Broken| {
        let compile = || {
            compiles.fetch_add(1, Ordering::Relaxed);
            let mut manifest = Manifest::new();
            manifest.read(&header).unwrap();
            Err(error(manifest))
        };
        let failed = cache.get_or_compile(&key(of), compile).unwrap_err();
        assert!(matches!(failed, CacheError::Compile(_)), "{failed}");
        compiles.load(Ordering::Relaxed)
    };
    assert_eq!([fail(1, Broken::Source), fail(1, Broken::Source)], [1, 1]);
    fs::write(&header, "").unwrap();
    assert_eq!([fail(1, Broken::Source), fail(1, Broken::Source)], [2, 2]);
    assert_eq!(
        [fail(2, |_| Broken::Machine), fail(2, |_| Broken::Machine)],
        [3, 4]
    );
    assert_eq!(
        [fail(3, |_| Broken::GivenUp), fail(3, |_| Broken::GivenUp)],
        [5, 6]
    );
    assert!(fetch(&cache, 2) && !fetch(&cache, 2));
    assert_eq!(cache.stats().failure_hits, 2);
}

/// Without it threads that start together would compile one kernel each, or sleep for ever when the
/// one that compiles fails, gives up or panics.
#[test]
fn of_threads_that_want_one_key_one_compiles() {
    const THREADS: usize = 8;
    let folder = tempfile::tempdir().unwrap();
    let cache = open(folder.path());
    let (compiles, start) = (AtomicUsize::new(0), Barrier::new(THREADS));
    let compile = |leader: &(dyn Fn() -> Result<Entry, Broken> + Sync), of| {
        // The first compile waits until all others do, or do not find it under way any more.
        if compiles.fetch_add(1, Ordering::Relaxed) == 0 {
            thread::sleep(Duration::from_millis(20));
            return leader();
        }
        Ok(entry(of, 1000))
    };
    let run = |of, leader: &(dyn Fn() -> Result<Entry, Broken> + Sync)| {
        compiles.store(0, Ordering::Relaxed);
        thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        cache
                            .get_or_compile(&key(of), || compile(leader, of))
                            .is_ok()
                    })
                })
                .collect();
            let right = threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or(false));
            (
                right.filter(|right| *right).count(),
                compiles.load(Ordering::Relaxed),
            )
        })
    };
    assert_eq!(run(1, &|| Ok(entry(1, 1000))), (THREADS, 1));
    assert_eq!(run(2, &|| Err(Broken::GivenUp)), (THREADS - 1, 2));
    assert_eq!(run(3, &|| panic!("planted")), (THREADS - 1, 2));
    let (right, compiles) = run(4, &|| Err(Broken::Source(Manifest::new())));
    assert_eq!((right, compiles), (0, 1));
}

/// Without it a binary that the driver refuses would be loaded for ever, or be compiled for ever.
#[test]
fn a_rejected_entry_is_rebuilt_once() {
    let folder = tempfile::tempdir().unwrap();
    let shared = tempfile::tempdir().unwrap();
    fetch(&open(shared.path()), 1);
    let layer = SharedLayer {
        folder: shared.path().into(),
        owner: None,
    };
    let config = CacheConfig {
        shared: Some(layer),
        ..CacheConfig {
            memory_limit: 1 << 20,
            ..on_disk(folder.path())
        }
    };
    let cache = Cache::<Broken>::new(config);
    let get = || {
        cache
            .get_or_compile(&key(1), || Ok(entry(1, 1000)))
            .unwrap()
    };
    let (first, second) = (get(), get());
    assert_eq!(
        (first.source, second.source),
        (Source::Shared, Source::Memory)
    );
    assert_eq!(cache.reject(&key(1), &first), Ok(()));
    assert_eq!(cache.reject(&key(1), &second), Ok(()), "the same rejection");
    let third = get();
    assert_eq!(
        third.source,
        Source::Compiled,
        "not from the shared folder again"
    );
    assert_eq!(
        cache.reject(&key(1), &first),
        Ok(()),
        "the first rejection still"
    );
    assert_eq!(get().source, Source::Memory);
    assert_eq!(
        cache.reject(&key(1), &third),
        Err(RejectedTwice { key: key(1) })
    );
    // It was dropped from the private folder too.
    assert!(fetch(&open(folder.path()), 2));
    let other = open(folder.path());
    let fetched = other
        .get_or_compile(&key(2), || Ok(entry(2, 1000)))
        .unwrap();
    assert_eq!(fetched.source, Source::Disk);
    other.reject(&key(2), &fetched).unwrap();
    assert!(fetch(&open(folder.path()), 2));
}

/// Without it a binary that is not listed could be loaded, from a folder or from a compiler that
/// makes another one.
#[test]
fn what_is_not_listed_is_not_loaded() {
    let folder = tempfile::tempdir().unwrap();
    assert!(fetch(&open(folder.path()), 1) && fetch(&open(folder.path()), 2));
    let listed = HashSet::from([Digest::of(&entry(1, 1000).payload)]);
    let config = CacheConfig {
        policy: LoadPolicy::Listed(listed),
        ..on_disk(folder.path())
    };
    let cache = Cache::new(config);
    assert!(!fetch(&cache, 1));
    let failed = cache
        .get_or_compile(&key(2), || Ok(entry(2, 1000)))
        .unwrap_err();
    let digest = Digest::of(&entry(2, 1000).payload);
    assert!(matches!(&failed, CacheError::NotListed { digest: said, .. } if *said == digest));
    assert!(failed.to_string().contains(&digest.to_string()), "{failed}");
    // What is in the folder does not count where the compiler makes what is listed.
    assert!(cache.get_or_compile(&key(2), || Ok(entry(1, 1000))).is_ok());
    assert_eq!(cache.stats().unlisted, 4, "before and after the lock");
}

/// Without it an image's entries would be compiled again, or be changed by those who read them.
#[test]
fn the_shared_folder_is_read_and_never_written() {
    let folder = tempfile::tempdir().unwrap();
    let shared = tempfile::tempdir().unwrap();
    fetch(&open(shared.path()), 1);
    fetch(&open(shared.path()), 2);
    let file = |of| shared.path().join(format!("{}.entry", key(of)));
    fs::write(file(2), "damaged").unwrap();
    let old = SystemTime::now() - Duration::from_secs(1_000_000);
    fs::File::open(file(1)).unwrap().set_modified(old).unwrap();
    let look = || {
        let names = fs::read_dir(shared.path()).unwrap().map(|file| {
            let file = file.unwrap();
            let found = file.metadata().unwrap();
            (file.file_name(), found.modified().unwrap(), found.len())
        });
        names.collect::<HashSet<_>>()
    };
    let before = look();
    let layer = SharedLayer {
        folder: shared.path().into(),
        owner: None,
    };
    let cache = Cache::new(CacheConfig {
        shared: Some(layer),
        ..on_disk(folder.path())
    });
    assert_eq!(source(&cache, 1), Source::Shared);
    assert!(fetch(&cache, 2) && fetch(&cache, 3));
    assert_eq!(look(), before);
    assert_eq!(cache.stats().corrupt, 1);
}
