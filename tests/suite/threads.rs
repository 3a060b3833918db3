//! Threads on which no context is current, or another one.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cupola_managers::context::Waiting;
use cupola_managers::event::EventConfig;
use cupola_managers::graph::{CaptureConfig, Graph};
use cupola_managers::ops::{self, CopyBatch, LaunchConfig};
use cupola_managers::{Buffer, Error, PinnedBuffer, Stream};
use cupola_sys::driver::CUcontext;

use crate::common::Bench;

const LEN: usize = 4096;

/// Every kind of work on a stream, each put after `elsewhere`.
fn work(bench: &Bench, elsewhere: impl Fn()) {
    let (stream, other) = (&bench.stream, bench.another_stream());
    let filled = |value: f32| {
        let mut buffer = bench.pool.allocate(LEN, stream).unwrap();
        ops::fill(&mut buffer, value, stream).unwrap();
        buffer
    };
    let (x, mut y, mut copy) = (filled(2.0), filled(0.0), filled(0.0));
    let pinned = || bench.context.buffers().pinned::<f32>(LEN).unwrap();
    let mut back: [PinnedBuffer<f32>; 2] = [pinned(), pinned()];
    let event = bench
        .context
        .events()
        .create(EventConfig::timing())
        .unwrap();
    let saxpy = bench.kernel("cupola_saxpy");
    let grid = LaunchConfig::for_elements(LEN as u64, 256);
    // SAFETY: the kernel reads LEN elements of `x` and changes those of `y`.
    let add = |y: &mut Buffer<f32>, on: &Stream| unsafe {
        elsewhere();
        ops::launch(&saxpy, grid, (LEN as u64, 1.0_f32, &x, y), on)
    };
    let (graph, ()) = Graph::capture(&bench.context, CaptureConfig::default(), |capture| {
        let on = capture.stream().clone();
        add(&mut y, &on)?;
        elsewhere();
        assert!(capture.last_node(&on)?.is_some());
        elsewhere();
        Ok::<_, Error>(())
    })
    .unwrap();
    let mut executable = graph.instantiate().unwrap();
    ops::synchronize(stream).unwrap();

    elsewhere();
    ops::fill(&mut y, 3.0, stream).unwrap();
    add(&mut y, stream).unwrap();
    elsewhere();
    ops::record(&event, stream).unwrap();
    elsewhere();
    ops::wait(&other, &event).unwrap();
    add(&mut y, &other).unwrap();
    elsewhere();
    ops::order(&other, stream).unwrap();
    let called = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&called);
    elsewhere();
    ops::host_function(stream, move || {
        counts.fetch_add(1, Ordering::SeqCst);
    })
    .unwrap();
    elsewhere();
    executable.upload(stream).unwrap();
    elsewhere();
    executable.launch(stream).unwrap();
    elsewhere();
    ops::copy(&y, &mut copy, stream).unwrap();
    elsewhere();
    ops::zero(&mut y, stream).unwrap();
    let [one, two] = &mut back;
    elsewhere();
    let mut batch = CopyBatch::new(stream);
    batch.copy(&copy, &mut y).unwrap();
    batch.download(&copy, &mut *one).unwrap();
    elsewhere();
    batch.submit().unwrap();
    elsewhere();
    ops::copy_to_host(&y, &mut *two, stream).unwrap();
    elsewhere();
    ops::record(&event, stream).unwrap();
    elsewhere();
    ops::synchronize_event(&event).unwrap();
    elsewhere();
    ops::synchronize(stream).unwrap();
    elsewhere();
    assert!(ops::query(stream).unwrap() && ops::query_event(&event).unwrap());
    elsewhere();
    assert_eq!(ops::elapsed(&event, &event).unwrap(), 0.0);
    assert_eq!(called.load(Ordering::SeqCst), 1);
    for pinned in &back {
        assert!(pinned.as_slice().unwrap().iter().all(|it| *it == 9.0));
    }
}

// Without it work could fail, or be another context's, on a thread that never had this one current, or on
// which other code has set its own.
#[test]
fn work_needs_no_current_context() {
    let bench = Bench::open();
    let own = bench.device.contexts().create(Waiting::Auto).unwrap();
    let set = |context: CUcontext| {
        // SAFETY: null, or the context that is dropped last.
        unsafe { bench.execution.driver().cuCtxSetCurrent(context) }.unwrap();
    };
    work(&bench, || set(ptr::null_mut()));
    work(&bench, || set(own.as_raw()));
    bench.context.make_current().unwrap();
    bench.device.contexts().release(own.handle()).unwrap();
    drop(own);
    bench.finish();
}
