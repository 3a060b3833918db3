//! One limit over several processes. The other processes are this test binary, told to run one ignored test
//! alone, with the ledger as their standard input. Pools of two processes are in the integration suite
//! (`tests/suite/memory/ledger.rs`), which runs on a GPU too.
#![cfg(target_os = "linux")]

use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use cupola_managers::pool::SharedBudget;
use cupola_random::Random;
use cupola_sharing::{Account, HeaderError, Ledger, LedgerError};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

const UNIT: u64 = 64 << 10;

/// Starts a process that runs the ignored test of this name.
fn spawn(test: &str, ledger: &Ledger) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture"]);
    command.stdin(Stdio::from(ledger.file().try_clone_to_owned().unwrap()));
    command.stdout(Stdio::null());
    command.spawn().unwrap()
}

/// The ledger of a child.
fn inherited() -> Ledger {
    let input = io::stdin();
    Ledger::open(input.as_fd().try_clone_to_owned().unwrap()).unwrap()
}

fn is_member(ledger: &Ledger, child: &Child) -> bool {
    let members = ledger.members().unwrap();
    members.iter().any(|member| member.pid == child.id())
}

/// Waits until a child has a row and something charged.
fn wait_for(ledger: &Ledger, child: &Child) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_member(ledger, child) {
        assert!(Instant::now() < patience, "the child does not join");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Kills a child, which has found nothing wrong until then.
fn kill(child: &mut Child) {
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.signal(), Some(9), "{status}");
}

/// Charges and releases at random; no instant may have more charged than the limit.
fn use_at_random(ledger: &Ledger, account: &Account, random: &mut Random) {
    let mut held = Vec::new();
    for _ in 0..50 {
        let bytes = random.below(9 * UNIT);
        match account.charge(bytes) {
            Ok(()) => held.push(bytes),
            Err(refusal) => {
                assert!(refusal.used + bytes.div_ceil(UNIT) * UNIT > refusal.limit - UNIT);
                assert!(refusal.used <= refusal.limit, "{refusal}");
            }
        }
        assert_eq!(account.bytes(), held.iter().sum::<u64>());
        assert!(ledger.used() <= ledger.limit(), "over the limit");
        if held.len() > 5 || random.below(3) == 0 {
            account.release(held.pop().unwrap_or(0));
        }
    }
    held.into_iter().for_each(|bytes| account.release(bytes));
}

#[test]
#[ignore = "a process of killed_processes_leave_nothing_and_stopped_ones_block_none"]
fn child_uses_it_for_ever() {
    let ledger = inherited();
    let account = ledger.join().unwrap();
    let mut random = Random::new(u64::from(std::process::id()));
    // Ended by its parent, or with it.
    while std::os::unix::process::parent_id() != 1 {
        use_at_random(&ledger, &account, &mut random);
    }
}

