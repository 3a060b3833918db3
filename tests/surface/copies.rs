//! 2-D and 3-D copies and sets.

use cupola_sys::CallError;
use cupola_sys::driver::*;

use crate::raw::Raw;

const DEVICE: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_DEVICE;
const HOST: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_HOST;
const UNIFIED: CUmemorytype = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// The code that a call failed with.
pub(crate) fn code(result: Result<(), DriverError>) -> CUresult {
    match result {
        Ok(()) => CUresult::CUDA_SUCCESS,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

fn numbers(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 % 251) as u8).collect()
}

fn plane() -> CUDA_MEMCPY2D {
    // SAFETY: integers, null pointers, and an enumeration that is a number.
    unsafe { std::mem::zeroed() }
}

fn block() -> CUDA_MEMCPY3D {
    // SAFETY: as above.
    unsafe { std::mem::zeroed() }
}

// Without it a copy of rows could take the gaps between them along, or begin at the wrong
// byte.
#[test]
fn rows_go_up_across_and_down() {
    let raw = Raw::open();
    let (host, zeros) = (numbers(16 * 6), vec![0; 32 * 8]);
    let (a, b) = (raw.upload(&zeros), raw.upload(&zeros));
    let mut back = vec![0u8; 20 * 5];
    let mut up = plane();
    (up.srcMemoryType, up.dstMemoryType) = (HOST, DEVICE);
    (up.srcHost, up.srcPitch) = (host.as_ptr().cast(), 16);
    (up.srcXInBytes, up.srcY) = (3, 1);
    (up.dstDevice, up.dstPitch) = (a, 32);
    (up.dstXInBytes, up.dstY) = (8, 2);
    (up.WidthInBytes, up.Height) = (9, 4);
    let mut across = plane();
    (across.srcMemoryType, across.dstMemoryType) = (DEVICE, UNIFIED);
    (across.srcDevice, across.srcPitch) = (a, 32);
    (across.srcXInBytes, across.srcY) = (8, 2);
    (across.dstDevice, across.dstPitch) = (b, 24);
    (across.dstXInBytes, across.dstY) = (1, 1);
    (across.WidthInBytes, across.Height) = (9, 4);
    let mut down = plane();
    (down.srcMemoryType, down.dstMemoryType) = (UNIFIED, HOST);
    (down.srcDevice, down.srcPitch) = (b, 24);
    (down.srcXInBytes, down.srcY) = (1, 1);
    (down.dstHost, down.dstPitch) = (back.as_mut_ptr().cast(), 20);
    (down.dstXInBytes, down.dstY) = (5, 1);
    (down.WidthInBytes, down.Height) = (9, 4);
    let null = std::ptr::null_mut();
    // SAFETY: the boxes lie within the memory they name, which outlives the calls.
    unsafe {
        raw.driver.cuMemcpy2D_v2(&raw const up).unwrap();
        raw.driver
            .cuMemcpy2DUnaligned_v2(&raw const across)
            .unwrap();
        raw.driver
            .cuMemcpy2DAsync_v2(&raw const down, null)
            .unwrap();
        raw.driver.cuCtxSynchronize().unwrap();
    }
    let mut expected = vec![0; 32 * 8];
    let mut last = vec![0; 20 * 5];
    for row in 0..4 {
        let bytes = &host[(1 + row) * 16 + 3..][..9];
        expected[(2 + row) * 32 + 8..][..9].copy_from_slice(bytes);
        last[(1 + row) * 20 + 5..][..9].copy_from_slice(bytes);
    }
    assert_eq!(raw.download(a, 32 * 8), expected);
    assert_eq!(back, last);
    raw.free(a);
    raw.free(b);
}

