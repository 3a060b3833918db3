//! A process that may open no more files.

use std::env;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::Duration;

use cupola_keeper::{KeeperConfig, KeeperError, SleepMode};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{Bench, PAGE};

/// Set in the process that has this test to itself: the limit is one of all threads.
const IS_ALONE: &str = "CUPOLA_KEEPER_TEST_IS_ALONE";

// Without it a guest that has used its descriptors up could not let go of what the keeper wants to put to sleep.
#[test]
fn a_guest_attends_without_a_descriptor_to_spare() {
    if env::var_os(IS_ALONE).is_none() {
        let test = "descriptors::a_guest_attends_without_a_descriptor_to_spare";
        let mut alone = Command::new(env::current_exe().unwrap());
        let alone = alone.args(["--exact", test]).env(IS_ALONE, "1").output();
        let alone = alone.unwrap();
        assert!(
            alone.status.success(),
            "{}",
            String::from_utf8_lossy(&alone.stdout)
        );
        return;
    }
    let bench = Bench::new(KeeperConfig::limit(PAGE));
    let guest = bench.guest();
    let kept = bench.seal(&guest, "weights", PAGE, 3);
    let before = getrlimit(Resource::Nofile);
    // The lowest number that is free.
    let next = File::open("/dev/null").unwrap().as_raw_fd();
    let current = Some(u64::try_from(next).unwrap());
    setrlimit(Resource::Nofile, Rlimit { current, ..before }).unwrap();
    let file = File::open("/dev/null");
    let early = bench
        .keeper
        .sleep("weights", SleepMode::HostCopy, Duration::ZERO);
    let attended = guest.attend_for(Duration::from_secs(20));
    setrlimit(Resource::Nofile, before).unwrap();
    assert!(file.is_err(), "the limit holds");
    assert!(matches!(early, Err(KeeperError::InUse { .. })), "{early:?}");
    assert_eq!(attended.unwrap(), 1);
    kept.wake().unwrap();
    bench.assert_filled(&kept, 3);
    drop((kept, guest));
    bench.finish();
}
