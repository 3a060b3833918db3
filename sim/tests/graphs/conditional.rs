//! Conditional nodes: graphs that run as a value says, which kernels set.

use cupola_sim::{Machine, MachineBuilder, Order};
use cupola_sys::Version;
use cupola_sys::driver::*;

use crate::raw::{
    INVALID, bytes_of, destroy, destroy_exec, empty, graph, instantiate, kernel, launch, types,
    with_launch,
};
use crate::support::{Code, TestBench, code, without_hanging};

const OK: Code = CUresult::CUDA_SUCCESS;
const NOT_SUPPORTED: Code = CUresult::CUDA_ERROR_NOT_SUPPORTED;
const IF: CUgraphConditionalNodeType = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_IF;
const WHILE: CUgraphConditionalNodeType = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_WHILE;
const SWITCH: CUgraphConditionalNodeType = CUgraphConditionalNodeType::CU_GRAPH_COND_TYPE_SWITCH;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;

/// `count(cell, handle, until)` adds one to a cell; the value is whether it is below `until` then.
/// `choose(handle, value)` sets a value, `fault(cell, handle, until)` counts and stops the device.
/// The declaration is as compilers write it: the device has the function.
const KERNELS: &str = "
.version 8.0
.target sm_60
.address_size 64
.extern .func cudaGraphSetConditional
(.param .b64 cudaGraphSetConditional_param_0, .param .b32 cudaGraphSetConditional_param_1);
.visible .entry count(.param .u64 cell, .param .u64 handle, .param .u32 until)
{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [cell];
    ld.param.u64 %rd2, [handle];
    ld.param.u32 %r1, [until];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, 1;
    st.global.u32 [%rd1], %r2;
    setp.lt.u32 %p1, %r2, %r1;
    selp.u32 %r3, 1, 0, %p1;
    { .param .b64 h; .param .b32 v;
      st.param.b64 [h], %rd2; st.param.b32 [v], %r3;
      call.uni cudaGraphSetConditional, (h, v); }
    ret;
}
.visible .entry choose(.param .u64 handle, .param .u32 value)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [handle];
    ld.param.u32 %r1, [value];
    { .param .b64 h; .param .b32 v;
      st.param.b64 [h], %rd1; st.param.b32 [v], %r1;
      call.uni cudaGraphSetConditional, (h, v); }
    ret;
}
.visible .entry fault(.param .u64 cell)
{
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [cell];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    trap;
}
";

/// A machine with the kernels, eight cells that are 0, and a stream.
struct Loop {
    bench: TestBench,
    module: CUmodule,
    count: CUfunction,
    choose: CUfunction,
    cells: CUdeviceptr,
    stream: CUstream,
}

impl Loop {
    fn new(machine: MachineBuilder) -> Self {
        let bench = TestBench::with(machine);
        let module = bench.load(KERNELS);
        let cells = bench.alloc(32);
        bench.upload(cells, &[0; 32]);
        Self {
            module,
            count: bench.function(module, c"count"),
            choose: bench.function(module, c"choose"),
            cells,
            stream: bench.stream(NON_BLOCKING),
            bench,
        }
    }

    fn cell(&self, index: u64) -> u64 {
        self.cells + 4 * index
    }

    /// A value of a graph, which is this when a launch begins.
    fn handle(&self, graph: CUgraph, default: Option<u32>) -> u64 {
        let mut handle = 0;
        let flags = default.map_or(0, |_| CU_GRAPH_COND_ASSIGN_DEFAULT);
        let default = default.unwrap_or(0);
        let context = self.bench.context;
        // SAFETY: the place outlives the call; handles are checked.
        unsafe {
            self.bench.driver.cuGraphConditionalHandleCreate(
                &raw mut handle,
                graph,
                context,
                default,
                flags,
            )
        }
        .unwrap();
        handle
    }

