//! Copies of parts of pinned memory.

use std::thread;
use std::time::Duration;

use cupola_managers::{Error, ops};
use cupola_sys::driver::{CUresult, id};

use super::{bench, hold};

// Without it a part could begin at the wrong element, or a copy reach beyond it.
#[test]
fn parts_of_pinned_memory_are_copied() {
    let bench = bench();
    let stream = &bench.stream;
    let mut pinned = bench.base.context.buffers().pinned::<u16>(10).unwrap();
    for (at, word) in pinned.as_mut_slice().unwrap().iter_mut().enumerate() {
        *word = at as u16;
    }
    let mut there = bench.pool.zeros::<u16>(10, stream).unwrap();
    let part = pinned.slice(2..5).unwrap();
    assert_eq!((part.len(), part.bytes()), (3, 6));
    ops::copy_to_device(part, there.slice_mut(..3).unwrap(), stream).unwrap();
    // A part of a part.
    let part = part.slice(1..).unwrap();
    ops::copy_to_device(part, there.slice_mut(8..).unwrap(), stream).unwrap();
    let back = there.to_vec(stream).unwrap();
    assert_eq!(back, [2, 3, 4, 0, 0, 0, 0, 0, 3, 4]);
    let to = pinned.slice_mut(7..=8).unwrap();
    ops::copy_to_host(there.slice(8..).unwrap(), to, stream).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [0, 1, 2, 3, 4, 5, 6, 3, 4, 9]);
    assert!(matches!(pinned.slice(5..11), Err(Error::Invalid { .. })));
    assert!(pinned.slice_mut(11..).is_err());
    let whole = ops::copy_to_device(pinned.slice(1..).unwrap(), &mut there, stream);
    assert!(
        matches!(whole, Err(Error::Invalid { .. })),
        "lengths differ"
    );
    drop((pinned, there));
    bench.finish();
}

// Without it the elements could be looked at while a copy of a part of them runs, on whichever
// stream: the last copy is not the only one.
#[test]
fn the_host_waits_for_the_copies_of_all_parts() {
    let bench = bench();
    let other = bench.base.stream();
    let sevens = bench.pool.upload(&[7u32; 64], &bench.stream).unwrap();
    let mut pinned = bench.base.context.buffers().pinned::<u32>(64).unwrap();
    let (low, high) = sevens.split_at(32).unwrap();
    let held = hold(&bench.stream);
    ops::copy_to_host(low, pinned.slice_mut(..32).unwrap(), &bench.stream).unwrap();
    ops::copy_to_host(high, pinned.slice_mut(32..).unwrap(), &other).unwrap();
    let end = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        drop(held);
    });
    assert_eq!(pinned.as_slice().unwrap(), [7; 64], "seen before its copy");
    end.join().unwrap();
    // And so does the free.
    let held = hold(&bench.stream);
    ops::copy_to_host(low, pinned.slice_mut(..32).unwrap(), &bench.stream).unwrap();
    let end = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        drop(held);
    });
    drop(pinned);
    end.join().unwrap();
    drop((sevens, other));
    bench.finish();
}

// Without it a copy of a part that fails could leave the memory locked for ever, or be forgotten.
#[test]
fn a_copy_of_a_part_that_fails_is_told() {
    let bench = bench();
    let mut pinned = bench.base.context.buffers().pinned::<u32>(8).unwrap();
    let there = bench.pool.upload(&[1u32; 4], &bench.stream).unwrap();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench.base.faults.fail(id::cuMemcpyDtoHAsync_v2, 1, code);
    let part = pinned.slice_mut(4..).unwrap();
    let refused = ops::copy_to_host(&there, part, &bench.stream);
    assert_eq!(refused.unwrap_err().status(), Some(code));
    bench.base.faults.reset();
    let part = pinned.slice_mut(4..).unwrap();
    ops::copy_to_host(&there, part, &bench.stream).unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [0, 0, 0, 0, 1, 1, 1, 1]);
    drop((pinned, there));
    bench.finish();
}
