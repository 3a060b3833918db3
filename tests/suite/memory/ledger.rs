//! Pools of two processes under one limit. The other process is this test binary, told to run one ignored test
//! alone, with the ledger as its standard input.

use std::io::{self, BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{ChildStdout, Stdio};

use cupola_managers::pool::PoolConfig;
use cupola_managers::{Error, MemoryPool};
use cupola_sharing::{Account, Ledger};

use crate::child;
use crate::common::{Bench, on_gpu};

/// Bytes that the two have together.
fn limit() -> u64 {
    if on_gpu() { 2 << 30 } else { 64 << 20 }
}

fn pool(bench: &Bench, account: &Account) -> MemoryPool {
    let config = PoolConfig::limit(u64::MAX).within(&account.device_limit());
    bench.context.memory_pool(config).unwrap()
}

/// The other process has come this far.
const REACHED: &str = "the ledger's child has come to ";

/// What the other process has come to next.
fn hear(said: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    while !line.contains(REACHED) {
        line.clear();
        assert_ne!(
            said.read_line(&mut line).unwrap(),
            0,
            "the other process ended"
        );
    }
    line.split_once(REACHED).unwrap().1.trim().to_owned()
}

// Without it two processes on one GPU could have more than their limit together, be refused what the other does
// not have, or lose for ever what one had that was killed.
#[test]
fn pools_of_two_processes_have_one_limit() {
    let bench = Bench::open();
    let ledger = Ledger::create(limit()).unwrap();
    let account = ledger.join().unwrap();
    let pool = pool(&bench, &account);
    let part = |parts: u64| usize::try_from(limit() / 4 * parts).unwrap();
    let ours = pool.allocate::<u8>(part(3), &bench.stream).unwrap();
    let file = ledger.file().try_clone_to_owned().unwrap();
    let mut command = child::command("memory::ledger::child_wants_half");
    command.stdin(Stdio::from(file)).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    assert_eq!(hear(&mut said), "a refusal of a half");
    assert_eq!(hear(&mut said), "a quarter");
    assert_eq!(ledger.used(), limit());
    let Err(Error::OverLimit(refusal)) = pool.allocate::<u8>(1, &bench.stream) else {
        panic!("all of it is in use");
    };
    assert_eq!(refusal.processes, Some((limit(), limit())));
    assert_eq!(refusal.mapped, limit() / 4 * 3);
    // Killed with its memory: the next request finds that it has ended.
    child.kill().unwrap();
    child.wait().unwrap();
    let rest = pool.allocate::<u8>(part(1), &bench.stream).unwrap();
    assert_eq!((ledger.used(), account.bytes()), (limit(), limit()));
    drop((ours, rest, pool));
    assert_eq!((ledger.used(), account.bytes()), (0, 0));
    bench.finish();
}

#[test]
#[ignore = "a process of pools_of_two_processes_have_one_limit"]
fn child_wants_half() {
    let bench = Bench::open();
    let input = io::stdin();
    let ledger = Ledger::open(input.as_fd().try_clone_to_owned().unwrap()).unwrap();
    let account = ledger.join().unwrap();
    let pool = pool(&bench, &account);
    let half = usize::try_from(limit() / 2).unwrap();
    let Err(Error::OverLimit(refusal)) = pool.allocate::<u8>(half, &bench.stream) else {
        panic!("a quarter is left");
    };
    assert_eq!(refusal.processes, Some((limit() / 4 * 3, limit())));
    println!("{REACHED}a refusal of a half");
    let quarter = pool.allocate::<u8>(half / 2, &bench.stream).unwrap();
    println!("{REACHED}a quarter");
    // Killed while it waits; it ends with its parent.
    while std::os::unix::process::parent_id() != 1 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    drop(quarter);
}
