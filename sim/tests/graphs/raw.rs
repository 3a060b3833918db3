//! The calls that every test of graphs makes, and a kernel that shows in which order it ran.

use std::ffi::c_void;

use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

pub(crate) const INVALID: Code = CUresult::CUDA_ERROR_INVALID_VALUE;

/// `fold(cells, mask, i, seed)`: cell `i` becomes its own value times 17 plus what `seed` becomes
/// when each cell of the mask is taken in, by a function for which the order matters.
pub(crate) const FOLD: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry fold(.param .u64 cells, .param .u64 mask, .param .u32 i, .param .u32 seed)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [cells];
    ld.param.u64 %rd2, [mask];
    ld.param.u32 %r1, [i];
    ld.param.u32 %r2, [seed];
    mov.u64 %rd3, %rd1;
LOOP:
    setp.eq.u64 %p1, %rd2, 0;
    @%p1 bra END;
    and.b64 %rd4, %rd2, 1;
    setp.eq.u64 %p2, %rd4, 0;
    @%p2 bra NEXT;
    ld.global.u32 %r3, [%rd3];
    mad.lo.u32 %r2, %r2, 31, %r3;
NEXT:
    shr.u64 %rd2, %rd2, 1;
    add.u64 %rd3, %rd3, 4;
    bra LOOP;
END:
    mul.wide.u32 %rd5, %r1, 4;
    add.u64 %rd6, %rd1, %rd5;
    ld.global.u32 %r4, [%rd6];
    mad.lo.u32 %r5, %r4, 17, %r2;
    st.global.u32 [%rd6], %r5;
    ret;
}
";

/// The same on the host.
pub(crate) fn fold(cells: &mut [u32], mask: u64, i: usize, seed: u32) {
    let taken = (0..cells.len()).filter(|bit| mask >> bit & 1 == 1);
    let value = taken.fold(seed, |value, bit| {
        value.wrapping_mul(31).wrapping_add(cells[bit])
    });
    cells[i] = cells[i].wrapping_mul(17).wrapping_add(value);
}

pub(crate) fn graph(bench: &TestBench) -> CUgraph {
    let mut graph = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { bench.driver.cuGraphCreate(&raw mut graph, 0) }.unwrap();
    graph
}

pub(crate) fn destroy(bench: &TestBench, graph: CUgraph) {
    // SAFETY: a handle, checked by the driver.
    unsafe { bench.driver.cuGraphDestroy(graph) }.unwrap();
}

pub(crate) fn instantiate(bench: &TestBench, graph: CUgraph) -> CUgraphExec {
    let mut exec = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe {
        bench
            .driver
            .cuGraphInstantiateWithFlags(&raw mut exec, graph, 0)
    }
    .unwrap();
    exec
}

pub(crate) fn launch(bench: &TestBench, exec: CUgraphExec, stream: CUstream) -> Code {
    // SAFETY: handles, checked by the driver.
    code(unsafe { bench.driver.cuGraphLaunch(exec, stream) })
}

pub(crate) fn destroy_exec(bench: &TestBench, exec: CUgraphExec) {
    // SAFETY: a handle, checked by the driver.
    unsafe { bench.driver.cuGraphExecDestroy(exec) }.unwrap();
}

pub(crate) fn empty(bench: &TestBench, graph: CUgraph, before: &[CUgraphNode]) -> CUgraphNode {
    let mut node = std::ptr::null_mut();
    let (start, count) = (before.as_ptr(), before.len());
    // SAFETY: place and array outlive the call.
    unsafe {
        bench
            .driver
            .cuGraphAddEmptyNode(&raw mut node, graph, start, count)
    }
    .unwrap();
    node
}

/// Calls `f` with the parameters of a launch of one thread. Each value is good for any parameter
/// of its size or less.
pub(crate) fn with_launch<T>(
    function: CUfunction,
    values: &[u64],
    f: impl FnOnce(&CUDA_KERNEL_NODE_PARAMS) -> T,
) -> T {
    let mut values = values.to_vec();
    let pointers = values.iter_mut().map(|value| (&raw mut *value).cast());
    let mut pointers: Vec<*mut c_void> = pointers.collect();
    f(&CUDA_KERNEL_NODE_PARAMS {
        func: function,
        gridDimX: 1,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: 1,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: pointers.as_mut_ptr(),
        extra: std::ptr::null_mut(),
        kern: std::ptr::null_mut(),
        ctx: std::ptr::null_mut(),
    })
}

pub(crate) fn kernel(
    bench: &TestBench,
    graph: CUgraph,
    before: &[CUgraphNode],
    function: CUfunction,
    values: &[u64],
) -> CUgraphNode {
    let mut node = std::ptr::null_mut();
    let (start, count) = (before.as_ptr(), before.len());
    with_launch(function, values, |params| {
        // SAFETY: place, array and values outlive the call, which takes the values.
        unsafe {
            bench
                .driver
                .cuGraphAddKernelNode_v2(&raw mut node, graph, start, count, params)
        }
        .unwrap();
    });
    node
}

pub(crate) fn bytes_of(values: &[u32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

pub(crate) fn nodes(bench: &TestBench, graph: CUgraph) -> Vec<CUgraphNode> {
    let (mut count, none) = (0, std::ptr::null_mut());
    // SAFETY: the place outlives the call.
    unsafe { bench.driver.cuGraphGetNodes(graph, none, &raw mut count) }.unwrap();
    let mut nodes = vec![std::ptr::null_mut(); count];
    // SAFETY: as above, with as many places as there are nodes.
    unsafe {
        bench
            .driver
            .cuGraphGetNodes(graph, nodes.as_mut_ptr(), &raw mut count)
    }
    .unwrap();
    nodes
}

/// What kinds of nodes there are, in the order of their making.
pub(crate) fn types(bench: &TestBench, graph: CUgraph) -> Vec<u32> {
    let kind = |node| {
        let mut kind = CUgraphNodeType(99);
        // SAFETY: the place outlives the call.
        unsafe { bench.driver.cuGraphNodeGetType(node, &raw mut kind) }.unwrap();
        kind.0
    };
    nodes(bench, graph).into_iter().map(kind).collect()
}

pub(crate) fn begin(bench: &TestBench, stream: CUstream, mode: CUstreamCaptureMode) -> Code {
    // SAFETY: a handle, checked by the driver.
    code(unsafe { bench.driver.cuStreamBeginCapture_v2(stream, mode) })
}

/// The graph, or why there is none.
pub(crate) fn end(bench: &TestBench, stream: CUstream) -> Result<CUgraph, Code> {
    let mut graph = std::ptr::without_provenance_mut(1);
    // SAFETY: the place outlives the call.
    match code(unsafe { bench.driver.cuStreamEndCapture(stream, &raw mut graph) }) {
        CUresult::CUDA_SUCCESS => Ok(graph),
        code => {
            assert!(graph.is_null());
            Err(code)
        }
    }
}

/// 0 for a stream that is not captured, 1 for one that is, 2 if its capture is of no use any more.
pub(crate) fn status(bench: &TestBench, stream: CUstream) -> u32 {
    let mut status = CUstreamCaptureStatus(9);
    // SAFETY: the place outlives the call.
    unsafe { bench.driver.cuStreamIsCapturing(stream, &raw mut status) }.unwrap();
    status.0
}
