//! `Reactor`: the thread of a device that asks it for callers which wait and do nothing else.
//!
//! It asks (`cuEventQuery`) and does not let the driver call it (`cuLaunchHostFunc`): a host
//! function holds up the work behind it, must not call the driver, and is not called when the
//! context is lost, while the question returns the loss.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::SpinBudget;
use crate::lists;
use crate::sync::{self, per_thread};

per_thread! {
    /// Whether the thread is a reactor's.
    static IS_REACTOR: Cell<bool> = Cell::new(false);
}

/// Whether the calling thread is a reactor's, which must wait for nothing: it has other callers.
pub(crate) fn is_reactor() -> bool {
    IS_REACTOR.try_with(Cell::get).unwrap_or(false)
}

/// What the thread looks after.
pub(crate) trait Watched: Send + Sync {
    /// Asks the device, and tells the callers whose work is complete. False when no caller is
    /// left.
    fn advance(&self, now: Instant) -> bool;
}

/// For so long after the newest caller came the thread asks without a pause.
const SPIN: Duration = Duration::from_micros(300);
/// The longest pause.
const LONGEST_NAP: Duration = Duration::from_millis(3);

/// The pause between two looks, for callers of which the newest waits for `age`: a hundredth of
/// that, so that a caller is told late by so much of its wait, and no more than 3 ms. A wake-up takes
/// up to 20 us of a core (in a virtual machine), so a wait of seconds takes less than a hundredth.
/// The loss of a context is noticed so late too.
fn nap(age: Duration) -> Option<Duration> {
    (age >= SPIN).then(|| (age / 100).min(LONGEST_NAP))
}

/// The thread of one device, for the streams of all its contexts. It is made with the first caller
/// that waits, sleeps while there is none, and ends with this value.
#[derive(Default)]
pub(crate) struct Reactor {
    inner: Arc<Inner>,
    event_waits: SpinBudget,
}

#[derive(Default)]
struct Inner {
    new: Mutex<New>,
    /// Unparked after each change of `new`, and when the reactor ends.
    thread: OnceLock<Thread>,
    ended: AtomicBool,
    /// How often the thread has looked: a counter on which no decision rests.
    looks: AtomicU64,
    /// Bytes of the thread's stack. A test asks for more than there are.
    #[cfg(all(test, not(loom)))]
    stack: Mutex<Option<usize>>,
}

/// What the thread has not seen yet.
#[derive(Default)]
struct New {
    watched: Vec<Weak<dyn Watched>>,
    /// When the newest caller came.
    newest: Option<Instant>,
}

impl Reactor {
    /// Has the thread look after `watched`, for a caller that came just now; starts the thread if
    /// it does not run.
    ///
    /// # Errors
    /// The process can have no more threads; nothing is looked after then.
    pub(crate) fn watch(&self, watched: Weak<dyn Watched>) -> io::Result<()> {
        let inner = &self.inner;
        let mut new = sync::lock(&inner.new);
        // The threads of a model are its own: they ask in its place.
        if inner.thread.get().is_none() && !cfg!(loom) {
            let _ = inner.thread.set(inner.start()?);
        }
        new.watched.push(watched);
        new.newest = Some(Instant::now());
        drop(new);
        inner.unpark();
        Ok(())
    }

    /// Another caller has come for something that the thread looks after.
    pub(crate) fn hurry(&self) {
        sync::lock(&self.inner.new).newest = Some(Instant::now());
        self.inner.unpark();
    }

    /// For futures of events of the device.
    pub(crate) fn event_waits(&self) -> &SpinBudget {
        &self.event_waits
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_stack(&self, bytes: Option<usize>) {
        *sync::lock(&self.inner.stack) = bytes;
    }
}

impl Drop for Reactor {
    /// Takes no lock: in a fork another thread may have left it taken.
    fn drop(&mut self) {
        // The thread sees it, because it was unparked after.
        self.inner.ended.store(true, Ordering::Relaxed);
        self.inner.unpark();
    }
}

impl Inner {
    fn start(self: &Arc<Self>) -> io::Result<Thread> {
        let this = Arc::clone(self);
        let thread = thread::Builder::new().name("cupola-reactor".into());
        #[cfg(all(test, not(loom)))]
        let thread = match *sync::lock(&self.stack) {
            Some(bytes) => thread.stack_size(bytes),
            None => thread,
        };
        Ok(thread.spawn(move || this.run())?.thread().clone())
    }

