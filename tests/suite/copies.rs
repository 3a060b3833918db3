//! Copies and fills of every kind.

use cupola_managers::{Error, ops};

use crate::common::{Bench, noise};

// Without it a length or an offset could be counted in bytes where elements are meant.
#[test]
fn bytes_come_back_as_they_went() {
    let bench = Bench::open();
    let (stream, pool) = (&bench.stream, &bench.pool);
    for len in [0, 1, 3, 255, 256, 4097, 1 << 20] {
        let data = noise(len as u64, len);
        let mut there = pool.allocate::<u8>(len, stream).unwrap();
        let mut copied = pool.allocate::<u8>(len, stream).unwrap();
        let mut back = vec![0; len];
        ops::write(&mut there, &data, stream).unwrap();
        ops::copy(&there, &mut copied, stream).unwrap();
        ops::read(&copied, &mut back, stream).unwrap();
        assert!(back == data, "{len} bytes");
    }
    bench.finish();
}

// Without it a view could begin at the wrong element.
#[test]
fn views_name_the_elements_of_their_range() {
    let bench = Bench::open();
    let stream = &bench.stream;
    let mut there = bench.pool.allocate::<u32>(1000, stream).unwrap();
    let numbers: Vec<u32> = (0..1000).collect();
    ops::write(&mut there, &numbers, stream).unwrap();
    ops::fill(there.slice_mut(10..20).unwrap(), 7, stream).unwrap();
    ops::set_bytes(there.slice_mut(999..).unwrap(), 0xff, stream).unwrap();
    ops::write(there.slice_mut(..2).unwrap(), &[70, 71], stream).unwrap();
    let mut expected = numbers.clone();
    expected[10..20].fill(7);
    expected[999] = u32::MAX;
    expected[..2].copy_from_slice(&[70, 71]);
    let mut back = vec![0; 1000];
    ops::read(&there, &mut back, stream).unwrap();
    assert_eq!(back, expected);
    let mut part = vec![0; 100];
    ops::read(there.slice(5..=104).unwrap(), &mut part, stream).unwrap();
    assert_eq!(part, expected[5..=104]);
    assert!(matches!(there.slice(5..1001), Err(Error::Invalid { .. })));
    let mismatch = ops::read(&there, &mut part, stream);
    assert!(matches!(mismatch, Err(Error::Invalid { .. })));
    drop(there);
    bench.finish();
}

// Without it pinned memory could be looked at, or used on another stream, while a copy
// still writes it.
#[test]
fn pinned_memory_waits_for_its_copies() {
    let bench = Bench::open();
    let other = bench.another_stream();
    let len = 1 << 18;
    let mut from = bench.context.buffers().pinned::<u32>(len).unwrap();
    let mut to = bench.context.buffers().pinned::<u32>(len).unwrap();
    assert!(to.as_slice().unwrap().iter().all(|&word| word == 0));
    let mut there = bench.pool.allocate::<u32>(len, &bench.stream).unwrap();
    for round in 0..20u32 {
        from.as_mut_slice().unwrap().fill(round);
        ops::copy_to_device(&from, &mut there, &bench.stream).unwrap();
        ops::order(&bench.stream, &other).unwrap();
        ops::copy_to_host(&there, &mut to, &other).unwrap();
        assert!(
            to.as_slice().unwrap().iter().all(|&word| word == round),
            "round {round}"
        );
    }
    // Dropped with copies on their way.
    ops::copy_to_device(&from, &mut there, &other).unwrap();
    ops::copy_to_host(&there, &mut to, &other).unwrap();
    drop((from, to, there, other));
    let empty = bench.context.buffers().pinned::<u64>(0).unwrap();
    assert!(empty.is_empty() && empty.as_slice().unwrap().is_empty());
    drop(empty);
    bench.finish();
}

// Without it a block could be handed out again while another stream still reads it.
#[test]
fn a_free_waits_for_the_readers_on_other_streams() {
    let bench = Bench::open();
    let reader = bench.another_stream();
    let len = 1 << 16;
    let mut seen = bench.context.buffers().pinned::<u32>(len).unwrap();
    for round in 0..200u32 {
        let mut block = bench.pool.allocate::<u32>(len, &bench.stream).unwrap();
        ops::fill(&mut block, round, &bench.stream).unwrap();
        ops::order(&bench.stream, &reader).unwrap();
        ops::copy_to_host(&block, &mut seen, &reader).unwrap();
        drop(block);
        let mut next = bench.pool.allocate::<u32>(len, &bench.stream).unwrap();
        ops::fill(&mut next, u32::MAX, &bench.stream).unwrap();
        assert!(
            seen.as_slice().unwrap().iter().all(|&word| word == round),
            "round {round}"
        );
    }
    drop((seen, reader));
    bench.finish();
}
