//! Managed memory: host and device at one address, advice and prefetches.

use std::thread;
use std::time::Duration;

use cupola_managers::host::{ManagedAdvice, ManagedBuffer, ManagedLocation};
use cupola_managers::{Error, HostMemoryError, ops};
use cupola_sys::Version;
use cupola_sys::driver::{CUmem_range_attribute as Attribute, CUresult, id};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::{PROFILES, PoolBench, TestBench, bench, bench_of, hold, machine};
use cupola_managers::PoolConfig;

fn refusal(error: &Error) -> &HostMemoryError {
    match error {
        Error::Host(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

/// What the driver was told of some elements.
fn told(bench: &PoolBench, buffer: &ManagedBuffer<u8>, at: usize, what: Attribute) -> i32 {
    let context = &bench.base.context;
    let _current = context.enter().unwrap();
    let address = buffer.as_ptr().wrapping_add(at).expose_provenance() as u64;
    let mut value = -7;
    // SAFETY: the place outlives the call.
    let asked = unsafe {
        let driver = context.driver();
        driver.cuMemRangeGetAttribute((&raw mut value).cast(), 4, what, address, 4096)
    };
    asked.unwrap();
    value
}

// Without it the host could look at memory that the device still writes, on whichever of the streams,
// or memory be freed under work.
#[test]
fn the_host_waits_for_the_work_that_uses_the_memory() {
    for profile in PROFILES {
        let bench = bench_of(profile);
        let (one, other) = (&bench.stream, bench.base.stream());
        let mut numbers = bench.base.context.managed::<u32>(1000).unwrap();
        assert_eq!(bench.base.execution.live().managed, 1);
        numbers.as_mut_slice().unwrap().fill(1);
        let held = hold(one);
        // SAFETY: each view is given to the fill on its stream alone.
        unsafe {
            let view = numbers.device_mut(one).unwrap();
            ops::fill(view.slice(..400).unwrap(), 2, one).unwrap();
            let view = numbers.device_mut(&other).unwrap();
            ops::fill(view.slice(400..800).unwrap(), 3, &other).unwrap();
        }
        let end = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            drop(held);
        });
        let seen = numbers.as_slice().unwrap();
        assert!(seen[..400].iter().all(|&number| number == 2), "{profile:?}");
        assert!(seen[400..800].iter().all(|&number| number == 3));
        assert!(seen[800..].iter().all(|&number| number == 1));
        end.join().unwrap();
        let held = hold(one);
        // SAFETY: the view is given to the fill on its stream alone.
        let view = unsafe { numbers.device_mut(one) }.unwrap();
        ops::fill(view, 4, one).unwrap();
        let end = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            drop(held);
        });
        drop(numbers);
        end.join().unwrap();
        drop(other);
        bench.finish();
    }
}