    /// A conditional node and its graphs, or the code that it is refused with.
    fn try_node(
        &self,
        graph: CUgraph,
        before: &[CUgraphNode],
        handle: u64,
        (kind, size): (CUgraphConditionalNodeType, u32),
    ) -> Result<(CUgraphNode, Vec<CUgraph>), Code> {
        let mut node = std::ptr::null_mut();
        let mut params = CUgraphNodeParams {
            type_: CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL,
            ..Default::default()
        };
        params.__bindgen_anon_1.conditional = CUDA_CONDITIONAL_NODE_PARAMS {
            handle,
            type_: kind,
            size,
            phGraph_out: std::ptr::null_mut(),
            ctx: self.bench.context,
        };
        let (start, none, count) = (before.as_ptr(), std::ptr::null(), before.len());
        // SAFETY: the places outlive the call; the node, which lives, has an array of `size`
        // graphs.
        unsafe {
            let added = self.bench.driver.cuGraphAddNode_v2(
                &raw mut node,
                graph,
                start,
                none,
                count,
                &raw mut params,
            );
            match code(added) {
                OK => {
                    let told = params.__bindgen_anon_1.conditional.phGraph_out;
                    let graphs = std::slice::from_raw_parts(told, size as usize);
                    Ok((node, graphs.to_vec()))
                }
                refused => Err(refused),
            }
        }
    }

    fn node(
        &self,
        graph: CUgraph,
        before: &[CUgraphNode],
        handle: u64,
        shape: (CUgraphConditionalNodeType, u32),
    ) -> (CUgraphNode, Vec<CUgraph>) {
        self.try_node(graph, before, handle, shape).unwrap()
    }

    fn run(&self, exec: CUgraphExec) -> Vec<u8> {
        assert_eq!(launch(&self.bench, exec, self.stream), OK);
        self.bench.wait(self.stream);
        self.bench.download(self.cells, 32)
    }

    fn clear(&self) {
        self.bench.upload(self.cells, &[0; 32]);
    }

    fn finish(self) {
        self.bench.destroy(&[self.stream]);
        self.bench.free(self.cells);
        self.bench.unload(self.module);
        self.bench.finish();
    }
}

fn orders() -> [MachineBuilder; 4] {
    let order = |order| Machine::builder().order(order);
    [
        Machine::builder(),
        order(Order::Seeded(3)),
        order(Order::Seeded(4)),
        order(Order::Timed),
    ]
}

fn cells(values: &[(usize, u32)]) -> Vec<u8> {
    let mut cells = [0; 8];
    values.iter().for_each(|(at, value)| cells[*at] = *value);
    bytes_of(&cells)
}

/// Without it, a loop could run another number of times than its kernels say, work after it could
/// begin before its end, or a second launch begin with the value of the first.
#[test]
fn a_loop_runs_as_long_as_its_value_is_not_0() {
    for machine in orders() {
        let l = Loop::new(machine);
        let g = graph(&l.bench);
        let handle = l.handle(g, Some(1));
        let first = empty(&l.bench, g, &[]);
        let (node, body) = l.node(g, &[first], handle, (WHILE, 1));
        kernel(&l.bench, body[0], &[], l.count, &[l.cell(0), handle, 5]);
        // A copy after the loop sees its end, and so does a branch beside it the beginning.
        let mut copy = std::ptr::null_mut();
        let params = CUDA_MEMCPY3D {
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: l.cell(0),
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: l.cell(1),
            WidthInBytes: 4,
            Height: 1,
            Depth: 1,
            ..Default::default()
        };
        let (d, c) = (&l.bench.driver, l.bench.context);
        // SAFETY: the places outlive the call.
        unsafe {
            d.cuGraphAddMemcpyNode(&raw mut copy, g, &raw const node, 1, &raw const params, c)
        }
        .unwrap();
        let other = l.handle(g, Some(1));
        let (_, beside) = l.node(g, &[first], other, (WHILE, 1));
        kernel(&l.bench, beside[0], &[], l.count, &[l.cell(2), other, 3]);
        assert_eq!(types(&l.bench, g), [5, 13, 1, 13]);
        let exec = instantiate(&l.bench, g);
        destroy(&l.bench, g);
        assert_eq!(l.run(exec), cells(&[(0, 5), (1, 5), (2, 3)]));
        // The loop begins with its default, not with the 0 that it ended with.
        l.clear();
        assert_eq!(l.run(exec), cells(&[(0, 5), (1, 5), (2, 3)]));
        destroy_exec(&l.bench, exec);
        l.finish();
    }
}

