//! What streams are asked and told, apart from work.

use cupola_sys::CallError;
use cupola_sys::driver::*;

use super::raw::Raw;

const OK: CUresult = CUresult::CUDA_SUCCESS;
const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const STATE: CUresult = CUresult::CUDA_ERROR_ILLEGAL_STATE;

fn code(result: Result<(), DriverError>) -> CUresult {
    match result {
        Ok(()) => OK,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

fn stream(raw: &Raw, priority: i32) -> CUstream {
    let mut stream = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe {
        raw.driver
            .cuStreamCreateWithPriority(&raw mut stream, 1, priority)
    }
    .unwrap();
    stream
}

fn set(raw: &Raw, stream: CUstream, id: CUlaunchAttributeID, value: CUstreamAttrValue) -> CUresult {
    // SAFETY: the value outlives the call.
    code(unsafe {
        raw.driver
            .cuStreamSetAttribute(stream, id, &raw const value)
    })
}

fn get(
    raw: &Raw,
    stream: CUstream,
    id: CUlaunchAttributeID,
) -> Result<CUstreamAttrValue, CUresult> {
    let mut value = CUstreamAttrValue::default();
    // SAFETY: the value outlives the call.
    let result = unsafe { raw.driver.cuStreamGetAttribute(stream, id, &raw mut value) };
    match code(result) {
        OK => Ok(value),
        other => Err(other),
    }
}

fn priority(raw: &Raw, stream: CUstream) -> (i32, i32) {
    let mut told = 1;
    let value = get(
        raw,
        stream,
        CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PRIORITY,
    )
    .unwrap();
    // SAFETY: the place outlives the call; the attribute is a number.
    unsafe {
        raw.driver
            .cuStreamGetPriority(stream, &raw mut told)
            .unwrap();
        (told, value.priority)
    }
}

/// Without it, attributes could be lost, or taken where hardware refuses them.
#[test]
fn streams_keep_their_attributes() {
    use CUlaunchAttributeID as A;
    use CUsynchronizationPolicy as P;
    let raw = Raw::open();
    let (a, b) = (stream(&raw, 0), stream(&raw, -3));
    let policy = |n| CUstreamAttrValue { syncPolicy: P(n) };
    let rank = |priority| CUstreamAttrValue { priority };
    let sync = A::CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    let codes: Vec<_> = (0..6).map(|n| set(&raw, a, sync, policy(n))).collect();
    assert_eq!(codes, [INVALID, OK, OK, OK, OK, INVALID]);
    // SAFETY: the attribute is a number.
    let kept = |stream| unsafe { get(&raw, stream, sync).unwrap().syncPolicy };
    assert_eq!(kept(a), P::CU_SYNC_POLICY_BLOCKING_SYNC);
    // The priority of creation and the attribute are one value, which is moved into its range.
    assert_eq!(priority(&raw, b), (-3, -3));
    let (mut least, mut greatest) = (1, 1);
    // SAFETY: the places outlive the call.
    unsafe {
        raw.driver
            .cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest)
    }
    .unwrap();
    assert_eq!((least, greatest), (0, -5));
    assert_eq!(set(&raw, a, A::CU_LAUNCH_ATTRIBUTE_PRIORITY, rank(-2)), OK);
    assert_eq!(priority(&raw, a).1, -2);
    assert_eq!(set(&raw, a, A::CU_LAUNCH_ATTRIBUTE_PRIORITY, rank(-99)), OK);
    assert_eq!(priority(&raw, a).1, greatest);
    // What is an attribute of launches only.
    for other in [
        A::CU_LAUNCH_ATTRIBUTE_IGNORE,
        A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
        A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    ] {
        assert_eq!(set(&raw, a, other, rank(0)), INVALID);
        assert_eq!(get(&raw, a, other).err(), Some(INVALID));
    }
    // SAFETY: live handles.
    unsafe {
        raw.driver.cuStreamCopyAttributes(b, a).unwrap();
        assert_eq!(kept(b), P::CU_SYNC_POLICY_BLOCKING_SYNC);
        assert_eq!(priority(&raw, b).1, greatest);
        raw.driver.cuStreamDestroy_v2(a).unwrap();
        raw.driver.cuStreamDestroy_v2(b).unwrap();
    }
}

/// Without it, a program that captures nothing could be told that it does, or that asking
/// is an error.
#[test]
fn a_stream_that_is_not_captured_says_so() {
    use CUstreamCaptureMode as Mode;
    use CUstreamCaptureStatus as Status;
    let raw = Raw::open();
    let (d, a) = (&raw.driver, stream(&raw, 0));
    let (mut status, mut id) = (Status(9), 77);
    let none = Status::CU_STREAM_CAPTURE_STATUS_NONE;
    let (mut graph, null) = (std::ptr::null_mut(), std::ptr::null_mut());
    let event = {
        let mut event = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { d.cuEventCreate(&raw mut event, 0) }.unwrap();
        event
    };
    // SAFETY: live handles; the places outlive the calls.
    unsafe {
        d.cuStreamIsCapturing(a, &raw mut status).unwrap();
        assert_eq!(status, none);
        status = Status(9);
        let (place, number) = (&raw mut status, &raw mut id);
        let (edges, count) = (std::ptr::null_mut(), std::ptr::null_mut());
        d.cuStreamGetCaptureInfo_v2(a, place, number, null, edges, count)
            .unwrap();
        assert_eq!((status, id), (none, 77));
        let nowhere = std::ptr::null_mut();
        let bad = d.cuStreamGetCaptureInfo_v2(a, nowhere, number, null, edges, count);
        assert_eq!(code(bad), INVALID);
        assert_eq!(code(d.cuStreamEndCapture(a, &raw mut graph)), STATE);
        let update = d.cuStreamUpdateCaptureDependencies(a, std::ptr::null_mut(), 0, 0);
        assert_eq!(code(update), STATE);
        // The legacy stream cannot be captured anywhere.
        let global = Mode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        let refused = CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        assert_eq!(
            code(d.cuStreamBeginCapture_v2(STREAM_LEGACY, global)),
            refused
        );
        assert_eq!(code(d.cuStreamBeginCapture_v2(a, Mode(9))), INVALID);
        // The external forms of records and waits are for captures.
        assert_eq!(code(d.cuEventRecordWithFlags(event, a, 1)), STATE);
        assert_eq!(code(d.cuEventRecordWithFlags(event, a, 2)), INVALID);
        assert_eq!(code(d.cuStreamWaitEvent(a, event, 1)), STATE);
        assert_eq!(code(d.cuStreamWaitEvent(a, event, 2)), INVALID);
        d.cuEventDestroy_v2(event).unwrap();
        d.cuStreamDestroy_v2(a).unwrap();
    }
}

/// Without it a program that tells streams apart by their numbers could pass here, and end the captures of others on
/// a GPU: PyTorch's, through our C library, on an H200.
#[test]
fn a_captured_stream_is_not_asked_for_its_number() {
    use CUstreamCaptureMode as Mode;
    let raw = Raw::open();
    let (d, a) = (&raw.driver, stream(&raw, 0));
    let (mut number, mut graph) = (0, std::ptr::null_mut());
    for mode in [
        Mode::CU_STREAM_CAPTURE_MODE_GLOBAL,
        Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        Mode::CU_STREAM_CAPTURE_MODE_RELAXED,
    ] {
        // SAFETY: a live stream; the places outlive the calls.
        unsafe {
            d.cuStreamGetId(a, &raw mut number).unwrap();
            d.cuStreamBeginCapture_v2(a, mode).unwrap();
            let refused = code(d.cuStreamGetId(a, &raw mut number));
            assert_eq!(refused, CUresult::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
            let ended = code(d.cuStreamEndCapture(a, &raw mut graph));
            assert_eq!(ended, CUresult::CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
    }
    // SAFETY: the stream is live, and not used again.
    unsafe { d.cuStreamDestroy_v2(a) }.unwrap();
}

/// Without it, a thread could see another thread's capture mode, or lose its own.
#[test]
fn each_thread_has_a_capture_mode() {
    use CUstreamCaptureMode as Mode;
    let raw = Raw::open();
    let exchange = |mode: Mode| {
        let mut place = mode;
        // SAFETY: the place outlives the call.
        unsafe { raw.driver.cuThreadExchangeStreamCaptureMode(&raw mut place) }.unwrap();
        place
    };
    let (global, relaxed) = (
        Mode::CU_STREAM_CAPTURE_MODE_GLOBAL,
        Mode::CU_STREAM_CAPTURE_MODE_RELAXED,
    );
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(exchange(relaxed), global);
            scope
                .spawn(|| assert_eq!(exchange(relaxed), global))
                .join()
                .unwrap();
            assert_eq!(exchange(Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), relaxed);
            let last = exchange(global);
            assert_eq!(last, Mode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
            assert_eq!(exchange(global), global);
        });
    });
}
