//! Both queues, with values on the heap: freeing one while it is read is reported too.

use std::mem::offset_of;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use cupola_core::queue::{Bounded, Chain, Link, Linked, Mpsc, PopError};

use super::{ROUNDS, THREADS, together, wait};

/// Would race if a place were passed on before its value is in, or out.
pub(crate) fn bounded() {
    let queue = Bounded::<Box<u64>, 5>::new();
    let (pushed, popped) = (AtomicU64::new(0), AtomicU64::new(0));
    let pushers = AtomicU64::new(2);
    together(THREADS, &|number| {
        if number < 2 {
            for round in 0..ROUNDS as u64 {
                let mut value = Box::new(round);
                while let Err(refusal) = queue.push(value) {
                    value = refusal.into_value();
                    wait();
                }
                pushed.fetch_add(round, Ordering::Relaxed);
            }
            pushers.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        loop {
            match queue.pop() {
                Ok(value) => {
                    popped.fetch_add(*value, Ordering::Relaxed);
                }
                Err(PopError::Empty) if pushers.load(Ordering::Relaxed) == 0 => break,
                Err(_) => wait(),
            }
        }
    });
    // A consumer may have seen the last pusher go before its last push.
    while let Ok(value) = queue.pop() {
        popped.fetch_add(*value, Ordering::Relaxed);
    }
    assert_eq!(pushed.into_inner(), popped.into_inner());
}

struct Work {
    number: u64,
    link: Link,
}

struct Owned(Box<Work>);

impl Owned {
    fn new(number: u64) -> Self {
        let link = Link::new();
        Self(Box::new(Work { number, link }))
    }
}

// SAFETY: a box owns what it points to, and `into_raw` gives all of that away; the two
// offsets are the same.
unsafe impl Linked for Owned {
    fn into_link(self) -> NonNull<Link> {
        let work = Box::into_raw(self.0);
        // SAFETY: the field is inside of what the box pointed to.
        let link = unsafe { &raw mut (*work).link };
        // SAFETY: nothing inside of a box is at address null.
        unsafe { NonNull::new_unchecked(link) }
    }

    unsafe fn from_link(link: NonNull<Link>) -> Self {
        // SAFETY: the link is the field of what a box pointed to.
        let work = unsafe { link.byte_sub(offset_of!(Work, link)) };
        // SAFETY: it comes from `into_raw` of that box, and comes back once.
        Self(unsafe { Box::from_raw(work.cast::<Work>().as_ptr()) })
    }
}

/// Would race if a push or `pop_all` were relaxed.
pub(crate) fn mpsc() {
    let queue = Mpsc::<Owned>::new();
    let pushers = AtomicU64::new(THREADS as u64 - 1);
    let popped = AtomicU64::new(0);
    let count = |work: Owned| popped.fetch_add(work.0.number, Ordering::Relaxed);
    together(THREADS, &|number| {
        if number > 0 {
            for round in 0..ROUNDS as u64 {
                if round % 4 == 0 {
                    let mut chain = Chain::new();
                    chain.push(Owned::new(round));
                    chain.push(Owned::new(0));
                    queue.push_chain(chain);
                } else {
                    queue.push(Owned::new(round));
                }
            }
            pushers.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        while pushers.load(Ordering::Relaxed) > 0 {
            let batch = queue.pop_all();
            if batch.is_empty() {
                wait();
            }
            batch.oldest_first().for_each(|work| {
                count(work);
            });
        }
    });
    for work in queue.pop_all() {
        count(work);
    }
    let each: u64 = (0..ROUNDS as u64).sum();
    assert_eq!(popped.into_inner(), each * (THREADS as u64 - 1));
}
