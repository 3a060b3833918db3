//! Private pools of captured graphs, as PyTorch begins, ends and releases them.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI64, Ordering};

use cupola_capi::{
    CupolaStatus, PoolId, cupola_torch_begin_allocate_to_pool, cupola_torch_end_allocate_to_pool,
    cupola_torch_release_pool,
};
use cupola_sys::driver::{CUgraph, CUgraphExec, CUstream, CUstreamCaptureMode};

use crate::framework::{
    Framework, RawStream, allocate_on, alone, errors, free_on, last_error, trim_all, usage, use_on,
};

/// Copies of filters that have not been destroyed.
static COPIES: AtomicI64 = AtomicI64::new(0);

/// A `std::function<bool(cudaStream_t)>` as libstdc++ lays it out, which accepts one stream. That a real one
/// is so is another test's matter (`c_programs`).
#[repr(C)]
struct Filter {
    functor: [*mut c_void; 2],
    manager:
        unsafe extern "C-unwind" fn(*mut [*mut c_void; 2], *const [*mut c_void; 2], c_int) -> bool,
    invoker: unsafe extern "C-unwind" fn(*const [*mut c_void; 2], *mut CUstream) -> bool,
}

unsafe extern "C-unwind" fn manage(
    to: *mut [*mut c_void; 2],
    from: *const [*mut c_void; 2],
    operation: c_int,
) -> bool {
    match operation {
        2 => {
            // SAFETY: both are places of two words.
            unsafe { *to = *from };
            COPIES.fetch_add(1, Ordering::Relaxed);
        }
        3 => {
            COPIES.fetch_sub(1, Ordering::Relaxed);
        }
        other => panic!("operation {other}"),
    }
    false
}

unsafe extern "C-unwind" fn invoke(
    functor: *const [*mut c_void; 2],
    stream: *mut CUstream,
) -> bool {
    // SAFETY: the functor that was copied, and a stream by reference.
    unsafe { (*functor)[0] == (*stream).cast() }
}

/// Begins a private pool, as PyTorch does.
pub(crate) fn begin(id: PoolId, accepted: RawStream) {
    let filter = Filter {
        functor: [accepted.void(), ptr::null_mut()],
        manager: manage,
        invoker: invoke,
    };
    // SAFETY: it is laid out as a `std::function`, and ends with this call.
    unsafe { cupola_torch_begin_allocate_to_pool(0, id, ptr::from_ref(&filter).cast()) };
}

const WORDS: usize = 3 << 18;
const BYTES: usize = WORDS * 4;

const fn id(first: u64) -> PoolId {
    PoolId { first, second: 7 }
}

/// Captures in the mode that forbids most.
fn capture(
    framework: &Framework,
    stream: RawStream,
    work: impl FnOnce(),
) -> (CUgraph, CUgraphExec) {
    let (driver, mode) = (
        &framework.driver,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
    );
    let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the stream is alive and its context current; the places outlive the calls.
    unsafe {
        driver.cuStreamBeginCapture_v2(stream.0, mode).unwrap();
        work();
        driver.cuStreamEndCapture(stream.0, &raw mut graph).unwrap();
        driver
            .cuGraphInstantiateWithFlags(&raw mut executable, graph, 0)
            .unwrap();
    }
    (graph, executable)
}

fn destroy(framework: &Framework, (graph, executable): (CUgraph, CUgraphExec)) {
    // SAFETY: they are used no more.
    unsafe {
        framework.driver.cuGraphExecDestroy(executable).unwrap();
        framework.driver.cuGraphDestroy(graph).unwrap();
    }
}

fn copy(framework: &Framework, to: *mut c_void, from: *mut c_void, stream: RawStream) {
    let (to, from) = (to.addr() as u64, from.addr() as u64);
    // SAFETY: both are blocks of so many bytes.
    unsafe {
        framework
            .driver
            .cuMemcpyDtoDAsync_v2(to, from, BYTES, stream.0)
    }
    .unwrap();
}