// Without it slices could be as far apart as the box is high, not as the memory says.
#[test]
fn slices_keep_their_distance() {
    let raw = Raw::open();
    // 3 slices of 5 rows of 8 bytes to 4 slices of 4 rows of 16 bytes.
    let (host, a) = (numbers(3 * 5 * 8), raw.upload(&[0; 4 * 4 * 16]));
    let mut back = vec![0u8; 2 * 2 * 6];
    let mut up = block();
    (up.srcMemoryType, up.dstMemoryType) = (HOST, DEVICE);
    (up.srcHost, up.srcPitch, up.srcHeight) = (host.as_ptr().cast(), 8, 5);
    (up.srcXInBytes, up.srcY, up.srcZ) = (1, 2, 1);
    (up.dstDevice, up.dstPitch, up.dstHeight) = (a, 16, 4);
    (up.dstXInBytes, up.dstY, up.dstZ) = (4, 1, 2);
    (up.WidthInBytes, up.Height, up.Depth) = (6, 2, 2);
    let mut down = block();
    (down.srcMemoryType, down.dstMemoryType) = (DEVICE, HOST);
    (down.srcDevice, down.srcPitch, down.srcHeight) = (a, 16, 4);
    (down.srcXInBytes, down.srcY, down.srcZ) = (4, 1, 2);
    (down.dstHost, down.dstPitch, down.dstHeight) = (back.as_mut_ptr().cast(), 6, 2);
    (down.WidthInBytes, down.Height, down.Depth) = (6, 2, 2);
    let null = std::ptr::null_mut();
    // SAFETY: the boxes lie within the memory they name, which outlives the calls.
    unsafe {
        raw.driver.cuMemcpy3DAsync_v2(&raw const up, null).unwrap();
        raw.driver.cuMemcpy3D_v2(&raw const down).unwrap();
    }
    let mut expected = vec![0; 4 * 4 * 16];
    let mut last = Vec::new();
    for (slice, row) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let bytes = &host[((1 + slice) * 5 + 2 + row) * 8 + 1..][..6];
        expected[((2 + slice) * 4 + 1 + row) * 16 + 4..][..6].copy_from_slice(bytes);
        last.extend_from_slice(bytes);
    }
    assert_eq!(raw.download(a, 4 * 4 * 16), expected);
    assert_eq!(back, last);
    raw.free(a);
}

// Without it a set could write between the rows, or the wrong width.
#[test]
fn sets_write_rows_only() {
    let raw = Raw::open();
    let (mut address, mut pitch) = (0, 0);
    // SAFETY: the places outlive the call.
    unsafe {
        raw.driver
            .cuMemAllocPitch_v2(&raw mut address, &raw mut pitch, 40, 3, 4)
    }
    .unwrap();
    assert!(pitch >= 40 && pitch % 4 == 0, "{pitch}");
    let d = &raw.driver;
    // SAFETY: three rows of 40 bytes lie within the allocation.
    unsafe {
        d.cuMemsetD2D8_v2(address, pitch, 0xee, pitch, 3).unwrap();
        d.cuMemsetD2D8_v2(address, pitch, 1, 40, 1).unwrap();
        d.cuMemsetD2D16_v2(address + pitch as u64, pitch, 0x0302, 20, 1)
            .unwrap();
        let null = std::ptr::null_mut();
        d.cuMemsetD2D32Async(address + 4, pitch, 0x0706_0504, 2, 3, null)
            .unwrap();
        d.cuCtxSynchronize().unwrap();
    }
    let mut expected = vec![0xee; 3 * pitch];
    expected[..40].fill(1);
    for pair in expected[pitch..pitch + 40].chunks_mut(2) {
        pair.copy_from_slice(&[2, 3]);
    }
    for row in 0..3 {
        expected[row * pitch + 4..][..8].copy_from_slice(&[4, 5, 6, 7, 4, 5, 6, 7]);
    }
    assert_eq!(raw.download(address, 3 * pitch), expected);
    raw.free(address);
}

// Without it a program that computes an empty box would have to take care not to copy it.
#[test]
fn empty_boxes_copy_nothing() {
    let raw = Raw::open();
    let a = raw.upload(&[5; 64]);
    let host = [9u8; 64];
    for (width, height, depth) in [(0, 2, 2), (2, 0, 2), (2, 2, 0)] {
        let mut copy = block();
        (copy.srcMemoryType, copy.dstMemoryType) = (HOST, DEVICE);
        (copy.srcHost, copy.srcPitch, copy.srcHeight) = (host.as_ptr().cast(), 4, 4);
        (copy.dstDevice, copy.dstPitch, copy.dstHeight) = (a, 4, 4);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (width, height, depth);
        // SAFETY: nothing is copied.
        unsafe { raw.driver.cuMemcpy3D_v2(&raw const copy) }.unwrap();
    }
    assert_eq!(raw.download(a, 64), [5; 64]);
    raw.free(a);
}

// Without it rows that cannot fit their pitch could be written over each other.
#[test]
fn boxes_that_stick_out_of_their_memory_are_refused() {
    let raw = Raw::open();
    let a = raw.upload(&[5; 64]);
    let host = [9u8; 64];
    let good = || {
        let mut copy = block();
        (copy.srcMemoryType, copy.dstMemoryType) = (HOST, DEVICE);
        (copy.srcHost, copy.srcPitch, copy.srcHeight) = (host.as_ptr().cast(), 4, 4);
        (copy.dstDevice, copy.dstPitch, copy.dstHeight) = (a, 4, 4);
        (copy.WidthInBytes, copy.Height, copy.Depth) = (4, 2, 2);
        copy
    };
    // A level of detail of linear memory must be 0 too, which an H200 does not check.
    let changes: [fn(&mut CUDA_MEMCPY3D); 6] = [
        |copy| copy.dstPitch = 3,
        |copy| copy.srcPitch = 3,
        |copy| copy.dstXInBytes = 1,
        |copy| copy.dstHeight = 1,
        |copy| copy.srcY = 3,
        |copy| copy.dstMemoryType = CUmemorytype(9),
    ];
    for (index, change) in changes.iter().enumerate() {
        let mut copy = good();
        change(&mut copy);
        // SAFETY: refused before anything is copied.
        let result = unsafe { raw.driver.cuMemcpy3D_v2(&raw const copy) };
        assert_eq!(code(result), INVALID, "change {index}");
    }
    assert_eq!(raw.download(a, 64), [5; 64]);
    let copy = good();
    // SAFETY: the box lies within both.
    unsafe { raw.driver.cuMemcpy3D_v2(&raw const copy) }.unwrap();
    assert_ne!(raw.download(a, 64), [5; 64]);
    raw.free(a);
}

