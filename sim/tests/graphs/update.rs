//! Executables with new parameters: by another graph, and node by node.

use cupola_sim::{Machine, Order};
use cupola_sys::driver::*;

use crate::raw::{
    FOLD, INVALID, bytes_of, destroy, destroy_exec, empty, fold, graph, instantiate, kernel,
    launch, with_launch,
};
use crate::support::{TestBench, code};

const OK: CUresult = CUresult::CUDA_SUCCESS;
const FAILED: CUresult = CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;

use CUgraphExecUpdateResult as Why;

fn update(bench: &TestBench, exec: CUgraphExec, graph: CUgraph) -> (CUresult, Why, CUgraphNode) {
    let mut info = CUgraphExecUpdateResultInfo::default();
    let (mut node, mut old) = (std::ptr::null_mut(), Why(99));
    let d = &bench.driver;
    // SAFETY: the places outlive the calls; handles are checked.
    unsafe {
        let new = code(d.cuGraphExecUpdate_v2(exec, graph, &raw mut info));
        let first = code(d.cuGraphExecUpdate(exec, graph, &raw mut node, &raw mut old));
        assert_eq!((new, info.result, info.errorNode), (first, old, node));
        (new, info.result, info.errorNode)
    }
}

/// Without it, an update could change less than it says, or what it must not.
#[test]
fn a_graph_of_the_same_shape_gives_its_parameters() {
    let bench = TestBench::with(Machine::builder().order(Order::Seeded(7)));
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let memory = bench.alloc(64);
    bench.upload(memory, &[0; 64]);
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    // A diamond with a child graph on one side.
    let make = |seed: u64, cell: u64| {
        let (g, inner) = (graph(&bench), graph(&bench));
        let a = kernel(&bench, g, &[], function, &[memory, 0, 0, seed]);
        let b = kernel(&bench, g, &[a], function, &[memory, 1, 1, seed + 1]);
        kernel(&bench, inner, &[], function, &[memory, 1, 2, seed + 2]);
        let mut c = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { d.cuGraphAddChildGraphNode(&raw mut c, g, &raw const a, 1, inner) }.unwrap();
        destroy(&bench, inner);
        kernel(
            &bench,
            g,
            &[b, c],
            function,
            &[memory, 0b110, cell, seed + 3],
        );
        (g, [a, b, c])
    };
    let mut host = [0; 16];
    let mut expect = |seed: u32, cell: usize| {
        fold(&mut host, 0, 0, seed);
        fold(&mut host, 1, 1, seed + 1);
        fold(&mut host, 1, 2, seed + 2);
        fold(&mut host, 0b110, cell, seed + 3);
        bytes_of(&host)
    };
    let (first, _) = make(10, 3);
    let exec = instantiate(&bench, first);
    for (seed, cell) in [(10, 3), (20, 4), (30, 5)] {
        let (g, _) = make(u64::from(seed), cell as u64);
        let (answer, why, node) = update(&bench, exec, g);
        assert_eq!((answer, why.0, node.is_null()), (OK, 0, true));
        destroy(&bench, g);
        assert_eq!(launch(&bench, exec, stream), OK);
        bench.wait(stream);
        assert_eq!(bench.download(memory, 64), expect(seed, cell));
    }
    // Another number of nodes, another order, another kind: each is told, and nothing changes.
    let (more, [a, ..]) = make(1, 1);
    empty(&bench, more, &[a]);
    let topology = Why::CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    assert_eq!(
        update(&bench, exec, more),
        (FAILED, topology, std::ptr::null_mut())
    );
    let (moved, [a, b, c]) = make(1, 1);
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuGraphRemoveDependencies(moved, &raw const a, &raw const c, 1)
            .unwrap();
        d.cuGraphAddDependencies(moved, &raw const b, &raw const c, 1)
            .unwrap();
    }
    assert_eq!(update(&bench, exec, moved), (FAILED, topology, c));
    let other = graph(&bench);
    let a = empty(&bench, other, &[]);
    let kind = instantiate(&bench, other);
    destroy(&bench, other);
    let other = graph(&bench);
    let b = kernel(&bench, other, &[], function, &[memory, 0, 9, 9]);
    let changed = Why::CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    assert_eq!(update(&bench, kind, other), (FAILED, changed, b));
    assert_ne!(a, b);
    let cooperative = CUkernelNodeAttrValue { cooperative: 1 };
    let attribute = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    let own = instantiate(&bench, other);
    // SAFETY: the place outlives the call.
    unsafe { d.cuGraphKernelNodeSetAttribute(b, attribute, &raw const cooperative) }.unwrap();
    let attributes = Why::CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    assert_eq!(update(&bench, own, other), (FAILED, attributes, b));
    assert_eq!(launch(&bench, exec, stream), OK);
    bench.wait(stream);
    assert_eq!(bench.download(memory, 64), expect(30, 5));
    for exec in [exec, kind, own] {
        destroy_exec(&bench, exec);
    }
    for graph in [first, more, moved, other] {
        destroy(&bench, graph);
    }
    bench.destroy(&[stream]);
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}

