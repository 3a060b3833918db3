//! Edges between kernels that may begin before the first kernel has ended.

use cupola_sim::{Machine, Order};
use cupola_sys::driver::*;

use crate::raw::{
    FOLD, INVALID, bytes_of, destroy, destroy_exec, empty, fold, graph, instantiate, kernel,
    launch, nodes, with_launch,
};
use crate::support::{Code, TestBench, code};

const OK: Code = CUresult::CUDA_SUCCESS;
const LOSSY: Code = CUresult::CUDA_ERROR_LOSSY_QUERY;
const FULL: CUgraphEdgeData = edge(0, 0);

/// What an edge says: the port of its first node, and its type.
const fn edge(from_port: u8, type_: u8) -> CUgraphEdgeData {
    CUgraphEdgeData {
        from_port,
        to_port: 0,
        type_,
        reserved: [0; 5],
    }
}

/// All edges with what they say, or why there is no answer.
fn edges(bench: &TestBench, graph: CUgraph) -> Vec<(CUgraphNode, CUgraphNode, CUgraphEdgeData)> {
    let (mut count, null) = (8, std::ptr::null_mut());
    let (mut from, mut to) = ([null; 8], [null; 8]);
    let mut data = [edge(9, 9); 8];
    // SAFETY: the arrays have as many places as the call is told.
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
    let told = (0..count).map(|at| (from[at], to[at], data[at]));
    told.collect()
}

fn connect(
    bench: &TestBench,
    graph: CUgraph,
    (from, to): (CUgraphNode, CUgraphNode),
    data: CUgraphEdgeData,
) -> Code {
    // SAFETY: the places outlive the call; handles are checked.
    code(unsafe {
        bench.driver.cuGraphAddDependencies_v2(
            graph,
            &raw const from,
            &raw const to,
            &raw const data,
            1,
        )
    })
}

/// Without it, a program with programmatic launches could not be built, would be told of other
/// edges than it made, or have a kernel begin that needs what the one before it writes.
#[test]
fn kernels_follow_each_other_early() {
    for order in [Order::Threads, Order::Seeded(5), Order::Timed] {
        let bench = TestBench::with(Machine::builder().order(order));
        let d = &bench.driver;
        let module = bench.load(FOLD);
        let function = bench.function(module, c"fold");
        let memory = bench.alloc(64);
        bench.upload(memory, &[0; 64]);
        let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
        let g = graph(&bench);
        let a = kernel(&bench, g, &[], function, &[memory, 0, 0, 3]);
        let b = kernel(&bench, g, &[], function, &[memory, 0b1, 1, 4]);
        let mut c = std::ptr::null_mut();
        let (before, data) = ([a, b], [edge(2, 0), edge(1, 1)]);
        assert_eq!(connect(&bench, g, (a, b), edge(2, 1)), OK);
        with_launch(function, &[memory, 0b11, 2, 5], |launch| {
            let mut params = CUgraphNodeParams {
                type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_KERNEL,
                ..Default::default()
            };
            params.__bindgen_anon_1.kernel = CUDA_KERNEL_NODE_PARAMS_v3 {
                func: launch.func,
                gridDimX: 1,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: 1,
                blockDimY: 1,
                blockDimZ: 1,
                kernelParams: launch.kernelParams,
                ..Default::default()
            };
            let (start, told) = (before.as_ptr(), data.as_ptr());
            // SAFETY: the places outlive the call.
            unsafe { d.cuGraphAddNode_v2(&raw mut c, g, start, told, 2, &raw mut params) }.unwrap();
        });
        let all = [(a, b, edge(2, 1)), (a, c, data[0]), (b, c, data[1])];
        assert_eq!(edges(&bench, g), all);
        // A copy says the same of its own nodes.
        let mut copy = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { d.cuGraphClone(&raw mut copy, g) }.unwrap();
        let own = nodes(&bench, copy);
        let copied = [(0, 1, edge(2, 1)), (0, 2, data[0]), (1, 2, data[1])];
        assert_eq!(
            edges(&bench, copy),
            copied.map(|(from, to, data)| (own[from], own[to], data))
        );
        let exec = instantiate(&bench, copy);
        assert_eq!(launch(&bench, exec, stream), OK);
        bench.wait(stream);
        let mut host = [0; 16];
        fold(&mut host, 0, 0, 3);
        fold(&mut host, 0b1, 1, 4);
        fold(&mut host, 0b11, 2, 5);
        assert_eq!(bench.download(memory, 64), bytes_of(&host));
        destroy_exec(&bench, exec);
        destroy(&bench, copy);
        destroy(&bench, g);
        bench.destroy(&[stream]);
        bench.free(memory);
        bench.unload(module);
        bench.finish();
    }
}

