//! How a process may end while it uses a device: each test in a process of its own.

use std::cell::RefCell;
use std::process::Output;
use std::sync::Mutex;

use cupola_managers::{Buffer, Event, PinnedBuffer, Stream, ops};

use crate::common::Bench;

/// Runs the ignored test of this name in a process of its own.
fn run(child: &str) -> (Output, String) {
    crate::child::run(&format!("process::{child}"))
}

/// Something of everything, with work on its way.
#[allow(dead_code, reason = "they are there to be dropped")]
struct Everything {
    event: Event,
    buffer: Buffer<u32>,
    pinned: PinnedBuffer<u32>,
    stream: Stream,
    bench: Bench,
}

fn everything() -> Everything {
    let bench = Bench::open();
    let stream = bench.context.streams().acquire(Default::default()).unwrap();
    let event = bench.context.events().acquire(Default::default()).unwrap();
    let mut buffer = bench.pool.allocate::<u32>(1 << 20, &stream).unwrap();
    let mut pinned = bench.context.buffers().pinned::<u32>(1 << 20).unwrap();
    ops::fill(&mut buffer, 7, &stream).unwrap();
    ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap();
    ops::record(&event, &stream).unwrap();
    Everything {
        bench,
        stream,
        event,
        buffer,
        pinned,
    }
}

// Without it a program that just exits could crash or hang in the driver.
#[test]
fn a_process_may_exit_without_dropping_anything() {
    let (output, said) = run("child_exits");
    assert_eq!(output.status.code(), Some(33), "{said}");
}

#[test]
#[ignore = "a process of a_process_may_exit_without_dropping_anything"]
fn child_exits() {
    let _everything = everything();
    std::process::exit(33);
}

static KEPT: Mutex<Option<Everything>> = Mutex::new(None);

/// Runs when the process exits; registered before the driver was loaded, so after what the
/// driver registered for itself.
extern "C" fn drop_everything() {
    let kept = KEPT.lock().map(|mut kept| kept.take());
    // A panic would abort: the test sees the exit code.
    if let Ok(Some(everything)) = kept {
        let watch = everything.bench.execution.watch();
        drop(everything);
        let mut live = watch.live();
        (live.abandoned, live.abandoned_bytes) = (0, 0);
        let clean = live.is_empty();
        println!(
            "dropped at exit, {}",
            if clean {
                "nothing is left"
            } else {
                "something is left"
            }
        );
    }
}

// Without it a static that is dropped after the driver has shut down could crash, or hang.
#[test]
fn things_may_be_dropped_after_the_driver_has_shut_down() {
    let (output, said) = run("child_drops_at_exit");
    assert_eq!(output.status.code(), Some(34), "{said}");
    assert!(said.contains("dropped at exit, nothing is left"), "{said}");
}

#[test]
#[ignore = "a process of things_may_be_dropped_after_the_driver_has_shut_down"]
fn child_drops_at_exit() {
    // SAFETY: the handler is a function that unwinds never: a panic in it aborts.
    assert_eq!(unsafe { libc::atexit(drop_everything) }, 0);
    *KEPT.lock().unwrap() = Some(everything());
    std::process::exit(34);
}

// Without it a panic that unwinds through leases, views and guards could become an abort.
#[test]
fn a_panic_may_unwind_through_everything() {
    let (output, said) = run("child_panics");
    assert_eq!(output.status.code(), Some(101), "{said}");
    assert!(
        said.contains("on purpose") && said.contains("nothing is left"),
        "{said}"
    );
    assert_eq!(said.matches("panicked at").count(), 1, "{said}");
}

/// Says what is left when it is dropped: after everything that was made later.
struct Witness(cupola_managers::LiveWatch);

impl Drop for Witness {
    fn drop(&mut self) {
        if self.0.live().is_empty() {
            println!("nothing is left");
        }
    }
}

#[test]
#[ignore = "a process of a_panic_may_unwind_through_everything"]
fn child_panics() {
    let made = everything();
    let _witness = Witness(made.bench.execution.watch());
    // From here on dropped before the witness.
    let made = made;
    let context = made.bench.context.clone();
    let _guard = context.enter().unwrap();
    let handle = made.stream.handle();
    let _lease = context
        .streams()
        .lease(handle)
        .unwrap_or_else(|error| panic!("{error}"));
    let _view = made.buffer.view();
    panic!("on purpose");
}

/// What a thread keeps to its end.
type Kept = (Stream, Event, Buffer<u32>, PinnedBuffer<u32>);

thread_local! {
    static OF_THREAD: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

// Without it a thread that ends with leases in its thread-locals could use others that are
// gone already, and abort.
#[test]
fn a_thread_may_end_with_leases_in_its_thread_locals() {
    let bench = Bench::open();
    let watch = bench.execution.watch();
    for _ in 0..50 {
        let (context, pool) = (bench.context.clone(), bench.pool.clone());
        let thread = std::thread::spawn(move || {
            let stream = context.streams().acquire(Default::default()).unwrap();
            let event = context.events().acquire(Default::default()).unwrap();
            let mut buffer = pool.allocate::<u32>(1000, &stream).unwrap();
            let mut pinned = context.buffers().pinned::<u32>(1000).unwrap();
            ops::fill(&mut buffer, 1, &stream).unwrap();
            ops::copy_to_host(&buffer, &mut pinned, &stream).unwrap();
            OF_THREAD.set(Some((stream, event, buffer, pinned)));
        });
        thread.join().unwrap();
    }
    let live = watch.live();
    assert_eq!((live.buffers, live.pinned), (0, 0), "{live:?}");
    bench.finish();
}