/// Without it, a node that is set could run with old parameters, or a launch under way with new
/// ones.
#[test]
fn a_node_of_an_executable_takes_new_parameters() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let (g, memory, c) = (graph(&bench), bench.alloc(64), bench.context);
    bench.upload(memory, &[0; 64]);
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let mut fill = CUDA_MEMSET_NODE_PARAMS {
        dst: memory + 32,
        pitch: 0,
        value: 1,
        elementSize: 4,
        width: 1,
        height: 1,
    };
    let mut copy = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: memory + 32,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: memory + 36,
        WidthInBytes: 4,
        Height: 1,
        Depth: 1,
        ..Default::default()
    };
    let a = kernel(&bench, g, &[], function, &[memory, 0, 0, 3]);
    let [mut b, mut n]: [CUgraphNode; 2] = Default::default();
    // SAFETY: the places outlive the calls; handles are checked.
    unsafe {
        d.cuGraphAddMemsetNode(&raw mut b, g, &raw const a, 1, &raw const fill, c)
            .unwrap();
        d.cuGraphAddMemcpyNode(&raw mut n, g, &raw const b, 1, &raw const copy, c)
            .unwrap();
    }
    let exec = instantiate(&bench, g);
    let gate = crate::support::Gate::new();
    gate.block(&bench, stream);
    assert_eq!(launch(&bench, exec, stream), OK);
    // SAFETY: as above.
    unsafe {
        with_launch(function, &[memory, 1, 1, 4], |params| {
            d.cuGraphExecKernelNodeSetParams_v2(exec, a, params)
                .unwrap();
            assert_eq!(
                code(d.cuGraphExecKernelNodeSetParams_v2(exec, b, params)),
                INVALID
            );
        });
        fill.value = 2;
        d.cuGraphExecMemsetNodeSetParams(exec, b, &raw const fill, c)
            .unwrap();
        copy.dstDevice = memory + 40;
        d.cuGraphExecMemcpyNodeSetParams(exec, n, &raw const copy, c)
            .unwrap();
        copy.dstMemoryType = CUmemorytype::CU_MEMORYTYPE_UNIFIED;
        let other = d.cuGraphExecMemcpyNodeSetParams(exec, n, &raw const copy, c);
        assert_eq!(code(other), INVALID, "another type of memory");
        // In rows there are the address and the value alone.
        (fill.height, fill.pitch) = (2, 8);
        let rows = d.cuGraphExecMemsetNodeSetParams(exec, b, &raw const fill, c);
        assert_eq!(code(rows), INVALID);
    }
    assert_eq!(launch(&bench, exec, stream), OK);
    gate.open();
    bench.wait(stream);
    let mut host = [0; 16];
    fold(&mut host, 0, 0, 3);
    fold(&mut host, 1, 1, 4);
    (host[8], host[9], host[10]) = (2, 1, 2);
    assert_eq!(bench.download(memory, 64), bytes_of(&host));
    // The graph itself has its old parameters.
    // SAFETY: the place outlives the call.
    unsafe { d.cuGraphMemsetNodeGetParams(b, &raw mut fill) }.unwrap();
    assert_eq!(fill.value, 1);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    bench.destroy(&[stream]);
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}

