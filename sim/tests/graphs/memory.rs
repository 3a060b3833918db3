//! Memory that launches allocate and free, at addresses that stay.

use cupola_sim::{Machine, Order, Strict};
use cupola_sys::driver::*;

use crate::raw::{
    FOLD, INVALID, begin, bytes_of, destroy, destroy_exec, end, fold, graph, instantiate, kernel,
    launch, types,
};
use crate::support::{TestBench, code};

const OK: CUresult = CUresult::CUDA_SUCCESS;
const MISSING: CUresult = CUresult::CUDA_ERROR_NOT_SUPPORTED;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;
const RELAXED: CUstreamCaptureMode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;

use CUgraphMem_attribute as Attribute;

fn attribute(bench: &TestBench, attribute: Attribute) -> u64 {
    let mut value = 0u64;
    let place = (&raw mut value).cast();
    // SAFETY: the place outlives the call.
    unsafe {
        bench
            .driver
            .cuDeviceGetGraphMemAttribute(0, attribute, place)
    }
    .unwrap();
    value
}

fn alloc(bench: &TestBench, graph: CUgraph, len: usize) -> Result<(CUgraphNode, u64), CUresult> {
    let mut params = CUDA_MEM_ALLOC_NODE_PARAMS::default();
    params.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = len;
    let mut node = std::ptr::null_mut();
    let none = std::ptr::null();
    // SAFETY: the places outlive the call.
    let added = unsafe {
        bench
            .driver
            .cuGraphAddMemAllocNode(&raw mut node, graph, none, 0, &raw mut params)
    };
    match code(added) {
        OK => Ok((node, params.dptr)),
        code => Err(code),
    }
}

fn free(bench: &TestBench, graph: CUgraph, before: CUgraphNode, address: u64) -> CUresult {
    let mut node = std::ptr::null_mut();
    let before = &raw const before;
    // SAFETY: the places outlive the call.
    code(unsafe {
        bench
            .driver
            .cuGraphAddMemFreeNode(&raw mut node, graph, before, 1, address)
    })
}

/// Captures work with memory of its own, and compares its launches with the calls.
fn captured(bench: TestBench) {
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let stream = bench.stream(NON_BLOCKING);
    let (out, eager) = (bench.alloc(64), bench.alloc(64));
    bench.upload(out, &[1; 64]);
    bench.upload(eager, &[1; 64]);
    let body = |out| {
        let mut scratch = 0;
        // SAFETY: live handles and memory; the place outlives the call.
        unsafe {
            d.cuMemAllocAsync(&raw mut scratch, 64, stream).unwrap();
            d.cuMemcpyDtoDAsync_v2(scratch, out, 64, stream).unwrap();
            assert_eq!(
                bench.launch(function, 1, 1, stream, &[scratch, 0b11, 2, 7]),
                OK
            );
            d.cuMemcpyDtoDAsync_v2(out, scratch, 64, stream).unwrap();
            d.cuMemFreeAsync(scratch, stream).unwrap();
        }
        scratch
    };
    assert_eq!(begin(&bench, stream, RELAXED), OK);
    let scratch = body(out);
    let g = end(&bench, stream).unwrap();
    assert_eq!(types(&bench, g), [10, 1, 0, 1, 11]);
    let exec = instantiate(&bench, g);
    // Nothing is there before a launch, and the addresses are no others'.
    assert_eq!(bench.machine.usage().device_allocations, 2);
    let other = bench.alloc(64);
    assert!(other + 64 <= scratch || scratch + 64 <= other);
    for _ in 0..3 {
        assert_eq!(launch(&bench, exec, stream), OK);
        body(eager);
    }
    bench.wait(stream);
    let mut host = [0x0101_0101; 16];
    (0..3).for_each(|_| fold(&mut host, 0b11, 2, 7));
    assert_eq!(bench.download(out, 64), bytes_of(&host));
    assert_eq!(bench.download(eager, 64), bytes_of(&host));
    assert_eq!(bench.machine.usage().device_allocations, 3);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    for memory in [out, eager, other] {
        bench.free(memory);
    }
    bench.destroy(&[stream]);
    bench.unload(module);
    assert_eq!(bench.machine.findings(), []);
    bench.finish();
}