// Without it a replay could write to memory that others have by then, a capture be ended by a call that it
// forbids, or the memory of a graph that is gone be lost.
#[test]
fn replays_of_a_graph_touch_the_memory_of_its_private_pool_alone() {
    alone(
        "graphs::replays_of_a_graph_touch_the_memory_of_its_private_pool_alone",
        &[("CUPOLA_LIMIT", "96MiB")],
        |framework| {
            let (captured, other) = (framework.stream(), framework.stream());
            let out = allocate_on(BYTES, captured);
            let before = allocate_on(BYTES, captured);
            let recorded = allocate_on(BYTES, captured);
            assert_eq!(use_on(recorded, other), CupolaStatus::CupolaOk);
            framework.synchronize(captured);
            begin(id(1), captured);
            let graph = capture(framework, captured, || {
                framework.fill(before, 5, WORDS, captured);
                assert_eq!(free_on(before, captured), CupolaStatus::CupolaOk);
                // Nothing may be put on the captured stream, nor on another for its sake.
                assert_eq!(free_on(recorded, captured), CupolaStatus::CupolaOk);
                let scratch = allocate_on(BYTES, captured);
                assert!(scratch != before && scratch != recorded);
                framework.fill(scratch, 7, WORDS, captured);
                copy(framework, out, scratch, captured);
                assert_eq!(free_on(scratch, captured), CupolaStatus::CupolaOk);
                // In the graph the order of the capture is enough.
                let again = allocate_on(BYTES, captured);
                assert_eq!(again, scratch);
                assert_eq!(free_on(again, captured), CupolaStatus::CupolaOk);
                // Others go on meanwhile, with memory of the pool.
                let beside = allocate_on(BYTES, other);
                assert_ne!(beside, scratch);
                framework.fill(beside, 8, WORDS, other);
                assert_eq!(free_on(beside, other), CupolaStatus::CupolaOk);
            });
            cupola_torch_end_allocate_to_pool(0, id(1));
            assert_eq!(errors(), "");

            let mut others = Vec::new();
            loop {
                let stream = [captured, other][others.len() % 2];
                // SAFETY: the streams are alive.
                let block = unsafe { cupola_capi::cupola_allocate_on(0, BYTES, stream.void()) };
                if block.is_null() {
                    break;
                }
                framework.fill(block, 9, WORDS, stream);
                others.push((block, stream));
            }
            // 96 MiB, less the three and the one that the graph has; the deferred one is free.
            assert!((20..=29).contains(&others.len()), "{}", others.len());
            framework.fill(out, 0, WORDS, captured);
            framework.synchronize(other);
            for _ in 0..2 {
                // SAFETY: both are alive, and what the graph uses is the graph's.
                unsafe { framework.driver.cuGraphLaunch(graph.1, captured.0) }.unwrap();
            }
            assert_eq!(framework.read(out, WORDS, captured), vec![7; WORDS]);
            for (block, stream) in others {
                assert_eq!(framework.read(block, WORDS, stream), vec![9; WORDS]);
                assert_eq!(free_on(block, stream), CupolaStatus::CupolaOk);
            }
            assert_eq!(free_on(out, captured), CupolaStatus::CupolaOk);

            // As PyTorch does: the pool is released before the executable is destroyed, and launches run.
            let held = framework.hold(captured);
            // SAFETY: as above; the block that it copies to was freed on the stream, before any other use.
            unsafe { framework.driver.cuGraphLaunch(graph.1, captured.0) }.unwrap();
            let mapped = usage().mapped;
            cupola_torch_release_pool(0, id(1));
            let next = allocate_on(BYTES, other);
            framework.fill(next, 3, WORDS, other);
            drop(held);
            framework.synchronize(captured);
            assert_eq!(framework.read(next, WORDS, other), vec![3; WORDS]);
            assert_eq!(free_on(next, other), CupolaStatus::CupolaOk);
            assert!(usage().mapped <= mapped.max(96 << 20));
            destroy(framework, graph);
            trim_all();
            assert_eq!(COPIES.load(Ordering::Relaxed), 0);
        },
    );
}

