//! Batches of copies.

use cupola_sim::{Machine, Order};
use cupola_sys::Version;
use cupola_sys::driver::*;

use crate::support::{Code, Gate, TestBench, code};

const OK: Code = CUresult::CUDA_SUCCESS;
const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;

use CUmemcpySrcAccessOrder as Access;
const STREAM: Access = Access::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
const DURING: Access = Access::CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
const ANY: Access = Access::CU_MEMCPY_SRC_ACCESS_ORDER_ANY;

/// Copies: where to, where from, and how many bytes.
type Copies<'a> = &'a [(u64, u64, usize)];

fn attributes(order: Access) -> CUmemcpyAttributes {
    CUmemcpyAttributes {
        srcAccessOrder: order,
        ..Default::default()
    }
}

/// What the first form of the function says, and which copy it names.
fn batch(
    bench: &TestBench,
    copies: Copies<'_>,
    attributes: &[(usize, CUmemcpyAttributes)],
    stream: CUstream,
) -> (Code, Option<usize>) {
    let mut to: Vec<_> = copies.iter().map(|(to, ..)| *to).collect();
    let mut from: Vec<_> = copies.iter().map(|(_, from, _)| *from).collect();
    let mut sizes: Vec<_> = copies.iter().map(|(.., size)| *size).collect();
    let (mut starts, mut told): (Vec<_>, Vec<_>) = attributes.iter().copied().unzip();
    let (mut failed, count, given) = (777, copies.len(), attributes.len());
    // SAFETY: the arrays outlive the call and are as long as it is told; host memory among the
    // copies outlives the stream's work.
    let said = code(unsafe {
        bench.driver.cuMemcpyBatchAsync(
            to.as_mut_ptr(),
            from.as_mut_ptr(),
            sizes.as_mut_ptr(),
            count,
            told.as_mut_ptr(),
            starts.as_mut_ptr(),
            given,
            &raw mut failed,
            stream,
        )
    });
    (said, (failed != 777).then_some(failed))
}

fn address<T>(memory: *const T) -> u64 {
    memory.expose_provenance() as u64
}

/// Without it, a copy of a batch could be left out, or have another's ends, size or attributes.
#[test]
fn a_batch_is_its_copies() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let stream = bench.stream(NON_BLOCKING);
    let (a, b) = (bench.alloc(16), bench.alloc(16));
    let (up, down) = (bench.pinned(8), bench.pinned(8));
    up.copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    bench.upload(a, &[0; 16]);
    bench.upload(b, &[9; 16]);
    let pageable = [10u8, 11, 12];
    let copies = [
        (a, address(up.as_ptr()), 8),
        (a + 12, address(pageable.as_ptr()), 3),
        (b, b + 8, 1),
        (address(down.as_ptr()), b, 4),
    ];
    let told = [
        (0, attributes(STREAM)),
        (1, attributes(ANY)),
        (3, attributes(STREAM)),
    ];
    assert_eq!(batch(&bench, &copies, &told, stream), (OK, None));
    bench.wait(stream);
    let all = [1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 10, 11, 12, 0];
    assert_eq!(bench.download(a, 16), all);
    assert_eq!(down, [9, 9, 9, 9, 0, 0, 0, 0]);
    // The second form, in a thread's own default stream, under its own name and by the handle.
    let (mut to, mut from, mut size) = (b, a, 16);
    let (mut told, mut start) = (attributes(STREAM), 0);
    let none = std::ptr::null_mut();
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuMemcpyBatchAsync_v2_ptsz(
            &raw mut to,
            &raw mut from,
            &raw mut size,
            1,
            &raw mut told,
            &raw mut start,
            1,
            none,
        )
        .unwrap();
        let own: CUstream = std::ptr::without_provenance_mut(2);
        d.cuStreamSynchronize(own).unwrap();
        assert_eq!(bench.download(b, 16), all);
        (to, from) = (from, to);
        d.cuMemcpyBatchAsync_v2(
            &raw mut to,
            &raw mut from,
            &raw mut size,
            1,
            &raw mut told,
            &raw mut start,
            1,
            own,
        )
        .unwrap();
        d.cuStreamSynchronize(own).unwrap();
    }
    bench.destroy(&[stream]);
    bench.free(a);
    bench.free(b);
    bench.unpin(up);
    bench.unpin(down);
    bench.finish();
}

