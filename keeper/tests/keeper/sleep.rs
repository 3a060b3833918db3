//! Objects that sleep and wake.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cupola_keeper::{KeeperConfig, KeeperError, ObjectState, Rights, SleepMode};
use cupola_managers::buffer::DeviceSlice;
use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops;
use cupola_managers::pool::PoolConfig;
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;
use cupola_sys::driver::id;

use super::{Bench, PAGE};

const LONG: Duration = Duration::from_secs(20);

// Without it a graph of a guest's could read memory that is not there, or an object come back elsewhere, or
// with other bytes, or its memory count while it sleeps.
#[test]
fn objects_wake_where_graphs_find_them() {
    let bench = Bench::new(KeeperConfig::limit(4 * PAGE).piece(PAGE));
    let (first, second) = (bench.guest(), bench.guest());
    let kept = bench.seal(&first, "weights", 3 * PAGE, 5);
    let other = second.open("weights", Rights::Read).unwrap();
    let (here, there) = (kept.address(), other.address());
    let pool = bench
        .context
        .memory_pool(PoolConfig::limit(8 * PAGE))
        .unwrap();
    let mut out = pool.zeros::<u8>(64, &bench.stream).unwrap();
    let (captured, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        // SAFETY: the graph is launched only while the object is awake here.
        let end = unsafe { DeviceSlice::<u8>::from_raw(here + 3 * PAGE - 64, 64) };
        ops::copy(end, &mut out, capture.stream())
    })
    .unwrap();
    let mut graph = captured.instantiate().unwrap();
    for cycle in 0..10 {
        ops::zero(&mut out, &bench.stream).unwrap();
        graph.launch(&bench.stream).unwrap();
        assert_eq!(out.to_vec(&bench.stream).unwrap(), [5; 64], "cycle {cycle}");
        // Each lets it go when it suits it.
        thread::scope(|threads| {
            let sleep = threads.spawn(|| bench.keeper.sleep("weights", SleepMode::HostCopy, LONG));
            assert_eq!(first.attend_for(LONG).unwrap(), 1);
            assert_eq!(second.attend_for(LONG).unwrap(), 1);
            sleep.join().unwrap().unwrap();
        });
        assert!(!kept.is_awake() && !other.is_awake());
        assert_eq!(bench.keeper.used(), 0, "cycle {cycle}");
        assert_eq!(bench.keeper.objects()[0].state, ObjectState::Asleep);
        // The memory is for others meanwhile.
        let filler = first.create("filler", 4 * PAGE, Rights::Read).unwrap();
        let refused = kept.wake().unwrap_err();
        assert!(
            matches!(refused, KeeperError::OverLimit { .. }),
            "{refused}"
        );
        drop(filler);
        // Told without an answer, and done before this is answered.
        assert_eq!(first.list().unwrap().len(), 1);
        // By any guest, or by the keeper.
        if cycle % 2 == 0 {
            bench.keeper.wake("weights").unwrap();
        }
        kept.wake().unwrap();
        other.wake().unwrap();
        assert_eq!((kept.address(), other.address()), (here, there));
        bench.assert_filled(&other, 5);
        assert_eq!(bench.keeper.used(), 3 * PAGE);
    }
    drop((graph, captured, out, pool, kept, other, first, second));
    bench.finish();
}

// Without it an object without bytes could be read, or one that is filled again be another one for those that
// had it open.
#[test]
fn a_discarded_object_is_filled_again_for_all() {
    let bench = Bench::new(KeeperConfig::limit(2 * PAGE));
    let (first, second) = (bench.guest(), bench.guest());
    let kept = bench.seal(&first, "weights", 2 * PAGE, 1);
    let address = kept.address();
    thread::scope(|threads| {
        let sleep = threads.spawn(|| bench.keeper.sleep("weights", SleepMode::Discard, LONG));
        assert_eq!(first.attend_for(LONG).unwrap(), 1);
        sleep.join().unwrap().unwrap();
    });
    assert_eq!(bench.keeper.used(), 0);
    let mut filling = second.refill("weights").unwrap();
    bench.fill(&mut filling, 2);
    let theirs = filling.seal(*b"again").unwrap();
    kept.wake().unwrap();
    assert_eq!(kept.address(), address);
    bench.assert_filled(&kept, 2);
    bench.assert_filled(&theirs, 2);
    assert_eq!(second.list().unwrap()[0].description, b"again");
    drop((kept, theirs, first, second));
    bench.finish();
}