/// Without it, a value of 0 could run a body, or a choice run another graph than its value names.
#[test]
fn a_value_chooses_a_graph_or_none() {
    for machine in orders() {
        let l = Loop::new(machine);
        for (shape, value, ran) in [
            ((WHILE, 1), 0, None),
            ((IF, 1), 0, None),
            ((IF, 1), 7, Some(0)),
            ((IF, 2), 1, Some(0)),
            ((IF, 2), 0, Some(1)),
            ((SWITCH, 3), 0, Some(0)),
            ((SWITCH, 3), 2, Some(2)),
            ((SWITCH, 3), 3, None),
        ] {
            let g = graph(&l.bench);
            // Once as a default, once set by a kernel over another default.
            for by_kernel in [false, true] {
                let g = if by_kernel { graph(&l.bench) } else { g };
                let default = if by_kernel { 1 - value.min(1) } else { value };
                let handle = l.handle(g, Some(default));
                let before: Vec<_> = by_kernel
                    .then(|| {
                        let values = [handle, u64::from(value)];
                        kernel(&l.bench, g, &[], l.choose, &values)
                    })
                    .into_iter()
                    .collect();
                let (_, bodies) = l.node(g, &before, handle, shape);
                for (body, index) in bodies.iter().zip(0..) {
                    let one = kernel(&l.bench, *body, &[], l.count, &[l.cell(index), handle, 0]);
                    kernel(&l.bench, *body, &[one], l.count, &[l.cell(7), handle, 0]);
                }
                let exec = instantiate(&l.bench, g);
                let wanted: Vec<_> = ran.into_iter().flat_map(|at| [(at, 1), (7, 1)]).collect();
                assert_eq!(l.run(exec), cells(&wanted), "{shape:?} {value}");
                l.clear();
                destroy_exec(&l.bench, exec);
                if by_kernel {
                    destroy(&l.bench, g);
                }
            }
            destroy(&l.bench, g);
        }
        l.finish();
    }
}

/// Without it, loops in loops could share their turns, or a body lose its child graph, its copies
/// and its memsets.
#[test]
fn loops_are_nested() {
    for machine in orders() {
        let l = Loop::new(machine);
        let g = graph(&l.bench);
        // Of the outermost graph, for a node of a graph within.
        let (outer, inner) = (l.handle(g, Some(1)), l.handle(g, None));
        let (_, body) = l.node(g, &[], outer, (WHILE, 1));
        let (d, c) = (&l.bench.driver, l.bench.context);
        let zero = CUDA_MEMSET_NODE_PARAMS {
            dst: l.cell(1),
            pitch: 0,
            value: 0,
            elementSize: 4,
            width: 1,
            height: 1,
        };
        let mut fill = std::ptr::null_mut();
        let none = std::ptr::null();
        // SAFETY: the places outlive the call.
        unsafe { d.cuGraphAddMemsetNode(&raw mut fill, body[0], none, 0, &raw const zero, c) }
            .unwrap();
        // A child that sets the inner value: it has no default.
        let child = graph(&l.bench);
        kernel(&l.bench, child, &[], l.choose, &[inner, 1]);
        let mut start = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { d.cuGraphAddChildGraphNode(&raw mut start, body[0], &raw const fill, 1, child) }
            .unwrap();
        destroy(&l.bench, child);
        let (node, nested) = l.node(body[0], &[start], inner, (WHILE, 1));
        let one = kernel(&l.bench, nested[0], &[], l.count, &[l.cell(1), inner, 3]);
        // The sum of all turns; what it sets is set again by the next kernel.
        let sum = kernel(&l.bench, nested[0], &[one], l.count, &[l.cell(2), outer, 0]);
        empty(&l.bench, nested[0], &[sum]);
        kernel(&l.bench, body[0], &[node], l.count, &[l.cell(0), outer, 4]);
        let exec = instantiate(&l.bench, g);
        assert_eq!(l.run(exec), cells(&[(0, 4), (1, 3), (2, 12)]));
        destroy_exec(&l.bench, exec);
        destroy(&l.bench, g);
        l.finish();
    }
}