// Without it a pool that several graphs share could end with the first of them, or with none.
#[test]
fn a_shared_private_pool_ends_with_its_last_graph() {
    alone(
        "graphs::a_shared_private_pool_ends_with_its_last_graph",
        &[("CUPOLA_LIMIT", "96MiB")],
        |framework| {
            let stream = framework.stream();
            let outs = [(); 2].map(|()| allocate_on(BYTES, stream));
            framework.synchronize(stream);
            let graphs = [21, 22].map(|word| {
                begin(id(2), stream);
                let out = outs[word as usize - 21];
                let graph = capture(framework, stream, || {
                    let scratch = allocate_on(BYTES, stream);
                    framework.fill(scratch, word, WORDS, stream);
                    copy(framework, out, scratch, stream);
                    assert_eq!(free_on(scratch, stream), CupolaStatus::CupolaOk);
                });
                cupola_torch_end_allocate_to_pool(0, id(2));
                graph
            });
            let check = |graph: usize| {
                let out = outs[graph];
                framework.fill(out, 0, WORDS, stream);
                // SAFETY: both are alive, and what the graph uses is the graph's.
                unsafe { framework.driver.cuGraphLaunch(graphs[graph].1, stream.0) }.unwrap();
                let word = 21 + graph as u32;
                assert_eq!(framework.read(out, WORDS, stream), vec![word; WORDS]);
            };
            check(0);
            check(1);
            cupola_torch_release_pool(0, id(2));
            // SAFETY: it is used no more.
            unsafe { framework.driver.cuGraphExecDestroy(graphs[0].1) }.unwrap();
            assert_eq!(cupola_capi::cupola_trim(0), CupolaStatus::CupolaOk);
            check(1);
            cupola_torch_release_pool(0, id(2));
            // SAFETY: they are used no more.
            unsafe {
                framework.driver.cuGraphDestroy(graphs[0].0).unwrap();
            }
            destroy(framework, graphs[1]);
            for out in outs {
                assert_eq!(free_on(out, stream), CupolaStatus::CupolaOk);
            }
            trim_all();
            assert_eq!(
                (errors(), COPIES.load(Ordering::Relaxed)),
                (String::new(), 0)
            );
        },
    );
}

// Without it a wrong order of the hooks could end the process, or go unnoticed.
#[test]
fn a_wrong_order_of_the_hooks_is_told() {
    alone(
        "graphs::a_wrong_order_of_the_hooks_is_told",
        &[],
        |framework| {
            let stream = framework.stream();
            let told = |text: &str| {
                assert!(last_error().contains(text), "{text}: {}", last_error());
            };
            cupola_torch_end_allocate_to_pool(0, id(3));
            told("there is no private pool (3, 7)");
            cupola_torch_release_pool(0, id(3));
            told("there is no private pool (3, 7)");
            // SAFETY: null is refused.
            unsafe { cupola_torch_begin_allocate_to_pool(0, id(3), ptr::null()) };
            told("filter is null");
            begin(id(3), stream);
            begin(id(3), stream);
            told("private pool (3, 7) takes requests already");
            cupola_torch_release_pool(0, id(3));
            told("private pool (3, 7) takes requests already");
            let block = allocate_on(1000, stream);
            cupola_torch_end_allocate_to_pool(0, id(3));
            cupola_torch_end_allocate_to_pool(0, id(3));
            told("private pool (3, 7) takes no requests");
            // A tensor that outlives its graph.
            cupola_torch_release_pool(0, id(3));
            assert_eq!(cupola_capi::cupola_trim(0), CupolaStatus::CupolaOk);
            framework.fill(block, 4, 250, stream);
            assert_eq!(framework.read(block, 250, stream), [4; 250]);
            assert_eq!(free_on(block, stream), CupolaStatus::CupolaOk);
            trim_all();
            assert_eq!((usage().errors, COPIES.load(Ordering::Relaxed)), (6, 0));
        },
    );
}
