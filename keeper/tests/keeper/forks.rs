//! Processes that are forked from a keeper's, or from a guest's.

use std::thread;
use std::time::Duration;

use cupola_keeper::{KeeperConfig, KeeperError, Rights, SleepMode};
use cupola_managers::Error;
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::id;

use super::{Bench, PAGE};

/// How long a notice of the keeper is waited for: its thread may have to send it.
const LONG: Duration = Duration::from_secs(20);

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn alarm(seconds: u32) -> u32;
    fn _exit(status: i32) -> !;
}

fn is_forked<T>(outcome: &Result<T, KeeperError>) -> bool {
    matches!(outcome, Err(KeeperError::Device(Error::Forked)))
}

// Without it a child that leaves by its destructors would end its parent's keeper, cut off the guests of it, or tell
// the keeper of a guest that this has let go of what it has.
#[test]
fn a_forked_child_leaves_keeper_and_guests_alone() {
    let bench = Bench::new(KeeperConfig::limit(4 * PAGE));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keeper");
    bench.keeper.listen(&path).unwrap();
    let guest = bench.guest();
    let kept = bench.seal(&guest, "weights", PAGE, 3);
    let asleep = bench.seal(&guest, "asleep", PAGE, 4);
    let early = bench
        .keeper
        .sleep("asleep", SleepMode::HostCopy, Duration::ZERO);
    assert!(matches!(early, Err(KeeperError::InUse { .. })), "{early:?}");
    assert_eq!(guest.attend_for(LONG).unwrap(), 1);
    assert_eq!(guest.list().unwrap().len(), 2);
    // SAFETY: the child calls nothing that waits for a lock which another thread may hold, and leaves.
    let child = unsafe { fork() };
    if child == 0 {
        // SAFETY: ends the child if it hangs.
        unsafe { alarm(30) };
        let keeper = &bench.keeper;
        let refused = [
            is_forked(&guest.list()),
            is_forked(&guest.attend()),
            is_forked(&guest.attend_for(Duration::from_secs(9))),
            is_forked(&guest.remove("weights")),
            is_forked(&guest.limit()),
            is_forked(&guest.open("weights", Rights::Read)),
            is_forked(&asleep.wake()),
            is_forked(&keeper.remove("weights")),
            is_forked(&keeper.wake("asleep")),
            is_forked(&keeper.sleep("weights", SleepMode::Discard, Duration::ZERO)),
            is_forked(&keeper.listen(folder.path().join("other"))),
            // SAFETY: no work is given it.
            is_forked(&unsafe { kept.slice::<u8>(0..1) }.map(drop)),
            is_forked(&kept.description()),
            !kept.is_awake() && kept.rights() == Rights::Read,
            keeper.objects().is_empty() && keeper.guests().is_empty(),
            keeper.last_error().is_none(),
        ];
        drop((asleep, kept, guest));
        drop(bench.keeper);
        let all = refused.iter().all(|&refused| refused);
        // SAFETY: ends the child at once.
        unsafe { _exit(i32::from(!all)) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    let waited = unsafe { waitpid(child, &raw mut status, 0) };
    assert_eq!(
        (waited, status),
        (child, 0),
        "256: something was not refused"
    );
    // The keeper serves on, and has both openings down.
    assert!(path.exists());
    assert_eq!(guest.list().unwrap().len(), 2);
    bench.assert_filled(&kept, 3);
    asleep.wake().unwrap();
    bench.assert_filled(&asleep, 4);
    let other = cupola_keeper::Guest::connect_to(&path, &bench.context).unwrap();
    assert_eq!(other.list().unwrap()[0].guests, 1);
    drop((asleep, kept, guest, other));
    bench.finish();
}

// Without it a child that asks about an opening could wait for ever for a thread that it does not have.
#[test]
fn a_forked_child_waits_for_no_thread_that_maps() {
    let machine = Machine::builder().build();
    let table = FaultTable::new(machine.driver());
    let bench = Bench::with_driver(KeeperConfig::limit(PAGE), machine, table.driver());
    let guest = bench.guest();
    let kept = bench.seal(&guest, "weights", PAGE, 3);
    let early = bench
        .keeper
        .sleep("weights", SleepMode::HostCopy, Duration::ZERO);
    assert!(matches!(early, Err(KeeperError::InUse { .. })), "{early:?}");
    assert_eq!(guest.attend_for(LONG).unwrap(), 1);
    table.reset();
    // Long enough that it is under way when the process is forked.
    let import = id::cuMemImportFromShareableHandle;
    table.delay(import, 1, Duration::from_millis(300));
    thread::scope(|threads| {
        let waking = threads.spawn(|| kept.wake());
        while table.count(import) < 1 {
            thread::yield_now();
        }
        // SAFETY: the child calls nothing that waits for a lock which another thread may hold, and leaves.
        let child = unsafe { fork() };
        if child == 0 {
            // SAFETY: ends the child if it hangs.
            unsafe { alarm(30) };
            // SAFETY: no work is given it.
            let slice = unsafe { kept.slice::<u8>(0..1) }.map(drop);
            let told = (kept.rights(), kept.is_awake()) == (Rights::Read, false);
            let refused = is_forked(&slice) && is_forked(&kept.description());
            let is_named = format!("{kept:?}").contains("weights");
            // SAFETY: ends the child at once.
            unsafe { _exit(i32::from(!(told && refused && is_named))) };
        }
        let mut status = -1;
        // SAFETY: `status` outlives the call.
        let waited = unsafe { waitpid(child, &raw mut status, 0) };
        assert_eq!(
            (waited, status),
            (child, 0),
            "14: it hung, 256: it was not refused"
        );
        waking.join().unwrap().unwrap();
    });
    bench.assert_filled(&kept, 3);
    drop((kept, guest));
    bench.finish();
}

// Without it a guest could be refused for the mode of a socket that an executor had before.
#[test]
fn a_socket_that_does_not_block_is_as_good() {
    let bench = Bench::new(KeeperConfig::limit(PAGE));
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    ours.set_nonblocking(true).unwrap();
    bench.keeper.serve(ours).unwrap();
    let guest = cupola_keeper::Guest::connect(theirs, &bench.context).unwrap();
    assert!(guest.list().unwrap().is_empty());
    drop(guest);
    bench.finish();
}
