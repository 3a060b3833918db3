//! Nodes of events and values.

use cupola_sys::driver::*;

use crate::raw::{INVALID, bytes_of, destroy, destroy_exec, graph, instantiate, launch, types};
use crate::support::{Gate, TestBench, code};

const OK: CUresult = CUresult::CUDA_SUCCESS;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;

/// Without it, a graph could go on before the work of a stream that it waits for, or be waited for
/// by none.
#[test]
fn events_order_a_graph_and_streams_outside() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (g, memory, c) = (graph(&bench), bench.alloc(8), bench.context);
    let (first, last) = (bench.event(), bench.event());
    let [mut a, mut b, mut n]: [CUgraphNode; 3] = Default::default();
    let fill = CUDA_MEMSET_NODE_PARAMS {
        dst: memory,
        pitch: 0,
        value: 5,
        elementSize: 4,
        width: 1,
        height: 1,
    };
    let (mut told, none) = (std::ptr::null_mut(), std::ptr::null());
    // SAFETY: the places outlive the calls; handles are checked.
    unsafe {
        d.cuGraphAddEventWaitNode(&raw mut a, g, none, 0, first)
            .unwrap();
        d.cuGraphAddMemsetNode(&raw mut b, g, &raw const a, 1, &raw const fill, c)
            .unwrap();
        d.cuGraphAddEventRecordNode(&raw mut n, g, &raw const b, 1, first)
            .unwrap();
        d.cuGraphEventRecordNodeSetEvent(n, last).unwrap();
        d.cuGraphEventRecordNodeGetEvent(n, &raw mut told).unwrap();
        assert_eq!(told, last);
        d.cuGraphEventWaitNodeGetEvent(a, &raw mut told).unwrap();
        assert_eq!(told, first);
        assert_eq!(code(d.cuGraphEventWaitNodeSetEvent(n, first)), INVALID);
        let bad = d.cuGraphAddEventWaitNode(&raw mut n, g, none, 0, b.cast());
        assert_eq!(code(bad), CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    assert_eq!(types(&bench, g), [6, 2, 7]);
    let exec = instantiate(&bench, g);
    let (one, two) = (bench.stream(NON_BLOCKING), bench.stream(NON_BLOCKING));
    for round in 0..2 {
        let gate = Gate::new();
        gate.block(&bench, one);
        // SAFETY: live handles and memory.
        unsafe {
            d.cuMemsetD32Async(memory, 9, 2, one).unwrap();
            d.cuEventRecord(first, one).unwrap();
        }
        assert_eq!(launch(&bench, exec, two), OK);
        assert_eq!(bench.query(two), CUresult::CUDA_ERROR_NOT_READY);
        gate.open();
        // SAFETY: a live handle.
        unsafe { d.cuEventSynchronize(last) }.unwrap();
        assert_eq!(bench.download(memory, 8), bytes_of(&[5, 9]), "{round}");
    }
    // An event that is gone is an error of the launch.
    // SAFETY: live handles.
    unsafe {
        d.cuEventDestroy_v2(first).unwrap();
        d.cuEventDestroy_v2(last).unwrap();
    }
    assert_eq!(
        launch(&bench, exec, two),
        CUresult::CUDA_ERROR_INVALID_HANDLE
    );
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    bench.destroy(&[one, two]);
    bench.free(memory);
    bench.finish();
}

/// Without it, a batch of values could lose one, or a graph go on before the value that it waits for.
#[test]
fn values_are_written_and_waited_for_in_order() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let (g, memory) = (graph(&bench), bench.alloc(16));
    bench.upload(memory, &[0; 16]);
    let stream = bench.stream(NON_BLOCKING);
    let none = std::ptr::null();
    let mut node = std::ptr::null_mut();
    // What a batch in a captured stream becomes is what a program would give.
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    assert_eq!(crate::raw::begin(&bench, stream, mode), OK);
    // SAFETY: live handles and memory.
    unsafe {
        d.cuStreamWaitValue32_v2(stream, memory, 3, 1).unwrap();
        d.cuStreamWriteValue64_v2(stream, memory + 8, u64::MAX - 1, 0)
            .unwrap();
    }
    let captured = crate::raw::end(&bench, stream).unwrap();
    let nodes = crate::raw::nodes(&bench, captured);
    let (mut params, mut told) = (Vec::new(), CUDA_BATCH_MEM_OP_NODE_PARAMS::default());
    for node in nodes {
        // SAFETY: the place outlives the call, and the array the copy.
        unsafe {
            d.cuGraphBatchMemOpNodeGetParams(node, &raw mut told)
                .unwrap();
            assert_eq!((told.count, told.ctx), (1, bench.context));
            params.push(*told.paramArray);
        }
    }
    destroy(&bench, captured);
    told.count = 2;
    told.paramArray = params.as_mut_ptr();
    // SAFETY: places and array outlive the calls.
    unsafe {
        d.cuGraphAddBatchMemOpNode(&raw mut node, g, none, 0, &raw const told)
            .unwrap();
        told.flags = 1;
        assert_eq!(
            code(d.cuGraphBatchMemOpNodeSetParams(node, &raw const told)),
            INVALID
        );
        told.flags = 0;
        d.cuGraphBatchMemOpNodeSetParams(node, &raw const told)
            .unwrap();
    }
    drop(params);
    let exec = instantiate(&bench, g);
    assert_eq!(launch(&bench, exec, stream), OK);
    assert_eq!(bench.query(stream), CUresult::CUDA_ERROR_NOT_READY);
    let other = bench.stream(NON_BLOCKING);
    // SAFETY: live handles and memory.
    unsafe { d.cuStreamWriteValue32_v2(other, memory, 3, 0) }.unwrap();
    bench.wait(stream);
    assert_eq!(
        bench.download(memory, 16),
        bytes_of(&[3, 0, u32::MAX - 1, u32::MAX])
    );
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    bench.destroy(&[stream, other]);
    bench.free(memory);
    bench.finish();
}
