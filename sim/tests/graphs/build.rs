//! Graphs as objects: nodes, edges, copies, and what is told of them.

use cupola_sys::driver::*;

use crate::raw::{INVALID, destroy, empty, graph, kernel, nodes, with_launch};
use crate::support::{TestBench, code};

fn edges(bench: &TestBench, graph: CUgraph) -> Vec<(CUgraphNode, CUgraphNode)> {
    // More places than edges: the rest is null.
    let mut count = 9;
    let (mut from, mut to) = ([std::ptr::null_mut(); 9], [std::ptr::null_mut(); 9]);
    let mut data = [CUgraphEdgeData::default(); 9];
    // SAFETY: the arrays have 9 places.
    unsafe {
        bench.driver.cuGraphGetEdges_v2(
            graph,
            from.as_mut_ptr(),
            to.as_mut_ptr(),
            data.as_mut_ptr(),
            &raw mut count,
        )
    }
    .unwrap();
    assert!(from[count..].iter().all(|node| node.is_null()));
    from.into_iter().zip(to).take(count).collect()
}

fn neighbours(bench: &TestBench, node: CUgraphNode) -> [Vec<CUgraphNode>; 2] {
    let d = &bench.driver;
    [true, false].map(|before| {
        let (mut count, mut found) = (9, [std::ptr::null_mut(); 9]);
        let places = found.as_mut_ptr();
        // SAFETY: the array has 9 places.
        unsafe {
            match before {
                true => d.cuGraphNodeGetDependencies(node, places, &raw mut count),
                false => d.cuGraphNodeGetDependentNodes(node, places, &raw mut count),
            }
        }
        .unwrap();
        found[..count].to_vec()
    })
}

fn type_of(bench: &TestBench, node: CUgraphNode) -> CUgraphNodeType {
    let mut kind = CUgraphNodeType(99);
    // SAFETY: the place outlives the call.
    unsafe { bench.driver.cuGraphNodeGetType(node, &raw mut kind) }.unwrap();
    kind
}

/// Without it, a program could not see or change the order that it has built, or build one that
/// is none.
#[test]
fn edges_are_added_told_and_removed() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let g = graph(&bench);
    let (a, b) = (empty(&bench, g, &[]), empty(&bench, g, &[]));
    let c = empty(&bench, g, &[a, b]);
    assert_eq!(nodes(&bench, g), [a, b, c]);
    assert_eq!(edges(&bench, g), [(a, c), (b, c)]);
    assert_eq!(neighbours(&bench, c), [vec![a, b], vec![]]);
    let connect = |from: &[CUgraphNode], to: &[CUgraphNode]| {
        let (from, to, count) = (from.as_ptr(), to.as_ptr(), from.len());
        // SAFETY: the arrays outlive the call.
        code(unsafe { d.cuGraphAddDependencies(g, from, to, count) })
    };
    let disconnect = |from: CUgraphNode, to: CUgraphNode| {
        // SAFETY: the places outlive the call.
        code(unsafe { d.cuGraphRemoveDependencies(g, &raw const from, &raw const to, 1) })
    };
    assert_eq!(connect(&[a], &[b]), CUresult::CUDA_SUCCESS);
    // One that is there, one twice, one to itself, and one of no node: none of them is added.
    for (from, to) in [
        ([b, a], [a, b]),
        ([b, b], [a, a]),
        ([b, c], [a, c]),
        ([b, a], [a, g.cast()]),
    ] {
        assert_eq!(connect(&from, &to), INVALID);
    }
    assert_eq!(neighbours(&bench, a), [vec![], vec![c, b]]);
    assert_eq!(disconnect(a, b), CUresult::CUDA_SUCCESS);
    assert_eq!(disconnect(a, b), INVALID);
    let (mut roots, mut count) = ([std::ptr::null_mut(); 3], 3);
    // SAFETY: the array has 3 places; handles are checked.
    unsafe {
        d.cuGraphGetRootNodes(g, roots.as_mut_ptr(), &raw mut count)
            .unwrap();
        assert_eq!((count, roots), (2, [a, b, std::ptr::null_mut()]));
        d.cuGraphDestroyNode(a).unwrap();
        assert_eq!(code(d.cuGraphDestroyNode(a)), INVALID);
    }
    assert_eq!(edges(&bench, g), [(b, c)]);
    // A node after one twice, after one that is gone, or after one of another graph.
    let other = graph(&bench);
    let foreign = empty(&bench, other, &[]);
    for before in [[b, b], [a, b], [b, foreign]] {
        let mut node = std::ptr::null_mut();
        // SAFETY: place and array outlive the call.
        let added = unsafe { d.cuGraphAddEmptyNode(&raw mut node, g, before.as_ptr(), 2) };
        assert_eq!((code(added), node.is_null()), (INVALID, true));
    }
    assert_eq!(bench.machine.usage().graphs, 2);
    assert_eq!(
        bench.machine.leak_report().len(),
        3,
        "two graphs and a context"
    );
    destroy(&bench, g);
    destroy(&bench, other);
    // SAFETY: handles, checked by the driver.
    unsafe {
        assert_eq!(code(d.cuGraphDestroy(g)), INVALID);
        assert_eq!(code(d.cuGraphDestroyNode(b)), INVALID);
    }
    bench.finish();
}

