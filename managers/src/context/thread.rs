//! A stream of each thread.
//!
//! The driver's own such stream (`CU_STREAM_PER_THREAD`) is one handle that means another stream
//! on each thread, so memory that was used on it could not be freed safely by another. These
//! are ordinary streams, which any thread may use and wait for.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use super::{Context, ContextInner};
use crate::error::Result;
use crate::lists;
use crate::stream::{Stream, StreamConfig, StreamHandle};
use crate::sync::deferred::DeferCallbacks;
use crate::sync::thread_exit::ThreadExit;

/// This thread's stream in one context. The context's manager holds it; this keeps nothing
/// alive, and gives it back when the thread ends.
struct OfThread {
    context: Weak<ContextInner>,
    thread_exit: ThreadExit,
    handle: StreamHandle,
}

impl Drop for OfThread {
    fn drop(&mut self) {
        // Policies run after the lock of the thread exit is given back.
        let _defer = DeferCallbacks::new();
        self.thread_exit.with(&self.context, |context| {
            // Stale if another thread released it, or shut the manager down.
            let _ = context.streams.release(self.handle);
        });
    }
}

thread_local! {
    static STREAMS: RefCell<Vec<OfThread>> = const { RefCell::new(Vec::new()) };
}

impl Context {
    /// This thread's own stream in this context: non-blocking, acquired at the first call and
    /// the same for all later ones, until the thread ends. Then it waits for its next life; a
    /// lease that another thread has of it stays good.
    ///
    /// # Errors
    /// As [`StreamManager::acquire`](crate::stream::StreamManager::acquire).
    #[track_caller]
    pub fn thread_stream(&self) -> Result<Stream> {
        let of_this =
            |known: &&OfThread| std::ptr::eq(known.context.as_ptr(), Arc::as_ptr(&self.0));
        // No borrow is held across a call that may run the user's code.
        let known = STREAMS.try_with(|streams| {
            let streams = streams.borrow();
            streams.iter().find(of_this).map(|known| known.handle)
        });
        let Ok(known) = known else {
            // The thread is past its thread-locals: a stream for this once.
            return self.streams().acquire(StreamConfig::default());
        };
        if let Some(stream) = known.and_then(|handle| self.streams().lease(handle).ok()) {
            self.0.core.healthy()?;
            return Ok(stream);
        }
        let stream = self.streams().create_held(StreamConfig::default())?;
        let mine = OfThread {
            context: Arc::downgrade(&self.0),
            thread_exit: self.0.thread_exit.clone(),
            handle: stream.handle(),
        };
        let before = STREAMS.try_with(|streams| {
            let mut streams = streams.borrow_mut();
            let is_over = |known: &OfThread| known.context.strong_count() == 0 || of_this(&known);
            let over = lists::take_out(&mut streams, is_over);
            streams.push(mine);
            over
        });
        drop(before);
        Ok(stream)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use cupola_sim::Machine;

    use super::*;
    use crate::ExecutionManager;
    use crate::context::ContextManager;
    use crate::handle::ContextHandle;
    use crate::shutdown_report::ShutdownReport;
    use crate::stats::State;

    /// The report of `shutdown` while a thread that ends holds its stream and the context.
    fn told(shutdown: impl FnOnce(Context, &ContextManager) -> ShutdownReport) -> ShutdownReport {
        let machine = Machine::builder().worker_threads(1).build();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let device = execution.devices().get(0).unwrap();
        let context = device.contexts().primary().unwrap();
        let (inner, thread_exit) = (Arc::downgrade(&context.0), context.0.thread_exit.clone());
        let handle = context.thread_stream().unwrap().handle();
        let (there, is_there) = mpsc::channel();
        std::thread::scope(|scope| {
            // The steps of a thread's end, held up in the middle.
            scope.spawn(move || {
                thread_exit.with(&inner, |context| {
                    let stream = context.streams.lease(handle).unwrap();
                    there.send(()).unwrap();
                    while context.streams.state() != State::ShutDown {
                        std::thread::yield_now();
                    }
                    // Time for a shutdown that does not wait to be wrong in.
                    std::thread::sleep(Duration::from_millis(50));
                    drop(stream);
                });
            });
            is_there.recv().unwrap();
            shutdown(context, device.contexts())
        })
    }

    // Without it a shutdown would tell of leases that only a thread has that is just ending.
    #[test]
    fn a_thread_that_exits_leases_nothing() {
        let all = told(|context, contexts| {
            drop(context);
            contexts.shutdown()
        });
        assert!(all.is_complete(), "{all}");
        let within = told(|context, _| context.shutdown());
        assert!(within.is_complete(), "{within}");
    }

    /// Releases a context while a thread that ends holds it; how many are there then.
    fn left_after(release: impl FnOnce(&ContextManager, ContextHandle)) -> u64 {
        let machine = Machine::builder().worker_threads(1).build();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let device = execution.devices().get(0).unwrap();
        let contexts = device.contexts();
        let context = contexts.create_held(Default::default()).unwrap();
        let (inner, thread_exit) = (Arc::downgrade(&context.0), context.0.thread_exit.clone());
        let handle = context.handle();
        let (there, is_there) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                thread_exit.with(&inner, |_| {
                    there.send(()).unwrap();
                    while contexts.is_alive(handle) {
                        std::thread::yield_now();
                    }
                    // Time for a release that does not wait to be wrong in.
                    std::thread::sleep(Duration::from_millis(50));
                });
            });
            is_there.recv().unwrap();
            drop(context);
            release(contexts, handle);
            execution.watch().live().contexts
        })
    }

    // Without it a context could stay after its release, and keep its place, until a thread
    // has ended that its scope no longer waits for.
    #[test]
    fn a_release_waits_for_a_thread_that_exits() {
        let one = left_after(|contexts, handle| contexts.release(handle).unwrap());
        let all = left_after(|contexts, _| contexts.release_all());
        assert_eq!((one, all), (0, 0));
    }
}
