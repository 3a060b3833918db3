//! `PoisonPolicy`: what happens at the moment when a context is lost.
//!
//! A program that goes on with a lost context serves errors until somebody notices. So a
//! supervisor may ask to be told, or to have the process ended.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::Write as _;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use super::Error;
use super::loss::{OnLoss, contain};
use crate::sync::per_thread;

/// What to do, once, when an error makes a context unusable.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum PoisonPolicy {
    /// Nothing: operations return [`Error::Poisoned`].
    #[default]
    Keep,
    /// Log the error with `tracing`, write it to standard error, and abort the process, so that
    /// whoever supervises it starts another. Nothing is dropped and nothing flushed.
    Abort,
    /// Call this function with the [`Error::Poisoned`] that every operation returns from
    /// now on.
    ///
    /// It runs on the thread whose operation failed, which may be dropping something, when
    /// the crate holds no lock that the operation took: it may use the crate. A panic ends in
    /// it.
    Call(Arc<dyn Fn(&Error) + Send + Sync>),
}

impl PoisonPolicy {
    /// Calls `function`, see [`Call`](Self::Call).
    pub fn call(function: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        Self::Call(Arc::new(function))
    }

    fn carry_out(&self, error: &Error) {
        match self {
            Self::Keep => {}
            Self::Abort => {
                tracing::error!("{error}; aborting");
                // A program without a subscriber would end without a word. Standard error may
                // be closed, and a panic here could be in a drop.
                let _ = writeln!(std::io::stderr(), "{error}; aborting");
                std::process::abort();
            }
            Self::Call(function) => {
                // This may be a drop.
                contain(|| function(error));
            }
        }
    }
}

impl fmt::Debug for PoisonPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Keep => "Keep",
            Self::Abort => "Abort",
            Self::Call(_) => "Call",
        })
    }
}

per_thread! {
    /// How many locks this thread holds that a policy must not run under.
    static HELD: Cell<u32> = Cell::new(0);
    /// What waits for them to be given back. Never dropped with the thread, so that it is there
    /// for a destructor of another thread-local, as the count is; the last [`Quiet`] empties it.
    static WAITING: ManuallyDrop<RefCell<Vec<Loss>>> =
        ManuallyDrop::new(RefCell::new(Vec::new()));
}

/// The loss of a context, and what is to happen: the policy first, then those who watch.
pub(crate) struct Loss {
    pub(crate) policy: PoisonPolicy,
    pub(crate) watchers: Vec<Arc<dyn OnLoss>>,
    pub(crate) error: Error,
}

impl Loss {
    /// Tells of it, as soon as this thread holds no lock.
    #[cold]
    pub(crate) fn tell(self) {
        let held = HELD.try_with(Cell::get).unwrap_or(0);
        if held == 0 || mutant!("policy_under_a_lock") {
            return self.carry_out();
        }
        // A thread that has a count has a list: neither has a destructor.
        let _ = WAITING.try_with(|waiting| waiting.borrow_mut().push(self));
    }

    fn carry_out(self) {
        self.policy.carry_out(&self.error);
        for watcher in self.watchers {
            watcher.lost(&self.error);
        }
    }
}

/// While it is there, policies wait. Made before a lock is taken that driver calls are made
/// under, and so dropped after it.
#[derive(Debug)]
#[must_use]
pub(crate) struct Quiet(PhantomData<*const ()>);

impl Quiet {
    pub(crate) fn new() -> Self {
        let _ = HELD.try_with(|held| held.set(held.get() + 1));
        Self(PhantomData)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let left = HELD.try_with(|held| {
            held.set(held.get().saturating_sub(1));
            held.get()
        });
        if matches!(left, Ok(0)) {
            // Taken whole, so that nothing stays allocated when the thread ends.
            let waiting = WAITING.try_with(|waiting| waiting.take());
            let waiting = waiting.unwrap_or_default();
            waiting.into_iter().for_each(Loss::carry_out);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Loses a context, under a lock, when its thread ends.
    struct LosesLast(Arc<AtomicUsize>);

    impl Drop for LosesLast {
        fn drop(&mut self) {
            let told = Arc::clone(&self.0);
            let policy = PoisonPolicy::call(move |_| {
                told.fetch_add(1, Ordering::Relaxed);
            });
            let quiet = Quiet::new();
            let loss = Loss {
                policy,
                watchers: Vec::new(),
                error: Error::Forked,
            };
            loss.tell();
            let early = self.0.load(Ordering::Relaxed);
            drop(quiet);
            self.0.fetch_add(10 * early, Ordering::Relaxed);
        }
    }

    thread_local! {
        static LAST: RefCell<Option<LosesLast>> = const { RefCell::new(None) };
    }

    // Without it nobody would be told of a context that is lost in a destructor at the end of
    // a thread.
    #[test]
    fn a_policy_is_carried_out_at_the_end_of_a_thread() {
        let told = Arc::new(AtomicUsize::new(0));
        let last = LosesLast(Arc::clone(&told));
        let thread = std::thread::spawn(move || {
            // What has a destructor first is dropped last.
            LAST.set(Some(last));
            drop(Quiet::new());
        });
        thread.join().unwrap();
        assert_eq!(told.load(Ordering::Relaxed), 1);
    }
}
