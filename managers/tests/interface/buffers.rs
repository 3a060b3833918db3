//! Buffers with contents, parts of them, casts, alignment, and frees on another stream.

use cupola_managers::{Error, ops};
use cupola_sys::driver::{CUresult, id};

use super::{bench, hold};

// Without it a vector could come back with other elements than went up, of any length and of
// elements of any size, none included.
#[test]
fn a_vector_goes_up_and_comes_back() {
    let bench = bench();
    let (pool, stream) = (&bench.pool, &bench.stream);
    for len in [0, 1, 77, 4096] {
        let data: Vec<u32> = (0..len).map(|i| i * 3 + 1).collect();
        let there = pool.upload(&data, stream).unwrap();
        assert_eq!(there.len(), data.len());
        assert_eq!(there.to_vec(stream).unwrap(), data);
        let zeros = pool.zeros::<u64>(len as usize, stream).unwrap();
        assert_eq!(zeros.to_vec(stream).unwrap(), vec![0; len as usize]);
    }
    let there = pool.upload(&[[1u8, 2], [3, 4], [5, 6]], stream).unwrap();
    let part = there.slice(1..).unwrap().to_vec(stream).unwrap();
    assert_eq!(part, [[3, 4], [5, 6]]);
    let nothing = pool.upload(&[[0u32; 0]; 5], stream).unwrap();
    assert_eq!(nothing.to_vec(stream).unwrap().len(), 5);
    drop((there, nothing));
    bench.finish();
}

// Without it bytes that are no `bool` could be handed out in a vector.
#[test]
fn a_vector_of_what_are_no_values_is_refused() {
    let bench = bench();
    let flags = bench.pool.upload(&[1u8, 0, 7, 1], &bench.stream).unwrap();
    let view = flags.view().cast::<bool>().unwrap();
    let refused = view.to_vec(&bench.stream).unwrap_err();
    assert!(refused.to_string().contains("number 2 of 4"), "{refused}");
    let valid = view.slice(..2).unwrap().to_vec(&bench.stream);
    assert_eq!(valid, Ok(vec![true, false]));
    drop(flags);
    bench.finish();
}

// Without it a failing call could leave a buffer behind, or an error could be swallowed.
#[test]
fn what_fails_leaves_nothing() {
    let bench = bench();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    for call in [id::cuMemcpyHtoDAsync_v2, id::cuEventRecord] {
        bench.base.faults.fail(call, 1, code);
        let refused = bench.pool.upload(&[1u32; 100], &bench.stream);
        assert_eq!(refused.unwrap_err().status(), Some(code));
        bench.base.faults.reset();
    }
    bench.base.faults.fail(id::cuMemsetD8Async, 1, code);
    let refused = bench.pool.zeros::<u32>(100, &bench.stream);
    assert_eq!(refused.unwrap_err().status(), Some(code));
    bench.base.faults.reset();
    let there = bench.pool.upload(&[1u32; 100], &bench.stream).unwrap();
    bench.base.faults.fail(id::cuMemcpyDtoHAsync_v2, 1, code);
    let refused = there.to_vec(&bench.stream);
    assert_eq!(refused.unwrap_err().status(), Some(code));
    bench.base.faults.reset();
    assert_eq!(there.to_vec(&bench.stream).unwrap(), [1; 100]);
    drop(there);
    assert_eq!(bench.pool.usage().unwrap().live, 0);
    bench.finish();
}