/// Without it, a captured body could be lost, or a captured graph have no loop.
#[test]
fn a_body_is_captured() {
    let l = Loop::new(Machine::builder());
    let g = graph(&l.bench);
    let handle = l.handle(g, Some(1));
    let (_, body) = l.node(g, &[], handle, (WHILE, 1));
    let d = &l.bench.driver;
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    let (none, data) = (std::ptr::null(), std::ptr::null());
    let mut captured = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe {
        d.cuStreamBeginCaptureToGraph(l.stream, body[0], none, data, 0, mode)
            .unwrap();
        let counted = l
            .bench
            .launch(l.count, 1, 1, l.stream, &[l.cell(0), handle, 3]);
        assert_eq!(counted, OK);
        d.cuStreamEndCapture(l.stream, &raw mut captured).unwrap();
    }
    assert_eq!(captured, body[0]);
    let exec = instantiate(&l.bench, g);
    assert_eq!(l.run(exec), cells(&[(0, 3)]));
    destroy_exec(&l.bench, exec);
    destroy(&l.bench, g);
    l.finish();
}

/// Without it, a fault in a body could leave the loop running, or be lost; and so could a value
/// that no graph has.
#[test]
fn a_body_that_faults_ends_the_launch() {
    for (machine, entry) in orders().into_iter().zip([true, true, true, false]) {
        without_hanging(move || {
            let l = Loop::new(machine);
            let g = graph(&l.bench);
            let handle = l.handle(g, Some(1));
            let (node, body) = l.node(g, &[], handle, (WHILE, 1));
            let wanted = if entry {
                let fault = l.bench.function(l.module, c"fault");
                kernel(&l.bench, body[0], &[], fault, &[l.cell(0)]);
                CUresult::CUDA_ERROR_LAUNCH_FAILED
            } else {
                kernel(&l.bench, body[0], &[], l.choose, &[handle + 1_000_000, 1]);
                CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
            };
            kernel(&l.bench, g, &[node], l.count, &[l.cell(1), handle, 0]);
            let exec = instantiate(&l.bench, g);
            assert_eq!(launch(&l.bench, exec, l.stream), OK);
            // SAFETY: a handle, checked by the driver.
            let said = code(unsafe { l.bench.driver.cuStreamSynchronize(l.stream) });
            assert_eq!(said, wanted);
        });
    }
}

/// Without it, a loop that never ends would keep its machine for ever, or who waits for what comes
/// before it.
#[test]
fn a_machine_ends_in_an_endless_loop() {
    without_hanging(|| {
        for at_work in [false, true] {
            let l = Loop::new(Machine::builder());
            let g = graph(&l.bench);
            let handle = l.handle(g, Some(1));
            let (_, body) = l.node(g, &[], handle, (WHILE, 1));
            if at_work {
                kernel(&l.bench, body[0], &[], l.choose, &[handle, 1]);
            }
            let exec = instantiate(&l.bench, g);
            let (d, event) = (&l.bench.driver, l.bench.event());
            // SAFETY: live handles.
            unsafe {
                d.cuMemsetD8Async(l.cells, 1, 32, l.stream).unwrap();
                d.cuEventRecord(event, l.stream).unwrap();
                assert_eq!(launch(&l.bench, exec, l.stream), OK);
                d.cuEventSynchronize(event).unwrap();
            }
            assert_eq!(l.bench.query(l.stream), CUresult::CUDA_ERROR_NOT_READY);
            drop(l);
        }
    });
}

