//! Copies that are handed to the driver together.

use std::thread;

use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops::{self, Batched, CopyBatch};
use cupola_managers::{Error, PoolConfig};
use cupola_sim::Machine;
use cupola_sys::driver::{CUresult, id};

use super::bench;
use super::test_bench::{PoolBench, TestBench, hold};

/// The calls that a batch can be.
const BATCHES: [cupola_sys::SymbolId; 2] = [id::cuMemcpyBatchAsync, id::cuMemcpyBatchAsync_v2];

/// Uploads, copies within the device and downloads in one batch, one of them of a part.
fn send_all(bench: &PoolBench) -> Batched {
    let (pool, stream) = (&bench.pool, &bench.stream);
    let mut up = bench.base.context.buffers().pinned::<u32>(64).unwrap();
    let mut down = bench.base.context.buffers().pinned::<u16>(8).unwrap();
    for (at, word) in up.as_mut_slice().unwrap().iter_mut().enumerate() {
        *word = at as u32;
    }
    let mut there = pool.zeros::<u32>(64, stream).unwrap();
    let shorts = pool.upload(&[7u16; 8], stream).unwrap();
    let mut copied = pool.zeros::<u16>(8, stream).unwrap();
    let mut none = pool.zeros::<u32>(0, stream).unwrap();
    let (low, high) = there.split_at_mut(32).unwrap();

    let mut batch = CopyBatch::new(stream);
    batch.upload(up.slice(..32).unwrap(), high).unwrap();
    batch.upload(up.slice(32..).unwrap(), low).unwrap();
    batch.upload(up.slice(..0).unwrap(), &mut none).unwrap();
    batch.copy(&shorts, &mut copied).unwrap();
    batch.download(&shorts, &mut down).unwrap();
    assert_eq!(batch.len(), 4, "a copy of nothing is none");
    let batched = batch.submit().unwrap();

    let expected: Vec<u32> = (32..64).chain(0..32).collect();
    assert_eq!(there.to_vec(stream).unwrap(), expected);
    assert_eq!(copied.to_vec(stream).unwrap(), [7; 8]);
    assert_eq!(down.as_slice().unwrap(), [7; 8]);
    batched
}

// Without it a batch could leave a copy out, or send it to another place; or make a call for each.
#[test]
fn a_batch_is_one_call() {
    let bench = bench();
    bench.base.faults.reset();
    assert_eq!(send_all(&bench), Batched::Together);
    let made: u64 = BATCHES
        .iter()
        .map(|call| bench.base.faults.count(*call))
        .sum();
    assert_eq!(made, 1);
    bench.finish();
}

// Without it a program on an older driver would get no copies, or others.
#[test]
fn a_driver_without_batches_gets_the_copies_one_by_one() {
    for lacking in [&BATCHES[1..], &BATCHES] {
        let machine = lacking
            .iter()
            .fold(Machine::builder().worker_threads(1), |machine, call| {
                machine.without(*call)
            });
        let bench = PoolBench::on(TestBench::on(machine), PoolConfig::limit(64 << 20));
        let expected = match lacking.len() {
            1 => Batched::Together,
            _ => Batched::OneByOne,
        };
        assert_eq!(send_all(&bench), expected);
        bench.finish();
    }
}

// Without it a batch could be handed to the driver for a stream that has none, which refuses it.
#[test]
fn the_legacy_stream_and_single_copies_have_no_batches() {
    let bench = bench();
    let legacy = bench.base.context.streams().legacy_default().unwrap();
    let (mut a, mut b) = (
        bench.pool.zeros::<u8>(4, &legacy).unwrap(),
        bench.pool.zeros::<u8>(4, &legacy).unwrap(),
    );
    let ones = bench.pool.upload(&[1u8; 4], &legacy).unwrap();
    let mut batch = CopyBatch::new(&legacy);
    batch.copy(&ones, &mut a).unwrap();
    batch.copy(&ones, &mut b).unwrap();
    assert_eq!(batch.submit(), Ok(Batched::OneByOne));
    assert_eq!(b.to_vec(&legacy).unwrap(), [1; 4]);
    let mut batch = CopyBatch::new(&bench.stream);
    assert!(batch.is_empty());
    batch.copy(&ones, &mut a).unwrap();
    assert_eq!(batch.submit(), Ok(Batched::OneByOne));
    ops::synchronize(&bench.stream).unwrap();
    drop((a, b, ones, legacy));
    bench.finish();
}

