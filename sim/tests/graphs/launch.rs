//! What launches compute, compared with the same work in a stream.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cupola_sim::{DeviceConfig, Machine, MachineBuilder, Order, Strict};
use cupola_sys::driver::*;

use crate::raw::{
    FOLD, INVALID, bytes_of, destroy, destroy_exec, fold, graph, instantiate, kernel, launch,
};
use crate::support::{Gate, TestBench, code, without_hanging};

const OK: CUresult = CUresult::CUDA_SUCCESS;
const BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_DEFAULT;
const NON_BLOCKING: CUstream_flags = CUstream_flags::CU_STREAM_NON_BLOCKING;

/// Builds a random graph of kernels, each of which takes in the cells of those before it, and
/// compares three launches in two streams with the same launches in one stream and on the host.
fn random_graph(builder: MachineBuilder, masks: Vec<u16>) -> bool {
    let bench = TestBench::with(builder);
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let count = masks.len().min(16);
    let masks = masks.into_iter().take(count).zip(0..);
    let masks: Vec<u64> = masks
        .map(|(mask, i)| u64::from(mask) & ((1 << i) - 1))
        .collect();
    let (cells, eager) = (bench.alloc(64), bench.alloc(64));
    bench.upload(cells, &[1; 64]);
    bench.upload(eager, &[1; 64]);
    let g = graph(&bench);
    let mut nodes = Vec::new();
    for (i, mask) in masks.iter().enumerate() {
        let before = nodes.iter().enumerate();
        let before = before.filter(|(bit, _)| mask >> bit & 1 == 1);
        let before: Vec<_> = before.map(|(_, node)| *node).collect();
        let values = [cells, *mask, i as u64, i as u64 + 40];
        nodes.push(kernel(&bench, g, &before, function, &values));
    }
    let exec = instantiate(&bench, g);
    destroy(&bench, g);
    let streams = [bench.stream(NON_BLOCKING), bench.stream(BLOCKING)];
    let mut host = [0x0101_0101u32; 16];
    for round in 0..3 {
        assert_eq!(launch(&bench, exec, streams[round % 2]), OK);
        for (i, mask) in masks.iter().enumerate() {
            let values = [eager, *mask, i as u64, i as u64 + 40];
            assert_eq!(bench.launch(function, 1, 1, streams[0], &values), OK);
            fold(&mut host, *mask, i, i as u32 + 40);
        }
    }
    streams.iter().for_each(|stream| bench.wait(*stream));
    let same = bench.download(cells, 64) == bytes_of(&host);
    let same = same && bench.download(eager, 64) == bytes_of(&host);
    destroy_exec(&bench, exec);
    bench.destroy(&streams);
    bench.free(cells);
    bench.free(eager);
    bench.unload(module);
    bench.finish();
    same
}

/// Without it, a branch could run before what it takes in, or a launch before the one before it.
#[test]
fn random_graphs_compute_what_a_stream_computes() {
    fn holds(seed: u64, masks: Vec<u16>) -> bool {
        let config = DeviceConfig::new().jitter(Duration::from_micros(300), seed);
        random_graph(Machine::builder().device(config), masks)
    }
    without_hanging(|| {
        quickcheck::QuickCheck::new()
            .tests(30)
            .quickcheck(holds as fn(_, _) -> bool);
    });
}

/// Without it, graphs would work with threads alone, or strict mode would find mistakes in what
/// is right.
#[test]
fn random_graphs_hold_in_every_order_and_without_findings() {
    fn holds(seed: u64, masks: Vec<u16>) -> bool {
        random_graph(Machine::builder().order(Order::Seeded(seed)), masks.clone())
            && random_graph(Machine::builder().order(Order::Timed), masks.clone())
            && {
                let findings = std::sync::Arc::new(AtomicU32::new(0));
                let seen = std::sync::Arc::clone(&findings);
                let builder = Machine::builder().strict(Strict::all());
                let builder = builder.on_finding(move |finding| {
                    eprintln!("{finding}");
                    seen.fetch_add(1, Ordering::Relaxed);
                });
                random_graph(builder, masks) && findings.load(Ordering::Relaxed) == 0
            }
    }
    without_hanging(|| {
        quickcheck::QuickCheck::new()
            .tests(15)
            .quickcheck(holds as fn(_, _) -> bool);
    });
}

