//! Memory of the program that is registered: for its life, and while a function runs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use cupola_managers::host::{RegisterError, RegisteredBuffer};
use cupola_managers::{Error, HostMemoryError, PinnedBuffer, ops};
use cupola_sim::Profile;
use cupola_sys::driver::{CUresult, id};

use super::{PROFILES, PoolBench, bench, bench_of, hold};

fn registrations(bench: &PoolBench) -> usize {
    bench.base.machine.usage().registrations
}

fn refusal(error: &Error) -> &HostMemoryError {
    match error {
        Error::Host(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

// Without it a vector could stay page-locked, be dropped under a copy, or come back with other
// elements; and a device that registers nothing could be told apart from a mistake by its code alone.
#[test]
fn a_vector_is_registered_for_its_life_where_the_device_does_that() {
    for profile in PROFILES {
        let bench = bench_of(profile);
        let stream = &bench.stream;
        let registered = bench.base.context.register_host(vec![7u32; 1000]);
        if matches!(profile, Profile::Confidential | Profile::Integrated) {
            let refused = registered.unwrap_err();
            let what = refusal(refused.error());
            assert!(
                matches!(what, HostMemoryError::NoRegistration { .. }),
                "{what:?}"
            );
            assert_eq!(refused.into_inner(), [7; 1000]);
            bench.finish();
            continue;
        }
        let mut registered = registered.unwrap();
        assert_eq!(registrations(&bench), 1);
        assert_eq!(bench.base.execution.live().pinned_bytes, 4000);
        let mut there = bench.pool.zeros::<u32>(1000, stream).unwrap();
        ops::copy_to_device(&registered, &mut there, stream).unwrap();
        registered.as_mut_slice().unwrap().fill(8);
        ops::copy_to_host(
            there.slice(..10).unwrap(),
            registered.slice_mut(..10).unwrap(),
            stream,
        )
        .unwrap();
        let vector = registered.into_inner().unwrap();
        assert_eq!(
            (&vector[..10], &vector[10..]),
            (&[7; 10][..], &[8; 990][..])
        );
        assert_eq!(registrations(&bench), 0);
        // Dropped while a copy reads it.
        let registered = bench.base.context.register_host(vector).unwrap();
        let held = hold(stream);
        ops::copy_to_device(&registered, &mut there, stream).unwrap();
        let end = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            drop(held);
        });
        drop(registered);
        end.join().unwrap();
        assert_eq!(there.to_vec(stream).unwrap()[990], 8);
        drop(there);
        bench.finish();
    }
}

// Without it two registrations of one page would be an error of the driver that says nothing, or the
// second one's end take the first one's away.
#[test]
fn registrations_that_overlap_are_refused() {
    let bench = bench();
    let context = &bench.base.context;
    let mut first = context.register_host(vec![1u8; 10_000]).unwrap();
    let inner = first.as_ptr().wrapping_add(5000);
    // SAFETY: nothing looks at the elements while the first buffer is not used.
    let again: Result<RegisteredBuffer<u8, ()>, RegisterError<()>> =
        unsafe { context.register_host_raw((), inner, 100) };
    let error = Error::from(again.unwrap_err());
    assert!(matches!(
        refusal(&error),
        HostMemoryError::AlreadyRegistered { .. }
    ));
    let code = CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    assert_eq!(error.status(), Some(code));
    assert!(error.to_string().contains("registered already"), "{error}");
    first.as_mut_slice().unwrap()[0] = 2;
    assert_eq!(registrations(&bench), 1);
    assert_eq!(first.into_inner().unwrap()[..2], [2, 1]);
    bench.finish();
}

// Without it borrowed memory could be the caller's again while the device writes it, also after a
// panic, or hold bytes that are no values.
#[test]
fn borrowed_memory_is_registered_while_a_function_runs() {
    let bench = bench();
    let (context, stream) = (&bench.base.context, &bench.stream);
    let sevens = bench.pool.upload(&[7u8; 64], stream).unwrap();
    let mut own = [0u8; 64];
    let copied = context.with_registered(&mut own, |view| {
        assert_eq!(registrations(&bench), 1);
        ops::copy_to_host(&sevens, view, stream)
    });
    assert_eq!((copied, registrations(&bench)), (Ok(Ok(())), 0));
    assert_eq!(own, [7; 64]);
    // Bytes that are no `bool`.
    let mut flags = [true; 64];
    let refused = context.with_registered(&mut flags, |view| {
        // SAFETY: the bytes are the buffer's, which is alive.
        let there =
            unsafe { cupola_managers::buffer::DeviceSlice::<bool>::from_raw(sevens.as_raw(), 64) };
        ops::copy_to_host(there, view, stream).unwrap();
    });
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    assert_eq!(flags, [false; 64]);
    let mut own = [0u8; 64];
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let held = hold(stream);
        context.with_registered(&mut own, |view| {
            ops::copy_to_host(&sevens, view, stream).unwrap();
            drop(held);
            panic!("in the middle");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!((own, registrations(&bench)), ([7; 64], 0));
    drop(sevens);
    bench.finish();
}

// Without it constants and mappings of files could not be sent from where they are, or the device be
// let write them.
#[test]
fn memory_that_must_not_be_written_is_registered_for_reading() {
    static CONSTANT: [u32; 4096] = [5; 4096];
    let bench = bench();
    let (context, stream) = (&bench.base.context, &bench.stream);
    let mut there = bench.pool.zeros::<u32>(4096, stream).unwrap();
    let sent = context.with_registered_read_only(&CONSTANT, |view| {
        ops::copy_to_device(view, &mut there, stream)
    });
    assert_eq!(sent, Ok(Ok(())));
    assert_eq!(there.to_vec(stream).unwrap(), CONSTANT);
    drop(there);
    bench.finish();
    // A driver that does not know the attribute.
    let bench = super::bench();
    let context = &bench.base.context;
    let next = bench.base.faults.count(id::cuDeviceGetAttribute) + 1;
    let code = CUresult::CUDA_ERROR_INVALID_VALUE;
    bench.base.faults.fail(id::cuDeviceGetAttribute, next, code);
    let refused = context
        .with_registered_read_only(&CONSTANT, |_| ())
        .unwrap_err();
    assert_eq!(refusal(&refused), &HostMemoryError::NoReadOnlyRegistration);
    bench.finish();
}

// Without it registered memory could not be given to a future, or a buffer that was exchanged give
// other memory back.
#[test]
fn a_registered_buffer_is_a_pinned_one() {
    let bench = bench();
    let context = &bench.base.context;
    let none = context.register_host(Vec::<u64>::new()).unwrap();
    assert_eq!(registrations(&bench), 0);
    assert!(none.into_inner().unwrap().is_empty());
    let mut registered = context.register_host(vec![3u64; 8]).unwrap();
    let mut other = context.buffers().pinned::<u64>(8).unwrap();
    std::mem::swap(&mut *registered, &mut other);
    assert_eq!(other.as_slice().unwrap(), [3; 8]);
    assert!(matches!(
        registered.into_inner(),
        Err(Error::Invalid { .. })
    ));
    drop(other);
    assert_eq!(registrations(&bench), 0);
    let pinned = PinnedBuffer::from(context.register_host(vec![4u64; 8]).unwrap());
    assert_eq!(pinned.as_slice().unwrap(), [4; 8]);
    drop(pinned);
    bench.finish();
}

// Without it memory that was not unregistered would be freed, and the device reach what is there next.
#[test]
fn memory_that_stays_registered_is_not_freed() {
    let bench = bench();
    let context = &bench.base.context;
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench.base.faults.fail(id::cuMemHostUnregister, 1, code);
    let registered = context.register_host(vec![1u8; 100_000]).unwrap();
    let at = registered.as_ptr();
    drop(registered);
    assert_eq!(bench.base.execution.live().abandoned, 1);
    assert_eq!(registrations(&bench), 1);
    // SAFETY: the memory was kept.
    assert_eq!(unsafe { at.read_volatile() }, 1);
    let _current = context.enter().unwrap();
    // SAFETY: registered, and used by nothing.
    unsafe { context.driver().cuMemHostUnregister(at.cast()) }.unwrap();
}

// Without it some order of registrations, copies and ends could give other elements back, leave memory
// page-locked, or refuse what is not registered.
#[test]
fn random_registrations_keep_their_elements() {
    fn property(steps: Vec<(u8, u16, u8)>) -> bool {
        let bench = bench();
        let (context, stream) = (&bench.base.context, &bench.stream);
        let mut alive: Vec<(RegisteredBuffer<u8>, Vec<u8>)> = Vec::new();
        for (step, number, byte) in steps {
            let at = usize::from(number) % alive.len().max(1);
            match step % 5 {
                0 | 1 => {
                    let elements = vec![byte; usize::from(number)];
                    alive.push((context.register_host(elements.clone()).unwrap(), elements));
                }
                2 if !alive.is_empty() => {
                    let (buffer, elements) = alive.swap_remove(at);
                    assert_eq!(buffer.into_inner().unwrap(), elements);
                }
                3 if !alive.is_empty() => {
                    let (buffer, elements) = alive.swap_remove(at);
                    let mut there = bench.pool.allocate(buffer.len(), stream).unwrap();
                    ops::copy_to_device(&buffer, &mut there, stream).unwrap();
                    drop(buffer);
                    assert_eq!(there.to_vec(stream).unwrap(), elements);
                }
                _ => {
                    if let Some((buffer, elements)) = alive.get_mut(at) {
                        elements.fill(byte);
                        let there = bench.pool.upload(elements, stream).unwrap();
                        ops::copy_to_host(&there, buffer, stream).unwrap();
                    }
                }
            }
            let there = alive.iter().filter(|(buffer, _)| !buffer.is_empty());
            assert_eq!(registrations(&bench), there.count());
        }
        drop(alive);
        bench.finish();
        true
    }
    quickcheck::QuickCheck::new()
        .rng(quickcheck::Gen::new(60))
        .tests(40)
        .quickcheck(property as fn(Vec<(u8, u16, u8)>) -> bool);
}