// Without it two halves of one buffer could overlap or leave elements out, or could not be used at
// the same time, on two streams.
#[test]
fn halves_of_a_buffer_are_two_arguments() {
    let bench = bench();
    let other = bench.base.stream();
    let mut all = bench.pool.zeros::<u32>(10, &bench.stream).unwrap();
    ops::order(&bench.stream, &other).unwrap();
    let (mut low, mut high) = all.split_at_mut(4).unwrap();
    assert_eq!((low.len(), high.len()), (4, 6));
    ops::fill(low.reborrow(), 1, &bench.stream).unwrap();
    ops::fill(high.reborrow(), 2, &other).unwrap();
    ops::order(&other, &bench.stream).unwrap();
    // From one part to another of the same buffer.
    let (_, end) = high.as_slice().split_at(2).unwrap();
    ops::copy(end, low, &bench.stream).unwrap();
    let (low, high) = all.split_at(4).unwrap();
    assert_eq!(low.to_vec(&bench.stream).unwrap(), [2; 4]);
    assert_eq!(high.to_vec(&bench.stream).unwrap(), [2; 6]);
    for (mid, lens) in [(0, (0, 10)), (10, (10, 0))] {
        let (low, high) = all.split_at(mid).unwrap();
        assert_eq!((low.len(), high.len()), lens);
    }
    assert!(matches!(all.split_at_mut(11), Err(Error::Invalid { .. })));
    assert!(all.split_at(usize::MAX).is_err());
    drop((all, other));
    bench.finish();
}

// Without it a buffer of bytes could lie at an address that what it is cast to must not have, or
// a cast could lose the memory.
#[test]
fn bytes_at_an_alignment_become_other_elements() {
    let bench = bench();
    let (pool, stream) = (&bench.pool, &bench.stream);
    for align in [1, 16, 256, 4096, 1 << 16, 2 << 20] {
        let held: Vec<_> = (0..3)
            .map(|_| pool.allocate_aligned::<u8>(24, align, stream).unwrap())
            .collect();
        assert!(
            held.iter().all(|bytes| bytes.as_raw() % align == 0),
            "{align}"
        );
    }
    let refused = pool.allocate_aligned::<u64>(1, 3, stream).unwrap_err();
    assert!(refused.to_string().contains("align"), "{refused}");
    assert!(pool.allocate_aligned::<u8>(1, 4 << 20, stream).is_err());

    let mut bytes = pool.allocate_aligned::<u8>(24, 64, stream).unwrap();
    ops::set_bytes(&mut bytes, 1, stream).unwrap();
    let address = bytes.as_raw();
    let words = bytes.cast::<u64>().unwrap();
    assert_eq!(
        (words.len(), words.as_raw(), words.bytes()),
        (3, address, 24)
    );
    assert_eq!(words.to_vec(stream).unwrap(), [0x0101_0101_0101_0101; 3]);
    let refused = words.cast::<[u64; 2]>().unwrap_err();
    assert!(
        matches!(refused.error(), Error::Invalid { .. }),
        "{refused}"
    );
    let words = refused.into_inner();
    assert_eq!(words.len(), 3);
    assert_eq!(pool.usage().unwrap().live, 24);
    drop(words);
    assert_eq!(pool.usage().unwrap().live, 0);
    bench.finish();
}

// Without it a buffer that another stream uses last could hold up its own stream, or its memory be
// had by a third before both have done with it.
#[test]
fn a_free_on_another_stream_holds_up_no_stream() {
    let bench = bench();
    let other = bench.base.stream();
    let mut buffer = bench.pool.allocate::<u32>(1 << 20, &bench.stream).unwrap();
    let address = buffer.as_raw();
    ops::fill(&mut buffer, 1, &bench.stream).unwrap();
    ops::order(&bench.stream, &other).unwrap();
    let held = hold(&other);
    let mut sum = bench.base.context.buffers().pinned::<u32>(1 << 20).unwrap();
    ops::copy_to_host(&buffer, &mut sum, &other).unwrap();
    let calls =
        [id::cuEventRecord, id::cuStreamWaitEvent].map(|call| bench.base.faults.count(call));
    buffer.free_on(&other).unwrap();
    let after =
        [id::cuEventRecord, id::cuStreamWaitEvent].map(|call| bench.base.faults.count(call));
    assert_eq!(calls, after, "the free made a call");
    // The buffer's own stream goes on while the other one is held.
    ops::synchronize(&bench.stream).unwrap();
    let third = bench.base.stream();
    let next = bench.pool.allocate::<u32>(1 << 20, &third).unwrap();
    assert_ne!(next.as_raw(), address, "the other stream still uses it");
    drop(held);
    assert!(sum.as_slice().unwrap().iter().all(|&word| word == 1));
    ops::synchronize(&other).unwrap();
    assert_eq!(bench.pool.usage().unwrap().pending, 0, "it is free again");

    // On its own stream it is a plain free, and of no bytes it is none.
    let own = bench.pool.allocate::<u32>(8, &bench.stream).unwrap();
    own.free_on(&bench.stream.clone()).unwrap();
    let none = bench.pool.allocate::<u32>(0, &bench.stream).unwrap();
    none.free_on(&other).unwrap();
    drop((next, sum));
    assert_eq!(bench.pool.usage().unwrap().live, 0);
    drop((other, third));
    bench.finish();
}