/// Without it, the legacy stream could go on before a graph in it has ended, or a launch begin
/// before what its stream had to do.
#[test]
fn a_launch_keeps_its_place_in_every_stream() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let (memory, g) = (bench.alloc(64), graph(&bench));
    bench.upload(memory, &[0; 64]);
    // Two branches, so that there is a stream of the executable's own.
    let a = kernel(&bench, g, &[], function, &[memory, 1, 1, 0]);
    let b = kernel(&bench, g, &[], function, &[memory, 1, 2, 0]);
    kernel(&bench, g, &[a, b], function, &[memory, 0b110, 3, 0]);
    let exec = instantiate(&bench, g);
    let other = bench.stream(BLOCKING);
    for stream in [bench.stream(BLOCKING), std::ptr::null_mut()] {
        bench.upload(memory, &[0; 64]);
        let gate = Gate::new();
        gate.block(&bench, stream);
        // SAFETY: live handles and memory.
        unsafe { d.cuMemsetD32Async(memory, 5, 1, stream) }.unwrap();
        assert_eq!(launch(&bench, exec, stream), OK);
        let after = match stream.is_null() {
            true => other,
            false => stream,
        };
        // SAFETY: as above.
        unsafe { d.cuMemsetD32Async(memory + 16, 9, 1, after) }.unwrap();
        assert_eq!(bench.query(stream), CUresult::CUDA_ERROR_NOT_READY);
        gate.open();
        bench.wait(after);
        let cells = [5, 5, 5, 5 * 31 + 5, 9];
        assert_eq!(bench.download(memory, 20), bytes_of(&cells));
        if !stream.is_null() {
            bench.destroy(&[stream]);
        }
    }
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    bench.destroy(&[other]);
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}

