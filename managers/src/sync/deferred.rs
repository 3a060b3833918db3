//! Callbacks that run when the thread that asked for them holds no lock.
//!
//! A callback of the user may use this crate, so it must not run under a lock that the crate
//! holds. A section that makes driver calls under such a lock holds a [`DeferCallbacks`]; a
//! callback that becomes due meanwhile runs when the thread's last one is dropped.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use super::per_thread;

/// A callback that waits for its thread.
type Callback = Box<dyn FnOnce()>;

per_thread! {
    /// How many [`DeferCallbacks`] this thread holds.
    static HELD: Cell<u32> = Cell::new(0);
    /// Callbacks that wait for the last of them. The list is never dropped with the thread, so
    /// that it is there for a destructor of another thread-local, as the count is; the last
    /// [`DeferCallbacks`] empties it.
    static WAITING: ManuallyDrop<RefCell<Vec<Callback>>> =
        ManuallyDrop::new(RefCell::new(Vec::new()));
}

/// Defers the callbacks of this thread until it is dropped. A section makes it before it takes a
/// lock that driver calls are made under, so that it is dropped after the lock.
#[derive(Debug)]
#[must_use]
pub(crate) struct DeferCallbacks(PhantomData<*const ()>);

impl DeferCallbacks {
    pub(crate) fn new() -> Self {
        let _ = HELD.try_with(|held| held.set(held.get() + 1));
        Self(PhantomData)
    }
}

impl Drop for DeferCallbacks {
    fn drop(&mut self) {
        let left = HELD.try_with(|held| {
            held.set(held.get().saturating_sub(1));
            held.get()
        });
        if matches!(left, Ok(0)) {
            // Taken whole, so that nothing stays allocated when the thread ends.
            let waiting = WAITING.try_with(|waiting| waiting.take());
            let waiting = waiting.unwrap_or_default();
            waiting.into_iter().for_each(|callback| callback());
        }
    }
}

/// Runs `callback` now, or when this thread's last [`DeferCallbacks`] is dropped. The callback
/// must not panic: it may run in a destructor.
#[cold]
pub(crate) fn run_or_defer(callback: impl FnOnce() + 'static) {
    let held = HELD.try_with(Cell::get).unwrap_or(0);
    if held == 0 || mutant!("callback_under_a_lock") {
        return callback();
    }
    // A thread that has a count has a list: neither has a destructor.
    let _ = WAITING.try_with(|waiting| waiting.borrow_mut().push(Box::new(callback)));
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Asks for a callback, under a lock, when its thread ends.
    struct AsksLast(Arc<AtomicUsize>);

    impl Drop for AsksLast {
        fn drop(&mut self) {
            let told = Arc::clone(&self.0);
            let defer = DeferCallbacks::new();
            run_or_defer(move || {
                told.fetch_add(1, Ordering::Relaxed);
            });
            let early = self.0.load(Ordering::Relaxed);
            drop(defer);
            self.0.fetch_add(10 * early, Ordering::Relaxed);
        }
    }

    thread_local! {
        static LAST: RefCell<Option<AsksLast>> = const { RefCell::new(None) };
    }

    // Without it no caller would be told of a context that is lost in a destructor at the end of
    // a thread.
    #[test]
    fn a_callback_runs_at_the_end_of_a_thread() {
        let told = Arc::new(AtomicUsize::new(0));
        let last = AsksLast(Arc::clone(&told));
        let thread = std::thread::spawn(move || {
            // The first thread-local with a destructor is dropped last.
            LAST.set(Some(last));
            drop(DeferCallbacks::new());
        });
        thread.join().unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 1);
    }
}
