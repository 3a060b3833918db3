//! `Reactor`: the thread of a device that asks it for callers which wait and do nothing else.
//!
//! It asks (`cuEventQuery`) and does not let the driver call it (`cuLaunchHostFunc`): a host
//! function holds up the work behind it, must not call the driver, and is not called when the
//! context is lost, while the question returns the loss.

use std::cell::Cell;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock, PoisonError, Weak};
#[cfg(not(loom))]
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

#[cfg(loom)]
use loom::thread::{self, Thread};

use super::SpinBudget;
use crate::lists;
use crate::sync::{AtomicBool, Mutex, MutexGuard, Ordering, per_thread};

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

/// For so long the thread looks for the next caller before it sleeps, as long as callers come that
/// close one behind the other: to wake a thread takes longer than a short wait, and in a virtual
/// machine whose core has gone to sleep with it hundreds of microseconds.
const LINGER: Duration = SPIN;

/// The times without a caller.
struct Gaps {
    /// The mean of the last ones, which the next one is expected to be like.
    mean: Duration,
    /// When the last caller went.
    since: Option<Instant>,
}

impl Gaps {
    /// Before any: only some short ones make the thread linger.
    const fn new() -> Self {
        Self {
            mean: Duration::from_micros(4 * LINGER.as_micros() as u64),
            since: None,
        }
    }

    /// There is no caller. Whether the next one is expected before the thread would be asleep.
    fn is_short(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        let is_soon = self.mean <= LINGER && now.saturating_duration_since(since) < LINGER;
        // A model has no time.
        is_soon && !cfg!(loom)
    }

    /// A caller has come. A long gap counts as a few times what the thread lingers, so that some
    /// short ones after it are enough.
    fn end(&mut self, now: Instant) {
        if let Some(since) = self.since.take() {
            let gap = now.saturating_duration_since(since).min(4 * LINGER);
            self.mean = self.mean / 4 * 3 + gap / 4;
        }
    }
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
        let mut new = inner.lock();
        // The threads of a model are its own: they ask in its place.
        #[cfg(not(loom))]
        if inner.thread.get().is_none() {
            let _ = inner.thread.set(inner.start()?);
        }
        if mutant!("reactor_wakes_before_the_caller_is_in") {
            drop(new);
            inner.unpark();
            new = inner.lock();
            new.watched.push(watched);
            return Ok(());
        }
        new.watched.push(watched);
        new.newest = Some(Instant::now());
        drop(new);
        inner.unpark();
        Ok(())
    }

    /// Another caller has come for something that the thread looks after.
    pub(crate) fn hurry(&self) {
        self.inner.lock().newest = Some(Instant::now());
        self.inner.unpark();
    }

    /// For futures of events of the device.
    pub(crate) fn event_waits(&self) -> &SpinBudget {
        &self.event_waits
    }

    /// The thread ends when it has looked.
    pub(crate) fn end(&self) {
        // The thread sees it, because it was unparked after.
        self.inner.ended.store(true, Ordering::Relaxed);
        self.inner.unpark();
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_stack(&self, bytes: Option<usize>) {
        *crate::sync::lock(&self.inner.stack) = bytes;
    }

    /// How often the thread has looked.
    #[cfg(test)]
    pub(crate) fn looks(&self) -> u64 {
        self.inner.looks.load(Ordering::Relaxed)
    }

    /// Starts the thread, as one of a model.
    #[cfg(all(test, loom))]
    pub(crate) fn start_in_model(&self) -> thread::JoinHandle<()> {
        let inner = Arc::clone(&self.inner);
        let thread = thread::spawn(move || inner.run());
        let _ = self.inner.thread.set(thread.thread().clone());
        thread
    }
}

impl Drop for Reactor {
    /// Takes no lock: in a fork another thread may have left it taken.
    fn drop(&mut self) {
        self.end();
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, New> {
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(not(loom))]
    fn start(self: &Arc<Self>) -> io::Result<Thread> {
        let this = Arc::clone(self);
        let thread = thread::Builder::new().name("cupola-reactor".into());
        #[cfg(all(test, not(loom)))]
        let thread = match *crate::sync::lock(&self.stack) {
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
        let (mut newest, mut gaps) = (Instant::now(), Gaps::new());
        while !self.ended.load(Ordering::Relaxed) {
            let mut new = self.lock();
            watched.append(&mut new.watched);
            newest = new.newest.take().unwrap_or(newest);
            drop(new);
            let now = Instant::now();
            if !watched.is_empty() {
                gaps.end(now);
            }
            lists::retain(&mut watched, |watched: &Weak<dyn Watched>| {
                watched
                    .upgrade()
                    .is_some_and(|watched| watched.advance(now))
            });
            self.looks.fetch_add(1, Ordering::Relaxed);
            // A caller that came meanwhile has unparked the thread, so it does not sleep.
            match watched.is_empty() {
                true if gaps.is_short(now) => thread::yield_now(),
                true => thread::park(),
                false => pause(now.saturating_duration_since(newest)),
            }
        }
    }
}

/// Between two looks, for callers of which the newest waits for `age`.
fn pause(age: Duration) {
    match nap(age) {
        #[cfg(not(loom))]
        Some(nap) => thread::park_timeout(nap),
        _ => thread::yield_now(),
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

    // Without it each of many waits one behind the other would wake the thread; or one that has no
    // caller would take a core.
    #[test]
    fn it_lingers_while_callers_come_close_one_behind_the_other() {
        let begin = Instant::now();
        let at = |micros| begin + Duration::from_micros(micros);
        let mut gaps = Gaps::new();
        assert!(!gaps.is_short(at(0)), "no caller came so far");
        let mut now = 0;
        for _ in 0..12 {
            now += 100;
            gaps.end(at(now));
            gaps.is_short(at(now));
        }
        assert!(gaps.is_short(at(now + 299)));
        assert!(!gaps.is_short(at(now + 300)), "it sleeps in the end");
        gaps.end(at(now + 60_000_000));
        assert!(
            !gaps.is_short(at(now + 60_000_000)),
            "the next one may be long too"
        );
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