/// Without it, a question could hide what an edge says, or an edge be removed that is another one.
#[test]
fn what_an_edge_says_is_not_lost() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let g = graph(&bench);
    let [a, b] = [0, 1].map(|cell| kernel(&bench, g, &[], function, &[0, 0, cell, 0]));
    let e = empty(&bench, g, &[]);
    let early = edge(1, 1);
    for bad in [edge(1, 0), edge(3, 1), edge(0, 1), edge(0, 2)] {
        assert_eq!(connect(&bench, g, (a, b), bad), INVALID, "{bad:?}");
    }
    let to_port = CUgraphEdgeData {
        to_port: 1,
        ..early
    };
    assert_eq!(connect(&bench, g, (a, b), to_port), INVALID);
    assert_eq!(connect(&bench, g, (a, e), early), INVALID, "no kernel");
    assert_eq!(connect(&bench, g, (e, a), early), INVALID, "no kernel");
    assert_eq!(connect(&bench, g, (a, e), FULL), OK);
    assert_eq!(connect(&bench, g, (a, b), early), OK);
    let null = std::ptr::null_mut();
    let (mut from, mut to, mut told) = ([null; 4], [null; 4], [FULL; 4]);
    let (start, end, said) = (from.as_mut_ptr(), to.as_mut_ptr(), told.as_mut_ptr());
    let mut count = 4;
    let at = &raw mut count;
    // SAFETY: the arrays have as many places as the calls are told.
    unsafe {
        assert_eq!(code(d.cuGraphGetEdges(g, start, end, at)), LOSSY);
        let none = std::ptr::null_mut();
        assert_eq!(code(d.cuGraphGetEdges_v2(g, start, end, none, at)), LOSSY);
        assert_eq!(code(d.cuGraphNodeGetDependencies(b, start, at)), LOSSY);
        assert_eq!(code(d.cuGraphNodeGetDependentNodes(a, start, at)), LOSSY);
        // How many there are is no secret.
        d.cuGraphNodeGetDependentNodes(a, none.cast(), at).unwrap();
        assert_eq!(count, 2);
        count = 4;
        d.cuGraphNodeGetDependencies(e, start, &raw mut count)
            .unwrap();
        assert_eq!((count, from[0]), (1, a), "a full edge");
        count = 4;
        d.cuGraphNodeGetDependentNodes_v2(a, end, said, &raw mut count)
            .unwrap();
        assert_eq!(
            (count, &to[..2], &told[..2]),
            (2, &[e, b][..], &[FULL, early][..])
        );
        let (one, other) = (&raw const a, &raw const b);
        assert_eq!(code(d.cuGraphRemoveDependencies(g, one, other, 1)), INVALID);
        d.cuGraphRemoveDependencies_v2(g, one, other, &raw const early, 1)
            .unwrap();
        // The next edge there is a new one.
        d.cuGraphAddDependencies(g, one, other, 1).unwrap();
    }
    assert_eq!(edges(&bench, g), [(a, b, FULL), (a, e, FULL)]);
    destroy(&bench, g);
    bench.unload(module);
    bench.finish();
}
