//! Host memory that devices reach, on any device.

use std::time::{Duration, Instant};

use cupola_managers::host::{ManagedAdvice, ManagedLocation, PinnedPoolConfig};
use cupola_managers::{Error, HostMemoryError, ops};

use crate::common::{Bench, noise};

const LARGE: usize = 96 << 20;

fn refusal(error: Error) -> HostMemoryError {
    match error {
        Error::Host(refusal) => *refusal,
        other => panic!("{other:?}"),
    }
}

// Without it memory that a device took by the fast way, or by the one that it fell back to, could be
// another one for the host than for the device, be used again under a copy, or stay locked.
#[test]
fn a_pinned_pool_gives_memory_that_copies_reach() {
    let bench = Bench::open();
    let stream = &bench.stream;
    println!("{}", bench.context.pinned_backing().unwrap());
    let config = PinnedPoolConfig::limit(2 * LARGE as u64);
    let host = bench.context.pinned_pool(config).unwrap();
    let mut there = bench.pool.allocate::<u8>(LARGE, stream).unwrap();
    for seed in 0..3 {
        let bytes = noise(seed, LARGE);
        // Dropped before its copy is over, as often as not.
        let mut up = host.allocate::<u8>(LARGE).unwrap();
        up.as_mut_slice().unwrap().copy_from_slice(&bytes);
        ops::copy_to_device(&up, &mut there, stream).unwrap();
        drop(up);
        let mut down = host.allocate::<u8>(LARGE).unwrap();
        down.as_mut_slice().unwrap().fill(0);
        ops::copy_to_host(&there, &mut down, stream).unwrap();
        assert!(down.as_slice().unwrap() == bytes, "round {seed}");
    }
    let small: Vec<_> = (1..200)
        .map(|len| host.zeros::<u32>(len).unwrap())
        .collect();
    drop(small);
    let refused = host.allocate::<u8>(3 * LARGE).unwrap_err();
    assert!(matches!(
        refusal(refused),
        HostMemoryError::OverLimit { .. }
    ));
    let until = Instant::now() + Duration::from_secs(20);
    while host.usage().unwrap().locked > 0 && Instant::now() < until {
        host.trim().unwrap();
    }
    assert_eq!(host.usage().unwrap().locked, 0);
    drop((host, there));
    bench.finish();
}

// Without it a vector could be registered at another place than its elements are, or stay locked.
#[test]
fn memory_of_the_program_is_registered_where_the_device_does_that() {
    static CONSTANT: [u32; 1 << 16] = [5; 1 << 16];
    let bench = Bench::open();
    let (context, stream) = (&bench.context, &bench.stream);
    let mut there = bench.pool.allocate::<u32>(1 << 16, stream).unwrap();
    let mut registered = match context.register_host(vec![7u32; 1 << 16]) {
        Ok(registered) => registered,
        Err(refused) => {
            let what = refusal(refused.into());
            assert!(
                matches!(what, HostMemoryError::NoRegistration { .. }),
                "{what}"
            );
            eprintln!("skipped: {what}");
            drop(there);
            return bench.finish();
        }
    };
    ops::copy_to_device(&registered, &mut there, stream).unwrap();
    registered.as_mut_slice().unwrap().fill(8);
    ops::copy_to_host(&there, &mut registered, stream).unwrap();
    let mut vector = registered.into_inner().unwrap();
    assert!(vector.iter().all(|&number| number == 7));
    let copied = context.with_registered(&mut vector, |view| {
        ops::fill(&mut there, 9, stream)?;
        ops::copy_to_host(&there, view, stream)
    });
    assert_eq!(copied, Ok(Ok(())));
    assert!(vector.iter().all(|&number| number == 9));
    let again = context.register_host(vector).unwrap();
    let (start, len) = (again.as_ptr(), again.len());
    // SAFETY: the elements are there, and nothing looks at them meanwhile.
    let refused = unsafe { context.register_host_raw((), start, len) }.map(drop);
    let what = refusal(refused.unwrap_err().into());
    assert!(
        matches!(what, HostMemoryError::AlreadyRegistered { .. }),
        "{what}"
    );
    drop(again);
    match context.with_registered_read_only(&CONSTANT, |view| {
        ops::copy_to_device(view, &mut there, stream)
    }) {
        Ok(sent) => {
            sent.unwrap();
            assert!(there.to_vec(stream).unwrap() == CONSTANT);
        }
        Err(error) => assert_eq!(refusal(error), HostMemoryError::NoReadOnlyRegistration),
    }
    drop(there);
    bench.finish();
}

// Without it host and device could see different elements at one address, or advice be one that a
// driver refuses.
#[test]
fn managed_memory_is_one_for_host_and_device() {
    let bench = Bench::open();
    let stream = &bench.stream;
    let mut numbers = match bench.context.managed::<u32>(1 << 20) {
        Ok(numbers) => numbers,
        Err(error) => {
            assert_eq!(refusal(error), HostMemoryError::NoManagedMemory);
            return bench.finish();
        }
    };
    match numbers.as_mut_slice() {
        Ok(elements) => elements.fill(1),
        Err(error) => {
            assert_eq!(refusal(error), HostMemoryError::NoConcurrentAccess);
            drop(numbers);
            return bench.finish();
        }
    }
    let place = ManagedLocation::Device;
    numbers.advise(.., ManagedAdvice::Preferred(place)).unwrap();
    numbers
        .advise(.., ManagedAdvice::AccessedBy(ManagedLocation::Host))
        .unwrap();
    numbers.prefetch(.., place, stream).unwrap();
    // SAFETY: the view is given to the fill on its stream alone.
    let view = unsafe { numbers.device_mut(stream) }.unwrap();
    ops::fill(view.slice(1 << 19..).unwrap(), 2, stream).unwrap();
    let seen = numbers.as_slice().unwrap();
    assert!(seen[..1 << 19].iter().all(|&number| number == 1));
    assert!(seen[1 << 19..].iter().all(|&number| number == 2));
    numbers.prefetch(.., ManagedLocation::Host, stream).unwrap();
    numbers.advise(.., ManagedAdvice::NoPreference).unwrap();
    assert_eq!(numbers.as_mut_slice().unwrap()[0], 1);
    drop(numbers);
    bench.finish();
}