/// Without it, a copy could change with its original, or lose its order.
#[test]
fn a_clone_is_a_graph_of_its_own() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let g = graph(&bench);
    let a = empty(&bench, g, &[]);
    let b = empty(&bench, g, &[a]);
    let later = empty(&bench, g, &[]);
    let (mut node, mut child, mut copy) = Default::default();
    // An edge from a node that was made later.
    // SAFETY: the places outlive the calls; handles are checked.
    unsafe {
        d.cuGraphAddDependencies(g, &raw const later, &raw const b, 1)
            .unwrap();
        d.cuGraphAddChildGraphNode(&raw mut node, g, std::ptr::null(), 0, g)
            .unwrap();
        d.cuGraphChildGraphNodeGetGraph(node, &raw mut child)
            .unwrap();
        assert_eq!(code(d.cuGraphDestroy(child)), INVALID, "it is the node's");
        d.cuGraphClone(&raw mut copy, g).unwrap();
    }
    assert_eq!(nodes(&bench, child).len(), 3);
    assert_eq!(
        type_of(&bench, node),
        CUgraphNodeType::CU_GRAPH_NODE_TYPE_GRAPH
    );
    let find = |original: CUgraphNode| {
        let mut found = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        let told = unsafe { d.cuGraphNodeFindInClone(&raw mut found, original, copy) };
        told.is_ok().then_some(found)
    };
    let own = nodes(&bench, copy);
    assert_eq!(
        [a, b, later, node].map(find),
        [0, 1, 2, 3].map(|i| Some(own[i]))
    );
    assert_eq!(edges(&bench, copy), [(own[0], own[1]), (own[2], own[1])]);
    // SAFETY: handles, checked by the driver.
    unsafe { d.cuGraphDestroyNode(b) }.unwrap();
    assert_eq!((edges(&bench, g).len(), edges(&bench, copy).len()), (0, 2));
    destroy(&bench, g);
    assert_eq!(find(copy.cast()), None);
    // The copy's child is its own.
    let mut inner = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { d.cuGraphChildGraphNodeGetGraph(own[3], &raw mut inner) }.unwrap();
    assert_eq!(nodes(&bench, inner).len(), 3);
    destroy(&bench, copy);
    // SAFETY: a handle, checked by the driver.
    let (mut count, none) = (0, std::ptr::null_mut());
    // SAFETY: the place outlives the call.
    let gone = unsafe { d.cuGraphGetNodes(inner, none, &raw mut count) };
    assert_eq!(code(gone), INVALID, "it went with its node");
    bench.finish();
}