// Without it an opening that comes while others let go could have memory that is about to go, or wait for itself.
#[test]
fn an_object_that_falls_asleep_is_not_opened_halfway() {
    let bench = Bench::new(KeeperConfig::limit(2 * PAGE));
    let (first, second) = (bench.guest(), bench.guest());
    let kept = bench.seal(&first, "weights", PAGE, 7);
    let is_waiting = || {
        matches!(
            first.open("weights", Rights::Read),
            Err(KeeperError::Attend { .. })
        )
    };
    thread::scope(|threads| {
        let sleep = threads.spawn(|| bench.keeper.sleep("weights", SleepMode::HostCopy, LONG));
        while !is_waiting() {
            thread::yield_now();
        }
        // Waits for it to be asleep, and wakes it.
        let opened = threads.spawn(|| second.open("weights", Rights::Read));
        assert_eq!(first.attend_for(LONG).unwrap(), 1);
        sleep.join().unwrap().unwrap();
        let theirs = opened.join().unwrap().unwrap();
        bench.assert_filled(&theirs, 7);
    });
    assert!(!kept.is_awake());
    drop((kept, first, second));
    bench.finish();
}

// Without it host memory could pass its limit, or an object be lost for which it has no room.
#[test]
fn an_object_without_room_on_the_host_stays_awake() {
    // The first piece has room.
    let config = KeeperConfig::limit(4 * PAGE).host_limit(PAGE).piece(PAGE);
    let bench = Bench::new(config);
    let guest = bench.guest();
    let kept = bench.seal(&guest, "weights", 2 * PAGE, 7);
    let address = kept.address();
    drop(kept);
    assert_eq!(guest.list().unwrap()[0].guests, 0);
    let refused = bench
        .keeper
        .sleep("weights", SleepMode::HostCopy, LONG)
        .unwrap_err();
    assert!(
        matches!(refused, KeeperError::HostLimit { .. }),
        "{refused}"
    );
    assert_eq!(bench.keeper.metrics().host_bytes, 0);
    let kept = guest.open("weights", Rights::Read).unwrap();
    bench.assert_filled(&kept, 7);
    assert_ne!(address, 0);
    drop((kept, guest));
    bench.finish();
}