// Without it advice could be given for other elements, or another one than was meant, by either form of
// the driver's functions.
#[test]
fn advice_and_prefetches_are_for_the_elements_that_are_named() {
    const PAGE: usize = 4096;
    for version in [Version::new(13, 0), Version::new(12, 1)] {
        let base = TestBench::on(machine().driver_version(version));
        let bench = PoolBench::on(base, PoolConfig::limit(8 << 20));
        let buffer = bench.base.context.managed::<u8>(3 * PAGE).unwrap();
        let second = PAGE..2 * PAGE;
        let at = |page: usize, what| told(&bench, &buffer, page * PAGE, what);
        let advise = |advice| buffer.advise(second.clone(), advice).unwrap();
        let read_mostly = Attribute::CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY;
        advise(ManagedAdvice::ReadMostly);
        assert_eq!([0, 1, 2].map(|page| at(page, read_mostly)), [0, 1, 0]);
        advise(ManagedAdvice::NotReadMostly);
        assert_eq!(at(1, read_mostly), 0);
        let preferred = Attribute::CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
        advise(ManagedAdvice::Preferred(ManagedLocation::Host));
        assert_eq!([0, 1].map(|page| at(page, preferred)), [-2, -1]);
        advise(ManagedAdvice::Preferred(ManagedLocation::Device));
        assert_eq!(at(1, preferred), 0);
        advise(ManagedAdvice::NoPreference);
        assert_eq!(at(1, preferred), -2);
        let accessed = Attribute::CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
        advise(ManagedAdvice::AccessedBy(ManagedLocation::Device));
        assert_eq!([1, 2].map(|page| at(page, accessed)), [0, -2]);
        advise(ManagedAdvice::NotAccessedBy(ManagedLocation::Device));
        assert_eq!(at(1, accessed), -2);
        let last = Attribute::CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
        let device = ManagedLocation::Device;
        buffer.prefetch(2 * PAGE.., device, &bench.stream).unwrap();
        buffer
            .prefetch(..PAGE, ManagedLocation::Host, &bench.stream)
            .unwrap();
        assert_eq!([0, 1, 2].map(|page| at(page, last)), [-1, -2, 0]);
        // Only the second form has nodes.
        let node = buffer.prefetch(.., ManagedLocation::HostNode(0), &bench.stream);
        let advice = ManagedAdvice::Preferred(ManagedLocation::HostNodeOfThread);
        let advised = buffer.advise(.., advice);
        if version == Version::new(13, 0) {
            assert_eq!((node, advised), (Ok(()), Ok(())));
            assert_eq!(bench.base.faults.count(id::cuMemAdvise), 0);
        } else {
            for (refused, name) in [(node, "cuMemPrefetchAsync_v2"), (advised, "cuMemAdvise_v2")] {
                let Err(Error::Unsupported { symbol, .. }) = refused else {
                    panic!("{refused:?}");
                };
                assert_eq!(symbol, name);
            }
        }
        assert!(matches!(
            buffer.advise(..=3 * PAGE, ManagedAdvice::ReadMostly),
            Err(Error::Invalid { .. })
        ));
        buffer.advise(5..5, ManagedAdvice::ReadMostly).unwrap();
        drop(buffer);
        bench.finish();
    }
}

// Without it the host could touch memory that only the device may while it works, which ends the
// process, or a device without managed memory give a code that says nothing.
#[test]
fn what_a_device_lacks_is_named() {
    let bench = bench();
    let (context, faults) = (&bench.base.context, &bench.base.faults);
    let code = CUresult::CUDA_ERROR_INVALID_VALUE;
    let asked = |more| faults.count(id::cuDeviceGetAttribute) + more;
    faults.fail(id::cuDeviceGetAttribute, asked(1), code);
    let refused = context.managed::<u8>(10).unwrap_err();
    assert_eq!(refusal(&refused), &HostMemoryError::NoManagedMemory);
    faults.fail(id::cuDeviceGetAttribute, asked(2), code);
    let mut buffer = context.managed::<u8>(10).unwrap();
    let refused = buffer.as_slice().unwrap_err();
    assert_eq!(refusal(&refused), &HostMemoryError::NoConcurrentAccess);
    assert!(buffer.as_mut_slice().is_err());
    // Copies do.
    // SAFETY: the views are given to the copies on their stream alone.
    let (there, back) = unsafe {
        let there = buffer.device_mut(&bench.stream).unwrap();
        ops::write(there, &[6; 10], &bench.stream).unwrap();
        (buffer.device(&bench.stream).unwrap(), &mut [0; 10])
    };
    ops::read(there, back, &bench.stream).unwrap();
    assert_eq!(*back, [6; 10]);
    drop(buffer);
    bench.finish();
}

// Without it work in a graph, or of another context, would be work that nothing waits for.
#[test]
fn streams_whose_work_is_not_followed_are_refused() {
    let bench = bench();
    let context = &bench.base.context;
    let mut buffer = context.managed::<u8>(10).unwrap();
    let none = context.managed::<u64>(0).unwrap();
    assert!(none.is_empty() && none.as_slice().unwrap().is_empty());
    let device = bench.base.execution.devices().get(0).unwrap();
    let other = device.contexts().create(Default::default()).unwrap();
    let stream = other.streams().create(Default::default()).unwrap();
    // SAFETY: no view is given.
    let refused = unsafe { buffer.device(&stream) }.map(drop);
    assert!(
        matches!(refused, Err(Error::WrongContext { .. })),
        "{refused:?}"
    );
    let refused = buffer.prefetch(.., ManagedLocation::Device, &stream);
    assert!(matches!(refused, Err(Error::WrongContext { .. })));
    let captured = cupola_managers::Graph::capture(context, Default::default(), |capture| {
        // SAFETY: no view is given.
        let refused = unsafe { buffer.device_mut(capture.stream()) }.map(drop);
        assert!(
            matches!(refused, Err(Error::Capturing { .. })),
            "{refused:?}"
        );
        Ok::<_, Error>(())
    });
    drop(captured);
    drop((buffer, none, stream, other, device));
    bench.finish();
}

