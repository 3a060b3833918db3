//! Stream memory operations. Every code that is expected here was seen on an H200.

use std::sync::atomic::{AtomicU32, Ordering};

use cupola_sys::CallError;
use cupola_sys::driver::*;

use crate::raw::Raw;

const OK: CUresult = CUresult::CUDA_SUCCESS;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const UNSUPPORTED: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
const NOT_READY: CUresult = CUresult::CUDA_ERROR_NOT_READY;
const GEQ: u32 = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_GEQ.0;
const EQ: u32 = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ.0;
const AND: u32 = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_AND.0;
const NOR: u32 = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_NOR.0;
const FLUSH: u32 = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_FLUSH.0;

fn code(called: Result<(), DriverError>) -> CUresult {
    match called {
        Ok(()) => OK,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

/// The low half of a value of 64 bits is the value of 32 bits.
fn wait_params(address: u64, value: u64, flags: u32, wide: bool) -> CUstreamBatchMemOpParams {
    use CUstreamBatchMemOpType as T;
    // SAFETY: every field is a plain number.
    let mut params: CUstreamBatchMemOpParams = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    let wait = unsafe { &mut params.waitValue };
    wait.operation = match wide {
        true => T::CU_STREAM_MEM_OP_WAIT_VALUE_64,
        false => T::CU_STREAM_MEM_OP_WAIT_VALUE_32,
    };
    (wait.address, wait.flags) = (address, flags);
    wait.__bindgen_anon_1.value64 = value;
    params
}

fn write_params(address: u64, value: u64, wide: bool) -> CUstreamBatchMemOpParams {
    use CUstreamBatchMemOpType as T;
    let mut params = wait_params(address, value, 0, wide);
    params.operation = match wide {
        true => T::CU_STREAM_MEM_OP_WRITE_VALUE_64,
        false => T::CU_STREAM_MEM_OP_WRITE_VALUE_32,
    };
    params
}

// Streams and memory live, and wrong addresses are what some tests are about.
#[allow(clippy::undocumented_unsafe_blocks, reason = "said once, above")]
impl Raw {
    fn wait(&self, stream: CUstream, address: u64, value: u32, flags: u32) -> CUresult {
        code(unsafe {
            self.driver
                .cuStreamWaitValue32_v2(stream, address, value, flags)
        })
    }

    fn write(&self, stream: CUstream, address: u64, value: u32) -> CUresult {
        code(unsafe {
            self.driver
                .cuStreamWriteValue32_v2(stream, address, value, 0)
        })
    }

    fn batch(&self, stream: CUstream, operations: &mut [CUstreamBatchMemOpParams]) -> CUresult {
        let (count, first) = (operations.len() as u32, operations.as_mut_ptr());
        code(unsafe { self.driver.cuStreamBatchMemOp_v2(stream, count, first, 0) })
    }

    fn new_stream(&self) -> CUstream {
        let mut stream = std::ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
        unsafe { self.driver.cuStreamCreate(&raw mut stream, flags) }.expect("stream");
        stream
    }

    fn end_stream(&self, stream: CUstream) {
        unsafe {
            self.driver.cuStreamSynchronize(stream).expect("its work");
            self.driver.cuStreamDestroy_v2(stream).expect("destroy");
        }
    }
}

/// Without it, values could be written late, out of order, or in the wrong size.
#[test]
fn writes_come_in_order_with_other_work() {
    let raw = Raw::open();
    let stream = raw.new_stream();
    let memory = raw.upload(&[0xff; 64]);
    // SAFETY: the memory has 64 bytes.
    unsafe {
        let d = &raw.driver;
        d.cuMemsetD8Async(memory, 1, 64, stream).expect("memset");
        assert_eq!(raw.write(stream, memory + 4, 0x0605_0403), OK);
        d.cuStreamWriteValue64_v2(stream, memory + 8, u64::MAX - 1, 0)
            .expect("write");
        d.cuMemsetD8Async(memory + 16, 2, 8, stream)
            .expect("memset");
    }
    raw.end_stream(stream);
    let mut expected = [1u8; 24];
    expected[4..8].copy_from_slice(&[3, 4, 5, 6]);
    expected[8..16].copy_from_slice(&(u64::MAX - 1).to_le_bytes());
    expected[16..].fill(2);
    assert_eq!(raw.download(memory, 24), expected);
    raw.free(memory);
}

/// Without it, a wait could let work through too early.
#[test]
fn work_waits_for_a_value_from_the_host() {
    let raw = Raw::open();
    let stream = raw.new_stream();
    let memory = raw.upload(&[0; 16]);
    let mut pinned = std::ptr::null_mut();
    // SAFETY: the place outlives the call, and the memory is freed at the end.
    let word = unsafe {
        raw.driver
            .cuMemHostAlloc(&raw mut pinned, 64, 0)
            .expect("pinned memory");
        AtomicU32::from_ptr(pinned.cast())
    };
    word.store(0, Ordering::Release);
    assert_eq!(
        raw.wait(stream, pinned.expose_provenance() as u64, 3, EQ),
        OK
    );
    assert_eq!(raw.write(stream, memory, 7), OK);
    // SAFETY: the stream lives.
    let ready = || code(unsafe { raw.driver.cuStreamQuery(stream) });
    assert_eq!(ready(), NOT_READY);
    word.store(2, Ordering::Release);
    assert_eq!(ready(), NOT_READY);
    assert_eq!(raw.download(memory, 4), [0; 4]);
    word.store(3, Ordering::Release);
    raw.end_stream(stream);
    assert_eq!(raw.download(memory, 4), [7, 0, 0, 0]);
    raw.free(memory);
    // SAFETY: nothing uses it any more.
    unsafe { raw.driver.cuMemFreeHost(pinned) }.expect("free");
}

/// Without it, one stream's value could not release another's work.
#[test]
fn streams_wait_for_each_other() {
    let raw = Raw::open();
    let (first, second) = (raw.new_stream(), raw.new_stream());
    let memory = raw.upload(&[0; 32]);
    for round in 1..20u32 {
        assert_eq!(raw.wait(second, memory, round, GEQ), OK);
        assert_eq!(raw.write(second, memory + 4, round), OK);
        assert_eq!(raw.write(first, memory, round), OK);
        assert_eq!(raw.wait(first, memory + 4, round, GEQ), OK);
    }
    raw.end_stream(first);
    raw.end_stream(second);
    let (one, other) = (19u32.to_le_bytes(), 19u32.to_le_bytes());
    assert_eq!(raw.download(memory, 8), [one, other].concat());
    raw.free(memory);
}

/// Without it, a comparison could be another one, and a program would wait for ever.
#[test]
fn waits_compare_as_documented() {
    let raw = Raw::open();
    let stream = raw.new_stream();
    let memory = raw.upload(&[6, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]);
    let cases = [
        (6, GEQ),
        (5, GEQ),
        (u32::MAX, GEQ),
        (6, EQ),
        (2, AND),
        (9, NOR),
    ];
    for (value, flags) in cases {
        assert_eq!(
            raw.wait(stream, memory, value, flags),
            OK,
            "{value} {flags}"
        );
    }
    // SAFETY: the memory has 16 bytes.
    unsafe {
        let d = &raw.driver;
        d.cuStreamWaitValue64_v2(stream, memory + 8, (1 << 32) + 1, EQ)
            .expect("wait");
        d.cuStreamWaitValue64_v2(stream, memory + 8, 1 << 32, AND)
            .expect("wait");
    }
    raw.end_stream(stream);
    raw.free(memory);
}

/// Without it, a batch could run in another order, or in part.
#[test]
fn batches_are_in_order_and_whole() {
    let raw = Raw::open();
    let stream = raw.new_stream();
    let memory = raw.upload(&[0; 32]);
    let good = [
        write_params(memory, 1, false),
        wait_params(memory, 1, EQ, false),
        write_params(memory + 8, u64::MAX, true),
        wait_params(memory + 8, u64::MAX, EQ, true),
        write_params(memory, 2, false),
    ];
    assert_eq!(raw.batch(stream, &mut good.clone()), OK);
    assert_eq!(raw.batch(stream, &mut []), OK);
    let bad = [
        write_params(memory, 9, false),
        write_params(memory + 2, 9, false),
    ];
    assert_eq!(raw.batch(stream, &mut bad.clone()), INVALID);
    let mut unknown = good[0];
    unknown.operation = CUstreamBatchMemOpType(9);
    assert_eq!(raw.batch(stream, &mut [unknown]), INVALID);
    unknown.operation = CUstreamBatchMemOpType::CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES;
    assert_eq!(raw.batch(stream, &mut [unknown]), UNSUPPORTED);
    assert_eq!(
        raw.batch(stream, &mut vec![good[0]; 256]),
        INVALID,
        "too many"
    );
    raw.end_stream(stream);
    assert_eq!(
        raw.download(memory, 4),
        [2, 0, 0, 0],
        "nothing of the bad ones ran"
    );
    assert_eq!(raw.download(memory + 8, 8), [0xff; 8]);
    raw.free(memory);
}

/// Without it, what no driver does would be done, or done wrong.
#[test]
fn wrong_places_and_flags_are_refused() {
    let raw = Raw::open();
    let stream = std::ptr::null_mut();
    let memory = raw.upload(&[0; 64]);
    for address in [0, memory + 1, memory + 2, memory + (1 << 34)] {
        assert_eq!(raw.write(stream, address, 5), INVALID, "{address:x}");
        assert_eq!(raw.wait(stream, address, 0, EQ), INVALID, "{address:x}");
    }
    let mut pageable = Box::new(0u32);
    let address = (&raw mut *pageable).expose_provenance() as u64;
    assert_eq!(raw.write(stream, address, 5), INVALID, "pageable memory");
    for flags in [4, 8, 16] {
        assert_eq!(raw.wait(stream, memory, 0, flags), INVALID, "{flags}");
    }
    // SAFETY: the memory has 64 bytes.
    unsafe {
        let d = &raw.driver;
        let write = d.cuStreamWriteValue64_v2(stream, memory + 4, 5, 0);
        assert_eq!(code(write), INVALID, "not aligned");
        let write = d.cuStreamWriteValue32_v2(stream, memory, 5, 2);
        assert_eq!(code(write), INVALID, "flags");
    }
    let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES;
    let flushed = raw.wait(stream, memory, 0, EQ | FLUSH);
    let expected = if raw.attribute(attribute) == 0 {
        UNSUPPORTED
    } else {
        OK
    };
    assert_eq!(flushed, expected);
    raw.free(memory);
}