    fn unpark(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    fn run(&self) {
        let _ = IS_REACTOR.try_with(|is_reactor| is_reactor.set(true));
        let mut watched = Vec::new();
        let mut newest = Instant::now();
        while !self.ended.load(Ordering::Relaxed) {
            let mut new = sync::lock(&self.new);
            watched.append(&mut new.watched);
            newest = new.newest.take().unwrap_or(newest);
            drop(new);
            let now = Instant::now();
            lists::retain(&mut watched, |watched: &Weak<dyn Watched>| {
                watched
                    .upgrade()
                    .is_some_and(|watched| watched.advance(now))
            });
            self.looks.fetch_add(1, Ordering::Relaxed);
            // A caller that came meanwhile has unparked the thread, so it does not sleep.
            if watched.is_empty() {
                thread::park();
                continue;
            }
            match nap(now.saturating_duration_since(newest)) {
                Some(nap) => thread::park_timeout(nap),
                None => thread::yield_now(),
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::test_bench::TestBench;

    const LATE: Duration = Duration::from_secs(20);

    /// Work that is complete when it is told so.
    #[derive(Default)]
    struct Work(AtomicBool);

    impl Watched for Work {
        fn advance(&self, _: Instant) -> bool {
            !self.0.load(Ordering::Relaxed)
        }
    }

    impl Reactor {
        fn looks(&self) -> u64 {
            self.inner.looks.load(Ordering::Relaxed)
        }

        /// Waits until the thread sleeps: it does not look for some time.
        fn sleeps(&self) {
            let end = Instant::now() + LATE;
            loop {
                let before = self.looks();
                thread::sleep(Duration::from_millis(50));
                if self.looks() == before {
                    return;
                }
                assert!(Instant::now() < end, "it looks on");
            }
        }
    }

    fn watch(reactor: &Reactor) -> Arc<Work> {
        let work = Arc::new(Work::default());
        let watched: Weak<dyn Watched> = Arc::downgrade(&work) as Weak<dyn Watched>;
        reactor.watch(watched).unwrap();
        work
    }

    // Without it a program that waits for nothing would be woken a thousand times a second.
    #[test]
    fn it_sleeps_while_no_caller_waits() {
        let reactor = Reactor::default();
        assert!(reactor.inner.thread.get().is_none(), "no caller came");
        for _ in 0..3 {
            let before = reactor.looks();
            let work = watch(&reactor);
            work.0.store(true, Ordering::Relaxed);
            let end = Instant::now() + LATE;
            while reactor.looks() == before {
                assert!(Instant::now() < end, "it sleeps on");
                thread::yield_now();
            }
            reactor.sleeps();
        }
        // What is gone has no caller either.
        drop(watch(&reactor));
        reactor.sleeps();
    }

    // Without it the wait for a long kernel would take a core.
    #[test]
    fn it_asks_seldom_for_an_old_wait() {
        let ages = [0, 299, 300, 10_000, 100_000, 10_000_000];
        let most = Some(LONGEST_NAP.as_micros());
        let naps = ages.map(|age| nap(Duration::from_micros(age)));
        let naps = naps.map(|nap| nap.map(|nap| nap.as_micros()));
        assert_eq!(naps, [None, None, Some(3), Some(100), Some(1000), most]);
        let reactor = Reactor::default();
        let work = watch(&reactor);
        thread::sleep(Duration::from_millis(110));
        let (begin, before) = (Instant::now(), reactor.looks());
        thread::sleep(Duration::from_millis(100));
        let looks = reactor.looks() - before;
        let most = begin.elapsed().as_millis() as u64 + 2;
        assert!((1..=most).contains(&looks), "{looks} of {most}");
        drop(work);
    }

    // Without it each context would have a thread that asks the same device.
    #[test]
    fn the_contexts_of_a_device_share_one() {
        let bench = TestBench::new();
        let device = bench.execution.devices().get(0).unwrap();
        let created = device.contexts().create(Default::default()).unwrap();
        let [one, other] = [&bench.context, &created].map(|context| context.core().reactor());
        assert!(Arc::ptr_eq(&one, &other));
        drop((created, device));
        bench.finish();
    }

    // Without it each device that was released would leave a thread.
    #[test]
    fn its_thread_ends_with_it() {
        let reactor = Reactor::default();
        drop(watch(&reactor));
        let inner = Arc::downgrade(&reactor.inner);
        drop(reactor);
        let end = Instant::now() + LATE;
        while inner.strong_count() > 0 {
            assert!(Instant::now() < end, "the thread is there");
            thread::yield_now();
        }
    }
}