/// Without it, the functions for nodes of any kind could make others than the functions for each.
#[test]
fn nodes_of_any_kind_are_made_and_set_alike() {
    unsafe extern "C" fn count(data: *mut std::ffi::c_void) {
        // SAFETY: the test's counter, which outlives the launches.
        unsafe { *data.cast::<u32>() += 1 };
    }
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let (g, memory, event) = (graph(&bench), bench.alloc(64), bench.event());
    bench.upload(memory, &[0; 64]);
    let mut calls = 0u32;
    let inner = graph(&bench);
    kernel(&bench, inner, &[], function, &[memory, 0, 2, 5]);
    let none = CUgraphNodeParams::default();
    let fill = CUDA_MEMSET_NODE_PARAMS_v2 {
        dst: memory + 32,
        pitch: 0,
        value: 1,
        elementSize: 4,
        width: 1,
        height: 1,
        ctx: bench.context,
    };
    let mut nodes = Vec::new();
    let mut add = |params: &CUgraphNodeParams| {
        let (mut node, mut params) = (std::ptr::null_mut(), *params);
        let last = nodes.last().copied();
        let before = last
            .as_ref()
            .map_or(std::ptr::null(), |last: &CUgraphNode| last);
        let edges = [CUgraphEdgeData::default()];
        let count = usize::from(last.is_some());
        // SAFETY: place, array and parameters outlive the call.
        let added = unsafe {
            d.cuGraphAddNode_v2(
                &raw mut node,
                g,
                before,
                edges.as_ptr(),
                count,
                &raw mut params,
            )
        };
        if added.is_ok() {
            nodes.push(node);
        }
        code(added)
    };
    let kernel_params = |values: &[u64; 4], f: &mut dyn FnMut(CUgraphNodeParams)| {
        with_launch(function, values, |given| {
            let mut params = none;
            params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL;
            params.__bindgen_anon_1.kernel = CUDA_KERNEL_NODE_PARAMS_v3 {
                func: given.func,
                gridDimX: 1,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: 1,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: 0,
                kernelParams: given.kernelParams,
                extra: std::ptr::null_mut(),
                kern: std::ptr::null_mut(),
                ctx: std::ptr::null_mut(),
            };
            f(params);
        });
    };
    kernel_params(&[memory, 0, 0, 3], &mut |params| {
        assert_eq!(add(&params), OK);
    });
    let mut params = none;
    params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_MEMSET;
    params.__bindgen_anon_1.memset = fill;
    let set = params;
    assert_eq!(add(&params), OK);
    params = none;
    params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_HOST;
    params.__bindgen_anon_1.host = CUDA_HOST_NODE_PARAMS_v2 {
        fn_: Some(count),
        userData: (&raw mut calls).cast(),
        ..Default::default()
    };
    assert_eq!(add(&params), OK);
    params = none;
    params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH;
    params.__bindgen_anon_1.graph = CUDA_CHILD_GRAPH_NODE_PARAMS {
        graph: inner,
        ownership: CUgraphChildGraphNodeOwnership::CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE,
    };
    let child = params;
    assert_eq!(add(&params), OK);
    params = none;
    params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    params.__bindgen_anon_1.eventRecord.event = event;
    assert_eq!(add(&params), OK);
    params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
    assert_eq!(add(&params), CUresult::CUDA_ERROR_NOT_SUPPORTED);
    params.type_ = CUgraphNodeType(77);
    assert_eq!(add(&params), INVALID);
    assert_eq!(crate::raw::types(&bench, g), [0, 2, 3, 4, 7]);
    // The same functions set them, here and in an executable.
    let mut new = set;
    // SAFETY: places and parameters outlive the calls; what is set is what is read.
    let exec = unsafe {
        new.__bindgen_anon_1.memset.value = 2;
        d.cuGraphNodeSetParams(nodes[1], &raw mut new).unwrap();
        assert_eq!(
            code(d.cuGraphNodeSetParams(nodes[0], &raw mut new)),
            INVALID
        );
        let exec = instantiate(&bench, g);
        kernel_params(&[memory, 0, 1, 4], &mut |mut params| {
            d.cuGraphExecNodeSetParams(exec, nodes[0], &raw mut params)
                .unwrap();
        });
        kernel(&bench, inner, &[], function, &[memory, 0, 3, 6]);
        let mut child = child;
        let grown = d.cuGraphExecNodeSetParams(exec, nodes[3], &raw mut child);
        assert_eq!(code(grown), INVALID);
        let first = crate::raw::nodes(&bench, inner)[0];
        d.cuGraphDestroyNode(first).unwrap();
        d.cuGraphExecNodeSetParams(exec, nodes[3], &raw mut child)
            .unwrap();
        exec
    };
    assert_eq!(launch(&bench, exec, std::ptr::null_mut()), OK);
    bench.synchronize();
    let mut host = [0; 16];
    fold(&mut host, 0, 1, 4);
    fold(&mut host, 0, 3, 6);
    host[8] = 2;
    assert_eq!((bench.download(memory, 64), calls), (bytes_of(&host), 1));
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    destroy(&bench, inner);
    // SAFETY: a live handle.
    unsafe { d.cuEventDestroy_v2(event) }.unwrap();
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}