/// All children stand still, somewhere: then the total is the sum of what they have, and this process gets
/// exactly the rest.
fn check_stopped(ledger: &Ledger, account: &Account, children: &[Child]) {
    let pids: Vec<_> = children.iter().map(Pid::from_child).collect();
    for pid in &pids {
        kill_process(*pid, Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(*pid), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{status:?}");
    }
    let members = ledger.members().unwrap();
    let sum: u64 = members.iter().map(|member| member.bytes).sum();
    assert_eq!(ledger.used(), sum);
    let rest = ledger.limit() - sum;
    account.charge(rest).unwrap();
    let refusal = account.charge(1).unwrap_err();
    assert_eq!(
        (refusal.used, refusal.limit),
        (ledger.limit(), ledger.limit())
    );
    account.release(rest);
    assert_eq!(ledger.used(), sum);
    for pid in pids {
        kill_process(pid, Signal::CONT).unwrap();
    }
}

// Without it a process that is killed at the wrong instruction could take bytes along for ever, or let others
// pass the limit, and one that is stopped could stop all others.
#[test]
fn killed_processes_leave_nothing_and_stopped_ones_block_none() {
    let ledger = Ledger::create(20 * UNIT).unwrap();
    let account = ledger.join().unwrap();
    let start = || spawn("child_uses_it_for_ever", &ledger);
    let mut children: Vec<_> = (0..3).map(|_| start()).collect();
    let mut random = Random::new(19);
    for round in 0..120 {
        let index = random.below(children.len() as u64) as usize;
        // In every fourth round it may be killed before it has joined.
        if round % 4 > 0 {
            wait_for(&ledger, &children[index]);
        }
        thread::sleep(Duration::from_micros(random.below(1500)));
        let mut child = std::mem::replace(&mut children[index], start());
        kill(&mut child);
        ledger.reclaim();
        assert!(!is_member(&ledger, &child));
        assert!(ledger.used() <= ledger.limit());
        if round % 10 == 0 {
            check_stopped(&ledger, &account, &children);
        }
    }
    children.iter_mut().for_each(kill);
    ledger.reclaim();
    assert_eq!(ledger.used(), 0);
    assert_eq!(ledger.members().unwrap().len(), 1, "this process");
    account.charge(20 * UNIT).unwrap();
    account.release(20 * UNIT);
    drop(account);
    assert_eq!(ledger.members().unwrap(), []);
}

// Without it the threads of a process could spoil their row, on which they are one after the other.
#[test]
fn threads_share_an_account() {
    let ledger = Ledger::create(20 * UNIT).unwrap();
    let account = ledger.join().unwrap();
    let others = AtomicBool::new(true);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while others.load(Ordering::Relaxed) {
                assert!(ledger.used() <= ledger.limit());
                assert!(ledger.members().unwrap()[0].bytes <= ledger.limit());
            }
        });
        let work = |seed| {
            let (ledger, account) = (&ledger, &account);
            move || {
                let mut random = Random::new(seed);
                let mut held = 0;
                for _ in 0..2000 {
                    let bytes = random.below(9 * UNIT);
                    if account.charge(bytes).is_ok() {
                        account.release(std::mem::replace(&mut held, bytes));
                    }
                    assert!(ledger.used() <= ledger.limit());
                }
                account.release(held);
            }
        };
        let workers: Vec<_> = (1..4).map(|seed| scope.spawn(work(seed))).collect();
        workers
            .into_iter()
            .for_each(|worker| worker.join().unwrap());
        others.store(false, Ordering::Relaxed);
        watcher.join().unwrap();
    });
    assert_eq!((ledger.used(), account.bytes()), (0, 0));
}

// Without it a charge could count for less than it is, or a release leave part of it.
#[test]
fn bytes_are_exact_here_and_rounded_up_in_the_ledger() {
    let ledger = Ledger::create(2 * UNIT + 5).unwrap();
    assert_eq!(ledger.limit(), 2 * UNIT + 5);
    let account = ledger.join().unwrap();
    account.charge(1).unwrap();
    account.charge(UNIT - 1).unwrap();
    assert_eq!((account.bytes(), ledger.used()), (UNIT, UNIT));
    account.charge(1).unwrap();
    assert_eq!((account.bytes(), ledger.used()), (UNIT + 1, 2 * UNIT));
    assert!(account.charge(UNIT).is_err());
    assert!(account.charge(u64::MAX).is_err());
    account.release(2);
    assert_eq!((account.bytes(), ledger.used()), (UNIT - 1, UNIT));
    ledger.set_limit(0);
    assert!(account.charge(2).is_err());
    assert_eq!(account.charge(1), Ok(()), "no unit more");
    account.release(UNIT);
    ledger.set_limit(u64::MAX);
    assert_eq!(ledger.limit(), (UNIT << 28) - UNIT);
    drop(account);
    assert_eq!(ledger.members().unwrap(), []);
}

// Without it a process beyond the last row would have no limit, or rows of processes that have ended would be
// lost.
#[test]
fn the_last_row_is_refused_and_free_again() {
    let ledger = Ledger::create(UNIT).unwrap();
    let mut accounts = Vec::new();
    let refused = loop {
        match ledger.join() {
            Ok(account) => accounts.push(account),
            Err(refused) => break refused,
        }
    };
    assert!(
        matches!(refused, LedgerError::Full { rows: 255 }),
        "{refused}"
    );
    assert_eq!(accounts.len(), 255);
    // The limit of an account keeps its row.
    let limit = accounts.swap_remove(100).device_limit();
    assert!(matches!(ledger.join(), Err(LedgerError::Full { .. })));
    drop(limit);
    let again = ledger.join().unwrap();
    again.charge(UNIT).unwrap();
    // What is charged stays so without its account.
    drop(again);
    assert_eq!(
        (ledger.used(), ledger.members().unwrap().len()),
        (UNIT, 255)
    );
    assert_eq!(ledger.reclaim(), 0, "this process has not ended");
}