/// Without it, graphs could be built here that a driver refuses.
#[test]
fn what_is_no_conditional_node_is_refused() {
    let l = Loop::new(Machine::builder());
    let d = &l.bench.driver;
    let (g, other) = (graph(&l.bench), graph(&l.bench));
    let create = |graph, context, flags| {
        let mut handle = 0;
        // SAFETY: the place outlives the call; handles are checked.
        code(unsafe { d.cuGraphConditionalHandleCreate(&raw mut handle, graph, context, 0, flags) })
    };
    let (context, none) = (l.bench.context, std::ptr::null_mut());
    assert_eq!(create(g, context, 2), INVALID);
    assert_eq!(create(std::ptr::null_mut(), context, 0), INVALID);
    let of_none = create(g, none, 0);
    assert_eq!(of_none, CUresult::CUDA_ERROR_INVALID_CONTEXT);
    let handle = l.handle(g, None);
    // A value without a node, which the result tells.
    let mut params = CUDA_GRAPH_INSTANTIATE_PARAMS::default();
    let mut exec = std::ptr::null_mut();
    // SAFETY: the places outlive the call.
    let unused = code(unsafe { d.cuGraphInstantiateWithParams(&raw mut exec, g, &raw mut params) });
    let why = CUgraphInstantiateResult::CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
    assert_eq!((unused, params.result_out), (INVALID, why));
    for (shape, graph, handle) in [
        ((IF, 0), g, handle),
        ((IF, 3), g, handle),
        ((WHILE, 2), g, handle),
        ((SWITCH, 0), g, handle),
        ((CUgraphConditionalNodeType(3), 1), g, handle),
        ((IF, 1), other, handle),
        ((IF, 1), g, handle + 1_000_000),
    ] {
        let said = l.try_node(graph, &[], handle, shape).err();
        assert_eq!(said, Some(INVALID), "{shape:?}");
    }
    let (node, body) = l.node(g, &[], handle, (IF, 1));
    let twice = l.try_node(g, &[], handle, (IF, 1)).err();
    assert_eq!(twice, Some(INVALID), "one node for each value");
    unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}
    let event = l.bench.event();
    let host = CUDA_HOST_NODE_PARAMS {
        fn_: Some(nothing),
        userData: std::ptr::null_mut(),
    };
    let (mut made, none) = (std::ptr::null_mut(), std::ptr::null());
    let calls = graph(&l.bench);
    // SAFETY: the places outlive the calls; handles are checked.
    unsafe {
        // They are added, and the whole is not made executable.
        let mut refused = |made: CUgraphNode| {
            assert_eq!(
                code(d.cuGraphInstantiateWithFlags(&raw mut exec, g, 0)),
                INVALID
            );
            d.cuGraphDestroyNode(made).unwrap();
        };
        d.cuGraphAddHostNode(&raw mut made, body[0], none, 0, &raw const host)
            .unwrap();
        refused(made);
        d.cuGraphAddEventRecordNode(&raw mut made, body[0], none, 0, event)
            .unwrap();
        refused(made);
        d.cuGraphAddHostNode(&raw mut made, calls, none, 0, &raw const host)
            .unwrap();
        d.cuGraphAddChildGraphNode(&raw mut made, body[0], none, 0, calls)
            .unwrap();
        refused(made);
        assert_eq!(code(d.cuGraphDestroy(body[0])), INVALID);
        let (mut copy, mut params) = (std::ptr::null_mut(), CUgraphNodeParams::default());
        assert_eq!(code(d.cuGraphClone(&raw mut copy, g)), NOT_SUPPORTED);
        let child = code(d.cuGraphAddChildGraphNode(&raw mut made, other, none, 0, g));
        assert_eq!(child, NOT_SUPPORTED);
        params.type_ = CUgraphNodeType::CU_GRAPH_NODE_TYPE_CONDITIONAL;
        assert_eq!(code(d.cuGraphNodeSetParams(node, &raw mut params)), INVALID);
        let exec = instantiate(&l.bench, g);
        let mut second = std::ptr::null_mut();
        let again = code(d.cuGraphInstantiateWithFlags(&raw mut second, g, 0));
        assert_eq!(again, NOT_SUPPORTED, "one executable at a time");
        destroy_exec(&l.bench, exec);
        // The value is free again with its node.
        d.cuGraphDestroyNode(node).unwrap();
        d.cuEventDestroy_v2(event).unwrap();
    }
    l.node(g, &[], handle, (IF, 1));
    for g in [g, other, calls] {
        destroy(&l.bench, g);
    }
    l.finish();
}

