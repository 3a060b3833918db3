//! Copies between contexts.

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::context::Waiting;
use cupola_managers::ops::{LaunchConfig, PeerAddress};
use cupola_managers::{CaptureConfig, Error, Graph, ops};
use cupola_sys::driver::id;

use super::{Side, TestBench, finish, hold, machine, open, open_unchecked};

// Without it bytes could go wrong on a way, or a copy need an access that devices do not have.
#[test]
fn bytes_go_every_way() {
    let islands = machine(3)
        .without_peer_access(0, 2)
        .without_peer_access(2, 0);
    let (bench, sides) = open(islands);
    let elements: Vec<u32> = (0..10_000).collect();
    for (from, to) in [(0, 1), (1, 0), (0, 2), (2, 1)] {
        let (source, target) = (&sides[from], &sides[to]);
        let there = source.upload(&elements);
        let mut here = target.pool.zeros::<u32>(10_000, &target.stream).unwrap();
        ops::synchronize(&target.stream).unwrap();
        // On a stream of either side.
        let part = there.slice(..5000).unwrap();
        ops::copy_between(part, here.slice_mut(..5000).unwrap(), &source.stream).unwrap();
        ops::order(&source.stream, &target.stream).unwrap();
        let part = there.slice(5000..).unwrap();
        ops::copy_between(part, here.slice_mut(5000..).unwrap(), &target.stream).unwrap();
        assert_eq!(here.to_vec(&target.stream).unwrap(), elements);
    }
    finish(bench, sides);
}

// Without it memory could be another buffer's while a copy on another device's stream still reads or
// writes it.
#[test]
fn memory_is_kept_until_the_other_device_has_done_with_it() {
    let (bench, sides) = open_unchecked(machine(2));
    let (source, target) = (&sides[0], &sides[1]);
    for of_target in [false, true] {
        let copier = if of_target { target } else { source };
        let from = source.upload(&[7; 1000]);
        let mut to = target.upload(&[0; 1000]);
        let (from_at, to_at) = (from.as_raw(), to.as_raw());
        let held = hold(&copier.stream);
        ops::copy_between(&from, &mut to, &copier.stream).unwrap();
        let last = copier.stream.ticket().unwrap();
        drop(from);
        // The stream of the memory waits on the device: what comes next there is not too early.
        let mut next = source.pool.allocate::<u32>(1000, &source.stream).unwrap();
        assert_eq!(next.as_raw(), from_at, "its own stream has it at once");
        ops::fill(&mut next, 9, &source.stream).unwrap();
        // Another stream does not get it before that.
        let other = source.context.streams().create(Default::default()).unwrap();
        let apart = source.pool.allocate::<u32>(1000, &other).unwrap();
        assert_ne!(apart.as_raw(), from_at);
        drop(held);
        last.wait().unwrap();
        ops::order(&copier.stream, &target.stream).unwrap();
        assert_eq!(to.to_vec(&target.stream).unwrap(), [7; 1000]);
        assert_eq!(next.to_vec(&source.stream).unwrap(), [9; 1000]);
        drop(to);
        let again = target.pool.allocate::<u32>(1000, &target.stream).unwrap();
        assert_eq!(again.as_raw(), to_at);
    }
    finish(bench, sides);
}

// Without it an order that cannot be would reach the driver, which takes some of them.
#[test]
fn orders_that_cannot_be_are_refused() {
    let (bench, sides) = open(machine(3));
    let from = sides[0].upload(&[1, 2, 3]);
    let mut to = sides[1].upload(&[0; 3]);
    let stream = &sides[0].stream;
    let calls = || bench.faults.count(id::cuMemcpyPeerAsync);
    ops::copy_between(&from, &mut to, stream).unwrap();
    let before = calls();
    let part = from.slice(..2).unwrap();
    let refused = ops::copy_between(part, &mut to, stream).unwrap_err();
    assert!(matches!(refused, Error::Invalid { .. }), "{refused}");
    let refused = ops::copy_between(&from, &mut to, &sides[2].stream).unwrap_err();
    assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
    // SAFETY: the buffer's memory, as long as it.
    let raw = unsafe { DeviceSlice::<u32>::from_raw(from.as_raw(), 3) };
    let refused = ops::copy_between(raw, &mut to, stream).unwrap_err();
    assert!(
        refused.to_string().contains("copy_between_raw"),
        "{refused}"
    );
    // SAFETY: as before.
    let raw = unsafe { DeviceSliceMut::<u32>::from_raw(to.as_raw(), 3) };
    let refused = ops::copy_between(&from, raw, stream).unwrap_err();
    assert!(
        refused.to_string().contains("copy_between_raw"),
        "{refused}"
    );
    let context = &sides[0].context;
    let (graph, refused) = Graph::capture(context, CaptureConfig::default(), |capture| {
        let refused = ops::copy_between(&from, &mut to, capture.stream());
        Ok::<_, Error>(refused.unwrap_err())
    })
    .unwrap();
    assert!(matches!(refused, Error::Capturing { .. }), "{refused}");
    drop(graph);
    let other = TestBench::on(machine(1));
    let foreign = Side::new(&other, 0);
    let elsewhere = foreign.upload(&[1, 2, 3]);
    let refused = ops::copy_between(&elsewhere, &mut to, stream).unwrap_err();
    assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
    // Memory of another context, where no access is asked for.
    let refused = ops::copy(&from, &mut to, stream).unwrap_err();
    assert!(matches!(refused, Error::WrongContext { .. }), "{refused}");
    assert_eq!(calls(), before);
    ops::order(stream, &sides[1].stream).unwrap();
    assert_eq!(to.to_vec(&sides[1].stream).unwrap(), [1, 2, 3]);
    drop((elsewhere, foreign, from, to));
    other.finish();
    finish(bench, sides);
}