/// Without it, nodes other than kernels could do something else than the same calls, in a child
/// graph or outside of one.
#[test]
fn copies_memsets_and_functions_do_what_the_calls_do() {
    unsafe extern "C" fn count(data: *mut std::ffi::c_void) {
        // SAFETY: the test's counter, which outlives the launches.
        unsafe { &*data.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
    }
    let bench = TestBench::new();
    let d = &bench.driver;
    let (memory, c) = (bench.alloc(64), bench.context);
    let (mut source, mut target) = (vec![1u8, 2, 3, 4], vec![0u8; 8]);
    let calls = AtomicU32::new(0);
    let copy = |to: (CUmemorytype, *mut u8, CUdeviceptr),
                from: (CUmemorytype, *mut u8, CUdeviceptr),
                len| {
        CUDA_MEMCPY3D {
            srcMemoryType: from.0,
            srcHost: from.1.cast(),
            srcDevice: from.2,
            dstMemoryType: to.0,
            dstHost: to.1.cast(),
            dstDevice: to.2,
            WidthInBytes: len,
            Height: 1,
            Depth: 1,
            ..Default::default()
        }
    };
    use CUmemorytype as T;
    let (host, device) = (T::CU_MEMORYTYPE_HOST, T::CU_MEMORYTYPE_DEVICE);
    let null = std::ptr::null_mut();
    let up = copy((device, null, memory), (host, source.as_mut_ptr(), 0), 4);
    let within = copy((device, null, memory + 4), (device, null, memory), 2);
    let down = copy((host, target.as_mut_ptr(), 0), (device, null, memory), 8);
    let fill = CUDA_MEMSET_NODE_PARAMS {
        dst: memory + 6,
        pitch: 0,
        value: 7,
        elementSize: 2,
        width: 1,
        height: 1,
    };
    let function = CUDA_HOST_NODE_PARAMS {
        fn_: Some(count),
        userData: (&raw const calls).cast_mut().cast(),
    };
    let (child, parent) = (graph(&bench), graph(&bench));
    let mut n: [CUgraphNode; 6] = [std::ptr::null_mut(); 6];
    // SAFETY: places and arrays outlive the calls; vectors and counter the launches.
    unsafe {
        d.cuGraphAddMemcpyNode(&raw mut n[0], child, std::ptr::null(), 0, &raw const up, c)
            .unwrap();
        let after = n[0];
        d.cuGraphAddMemcpyNode(
            &raw mut n[1],
            child,
            &raw const after,
            1,
            &raw const within,
            c,
        )
        .unwrap();
        d.cuGraphAddMemsetNode(
            &raw mut n[2],
            child,
            &raw const after,
            1,
            &raw const fill,
            c,
        )
        .unwrap();
        d.cuGraphAddChildGraphNode(&raw mut n[3], parent, std::ptr::null(), 0, child)
            .unwrap();
        let after = n[3];
        d.cuGraphAddMemcpyNode(
            &raw mut n[4],
            parent,
            &raw const after,
            1,
            &raw const down,
            c,
        )
        .unwrap();
        let after = n[4];
        d.cuGraphAddHostNode(
            &raw mut n[5],
            parent,
            &raw const after,
            1,
            &raw const function,
        )
        .unwrap();
    }
    let exec = instantiate(&bench, parent);
    destroy(&bench, child);
    destroy(&bench, parent);
    let stream = bench.stream(NON_BLOCKING);
    for round in 1..4u8 {
        // The source is read when the copy runs, as are all parameters' targets.
        source[0] = round;
        assert_eq!(launch(&bench, exec, stream), OK);
        bench.wait(stream);
        assert_eq!(target, [round, 2, 3, 4, round, 2, 7, 0]);
        assert_eq!(calls.load(Ordering::Relaxed), u32::from(round));
    }
    bench.free(memory);
    // Memory that is gone is an error of the launch, which has done nothing then.
    source[0] = 77;
    assert_ne!(launch(&bench, exec, stream), OK);
    bench.wait(stream);
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    destroy_exec(&bench, exec);
    bench.destroy(&[stream]);
    bench.finish();
}

/// Without it, a node that is left out could still run, or take its order with it.
#[test]
fn a_node_can_be_left_out() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let (memory, g) = (bench.alloc(8), graph(&bench));
    bench.upload(memory, &[0; 8]);
    let a = kernel(&bench, g, &[], function, &[memory, 0, 0, 3]);
    let b = kernel(&bench, g, &[a], function, &[memory, 1, 1, 1]);
    let none = crate::raw::empty(&bench, g, &[b]);
    let exec = instantiate(&bench, g);
    let stream = bench.stream(NON_BLOCKING);
    let (mut host, mut enabled) = ([0; 2], 9);
    for on in [1, 0, 1] {
        // SAFETY: handles are checked; the place outlives the call.
        unsafe {
            d.cuGraphNodeSetEnabled(exec, a, on).unwrap();
            d.cuGraphNodeGetEnabled(exec, a, &raw mut enabled).unwrap();
        }
        assert_eq!(enabled, on);
        assert_eq!(launch(&bench, exec, stream), OK);
        bench.wait(stream);
        if on == 1 {
            fold(&mut host, 0, 0, 3);
        }
        fold(&mut host, 1, 1, 1);
        assert_eq!(bench.download(memory, 8), bytes_of(&host));
    }
    // SAFETY: handles, checked by the driver.
    unsafe { assert_eq!(code(d.cuGraphNodeSetEnabled(exec, none, 0)), INVALID) };
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    bench.destroy(&[stream]);
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}

