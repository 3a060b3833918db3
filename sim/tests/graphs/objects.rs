//! What graphs keep alive, and pictures of them.

use std::ffi::{CString, c_void};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use cupola_sys::driver::*;

use crate::raw::{FOLD, INVALID, destroy, destroy_exec, graph, instantiate, kernel, launch};
use crate::support::{Gate, TestBench, code};

const OK: CUresult = CUresult::CUDA_SUCCESS;

/// A new object with some references, and where its end is told.
fn object(bench: &TestBench, count: u32) -> (CUuserObject, Receiver<()>) {
    unsafe extern "C" fn end(data: *mut c_void) {
        // SAFETY: made below, and called once.
        let told = unsafe { Box::from_raw(data.cast::<Sender<()>>()) };
        // The test may have failed.
        let _ = told.send(());
    }
    let (told, ended) = channel();
    let data = Box::into_raw(Box::new(told)).cast();
    let mut object = std::ptr::null_mut();
    // SAFETY: the place outlives the call, and the function takes that pointer.
    unsafe {
        bench
            .driver
            .cuUserObjectCreate(&raw mut object, data, Some(end), count, 1)
    }
    .unwrap();
    (object, ended)
}

/// Without it, what a graph uses could go before its last launch has ended, or never.
#[test]
fn an_object_ends_with_its_last_holder() {
    const SOON: Duration = Duration::from_secs(60);
    let bench = TestBench::new();
    let d = &bench.driver;
    let g = graph(&bench);
    let (object, ended) = object(&bench, 2);
    assert_eq!(bench.machine.usage().user_objects, 1);
    let mut copy = std::ptr::null_mut();
    // SAFETY: the place outlives the call; handles are checked.
    unsafe {
        d.cuUserObjectRetain(object, 1).unwrap();
        d.cuUserObjectRelease(object, 1).unwrap();
        // One of the two becomes the graph's, which takes another.
        d.cuGraphRetainUserObject(g, object, 1, 1).unwrap();
        d.cuGraphRetainUserObject(g, object, 1, 0).unwrap();
        assert_eq!(code(d.cuUserObjectRelease(object, 2)), INVALID);
        d.cuUserObjectRelease(object, 1).unwrap();
        assert_eq!(code(d.cuUserObjectRelease(object, 1)), INVALID);
        d.cuGraphReleaseUserObject(g, object, 1).unwrap();
        assert_eq!(code(d.cuGraphReleaseUserObject(g, object, 2)), INVALID);
        d.cuGraphClone(&raw mut copy, g).unwrap();
    }
    destroy(&bench, g);
    // As a child of another graph.
    let (parent, mut node) = (graph(&bench), std::ptr::null_mut());
    // SAFETY: the place outlives the call.
    unsafe { d.cuGraphAddChildGraphNode(&raw mut node, parent, std::ptr::null(), 0, copy) }
        .unwrap();
    destroy(&bench, copy);
    let exec = instantiate(&bench, parent);
    destroy(&bench, parent);
    let stream = bench.stream(CUstream_flags::CU_STREAM_NON_BLOCKING);
    let gate = Gate::new();
    gate.block(&bench, stream);
    assert_eq!(launch(&bench, exec, stream), OK);
    destroy_exec(&bench, exec);
    assert!(ended.try_recv().is_err(), "a launch is under way");
    gate.open();
    bench.wait(stream);
    ended.recv_timeout(SOON).unwrap();
    let mut bad = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    let refused = unsafe { d.cuUserObjectCreate(&raw mut bad, std::ptr::null_mut(), None, 1, 1) };
    assert_eq!(code(refused), INVALID);
    bench.destroy(&[stream]);
    bench.finish();
}

/// Without it, a program's picture of its graph could lack a node or an edge.
#[test]
fn a_picture_has_every_node_and_edge() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let (g, memory) = (graph(&bench), bench.alloc(8));
    let a = kernel(&bench, g, &[], function, &[memory, 0, 0, 0]);
    let mut node = std::ptr::null_mut();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.dot");
    let path = CString::new(file.to_str().unwrap()).unwrap();
    let nowhere = CString::new(folder.path().to_str().unwrap()).unwrap();
    // SAFETY: places and texts outlive the calls.
    unsafe {
        d.cuGraphAddChildGraphNode(&raw mut node, g, &raw const a, 1, g)
            .unwrap();
        d.cuGraphDebugDotPrint(g, path.as_ptr(), 1).unwrap();
        let refused = d.cuGraphDebugDotPrint(g, nowhere.as_ptr(), 0);
        assert_eq!(code(refused), CUresult::CUDA_ERROR_OPERATING_SYSTEM);
    }
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.starts_with("digraph"), "{text}");
    assert_eq!(text.matches("fold").count(), 2, "{text}");
    assert_eq!(text.matches("->").count(), 1, "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    destroy(&bench, g);
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}