/// Without it, a program that changes one parameter would have to know all others by heart.
#[test]
fn nodes_tell_their_parameters_and_take_others() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(crate::raw::FOLD);
    let function = bench.function(module, c"fold");
    let (g, memory) = (graph(&bench), bench.alloc(64));
    let node = kernel(&bench, g, &[], function, &[memory, 3, 5, 7]);
    let (mut told, mut old) = Default::default();
    // SAFETY: the places outlive the calls, and the node keeps its parameters.
    unsafe {
        d.cuGraphKernelNodeGetParams_v2(node, &raw mut told)
            .unwrap();
        d.cuGraphKernelNodeGetParams(node, &raw mut old).unwrap();
        assert_eq!((told.func, told.ctx), (function, bench.context));
        assert_eq!((told.gridDimX, told.blockDimZ, old.blockDimY), (1, 1, 1));
        let value = |index: usize| {
            (*told.kernelParams.add(index))
                .cast::<u32>()
                .read_unaligned()
        };
        assert_eq!((value(1), value(2), value(3)), (3, 5, 7));
        // As they were told.
        told.gridDimX = 4;
        d.cuGraphKernelNodeSetParams_v2(node, &raw const told)
            .unwrap();
        d.cuGraphKernelNodeGetParams_v2(node, &raw mut told)
            .unwrap();
        assert_eq!(told.gridDimX, 4);
        told.blockDimX = 2048;
        let large = d.cuGraphKernelNodeSetParams_v2(node, &raw const told);
        assert_eq!(code(large), INVALID);
    }
    with_launch(function, &[memory, 0, 1, 2], |params| {
        let mut first = std::ptr::null_mut();
        let bad = CUDA_KERNEL_NODE_PARAMS {
            kernelParams: std::ptr::null_mut(),
            ..*params
        };
        // SAFETY: the places outlive the calls.
        let added = unsafe {
            d.cuGraphAddKernelNode_v2(&raw mut first, g, std::ptr::null(), 0, &raw const bad)
        };
        assert_eq!(code(added), INVALID);
    });
    let mut fill = CUDA_MEMSET_NODE_PARAMS {
        dst: memory,
        pitch: 0,
        value: 9,
        elementSize: 4,
        width: 3,
        height: 1,
    };
    let (mut set, mut copied, mut host) = Default::default();
    let mut copy = CUDA_MEMCPY3D {
        srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcDevice: memory,
        dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstDevice: memory + 32,
        WidthInBytes: 12,
        Height: 1,
        Depth: 1,
        ..Default::default()
    };
    unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}
    let mut function = CUDA_HOST_NODE_PARAMS {
        fn_: Some(nothing),
        userData: std::ptr::without_provenance_mut(5),
    };
    let none = std::ptr::null();
    // SAFETY: the places outlive the calls; handles are checked.
    unsafe {
        let c = bench.context;
        d.cuGraphAddMemsetNode(&raw mut set, g, none, 0, &raw const fill, c)
            .unwrap();
        d.cuGraphAddMemcpyNode(&raw mut copied, g, none, 0, &raw const copy, c)
            .unwrap();
        d.cuGraphAddHostNode(&raw mut host, g, none, 0, &raw const function)
            .unwrap();
        fill.elementSize = 3;
        assert_eq!(
            code(d.cuGraphMemsetNodeSetParams(set, &raw const fill)),
            INVALID
        );
        assert_eq!(
            code(d.cuGraphMemsetNodeSetParams(copied, &raw const fill)),
            INVALID
        );
        fill.elementSize = 2;
        d.cuGraphMemsetNodeSetParams(set, &raw const fill).unwrap();
        fill.elementSize = 0;
        d.cuGraphMemsetNodeGetParams(set, &raw mut fill).unwrap();
        assert_eq!((fill.dst, fill.elementSize, fill.width), (memory, 2, 3));
        copy.WidthInBytes = 8;
        d.cuGraphMemcpyNodeSetParams(copied, &raw const copy)
            .unwrap();
        copy.WidthInBytes = 0;
        d.cuGraphMemcpyNodeGetParams(copied, &raw mut copy).unwrap();
        assert_eq!((copy.WidthInBytes, copy.dstDevice), (8, memory + 32));
        function.fn_ = None;
        assert_eq!(
            code(d.cuGraphHostNodeSetParams(host, &raw const function)),
            INVALID
        );
        d.cuGraphHostNodeGetParams(host, &raw mut function).unwrap();
        assert_eq!(
            (function.fn_.is_some(), function.userData.addr()),
            (true, 5)
        );
    }
    destroy(&bench, g);
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}

/// Without it, a graph that waits for itself would hang its stream.
#[test]
fn a_circle_is_not_instantiated() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let g = graph(&bench);
    let a = empty(&bench, g, &[]);
    let b = empty(&bench, g, &[a]);
    let mut exec: CUgraphExec = std::ptr::null_mut();
    let mut params = CUDA_GRAPH_INSTANTIATE_PARAMS::default();
    // SAFETY: the places outlive the calls; handles are checked.
    unsafe {
        d.cuGraphAddDependencies(g, &raw const b, &raw const a, 1)
            .unwrap();
        let made = d.cuGraphInstantiateWithParams(&raw mut exec, g, &raw mut params);
        assert_eq!((code(made), exec.is_null()), (INVALID, true));
        let structure = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        assert_eq!((params.result_out, params.hErrNode_out), (structure, a));
        d.cuGraphRemoveDependencies(g, &raw const b, &raw const a, 1)
            .unwrap();
        d.cuGraphInstantiateWithParams(&raw mut exec, g, &raw mut params)
            .unwrap();
        let success = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_SUCCESS;
        assert_eq!(
            (params.result_out, params.hErrNode_out.is_null()),
            (success, true)
        );
        d.cuGraphExecDestroy(exec).unwrap();
        assert_eq!(code(d.cuGraphExecDestroy(exec)), INVALID);
        assert_eq!(code(d.cuGraphLaunch(exec, std::ptr::null_mut())), INVALID);
    }
    destroy(&bench, g);
    bench.finish();
}