// Without it a process that was forked could give its parent's bytes back, and both use them.
#[test]
fn a_fork_has_no_part_in_its_parents_account() {
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    let ledger = Ledger::create(4 * UNIT).unwrap();
    let account = ledger.join().unwrap();
    account.charge(3 * UNIT).unwrap();
    // SAFETY: the child calls nothing that another thread's locks could hold up, and leaves.
    let child = unsafe { fork() };
    if child == 0 {
        account.release(3 * UNIT);
        let is_refused = account.charge(1).is_err();
        let nothing = account.bytes() == 0 && ledger.used() == 3 * UNIT;
        drop(account);
        // SAFETY: ends the child at once.
        unsafe {
            _exit(i32::from(
                !is_refused || !nothing || ledger.used() != 3 * UNIT,
            ))
        };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { waitpid(child, &raw mut status, 0) };
    assert_eq!((waited, status), (child, 0));
    assert_eq!(
        (ledger.used(), ledger.members().unwrap().len()),
        (3 * UNIT, 1)
    );
}

// Without it a file that can become shorter would kill the processes that use it, and a file of another kind
// be taken for a limit.
#[test]
fn files_that_are_no_ledger_are_refused() {
    let file = fs::File::open("/proc/self/exe").unwrap();
    let refused = Ledger::open(file.into()).unwrap_err();
    assert!(matches!(refused, LedgerError::Unsealed { .. }), "{refused}");
    let ledger = Ledger::create(UNIT).unwrap();
    let file = fs::File::from(ledger.file().try_clone_to_owned().unwrap());
    assert!(file.set_len(0).is_err(), "it is sealed");
    // With some bits of a byte turned.
    let refusal = |at: u64, bits: u8| {
        let mut was = [0];
        file.read_exact_at(&mut was, at).unwrap();
        file.write_all_at(&[was[0] ^ bits], at).unwrap();
        let refusal = Ledger::open(file.try_clone().unwrap().into()).unwrap_err();
        file.write_all_at(&was, at).unwrap();
        refusal
    };
    let header = |error| match error {
        LedgerError::Header(error) => error,
        other => panic!("{other}"),
    };
    assert_eq!(header(refusal(0, 1)), HeaderError::NotALedger);
    assert!(matches!(
        header(refusal(8, 8)),
        HeaderError::Version { theirs: 9, ours: 1 }
    ));
    for (at, kind) in [(33, "pid"), (41, "time")] {
        let refused = refusal(at, 0xff);
        let is_named = matches!(refused, LedgerError::Namespace { kind: it } if it == kind);
        assert!(is_named, "{refused}");
    }
    Ledger::open(file.into()).unwrap();
}

// Without it a ledger that other code has written to could grant what is not there, or take a process down.
#[test]
fn a_damaged_ledger_grants_nothing() {
    let ledger = Ledger::create(8 * UNIT).unwrap();
    let account = ledger.join().unwrap();
    account.charge(3 * UNIT).unwrap();
    let file = fs::File::from(ledger.file().try_clone_to_owned().unwrap());
    // The number of the first row's last operation.
    file.write_all_at(&[77], 4096 + 128 + 8).unwrap();
    let refused = ledger.members().unwrap_err();
    assert!(matches!(refused, LedgerError::Damaged(_)), "{refused}");
    assert!(account.charge(UNIT).is_err());
    account.release(UNIT);
    // Of no owner any more, and then of a process that there cannot be.
    for owner in [[0; 8], [0xff; 8]] {
        file.write_all_at(&owner, 4096 + 128).unwrap();
        assert!(account.charge(UNIT).is_err());
    }
    ledger.reclaim();
}