// Without it an object that no guest can have written would be copied down each time that it sleeps, or an old copy be
// taken for one that was written; or host memory be kept that others need.
#[test]
fn what_cannot_have_changed_is_copied_once() {
    let bench = Bench::new(KeeperConfig::limit(4 * PAGE).host_limit(2 * PAGE));
    let (guest, keeper) = (bench.guest(), &bench.keeper);
    drop(bench.seal(&guest, "weights", 2 * PAGE, 1));
    drop(bench.seal_for(&guest, "cache", PAGE, 2, Rights::ReadWrite));
    assert_eq!(guest.list().unwrap().len(), 2);
    let cycle = |name| {
        keeper.sleep(name, SleepMode::HostCopy, LONG).unwrap();
        keeper.wake(name).unwrap();
    };
    (0..3).for_each(|_| cycle("weights"));
    let metrics = keeper.metrics();
    assert_eq!(
        (metrics.copied_down, metrics.copied_up),
        (2 * PAGE, 6 * PAGE)
    );
    assert_eq!(metrics.host_bytes, 2 * PAGE);
    // One that may be written is copied each time; the other gives its copy up for it.
    for value in 5..8 {
        let mut cache = guest.open("cache", Rights::ReadWrite).unwrap();
        // SAFETY: it is waited for, and nothing else runs.
        let all = unsafe { cache.slice_mut::<u8>(0..PAGE as usize).unwrap() };
        ops::fill(all, value, &bench.stream).unwrap();
        ops::synchronize(&bench.stream).unwrap();
        drop(cache);
        assert_eq!(guest.list().unwrap().len(), 2);
        cycle("cache");
        bench.assert_filled(&guest.open("cache", Rights::Read).unwrap(), value);
        assert_eq!(guest.list().unwrap().len(), 2);
    }
    assert_eq!(keeper.metrics().copied_down, 5 * PAGE);
    assert_eq!(keeper.metrics().host_bytes, 0);
    cycle("weights");
    assert_eq!(keeper.metrics().copied_down, 7 * PAGE);
    bench.assert_filled(&guest.open("weights", Rights::Read).unwrap(), 1);
    keeper.trim();
    assert_eq!(keeper.metrics().host_bytes, 0);
    // Removed while it sleeps, it leaves nothing there either.
    assert_eq!(guest.list().unwrap().len(), 2);
    keeper.sleep("weights", SleepMode::HostCopy, LONG).unwrap();
    keeper.remove("weights").unwrap();
    assert_eq!((keeper.metrics().host_bytes, keeper.used()), (0, PAGE));
    drop(guest);
    bench.finish();
}

// Without it a supervisor that asks a busy worker again and again to let an object go would cut it off, or wait for it to
// read, longer than it wanted.
#[test]
fn a_guest_may_leave_what_it_is_asked_unread() {
    let config = KeeperConfig::limit(2 * PAGE).patience(Duration::from_millis(200));
    let bench = Bench::new(config);
    let guest = bench.guest();
    let kept = bench.seal(&guest, "weights", PAGE, 7);
    // More than a socket has room for.
    for _ in 0..3000 {
        let early = bench
            .keeper
            .sleep("weights", SleepMode::HostCopy, Duration::ZERO);
        assert!(matches!(early, Err(KeeperError::InUse { .. })), "{early:?}");
    }
    assert_eq!(guest.list().unwrap()[0].guests, 1);
    assert_eq!(guest.attend_for(LONG).unwrap(), 1);
    bench
        .keeper
        .sleep("weights", SleepMode::HostCopy, LONG)
        .unwrap();
    kept.wake().unwrap();
    bench.assert_filled(&kept, 7);
    drop((kept, guest));
    bench.finish();
}

// Without it a thread that attends could take note of a sleep while another one is mapping what it has just opened, and
// the object not be let go by a guest that attends all the time.
#[test]
fn what_is_being_opened_is_let_go_as_well() {
    let machine = Machine::builder().build();
    let table = FaultTable::new(machine.driver());
    let bench = Bench::with_driver(KeeperConfig::limit(2 * PAGE), machine, table.driver());
    let guest = bench.guest();
    drop(bench.seal(&guest, "weights", PAGE, 7));
    assert_eq!(guest.list().unwrap().len(), 1);
    table.reset();
    let import = id::cuMemImportFromShareableHandle;
    table.delay(import, 1, Duration::from_millis(300));
    let is_over = AtomicBool::new(false);
    thread::scope(|threads| {
        let opened = threads.spawn(|| guest.open("weights", Rights::Read).unwrap());
        while table.count(import) < 1 {
            thread::yield_now();
        }
        threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                guest.attend_for(Duration::from_millis(1)).unwrap();
            }
        });
        let most = Duration::from_secs(5);
        let slept = bench.keeper.sleep("weights", SleepMode::HostCopy, most);
        is_over.store(true, Ordering::Relaxed);
        slept.unwrap();
        assert!(!opened.join().unwrap().is_awake());
    });
    drop(guest);
    bench.finish();
}