// Without it programs that treat all pairs of contexts alike would fail on one device.
#[test]
fn a_copy_between_a_context_and_itself_is_a_peer_copy_too() {
    let raw = Raw::open();
    let (a, b) = (raw.upload(&numbers(100)), raw.upload(&[0; 100]));
    // SAFETY: both allocations have 100 bytes.
    unsafe {
        raw.driver
            .cuMemcpyPeer(b, raw.context, a, raw.context, 100)
            .unwrap();
        raw.driver.cuCtxSynchronize().unwrap();
    }
    assert_eq!(raw.download(b, 100), numbers(100));
    raw.free(a);
    raw.free(b);
}

// Without it a batch that works on the software device could be refused by a GPU. Every code that is
// expected here was seen on an H100.
#[test]
fn what_is_no_batch_is_refused() {
    let raw = Raw::open();
    let driver = &raw.driver;
    if !driver.has(id::cuMemcpyBatchAsync_v2) {
        eprintln!("SKIPPED: the driver has no batches of copies");
        return;
    }
    let (a, b) = (raw.upload(&[1; 512]), raw.upload(&[2; 512]));
    let mut stream = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { driver.cuStreamCreate(&raw mut stream, 1) }.expect("a stream");
    let batch = |sizes: &[usize], order, flags, stream| {
        let count = sizes.len();
        let (mut to, mut from, mut sizes) = ([b, b + 256], [a, a + 256], sizes.to_vec());
        let mut attributes = CUmemcpyAttributes {
            srcAccessOrder: order,
            flags,
            ..CUmemcpyAttributes::default()
        };
        let mut first = 0;
        // SAFETY: the lists are as long as is said, and outlive the call; the copies stay in memory.
        code(unsafe {
            driver.cuMemcpyBatchAsync_v2(
                to.as_mut_ptr(),
                from.as_mut_ptr(),
                sizes.as_mut_ptr(),
                count,
                &raw mut attributes,
                &raw mut first,
                1,
                stream,
            )
        })
    };
    let handle = std::ptr::without_provenance_mut;
    let order = CUmemcpySrcAccessOrder::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    let good = CUresult::CUDA_SUCCESS;
    assert_eq!(batch(&[256, 256], order, 0, stream), good);
    assert_eq!(batch(&[256, 256], order, 0, handle(2)), good);
    for legacy in [handle(0), handle(1)] {
        assert_eq!(batch(&[256, 256], order, 0, legacy), INVALID);
    }
    assert_eq!(batch(&[256, 0], order, 0, stream), INVALID);
    assert_eq!(batch(&[], order, 0, stream), INVALID);
    assert_eq!(batch(&[256, 256], order, 8, stream), INVALID);
    for order in [0, 7] {
        let order = CUmemcpySrcAccessOrder(order);
        assert_eq!(batch(&[256, 256], order, 0, stream), INVALID);
    }
    let (mut graph, mut nodes) = (std::ptr::null_mut(), 1);
    // SAFETY: the stream is alive, and so is the graph until it is destroyed.
    unsafe {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        driver.cuStreamSynchronize(stream).expect("the copies");
        driver.cuStreamBeginCapture_v2(stream, mode).expect("begun");
        let captured = batch(&[256, 256], order, 0, stream);
        assert_eq!(captured, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        let ended = driver.cuStreamEndCapture(stream, &raw mut graph);
        ended.expect("a capture that goes on");
        let counted = driver.cuGraphGetNodes(graph, std::ptr::null_mut(), &raw mut nodes);
        counted.expect("the number of nodes");
        assert_eq!(nodes, 0);
        driver.cuGraphDestroy(graph).expect("the graph's end");
        driver.cuCtxSynchronize().expect("all work");
        driver.cuStreamDestroy_v2(stream).expect("the stream's end");
        driver.cuMemFree_v2(a).expect("the memory's end");
        driver.cuMemFree_v2(b).expect("the memory's end");
    }
}