/// Without it, a launch's memory could be missing, another's, or stay.
#[test]
fn launches_allocate_and_free_what_was_captured() {
    captured(TestBench::new());
    captured(TestBench::with(Machine::builder().order(Order::Seeded(3))));
    captured(TestBench::with(Machine::builder().order(Order::Timed)));
    captured(TestBench::with(Machine::builder().strict(Strict::all())));
}

/// Without it, a program could launch over memory that it still has, or leave memory behind.
#[test]
fn what_a_launch_leaves_is_freed_by_the_program_or_the_next_launch() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let stream = bench.stream(NON_BLOCKING);
    let g = graph(&bench);
    let (_, address) = alloc(&bench, g, 1000).unwrap();
    let exec = instantiate(&bench, g);
    assert_eq!(launch(&bench, exec, stream), OK);
    assert_eq!(launch(&bench, exec, stream), INVALID);
    // SAFETY: live memory.
    unsafe {
        d.cuMemsetD8Async(address, 3, 1000, stream).unwrap();
        bench.wait(stream);
        assert_eq!(bench.download(address, 1000), [3; 1000]);
        d.cuMemFreeAsync(address, stream).unwrap();
        assert_eq!(code(d.cuMemFreeAsync(address, stream)), INVALID);
    }
    assert_eq!(launch(&bench, exec, stream), OK);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    // It is the program's, whatever became of the graph.
    bench.wait(stream);
    bench.upload(address, &[4; 1000]);
    bench.free(address);
    assert_eq!(bench.machine.usage().device_allocations, 0);

    let g = graph(&bench);
    let (_, address) = alloc(&bench, g, 1000).unwrap();
    let mut exec = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { d.cuGraphInstantiateWithFlags(&raw mut exec, g, 1) }.unwrap();
    for _ in 0..3 {
        assert_eq!(launch(&bench, exec, stream), OK);
    }
    bench.wait(stream);
    assert_eq!(bench.machine.usage().device_allocations, 1);
    bench.free(address);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    bench.destroy(&[stream]);
    bench.finish();
}

/// Without it, two executables could use the same addresses, or a free be left without its
/// allocation.
#[test]
fn a_graph_with_memory_is_one_of_a_kind() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let stream = bench.stream(NON_BLOCKING);
    let (g, other) = (graph(&bench), graph(&bench));
    let (a, address) = alloc(&bench, g, 64).unwrap();
    let own = bench.alloc(64);
    assert_eq!(free(&bench, g, a, own), INVALID, "no graph's memory");
    assert_eq!(free(&bench, g, a, address), OK);
    assert_eq!(free(&bench, g, a, address), INVALID, "twice");
    let exec = instantiate(&bench, g);
    let mut second = std::ptr::null_mut();
    let [mut copy, mut node] = [std::ptr::null_mut::<CUgraph_st>(); 2];
    // SAFETY: the places outlive the calls; handles are checked.
    unsafe {
        let made = d.cuGraphInstantiateWithFlags(&raw mut second, g, 0);
        assert_eq!(code(made), MISSING);
        assert_eq!(code(d.cuGraphClone(&raw mut copy, g)), MISSING);
        let none = std::ptr::null();
        let child = d.cuGraphAddChildGraphNode((&raw mut node).cast(), other, none, 0, g);
        assert_eq!(code(child), MISSING);
        assert_eq!(code(d.cuGraphDestroyNode(a)), MISSING);
        let (mut told, mut freed) = (CUDA_MEM_ALLOC_NODE_PARAMS::default(), 0);
        d.cuGraphMemAllocNodeGetParams(a, &raw mut told).unwrap();
        assert_eq!((told.dptr, told.bytesize), (address, 64));
        let last = crate::raw::nodes(&bench, g)[1];
        d.cuGraphMemFreeNodeGetParams(last, &raw mut freed).unwrap();
        assert_eq!(freed, address);
        let mut info = CUgraphExecUpdateResultInfo::default();
        let updated = d.cuGraphExecUpdate_v2(exec, g, &raw mut info);
        assert_eq!(
            code(updated),
            CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
        );
    }
    destroy_exec(&bench, exec);
    let exec = instantiate(&bench, g);
    assert_eq!(launch(&bench, exec, stream), OK);
    bench.wait(stream);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    // A node of any kind tells its address too, and another graph may free it.
    let (first, last) = (graph(&bench), other);
    let mut params = CUgraphNodeParams {
        type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEM_ALLOC,
        ..Default::default()
    };
    let mut wanted = CUDA_MEM_ALLOC_NODE_PARAMS_v2::default();
    wanted.poolProps.allocType = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.poolProps.location.type_ = CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.bytesize = 64;
    params.__bindgen_anon_1.alloc = wanted;
    let mut node = std::ptr::null_mut();
    // SAFETY: the places outlive the calls, and what was set is read.
    let address = unsafe {
        d.cuGraphAddNode(&raw mut node, first, std::ptr::null(), 0, &raw mut params)
            .unwrap();
        params.__bindgen_anon_1.alloc.dptr
    };
    let before = crate::raw::empty(&bench, last, &[]);
    assert_eq!(free(&bench, last, before, address), OK);
    let (one, two) = (instantiate(&bench, first), instantiate(&bench, last));
    assert_eq!(launch(&bench, two, stream), INVALID, "there is nothing yet");
    for _ in 0..2 {
        assert_eq!(launch(&bench, one, stream), OK);
        assert_eq!(launch(&bench, two, stream), OK);
    }
    bench.wait(stream);
    assert_eq!(bench.machine.usage().device_allocations, 1);
    for exec in [one, two] {
        destroy_exec(&bench, exec);
    }
    for graph in [first, last] {
        destroy(&bench, graph);
    }
    bench.free(own);
    bench.destroy(&[stream]);
    bench.finish();
}