/// Without it, an old driver would have what came later.
#[test]
fn older_drivers_have_fewer_kinds() {
    let l = Loop::new(Machine::builder().driver_version(Version::new(12, 4)));
    let g = graph(&l.bench);
    let handle = l.handle(g, None);
    for shape in [(IF, 2), (SWITCH, 1)] {
        assert_eq!(l.try_node(g, &[], handle, shape).err(), Some(INVALID));
    }
    l.node(g, &[], handle, (WHILE, 1));
    destroy(&l.bench, g);
    l.finish();
    let old = TestBench::with(Machine::builder().driver_version(Version::new(12, 2)));
    assert!(!old.driver.has(id::cuGraphConditionalHandleCreate));
    old.finish();
}

/// Without it, an update could change less than it says, or a node what it must not.
#[test]
fn an_update_changes_bodies_and_defaults_and_not_the_node() {
    let l = Loop::new(Machine::builder());
    let d = &l.bench.driver;
    let make = |shape, default, until| {
        let g = graph(&l.bench);
        let handle = l.handle(g, Some(default));
        let (_, body) = l.node(g, &[], handle, shape);
        let values = [l.cell(0), handle, until];
        (g, handle, kernel(&l.bench, body[0], &[], l.count, &values))
    };
    let (first, handle, inside) = make((WHILE, 1), 1, 2);
    let exec = instantiate(&l.bench, first);
    assert_eq!(l.run(exec), cells(&[(0, 2)]));
    let update = |g| {
        let mut info = CUgraphExecUpdateResultInfo::default();
        // SAFETY: the place outlives the call.
        let said = code(unsafe { d.cuGraphExecUpdate_v2(exec, g, &raw mut info) });
        (said, info.result)
    };
    use CUgraphExecUpdateResult as Why;
    for (shape, default, until, after) in [((WHILE, 1), 1, 6, 6), ((WHILE, 1), 0, 9, 6)] {
        let (g, ..) = make(shape, default, until);
        assert_eq!(update(g), (OK, Why::CU_GRAPH_EXEC_UPDATE_SUCCESS));
        destroy(&l.bench, g);
        assert_eq!(l.run(exec), cells(&[(0, after)]));
    }
    for shape in [(IF, 1), (SWITCH, 1)] {
        let (g, ..) = make(shape, 1, 1);
        let changed = Why::CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
        let failed = CUresult::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
        assert_eq!(update(g), (failed, changed));
        destroy(&l.bench, g);
    }
    // Back to the first graph, and then one node of its body alone.
    assert_eq!(update(first).0, OK);
    with_launch(l.count, &[l.cell(0), handle, 8], |params| {
        // SAFETY: the values outlive the call.
        unsafe { d.cuGraphExecKernelNodeSetParams_v2(exec, inside, params) }.unwrap();
    });
    assert_eq!(l.run(exec), cells(&[(0, 8)]));
    destroy_exec(&l.bench, exec);
    destroy(&l.bench, first);
    l.finish();
}

/// Without it, a picture of a graph would lack its loops.
#[test]
fn a_picture_has_the_bodies() {
    let l = Loop::new(Machine::builder());
    let g = graph(&l.bench);
    let handle = l.handle(g, Some(1));
    let (_, body) = l.node(g, &[], handle, (IF, 2));
    kernel(&l.bench, body[1], &[], l.count, &[l.cell(0), handle, 5]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.dot");
    let path = std::ffi::CString::new(file.to_str().unwrap()).unwrap();
    // SAFETY: the text outlives the call.
    unsafe { l.bench.driver.cuGraphDebugDotPrint(g, path.as_ptr(), 1) }.unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("If of 2 graphs"), "{text}");
    assert_eq!(text.matches("subgraph").count(), 3, "{text}");
    assert!(text.contains("count"), "{text}");
    destroy(&l.bench, g);
    l.finish();
}