/// Without it, a batch that is refused could have done a part, or name another copy than the one
/// at fault.
#[test]
fn what_is_no_batch_is_refused_and_does_nothing() {
    let bench = TestBench::new();
    let stream = bench.stream(NON_BLOCKING);
    let (a, b) = (bench.alloc(16), bench.alloc(16));
    bench.upload(a, &[1; 16]);
    bench.upload(b, &[2; 16]);
    let good = [(b, a, 4), (b + 4, a, 4), (b + 8, a, 4)];
    let plain = attributes(STREAM);
    let bad_flags = CUmemcpyAttributes { flags: 2, ..plain };
    let bad_order = attributes(Access::CU_MEMCPY_SRC_ACCESS_ORDER_INVALID);
    for told in [
        &[][..],
        &[(1, plain)],
        &[(0, plain), (0, plain)],
        &[(0, plain), (3, plain)],
        &[(0, plain), (2, plain), (1, plain)],
        &[(0, plain), (1, plain), (2, plain), (3, plain)],
        &[(0, plain), (2, bad_flags)],
        &[(0, bad_order)],
        &[(0, attributes(Access(4)))],
    ] {
        let said = batch(&bench, &good, told, stream);
        assert_eq!(said, (INVALID, Some(usize::MAX)), "{told:?}");
    }
    let all = [(0, plain)];
    let none = batch(&bench, &[], &all, stream);
    assert_eq!(none, (INVALID, Some(usize::MAX)));
    for bad in [(0, a, 4), (b, 0, 4), (b, a, 1 << 20), (b, a, 0)] {
        for index in 0..3 {
            let mut copies = good;
            copies[index] = bad;
            let said = batch(&bench, &copies, &all, stream);
            assert_eq!(said, (INVALID, Some(index)), "{bad:?}");
        }
    }
    for legacy in [0, 1] {
        let legacy = std::ptr::without_provenance_mut(legacy);
        let said = batch(&bench, &good, &all, legacy);
        assert_eq!(said, (INVALID, Some(usize::MAX)));
    }
    bench.wait(stream);
    assert_eq!(bench.download(b, 16), [2; 16]);
    // A captured stream takes none, and its capture goes on.
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
    let mut graph = std::ptr::null_mut();
    // SAFETY: the place outlives the calls.
    unsafe {
        bench.driver.cuStreamBeginCapture_v2(stream, mode).unwrap();
        let said = batch(&bench, &good, &all, stream);
        let unsupported = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        assert_eq!(said, (unsupported, Some(usize::MAX)));
        bench
            .driver
            .cuStreamEndCapture(stream, &raw mut graph)
            .unwrap();
        bench.driver.cuGraphDestroy(graph).unwrap();
    }
    bench.destroy(&[stream]);
    bench.free(a);
    bench.free(b);
    bench.finish();
}

/// Without it, a program could reuse a source that is read later, or the device read one early.
#[test]
fn the_access_order_says_when_a_source_is_read() {
    for (order, wanted) in [(STREAM, 7), (DURING, 1)] {
        let bench = TestBench::new();
        let stream = bench.stream(NON_BLOCKING);
        let (memory, host) = (bench.alloc(4), bench.pinned(4));
        host.fill(1);
        let gate = Gate::new();
        gate.block(&bench, stream);
        let copies = [(memory, address(host.as_ptr()), 4)];
        let said = batch(&bench, &copies, &[(0, attributes(order))], stream);
        assert_eq!(said, (OK, None));
        host.fill(7);
        gate.open();
        bench.wait(stream);
        assert_eq!(bench.download(memory, 4), [wanted; 4]);
        // A device's memory has been read when the call returns, so the copy is done.
        if order == DURING {
            let other = bench.alloc(4);
            let said = batch(
                &bench,
                &[(other, memory, 4)],
                &[(0, attributes(order))],
                stream,
            );
            assert_eq!((said, bench.query(stream)), ((OK, None), OK));
            bench.free(other);
        }
        bench.destroy(&[stream]);
        bench.free(memory);
        bench.unpin(host);
        bench.finish();
    }
}

/// Without it, a program whose copies depend on each other would work here in every order.
#[test]
fn a_seed_draws_the_order_within_a_batch() {
    let run = |seed| {
        let bench = TestBench::with(Machine::builder().order(Order::Seeded(seed)));
        let stream = bench.stream(NON_BLOCKING);
        let a = bench.alloc(3);
        bench.upload(a, &[1, 2, 3]);
        // Each wants what the one before has written.
        let copies = [(a + 1, a, 1), (a + 2, a + 1, 1)];
        let said = batch(&bench, &copies, &[(0, attributes(STREAM))], stream);
        assert_eq!(said, (OK, None));
        bench.wait(stream);
        let bytes = bench.download(a, 3);
        bench.destroy(&[stream]);
        bench.free(a);
        bench.finish();
        bytes
    };
    let seen: std::collections::BTreeSet<_> = (0..20).map(run).collect();
    assert_eq!(seen, [vec![1, 1, 1], vec![1, 1, 2]].into());
    assert_eq!(run(5), run(5));
}