// Without it the host could look at the target of a batch before its copies are done.
#[test]
fn the_host_waits_for_a_batch() {
    let bench = bench();
    let sevens = bench.pool.upload(&[7u32; 64], &bench.stream).unwrap();
    let mut pinned = bench.base.context.buffers().pinned::<u32>(64).unwrap();
    let mut other = bench.base.context.buffers().pinned::<u32>(64).unwrap();
    let held = hold(&bench.stream);
    let mut batch = CopyBatch::new(&bench.stream);
    batch.download(&sevens, &mut pinned).unwrap();
    batch.download(&sevens, &mut other).unwrap();
    batch.submit().unwrap();
    let end = thread::spawn(move || {
        thread::sleep(std::time::Duration::from_millis(50));
        drop(held);
    });
    assert_eq!(pinned.as_slice().unwrap(), [7; 64], "seen before its copy");
    assert_eq!(other.as_slice().unwrap(), [7; 64]);
    end.join().unwrap();
    drop((sevens, pinned, other));
    bench.finish();
}

// Without it a batch that fails could leave pinned memory locked for ever, or a capture be ended by one.
#[test]
fn a_batch_that_is_refused_is_told() {
    let bench = bench();
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    let ones = bench.pool.upload(&[1u32; 8], &bench.stream).unwrap();
    let mut pinned = bench.base.context.buffers().pinned::<u32>(8).unwrap();
    let mut other = bench.base.context.buffers().pinned::<u32>(8).unwrap();
    for call in BATCHES {
        bench.base.faults.fail(call, 1, code);
    }
    let mut batch = CopyBatch::new(&bench.stream);
    batch.download(&ones, &mut pinned).unwrap();
    batch.download(&ones, &mut other).unwrap();
    let refused = batch.submit().unwrap_err();
    assert_eq!(refused.status(), Some(code));
    assert_eq!(refused.location().unwrap().file(), file!());
    bench.base.faults.reset();
    let eight = bench.base.context.buffers().pinned::<u32>(8).unwrap();
    let mut four = bench.pool.zeros::<u32>(4, &bench.stream).unwrap();
    let mut batch = CopyBatch::new(&bench.stream);
    batch.download(&ones, &mut pinned).unwrap();
    batch.download(&ones, &mut other).unwrap();
    let short = batch.upload(&eight, &mut four);
    assert!(matches!(short, Err(Error::Invalid { .. })), "{short:?}");
    batch.submit().unwrap();
    assert_eq!(pinned.as_slice().unwrap(), [1; 8]);

    let mut twos = bench.pool.zeros::<u32>(8, &bench.stream).unwrap();
    let captured = Graph::capture(&bench.base.context, CaptureConfig::default(), |capture| {
        let mut batch = CopyBatch::new(capture.stream());
        batch.copy(&ones, &mut twos)?;
        let refused = batch.submit();
        assert!(
            matches!(refused, Err(Error::Capturing { .. })),
            "{refused:?}"
        );
        Ok::<_, Error>(())
    });
    captured.unwrap();
    drop((ones, twos, four, eight, pinned, other));
    bench.finish();
}

// Without it two threads whose batches have the same pinned buffers, in another order, could wait for
// each other for ever.
#[test]
fn batches_of_two_threads_pass_each_other() {
    let bench = bench();
    let buffers = bench.base.context.buffers();
    let (a, b) = (
        buffers.pinned::<u32>(8).unwrap(),
        buffers.pinned::<u32>(8).unwrap(),
    );
    thread::scope(|scope| {
        for [first, second] in [[&a, &b], [&b, &a]] {
            let stream = bench.base.stream();
            let (pool, bench) = (&bench.pool, &bench);
            scope.spawn(move || {
                let mut there = pool.zeros::<u32>(8, &stream).unwrap();
                let mut too = pool.zeros::<u32>(8, &stream).unwrap();
                for _ in 0..200 {
                    let mut batch = CopyBatch::new(&stream);
                    batch.upload(first, &mut there).unwrap();
                    batch.upload(second, &mut too).unwrap();
                    batch.submit().unwrap();
                }
                ops::synchronize(&stream).unwrap();
                let _ = bench;
            });
        }
    });
    drop((a, b));
    bench.finish();
}