/// Without it, a program could not see what graphs have, get it back, or be told that it is too
/// much.
#[test]
fn a_device_keeps_what_graphs_had_until_it_is_trimmed() {
    const LEN: u64 = 1 << 20;
    let bench = TestBench::with_memory(8 * LEN);
    let d = &bench.driver;
    let stream = bench.stream(NON_BLOCKING);
    let g = graph(&bench);
    let (_, first) = alloc(&bench, g, LEN as usize).unwrap();
    let exec = instantiate(&bench, g);
    let told = || {
        [
            Attribute::CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT,
            Attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
            Attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
            Attribute::CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH,
        ]
        .map(|which| attribute(&bench, which))
    };
    assert_eq!(told(), [0; 4]);
    assert_eq!(launch(&bench, exec, stream), OK);
    assert_eq!(told(), [LEN; 4]);
    bench.wait(stream);
    bench.free(first);
    assert_eq!(told(), [0, LEN, LEN, LEN]);
    let mut zero = 0u64;
    // SAFETY: the place outlives the call.
    unsafe {
        d.cuDeviceGraphMemTrim(0).unwrap();
        let high = Attribute::CU_GRAPH_MEM_ATTR_USED_MEM_HIGH;
        d.cuDeviceSetGraphMemAttribute(0, high, (&raw mut zero).cast())
            .unwrap();
        zero = 1;
        let set = d.cuDeviceSetGraphMemAttribute(0, high, (&raw mut zero).cast());
        assert_eq!(code(set), INVALID);
    }
    assert_eq!(told(), [0, 0, 0, LEN]);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    // Two that do not fit both: none is there then.
    let g = graph(&bench);
    alloc(&bench, g, 5 * LEN as usize).unwrap();
    alloc(&bench, g, 5 * LEN as usize).unwrap();
    let exec = instantiate(&bench, g);
    let full = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
    assert_eq!(launch(&bench, exec, stream), full);
    assert_eq!(told()[0], 0);
    bench.wait(stream);
    assert_eq!(bench.machine.usage().device_allocations, 0);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    // A kernel's address may be that of a node that was made before.
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let g = graph(&bench);
    let (a, address) = alloc(&bench, g, 64).unwrap();
    let b = kernel(&bench, g, &[a], function, &[address, 0, 0, 3]);
    assert_eq!(free(&bench, g, b, address), OK);
    let exec = instantiate(&bench, g);
    assert_eq!(launch(&bench, exec, stream), OK);
    bench.wait(stream);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    bench.unload(module);
    bench.destroy(&[stream]);
    bench.finish();
}