// Without it memory that work may still use would be freed when a wait fails.
#[test]
fn memory_of_work_that_is_not_known_to_end_is_abandoned() {
    let bench = bench();
    let mut buffer = bench.base.context.managed::<u8>(10).unwrap();
    // SAFETY: the view is given to the fill on its stream alone.
    let view = unsafe { buffer.device_mut(&bench.stream) }.unwrap();
    ops::fill(view, 1, &bench.stream).unwrap();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench
        .base
        .faults
        .fail_from(id::cuStreamSynchronize, 1, code);
    drop(buffer);
    bench.base.faults.reset();
    let live = bench.base.execution.live();
    assert_eq!((live.managed, live.abandoned), (0, 1));
    assert_eq!(bench.base.faults.count(id::cuMemFree_v2), 0);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Allocate(u16),
    Drop(usize),
    HostFill(usize, u8),
    DeviceFill(usize, u8, bool),
    Prefetch(usize, bool),
    Check(usize),
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let (number, byte) = (usize::arbitrary(g), u8::arbitrary(g));
        match u8::arbitrary(g) % 12 {
            0..3 => Self::Allocate(u16::arbitrary(g) % 9000),
            3 => Self::Drop(number),
            4..6 => Self::HostFill(number, byte),
            6..9 => Self::DeviceFill(number, byte, bool::arbitrary(g)),
            9 => Self::Prefetch(number, bool::arbitrary(g)),
            _ => Self::Check(number),
        }
    }
}

// Without it some order of looks, work on two streams, prefetches and drops could show other bytes than
// were written last, or leave memory behind.
#[test]
fn random_operations_are_those_of_a_plain_vector() {
    fn property(profile: usize, steps: Vec<Step>) -> bool {
        let bench = bench_of(PROFILES[profile % PROFILES.len()]);
        let streams = [bench.stream.clone(), bench.base.stream()];
        let mut alive: Vec<(ManagedBuffer<u8>, Option<u8>)> = Vec::new();
        for step in steps {
            let len = alive.len().max(1);
            match step {
                Step::Allocate(bytes) => {
                    let buffer = bench.base.context.managed(usize::from(bytes)).unwrap();
                    alive.push((buffer, None));
                }
                Step::Drop(number) if !alive.is_empty() => drop(alive.swap_remove(number % len)),
                Step::HostFill(number, byte) => {
                    if let Some((buffer, holds)) = alive.get_mut(number % len) {
                        buffer.as_mut_slice().unwrap().fill(byte);
                        *holds = Some(byte);
                    }
                }
                Step::DeviceFill(number, byte, first) => {
                    let (stream, before) = match first {
                        true => (&streams[0], &streams[1]),
                        false => (&streams[1], &streams[0]),
                    };
                    if let Some((buffer, holds)) = alive.get_mut(number % len) {
                        ops::order(before, stream).unwrap();
                        // SAFETY: the view is given to the fill on its stream alone.
                        let view = unsafe { buffer.device_mut(stream) }.unwrap();
                        ops::fill(view, byte, stream).unwrap();
                        *holds = Some(byte);
                    }
                }
                Step::Prefetch(number, to_device) => {
                    if let Some((buffer, _)) = alive.get(number % len) {
                        let to = match to_device {
                            true => ManagedLocation::Device,
                            false => ManagedLocation::Host,
                        };
                        buffer.prefetch(.., to, &streams[0]).unwrap();
                    }
                }
                Step::Check(number) => {
                    if let Some((buffer, Some(byte))) = alive.get(number % len) {
                        let seen = buffer.as_slice().unwrap();
                        assert!(seen.iter().all(|seen| seen == byte));
                    }
                }
                Step::Drop(_) => {}
            }
            let there = alive
                .iter()
                .filter(|(buffer, _)| !buffer.is_empty())
                .count();
            assert_eq!(bench.base.execution.live().managed, there as u64);
        }
        drop((alive, streams));
        bench.finish();
        true
    }
    QuickCheck::new()
        .rng(Gen::new(80))
        .tests(40)
        .quickcheck(property as fn(usize, Vec<Step>) -> bool);
}
