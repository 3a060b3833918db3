//! Events: which record a wait is for, and times between two.

use std::time::Duration;

use cupola_sys::driver::*;

use crate::support::{Code, Gate, TestBench, code};

const NOT_READY: Code = CUresult::CUDA_ERROR_NOT_READY;
const HANDLE: Code = CUresult::CUDA_ERROR_INVALID_HANDLE;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;

/// Without it, a wait could be for another record than the one at the call.
#[test]
fn a_wait_is_for_the_latest_record_at_its_call() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (first, second, third) = (
        bench.stream(NON_BLOCKING),
        bench.stream(NON_BLOCKING),
        bench.stream(NON_BLOCKING),
    );
    let event = bench.event();
    let (one, two) = (Gate::new(), Gate::new());
    // SAFETY: live handles.
    unsafe {
        // Never recorded: nothing to wait for, and ready.
        d.cuStreamWaitEvent(second, event, 0).unwrap();
        d.cuEventQuery(event).unwrap();
        d.cuEventSynchronize(event).unwrap();
        bench.wait(second);

        one.block(&bench, first);
        d.cuEventRecord(event, first).unwrap();
        d.cuStreamWaitEvent(second, event, 0).unwrap();
        two.block(&bench, third);
        d.cuEventRecord(event, third).unwrap();
        // The wait was for the record in the first stream: the third's does not matter.
        assert_eq!(bench.query(second), NOT_READY);
        one.open();
        bench.wait(second);
        assert_eq!(code(d.cuEventQuery(event)), NOT_READY);
        // A destroyed event does not change what streams wait for.
        d.cuStreamWaitEvent(second, event, 0).unwrap();
        d.cuEventDestroy_v2(event).unwrap();
        assert_eq!(bench.query(second), NOT_READY);
        two.open();
        bench.wait(second);
        assert_eq!(code(d.cuEventQuery(event)), HANDLE);
    }
    bench.destroy(&[first, second, third]);
    bench.finish();
}

/// Without it, times could be given for events that have none.
#[test]
fn elapsed_time_needs_two_timed_finished_records() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (start, end, mut plain) = (bench.event(), bench.event(), std::ptr::null_mut());
    let (stream, gate, mut time) = (bench.stream(NON_BLOCKING), Gate::new(), 0f32);
    let place = &raw mut time;
    // SAFETY: live handles; the places outlive the calls.
    unsafe {
        let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING.0;
        d.cuEventCreate(&raw mut plain, flags).unwrap();
        assert_eq!(code(d.cuEventElapsedTime(place, start, end)), HANDLE);
        d.cuEventRecord(start, stream).unwrap();
        d.cuEventRecord(plain, stream).unwrap();
        assert_eq!(code(d.cuEventElapsedTime_v2(place, start, end)), HANDLE);
        assert_eq!(code(d.cuEventElapsedTime(place, start, plain)), HANDLE);
        gate.block(&bench, stream);
        d.cuEventRecord(end, stream).unwrap();
        assert_eq!(code(d.cuEventElapsedTime(place, start, end)), NOT_READY);
        std::thread::sleep(Duration::from_millis(20));
        gate.open();
        d.cuEventSynchronize(end).unwrap();
        d.cuEventElapsedTime(place, start, end).unwrap();
        assert!(time >= 20.0, "{time}");
        d.cuEventElapsedTime_v2(place, end, start).unwrap();
        assert!(time <= -20.0, "{time}");
        for flags in [8, CUevent_flags::CU_EVENT_INTERPROCESS.0] {
            let bad = d.cuEventCreate(&raw mut plain, flags);
            assert_eq!(code(bad), CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        for event in [start, end, plain] {
            d.cuEventDestroy_v2(event).unwrap();
        }
    }
    bench.destroy(&[stream]);
    bench.finish();
}