// Without it the other stream could have the memory while the buffer's own still works with it.
#[test]
fn a_free_on_another_stream_is_behind_the_buffers_own() {
    let bench = bench();
    let other = bench.base.stream();
    let held = hold(&bench.stream);
    let buffer = bench.pool.zeros::<u32>(1 << 20, &bench.stream).unwrap();
    let address = buffer.as_raw();
    buffer.free_on(&other).unwrap();
    assert!(bench.pool.usage().unwrap().pending >= 4 << 20);
    let next = bench.pool.allocate::<u32>(1 << 20, &other).unwrap();
    assert_ne!(next.as_raw(), address);
    drop(held);
    ops::synchronize(&bench.stream).unwrap();
    ops::synchronize(&other).unwrap();
    assert_eq!(bench.pool.usage().unwrap().pending, 0);
    // Then every stream may have it.
    let third = bench.base.stream();
    let again = bench.pool.allocate::<u32>(1 << 20, &third).unwrap();
    assert_eq!(again.as_raw(), address);
    drop((next, again, other, third));
    bench.finish();
}

// Without it a use on another stream could hold up the buffer's own stream when it is dropped.
#[test]
fn a_declared_use_holds_up_no_stream_at_the_drop() {
    let bench = bench();
    let other = bench.base.stream();
    let buffer = bench.pool.zeros::<u32>(64, &bench.stream).unwrap();
    buffer.used_on(&other).unwrap();
    let held = hold(&other);
    let waits = bench.base.faults.count(id::cuStreamWaitEvent);
    drop(buffer);
    assert_eq!(bench.base.faults.count(id::cuStreamWaitEvent), waits);
    ops::synchronize(&bench.stream).unwrap();
    drop(held);
    drop(other);
    bench.finish();
}

// Without it memory that a graph's stream gives to another could be used by both at once, or a free
// that fails could lose the buffer.
#[test]
fn a_free_on_another_stream_waits_on_the_device_beside_a_graph() {
    let bench = bench();
    let other = bench.base.stream();
    let third = bench.base.stream();
    let memory = bench.pool.graph_memory(&third).unwrap();
    let buffer = bench.pool.zeros::<u32>(64, &bench.stream).unwrap();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench.base.faults.fail(id::cuStreamWaitEvent, 1, code);
    let refused = buffer.free_on(&other).unwrap_err();
    assert_eq!(refused.error().status(), Some(code));
    bench.base.faults.reset();
    let buffer = refused.into_inner();
    assert_eq!(buffer.to_vec(&bench.stream).unwrap(), [0; 64]);
    buffer.free_on(&other).unwrap();
    assert_eq!(bench.base.faults.count(id::cuStreamWaitEvent), 1);
    drop(memory);
    assert_eq!(bench.pool.usage().unwrap().live, 0);

    let own = bench.base.execution.devices().get(0).unwrap();
    let elsewhere = own.contexts().create(Default::default()).unwrap();
    let foreign = elsewhere.streams().create(Default::default()).unwrap();
    let buffer = bench.pool.zeros::<u32>(64, &bench.stream).unwrap();
    let refused = buffer.free_on(&foreign).unwrap_err();
    assert!(matches!(refused.error(), Error::WrongContext { .. }));
    drop((refused, foreign, elsewhere, own, other, third));
    bench.finish();
}