/// Without it, an old driver would have what came later.
#[test]
fn older_drivers_have_no_batches() {
    for (version, first, second) in [
        (Version::new(12, 6), false, false),
        (Version::new(12, 8), true, false),
        (Version::new(13, 0), true, true),
    ] {
        let bench = TestBench::with(Machine::builder().driver_version(version));
        let d = &bench.driver;
        for (id, has) in [
            (id::cuMemcpyBatchAsync, first),
            (id::cuMemcpyBatchAsync_v2, second),
            (id::cuMemcpy3DBatchAsync, first),
            (id::cuMemcpy3DBatchAsync_v2, second),
        ] {
            assert_eq!(d.has(id), has, "{version}");
        }
        bench.finish();
    }
}

/// Without it, boxes of a batch could be taken for rows without gaps, or what is no box copied.
#[test]
fn a_batch_copies_boxes() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let stream = bench.stream(NON_BLOCKING);
    let (a, b) = (bench.alloc(32), bench.alloc(32));
    let bytes: Vec<u8> = (0..32).collect();
    bench.upload(a, &bytes);
    bench.upload(b, &[99; 32]);
    let operand = |address, row, layer| {
        let mut operand = CUmemcpy3DOperand {
            type_: CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_POINTER,
            ..Default::default()
        };
        operand.op.ptr.ptr = address;
        operand.op.ptr.rowLength = row;
        operand.op.ptr.layerHeight = layer;
        operand
    };
    let extent = |width, height, depth| CUextent3D {
        width,
        height,
        depth,
    };
    let good = CUDA_MEMCPY3D_BATCH_OP {
        src: operand(a, 4, 3),
        dst: operand(b, 0, 0),
        extent: extent(2, 2, 2),
        srcAccessOrder: STREAM,
        flags: 1,
    };
    let run = |operations: &mut [CUDA_MEMCPY3D_BATCH_OP], flags| {
        let (mut failed, count) = (777, operations.len());
        let start = operations.as_mut_ptr();
        // SAFETY: array and place outlive the call.
        let said =
            code(unsafe { d.cuMemcpy3DBatchAsync(count, start, &raw mut failed, flags, stream) });
        bench.wait(stream);
        (said, (failed != 777).then_some(failed))
    };
    let flat = CUDA_MEMCPY3D_BATCH_OP {
        src: operand(a + 28, 0, 0),
        dst: operand(b + 28, 0, 0),
        extent: extent(4, 1, 1),
        ..good
    };
    assert_eq!(run(&mut [good, flat], 0), (OK, None));
    let after = bench.download(b, 32);
    assert_eq!(after[..8], [0, 1, 4, 5, 12, 13, 16, 17]);
    assert_eq!(
        (&after[8..28], &after[28..]),
        (&[99; 20][..], &[28, 29, 30, 31][..])
    );
    let empty = CUDA_MEMCPY3D_BATCH_OP {
        extent: extent(2, 0, 2),
        ..good
    };
    let narrow = CUDA_MEMCPY3D_BATCH_OP {
        src: operand(a, 1, 0),
        ..good
    };
    let mut array = good;
    array.dst.type_ = CUmemcpy3DOperandType::CU_MEMCPY_OPERAND_TYPE_ARRAY;
    assert_eq!(run(&mut [good, empty], 0), (INVALID, Some(1)));
    assert_eq!(run(&mut [narrow, good], 0), (INVALID, Some(0)));
    let arrays = CUresult::CUDA_ERROR_NOT_SUPPORTED;
    assert_eq!(run(&mut [good, array], 0), (arrays, Some(1)));
    assert_eq!(run(&mut [good], 1), (INVALID, Some(usize::MAX)));
    assert_eq!(run(&mut [], 0), (INVALID, Some(usize::MAX)));
    let (start, none) = (&raw mut array, std::ptr::null_mut());
    // SAFETY: the array outlives the call.
    let legacy = code(unsafe { d.cuMemcpy3DBatchAsync_v2(1, start, 0, none) });
    assert_eq!(legacy, INVALID);
    bench.destroy(&[stream]);
    bench.free(a);
    bench.free(b);
    bench.finish();
}