/// Without it, a node could lose what its launch was to be, or promise what no launch can have.
#[test]
fn kernel_nodes_have_attributes() {
    use CUlaunchAttributeID as A;
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let (g, memory) = (graph(&bench), bench.alloc(64));
    let a = kernel(&bench, g, &[], function, &[memory, 0, 0, 3]);
    let b = kernel(&bench, g, &[], function, &[memory, 0, 1, 3]);
    let get = |node, attribute| {
        let mut value = CUkernelNodeAttrValue::default();
        // SAFETY: the place outlives the call.
        let told = unsafe { d.cuGraphKernelNodeGetAttribute(node, attribute, &raw mut value) };
        // SAFETY: a number, whatever was set.
        (code(told), unsafe { value.cooperative })
    };
    let set = |node, attribute, value: CUkernelNodeAttrValue| {
        // SAFETY: the place outlives the call.
        code(unsafe { d.cuGraphKernelNodeSetAttribute(node, attribute, &raw const value) })
    };
    let value = |cooperative| CUkernelNodeAttrValue { cooperative };
    let cooperative = A::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    let priority = A::CU_LAUNCH_ATTRIBUTE_PRIORITY;
    let carveout = A::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    assert_eq!(set(a, cooperative, value(1)), OK);
    assert_eq!(set(a, priority, value(-2)), OK);
    assert_eq!(set(a, carveout, value(50)), OK);
    assert_eq!(set(a, carveout, value(101)), INVALID);
    let cluster = CUkernelNodeAttrValue {
        clusterDim: CUlaunchAttributeValue_union__bindgen_ty_1 { x: 2, y: 1, z: 1 },
    };
    let dimension = A::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    assert_eq!(
        set(a, dimension, cluster),
        CUresult::CUDA_ERROR_NOT_SUPPORTED
    );
    // SAFETY: handles, checked by the driver.
    unsafe { d.cuGraphKernelNodeCopyAttributes(b, a) }.unwrap();
    // New parameters leave them.
    with_launch(function, &[memory, 0, 0, 3], |params| {
        // SAFETY: the parameters outlive the call.
        unsafe { d.cuGraphKernelNodeSetParams_v2(a, params) }.unwrap();
    });
    for node in [a, b] {
        assert_eq!(get(node, cooperative), (OK, 1));
        assert_eq!(get(node, priority), (OK, -2));
        assert_eq!(get(node, carveout), (OK, 50));
    }
    assert_eq!(get(a, A(99)).0, INVALID);
    destroy(&bench, g);
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}
