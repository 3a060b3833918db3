//! Guests that do not finish what they fill again.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use cupola_keeper::{Guest, KeeperConfig, Kept, ObjectState, SleepMode};
use cupola_sharing::wire;
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::id;

use super::strangers::{Process, device, frame, is_cut_off};
use super::{Bench, PAGE};

/// The object is discarded. The guest has one opening of it, and no other has.
fn discard(bench: &Bench, guest: &Guest) {
    let long = Duration::from_secs(20);
    thread::scope(|threads| {
        let sleep = threads.spawn(move || bench.keeper.sleep("weights", SleepMode::Discard, long));
        assert_eq!(guest.attend_for(long).unwrap(), 1);
        sleep.join().unwrap().unwrap();
    });
}

/// The guest fills the object again, for all.
fn refill(bench: &Bench, guest: &Guest, kept: &Kept) {
    let mut filling = guest.refill("weights").unwrap();
    bench.fill(&mut filling, 2);
    drop(filling.seal(*b"again").unwrap());
    kept.wake().unwrap();
    bench.assert_filled(kept, 2);
    assert_eq!(kept.description().unwrap(), b"again");
}

/// A connection of the process, which asks to fill the object again.
fn ask(bench: &Bench, process: &Process) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    bench.keeper.serve(ours).unwrap();
    let pidfd = process.pidfd();
    wire::send(&theirs, &frame(1, &device(bench)), Some(pidfd.as_fd())).unwrap();
    wire::send(&theirs, &frame(3, b"weights"), None).unwrap();
    theirs
}

// Without it an object could not be used as long as a process lives that was cut off while it filled it; or a process
// that can still write to it could change what others read, or its memory not count.
#[test]
fn one_that_is_cut_off_leaves_the_object_to_be_filled_by_others() {
    let bench = Bench::new(KeeperConfig::limit(2 * PAGE));
    let guest = bench.guest();
    let kept = bench.seal(&guest, "weights", PAGE, 1);
    discard(&bench, &guest);
    let mut process = Process::start();
    let theirs = ask(&bench, &process);
    // No more is said.
    theirs.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(is_cut_off(&theirs));
    assert_eq!(bench.keeper.objects()[0].state, ObjectState::Discarded);
    assert_eq!(bench.keeper.used(), PAGE, "the process may have it mapped");
    refill(&bench, &guest, &kept);
    assert_eq!(bench.keeper.used(), 2 * PAGE);
    process.end();
    assert_eq!(bench.keeper.used(), PAGE);
    bench.assert_filled(&kept, 2);
    drop((kept, guest));
    bench.finish();
}

// Without it a successor could be refused, because memory is still being made for its dead predecessor, which another
// guest's opening hid.
#[test]
fn memory_that_is_made_for_the_dead_is_waited_for() {
    let machine = Machine::builder().build();
    let table = FaultTable::new(machine.driver());
    let bench = Bench::with_driver(KeeperConfig::limit(PAGE), machine, table.driver());
    let guest = bench.guest();
    let kept = bench.seal(&guest, "weights", PAGE, 1);
    // The successor asks while it is made, and while it is given back.
    let (made, given_back) = (id::cuMemCreate, id::cuMemRelease);
    for moment in [made, given_back] {
        discard(&bench, &guest);
        table.reset();
        table.delay(made, 1, Duration::from_millis(300));
        table.delay(given_back, 1, Duration::from_millis(300));
        let mut process = Process::start();
        let theirs = ask(&bench, &process);
        while table.count(made) < 1 {
            thread::yield_now();
        }
        process.end();
        thread::scope(|threads| {
            // Sees that it is dead, whenever the successor asks.
            threads.spawn(|| bench.keeper.objects());
            while table.count(moment) < 1 {
                thread::yield_now();
            }
            refill(&bench, &guest, &kept);
        });
        assert_eq!(bench.keeper.used(), PAGE);
        drop(theirs);
    }
    drop((kept, guest));
    bench.finish();
}