/// Without it, a graph over two contexts could run its work in the wrong one, or hang.
#[test]
fn nodes_run_in_their_own_contexts() {
    let bench = TestBench::new();
    let d = &bench.driver;
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let (memory, g) = (bench.alloc(16), graph(&bench));
    bench.upload(memory, &[0; 16]);
    let mut second = std::ptr::null_mut();
    // SAFETY: the place outlives the call.
    unsafe { d.cuCtxCreate_v2(&raw mut second, 0, 0) }.unwrap();
    let other = bench.load(FOLD);
    let elsewhere = bench.function(other, c"fold");
    let stream = bench.stream(NON_BLOCKING);
    let a = kernel(&bench, g, &[], function, &[memory, 0, 0, 3]);
    let b = kernel(&bench, g, &[a], elsewhere, &[memory, 1, 1, 1]);
    kernel(&bench, g, &[b], function, &[memory, 2, 2, 5]);
    let exec = instantiate(&bench, g);
    let mut host = [0; 4];
    // In a stream of the second node's context, and in one of the first's.
    bench.attach();
    let first = bench.stream(NON_BLOCKING);
    for stream in [stream, first] {
        assert_eq!(launch(&bench, exec, stream), OK);
        bench.wait(stream);
        fold(&mut host, 0, 0, 3);
        fold(&mut host, 1, 1, 1);
        fold(&mut host, 2, 2, 5);
        assert_eq!(bench.download(memory, 16), bytes_of(&host));
    }
    bench.destroy(&[stream]);
    // SAFETY: the context lives.
    unsafe { d.cuCtxDestroy_v2(second) }.unwrap();
    let gone = launch(&bench, exec, first);
    assert_ne!(gone, OK, "a context of the graph is gone");
    bench.wait(first);
    assert_eq!(bench.download(memory, 16), bytes_of(&host));
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    bench.destroy(&[first]);
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}

/// Without it, an executable that is destroyed while it runs could lose work, or a context with
/// one end before its work.
#[test]
fn what_is_launched_ends_without_its_executable() {
    let bench = TestBench::new();
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let (memory, g) = (bench.alloc(16), graph(&bench));
    bench.upload(memory, &[0; 16]);
    let a = kernel(&bench, g, &[], function, &[memory, 0, 0, 3]);
    kernel(&bench, g, &[a], function, &[memory, 1, 1, 1]);
    kernel(&bench, g, &[a], function, &[memory, 1, 2, 1]);
    let exec = instantiate(&bench, g);
    let stream = bench.stream(NON_BLOCKING);
    let gate = Gate::new();
    gate.block(&bench, stream);
    assert_eq!(launch(&bench, exec, stream), OK);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    gate.open();
    bench.wait(stream);
    let mut host = [0; 4];
    fold(&mut host, 0, 0, 3);
    fold(&mut host, 1, 1, 1);
    fold(&mut host, 1, 2, 1);
    assert_eq!(bench.download(memory, 16), bytes_of(&host));
    bench.destroy(&[stream]);
    bench.free(memory);
    bench.unload(module);
    bench.finish();
}

/// Without it, a kernel of a graph that faults would be no fault of its context, or of its stream's
/// branches alone.
#[test]
fn a_fault_in_a_branch_is_the_context_s() {
    let bench = TestBench::new();
    let module = bench.load(FOLD);
    let function = bench.function(module, c"fold");
    let g = graph(&bench);
    let memory = bench.alloc(16);
    kernel(&bench, g, &[], function, &[memory, 0, 0, 3]);
    kernel(&bench, g, &[], function, &[64, 0, 0, 3]);
    let exec = instantiate(&bench, g);
    let stream = bench.stream(NON_BLOCKING);
    assert_eq!(launch(&bench, exec, stream), OK);
    // SAFETY: a handle, checked by the driver.
    let end = unsafe { bench.driver.cuStreamSynchronize(stream) };
    assert_eq!(code(end), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    destroy_exec(&bench, exec);
    destroy(&bench, g);
    bench.finish();
}
