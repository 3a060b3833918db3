//! Many processes on one folder, and processes that are killed.

use std::env;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use cupola_random::Random;

use super::network::Network;
use super::*;
use crate::cache::disk::file_system::{FileSystem, System};
use crate::cache::{Condition, DiskStore};

const FOLDER: &str = "CUPOLA_TEST_FOLDER";
const SEED: &str = "CUPOLA_TEST_SEED";

/// Starts one of the ignored tests below in a process of its own.
fn alone(test: &str, folder: &Path, seed: u64) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--quiet", "--nocapture"])
        .arg(format!("cache::tests::processes::{test}"))
        .env(FOLDER, folder)
        .env(SEED, seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program starts")
}

/// What the process was started with; the seed is 0 where it was not by [`alone`].
fn setting() -> (std::path::PathBuf, u64) {
    let folder = env::var_os(FOLDER).expect("another test starts this one");
    (folder.into(), env::var(SEED).unwrap().parse().unwrap())
}

/// Waits for processes, all of which must end well.
fn end_well(children: Vec<Child>) {
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
    }
}

/// A compile that counts itself in a file of the folder above.
fn counted(folder: &Path, of: u64) -> Entry {
    let count = folder.parent().unwrap().join("compiles");
    let mut count = File::options()
        .append(true)
        .create(true)
        .open(count)
        .unwrap();
    count.write_all(b".").unwrap();
    std::thread::sleep(Duration::from_millis(5));
    entry(of, 16 << 10)
}

#[test]
#[ignore = "a process that tests start"]
fn wants_one_key() {
    let (folder, _) = setting();
    // No time makes the test fail.
    let config = CacheConfig {
        lock_timeout: Duration::from_secs(3600),
        ..on_disk(&folder)
    };
    let cache = Cache::<Broken>::new(config);
    let fetched = cache
        .get_or_compile(&key(1), || Ok(counted(&folder, 1)))
        .unwrap();
    assert_eq!(*fetched.entry, entry(1, 16 << 10));
}

/// Without it the processes of a job that start together would compile one kernel as many times.
#[test]
fn of_64_processes_one_compiles() {
    let all = tempfile::tempdir().unwrap();
    let folder = all.path().join("cache");
    let children = (0..64)
        .map(|seed| alone("wants_one_key", &folder, seed))
        .collect();
    end_well(children);
    assert_eq!(fs::read(all.path().join("compiles")).unwrap().len(), 1);
    let usage = DiskStore::open(&folder).unwrap().usage().unwrap();
    assert_eq!((usage.entries, usage.temporaries, usage.locks), (1, 0, 0));
}

#[test]
#[ignore = "a process that tests start"]
fn works_over_the_network() {
    let (folder, seed) = setting();
    let mut random = Random::new(seed);
    let files: Arc<dyn FileSystem> = Arc::new(Network::new(seed));
    let mut loads = 0;
    for _ in 0..4 {
        // Room for some of the entries, so that hosts take each other's away.
        let config = CacheConfig {
            disk_limit: 5000,
            ..on_disk(&folder)
        };
        let cache = Cache::<Broken>::with(config, &files);
        for _ in 0..8 {
            loads += usize::from(!fetch(&cache, random.below(6)));
        }
    }
    println!("{loads} of 32 were there");
}

/// Without it what a network's file system shows late, twice or no more could be loaded as another
/// kernel, or stop a start: the fault of several caches in the field.
#[test]
fn of_64_hosts_none_loads_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let children = (0..64)
        .map(|seed| alone("works_over_the_network", folder.path(), seed))
        .collect();
    end_well(children);
    // Of what is left each is right, or was never renamed.
    let store = DiskStore::open(folder.path()).unwrap();
    for listed in store.list().unwrap() {
        let condition = store.check(&listed.key);
        assert!(
            matches!(condition, Condition::Right { .. }),
            "{condition:?}"
        );
    }
}

#[test]
#[ignore = "a process that tests start"]
fn stores_for_ever() {
    let (folder, seed) = setting();
    let mut random = Random::new(seed);
    let cache = open(&folder);
    println!("\nready");
    loop {
        // Each a compile, so that each is written.
        let of = random.below(8);
        let bytes = random.index(60_000);
        let _ = fs::remove_file(folder.join(format!("{}.entry", key(of))));
        cache
            .get_or_compile(&key(of), || Ok(entry(of, bytes)))
            .unwrap();
    }
}

/// Without it a process that is killed while it writes could leave what others take for an entry, or
/// a lock that they wait for.
#[test]
fn a_thousand_kills_leave_entries_or_nothing() {
    const KILLS: u64 = 1000;
    // On a busy machine most kills come before or between the writes.
    const MOST: u64 = 10 * KILLS;
    // Kills that came within a write.
    const TORN: u64 = 20;
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(18);
    let mut found = 0;
    // A kill comes within so many microseconds; longer where a disk takes that for a write.
    let mut within = 1500;
    let store = || DiskStore::open(folder.path()).unwrap();
    for seed in 0..MOST {
        if seed >= KILLS && found > KILLS && store().usage().unwrap().temporaries >= TORN {
            break;
        }
        let mut child = alone("stores_for_ever", folder.path(), seed);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"));
        std::thread::sleep(Duration::from_micros(random.below(within)));
        child.kill().unwrap();
        child.wait().unwrap();
        if found <= 2 * seed {
            within = (within + within / 32).min(100_000);
        }
        for listed in store().list().unwrap() {
            let condition = store().check(&listed.key);
            assert!(
                matches!(condition, Condition::Right { .. }),
                "{condition:?}"
            );
            found += 1;
        }
    }
    let usage = store().usage().unwrap();
    assert!(
        found > KILLS && usage.temporaries >= TORN,
        "{found} entries, {usage:?}"
    );
    // No lock is waited for: its holder is dead.
    let cache = Cache::<Broken>::with(
        CacheConfig {
            lock_timeout: Duration::from_secs(3600),
            ..on_disk(folder.path())
        },
        &(Arc::new(System) as Arc<dyn FileSystem>),
    );
    for of in 0..8 {
        store().remove(&key(of));
        assert!(fetch(&cache, of));
    }
    assert_eq!(cache.stats().lock_timeouts, 0);
}
