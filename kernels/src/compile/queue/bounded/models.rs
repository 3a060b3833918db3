//! Models of the queue of compiles, run under loom as those of single flight
//! (`cache/flight/models.rs`). The work is a flag, in place of a compile.

use std::collections::BTreeSet;
use std::task::Wake;

use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;

/// What came of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    /// It ran to its end, and so many ran beside it.
    Done {
        beside: usize,
    },
    Cancelled,
    Abandoned,
    Panicked,
}

/// Work that ends by itself, or runs until it is cancelled.
#[derive(Debug)]
struct Piece {
    is_endless: bool,
    is_cancelled: AtomicBool,
    running: Arc<AtomicUsize>,
}

impl Piece {
    fn new(running: &Arc<AtomicUsize>, is_endless: bool) -> Self {
        Self {
            is_endless,
            is_cancelled: AtomicBool::new(false),
            running: Arc::clone(running),
        }
    }
}

impl Work for Piece {
    type Output = Answer;

    fn run(&self) -> Answer {
        let beside = self.running.fetch_add(1, Ordering::Relaxed);
        let is_cancelled = || self.is_cancelled.load(Ordering::Relaxed);
        while self.is_endless && !is_cancelled() {
            thread::yield_now();
        }
        self.running.fetch_sub(1, Ordering::Relaxed);
        match self.is_endless || is_cancelled() {
            true => Answer::Cancelled,
            false => Answer::Done { beside },
        }
    }

    fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    fn panicked() -> Answer {
        Answer::Panicked
    }

    fn abandoned() -> Answer {
        Answer::Abandoned
    }
}

const ALONE: Answer = Answer::Done { beside: 0 };

fn queue() -> (Bounded<Piece>, Arc<AtomicUsize>) {
    let running = Arc::new(AtomicUsize::new(0));
    (Bounded::new(NonZeroUsize::MIN), running)
}

/// Every interleaving of `run`, which must come to see these answers and no others.
fn model<const N: usize, const M: usize>(
    expected: [[Answer; N]; M],
    run: impl Fn() -> [Answer; N] + Send + Sync + 'static,
) {
    let seen = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let noted = seen.clone();
    loom::model(move || {
        let answers = run();
        // At once: what is wrong may have more interleavings than what is right.
        assert!(expected.contains(&answers), "{answers:?}");
        noted.lock().unwrap().insert(answers);
    });
    assert_eq!(*seen.lock().unwrap(), BTreeSet::from(expected));
}

// Without it more compiles could run than there may.
#[test]
fn no_more_run_than_may() {
    model([[ALONE; 2]], || {
        let (queue, running) = queue();
        let submit = || queue.submit(Piece::new(&running, false)).unwrap();
        let (first, second) = (submit(), submit());
        [first.wait(), second.wait()]
    });
}

// Without it a thread could sleep for ever on a compile that is done, or that waits for it.
#[test]
fn the_next_compile_is_begun_and_its_end_told() {
    model([[ALONE; 2]], || {
        let (queue, running) = queue();
        let submit = || queue.submit(Piece::new(&running, false)).unwrap();
        let first = submit().wait();
        // Its thread may be asleep by now.
        [first, submit().wait()]
    });
}

/// Wakes a thread that has nothing else to do.
struct Signal {
    is_set: Mutex<bool>,
    told: Condvar,
}

impl Wake for Signal {
    fn wake(self: std::sync::Arc<Self>) {
        *lock(&self.is_set) = true;
        self.told.notify_all();
    }
}

// Without it a task could sleep for ever on a compile that is done.
#[test]
fn a_task_that_awaits_is_woken() {
    model([[ALONE]], || {
        let (queue, running) = queue();
        let handle = queue.submit(Piece::new(&running, false)).unwrap();
        let signal = std::sync::Arc::new(Signal {
            is_set: Mutex::new(false),
            told: Condvar::new(),
        });
        let waker = Waker::from(signal.clone());
        loop {
            if let Poll::Ready(answer) = handle.poll(&Context::from_waker(&waker)) {
                assert!(handle.is_done());
                return [answer];
            }
            let mut is_set = lock(&signal.is_set);
            while !*is_set {
                is_set = wait(&signal.told, is_set);
            }
            *is_set = false;
        }
    });
}

// Without it a compile that is cancelled before it starts, while it runs or at its end could run on, hold the
// place of the next one, or be told twice.
#[test]
fn what_is_cancelled_ends_whenever_that_comes() {
    let answers = [[Answer::Cancelled, ALONE], [ALONE, ALONE]];
    model(answers, || {
        let (queue, running) = queue();
        let endless = queue.submit(Piece::new(&running, true)).unwrap();
        // A handle that is dropped cancels too.
        drop(endless);
        let short = queue.submit(Piece::new(&running, false)).unwrap();
        let next = queue.submit(Piece::new(&running, false)).unwrap();
        short.cancel();
        [short.wait(), next.wait()]
    });
}

// Without it the end of a queue could wait for ever for a compile, or leave a caller waiting for one that no
// thread will do.
#[test]
fn the_end_of_the_queue_ends_all_of_its_work() {
    let answers = [
        [Answer::Abandoned, Answer::Abandoned],
        [Answer::Cancelled, Answer::Abandoned],
    ];
    model(answers, || {
        let (queue, running) = queue();
        let submit = || queue.submit(Piece::new(&running, true)).unwrap();
        let (first, second) = (submit(), submit());
        drop(queue);
        assert_eq!(running.load(Ordering::Relaxed), 0);
        [first.wait(), second.wait()]
    });
}
