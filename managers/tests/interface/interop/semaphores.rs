//! Semaphores of another API, for which exportable memory of the software device stands here: its first 8 bytes are the value.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::Duration;

use cupola_managers::buffer::{DeviceSlice, DeviceSliceMut};
use cupola_managers::interop::{ExternalSemaphore, ExternalTimeline};
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::{Access, AddressRange};
use cupola_managers::{CaptureConfig, Context, Error, Graph, Result, ops};
use cupola_sys::driver::{CUresult, id};

use super::{PoolBench, TestBench, bench};

const MIB: u64 = 1 << 20;

/// The value as the other API has it, which is 0, and a descriptor of it.
fn exported(bench: &PoolBench) -> (AddressRange, OwnedFd) {
    let limit = DeviceLimit::new(2 * MIB);
    let memory = bench.base.context.virtual_memory(&limit).unwrap();
    let made = memory.create_exportable(2 * MIB).unwrap();
    let file = made.export().unwrap();
    let mut range = memory.reserve(2 * MIB).unwrap();
    range.map(0, made).unwrap();
    range.set_access(0..2 * MIB, Access::ReadWrite).unwrap();
    set(bench, &range, 0);
    (range, file)
}

/// What the other API does: sets the value.
fn set(bench: &PoolBench, there: &AddressRange, value: u64) {
    let stream = bench.base.stream();
    // SAFETY: the mapped bytes.
    let place = unsafe { DeviceSliceMut::<u64>::from_raw(there.address(), 1) };
    ops::write(place, &[value], &stream).unwrap();
    ops::synchronize(&stream).unwrap();
}

/// What the other API sees.
fn value(bench: &PoolBench, there: &AddressRange) -> u64 {
    let stream = bench.base.stream();
    // SAFETY: the mapped bytes.
    let place = unsafe { DeviceSlice::<u64>::from_raw(there.address(), 1) };
    place.to_vec(&stream).unwrap()[0]
}

fn timeline(context: &Context, file: OwnedFd) -> Result<ExternalTimeline> {
    // SAFETY: the descriptor is of exportable memory, or of what is refused.
    unsafe { ExternalTimeline::import(context, file) }
}

fn binary(context: &Context, file: OwnedFd) -> Result<ExternalSemaphore> {
    // SAFETY: the descriptor is of exportable memory, or of what is refused.
    unsafe { ExternalSemaphore::import(context, file) }
}

// Without it work could begin before the other API's has come so far, or the other API never be told.
#[test]
fn a_timeline_orders_both_sides() {
    let bench = bench();
    let stream = &bench.stream;
    let (there, file) = exported(&bench);
    let timeline = timeline(&bench.base.context, file).unwrap();
    timeline.wait(7, stream).unwrap();
    timeline.signal(8, stream).unwrap();
    set(&bench, &there, 6);
    thread::sleep(Duration::from_millis(20));
    assert!(!ops::query(stream).unwrap(), "6 is less than 7");
    assert_eq!(value(&bench, &there), 6);
    set(&bench, &there, 7);
    ops::synchronize(stream).unwrap();
    assert_eq!(value(&bench, &there), 8);
    // What was is enough for any number of waits.
    let other = bench.base.stream();
    for value in [8, 1] {
        timeline.wait(value, stream).unwrap();
        timeline.wait(value, &other).unwrap();
    }
    ops::synchronize(&other).unwrap();
    drop((timeline, there, other));
    bench.finish();
}

// Without it one signal could be enough for two waits.
#[test]
fn a_binary_semaphore_is_taken_back_by_its_wait() {
    let bench = bench();
    let stream = &bench.stream;
    let (there, file) = exported(&bench);
    let semaphore = binary(&bench.base.context, file).unwrap();
    semaphore.signal(stream).unwrap();
    ops::synchronize(stream).unwrap();
    assert_eq!(value(&bench, &there), 1);
    semaphore.wait(stream).unwrap();
    ops::synchronize(stream).unwrap();
    assert_eq!(value(&bench, &there), 0);
    semaphore.wait(stream).unwrap();
    thread::sleep(Duration::from_millis(20));
    assert!(!ops::query(stream).unwrap(), "there is no second signal");
    set(&bench, &there, 1);
    ops::synchronize(stream).unwrap();
    drop((semaphore, there));
    bench.finish();
}

// Without it a semaphore could be destroyed under a stream that waits for it, or be kept in secret.
#[test]
fn the_end_of_a_semaphore_waits_for_its_streams() {
    let bench = bench();
    let (there, file) = exported(&bench);
    let again = file.try_clone().unwrap();
    let waited = timeline(&bench.base.context, file).unwrap();
    let faults = &bench.base.faults;
    waited.wait(1, &bench.stream).unwrap();
    let end = thread::spawn(move || drop(waited));
    thread::sleep(Duration::from_millis(30));
    assert!(!end.is_finished(), "its stream waits");
    assert_eq!(faults.count(id::cuDestroyExternalSemaphore), 0);
    set(&bench, &there, 1);
    end.join().unwrap();
    assert_eq!(faults.count(id::cuDestroyExternalSemaphore), 1);

    let lost = timeline(&bench.base.context, again).unwrap();
    lost.wait(1, &bench.stream).unwrap();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    faults.fail_from(id::cuStreamSynchronize, 1, code);
    drop(lost);
    faults.reset();
    assert_eq!(bench.base.execution.live().abandoned, 1);
    assert_eq!(faults.count(id::cuDestroyExternalSemaphore), 0);
    drop(there);
}

// Without it a mistake would reach the driver, or a descriptor stay open or be closed twice.
#[test]
fn what_is_no_semaphore_is_refused() {
    let bench = bench();
    let context = &bench.base.context;
    let refused = binary(context, File::open("/dev/null").unwrap().into());
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("cuImportExternalSemaphore"), "{error}");
    let (there, file) = exported(&bench);
    let semaphore = timeline(context, file).unwrap();
    let captured = Graph::capture(context, CaptureConfig::default(), |capture| {
        for refused in [
            semaphore.signal(1, capture.stream()),
            semaphore.wait(1, capture.stream()),
        ] {
            assert!(matches!(refused, Err(Error::Capturing { .. })));
        }
        Ok::<_, Error>(())
    });
    drop(captured.unwrap());
    let foreign = TestBench::new();
    let stream = foreign.stream();
    let refused = semaphore.signal(1, &stream);
    assert!(matches!(refused, Err(Error::WrongContext { .. })));
    drop(stream);
    foreign.finish();
    drop((semaphore, there));
    bench.finish();
}

// Without it a driver of before CUDA 10.0 would be called where it has nothing.
#[test]
fn a_driver_without_semaphores_is_named() {
    let machine = cupola_sim::Machine::builder().without(id::cuImportExternalSemaphore);
    let base = TestBench::on(machine);
    let refused = timeline(&base.context, File::open("/dev/null").unwrap().into());
    let error = refused.unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("cuImportExternalSemaphore"));
    base.finish();
}