// Without it code for any two buffers would need to know whether they are of one context, and two
// contexts of one device be checked as if there were a link.
#[test]
fn contexts_of_one_device_copy_too() {
    let (bench, sides) = open(machine(1));
    let device = bench.execution.devices().get(0).unwrap();
    let own = Side::of(device.contexts().create(Waiting::Auto).unwrap());
    let calls = || bench.faults.count(id::cuMemcpyPeerAsync);
    let from = sides[0].upload(&[1, 2, 3]);
    let mut to = own.upload(&[0; 3]);
    ops::copy_between(&from, &mut to, &own.stream).unwrap();
    assert_eq!(calls(), 1);
    assert_eq!(to.to_vec(&own.stream).unwrap(), [1, 2, 3]);
    let mut same = sides[0].upload(&[0; 3]);
    ops::copy_between(&from, &mut same, &sides[0].stream).unwrap();
    assert_eq!(calls(), 1);
    assert_eq!(same.to_vec(&sides[0].stream).unwrap(), [1, 2, 3]);
    device.contexts().release(own.context.handle()).unwrap();
    drop((from, to, same, own, device));
    finish(bench, sides);
}

// Without it memory of other owners could not be copied between devices.
#[test]
fn memory_is_copied_by_its_address() {
    let (bench, sides) = open(machine(2));
    let from = sides[0].upload(&[1, 2, 3]);
    let to = sides[1].upload(&[0; 3]);
    let address = |side: &'static str, of: usize, at| {
        let _ = side;
        PeerAddress {
            context: &sides[of].context,
            address: at,
        }
    };
    let (source, target) = (
        address("from", 0, from.as_raw()),
        address("to", 1, to.as_raw()),
    );
    // SAFETY: three elements each, which nothing else uses.
    unsafe { ops::copy_between_raw(source, target, 12, &sides[0].stream) }.unwrap();
    ops::synchronize(&sides[0].stream).unwrap();
    assert_eq!(to.to_vec(&sides[1].stream).unwrap(), [1, 2, 3]);
    drop((from, to));
    finish(bench, sides);
}

// Without it a buffer that an ended context's stream has used could not be freed, or keep its memory.
#[test]
fn a_context_that_ends_or_is_lost_takes_no_memory_of_others_along() {
    let (bench, sides) = open_unchecked(machine(2));
    let devices = bench.execution.devices();
    let own = Side::of(
        devices
            .get(1)
            .unwrap()
            .contexts()
            .create(Waiting::Auto)
            .unwrap(),
    );
    let from = sides[0].upload(&[5; 100]);
    let mut to = own.upload(&[0; 100]);
    ops::copy_between(&from, &mut to, &own.stream).unwrap();
    assert_eq!(to.to_vec(&own.stream).unwrap(), [5; 100]);
    drop(to);
    drop(own);
    // Its stream keeps it, until the buffer has been freed behind it.
    assert_eq!(bench.execution.live().contexts, 3);
    drop(from);
    assert_eq!(bench.execution.live().contexts, 2);
    assert_eq!(sides[0].pool.usage().unwrap().live, 0);

    // A context that is lost: what its stream may still use stays as it is.
    let lost = Side::of(
        devices
            .get(1)
            .unwrap()
            .contexts()
            .create(Waiting::Auto)
            .unwrap(),
    );
    let from = sides[0].upload(&[5; 100]);
    let mut to = lost.upload(&[0; 100]);
    ops::copy_between(&from, &mut to, &lost.stream).unwrap();
    let bump = lost.kernel("bump");
    // SAFETY: the address is no memory's: the kernel faults, and nothing else.
    unsafe { ops::launch(&bump, LaunchConfig::linear(1, 1), (64u64,), &lost.stream) }.unwrap();
    ops::synchronize(&lost.stream).unwrap_err();
    let refused = ops::copy_between(&from, &mut to, &sides[0].stream).unwrap_err();
    assert!(matches!(refused, Error::Poisoned { .. }), "{refused}");
    drop(from);
    assert!(sides[0].context.poison().is_none());
    assert!(bench.execution.live().abandoned > 0, "not known to be over");
    let mut more = sides[0].upload(&[1; 100]);
    ops::fill(&mut more, 2, &sides[0].stream).unwrap();
    assert_eq!(more.to_vec(&sides[0].stream).unwrap(), [2; 100]);
    drop((more, to, bump, lost));
    drop((bench, sides));
}
