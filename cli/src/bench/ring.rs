//! A ring from one thread to another, the same for all stores whose slots are handed over.
//!
//! Each end remembers where it last saw the other, so that it looks at the other's line
//! only when it seems full or empty.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::clock::pause;

const SIZE: usize = 256;

/// A cache line of its own, and its neighbour, which processors fetch with it.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Line<T>(pub(super) T);

/// A ring of 256 items.
pub(super) struct Ring<T> {
    items: [UnsafeCell<MaybeUninit<T>>; SIZE],
    /// Items sent, and received, so far.
    sent: Line<AtomicUsize>,
    received: Line<AtomicUsize>,
    closed: AtomicBool,
    has_sender: AtomicBool,
    has_receiver: AtomicBool,
}

// SAFETY: an item is written by the only sender before `sent` passes it, and read by the
// only receiver after that; it is written again after `received` has passed it.
unsafe impl<T: Send> Sync for Ring<T> {}

/// The end that sends. Dropping it closes the ring.
pub(super) struct Sender<'r, T> {
    ring: &'r Ring<T>,
    sent: usize,
    /// At least so many have been received.
    received: usize,
}

/// The end that receives.
pub(super) struct Receiver<'r, T> {
    ring: &'r Ring<T>,
    received: usize,
    /// At least so many have been sent.
    sent: usize,
}

impl<T> Ring<T> {
    pub(super) fn new() -> Self {
        Self {
            items: [const { UnsafeCell::new(MaybeUninit::uninit()) }; SIZE],
            sent: Line::default(),
            received: Line::default(),
            closed: AtomicBool::new(false),
            has_sender: AtomicBool::new(false),
            has_receiver: AtomicBool::new(false),
        }
    }

    /// The sending end, once.
    pub(super) fn sender(&self) -> Option<Sender<'_, T>> {
        (!self.has_sender.swap(true, Ordering::Relaxed)).then(|| Sender {
            ring: self,
            sent: 0,
            received: 0,
        })
    }

    /// The receiving end, once.
    pub(super) fn receiver(&self) -> Option<Receiver<'_, T>> {
        (!self.has_receiver.swap(true, Ordering::Relaxed)).then_some(Receiver {
            ring: self,
            received: 0,
            sent: 0,
        })
    }
}

impl<T> Sender<'_, T> {
    /// Sends an item; waits while the ring is full.
    pub(super) fn send(&mut self, item: T) {
        let mut spins = 0;
        while self.sent - self.received == SIZE {
            self.received = self.ring.received.0.load(Ordering::Acquire);
            if self.sent - self.received == SIZE {
                pause(&mut spins);
            }
        }
        let cell = self.ring.items[self.sent % SIZE].get();
        // SAFETY: the receiver is done with the item that was here, and does not look at
        // this one before `sent` says so; there is no other sender.
        unsafe { (*cell).write(item) };
        self.sent += 1;
        self.ring.sent.0.store(self.sent, Ordering::Release);
    }
}

impl<T> Drop for Sender<'_, T> {
    fn drop(&mut self) {
        self.ring.closed.store(true, Ordering::Release);
    }
}

impl<T> Receiver<'_, T> {
    /// The next item; waits for it. `None` when the ring is empty and closed.
    pub(super) fn receive(&mut self) -> Option<T> {
        let mut spins = 0;
        while self.received == self.sent {
            // Before `sent`: what was sent before closing is then seen.
            let closed = self.ring.closed.load(Ordering::Acquire);
            self.sent = self.ring.sent.0.load(Ordering::Acquire);
            if self.received == self.sent {
                if closed {
                    return None;
                }
                pause(&mut spins);
            }
        }
        let cell = self.ring.items[self.received % SIZE].get();
        // SAFETY: the item was written before `sent` passed it, and is read once, by the
        // only receiver.
        let item = unsafe { (*cell).assume_init_read() };
        self.received += 1;
        self.ring.received.0.store(self.received, Ordering::Release);
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it items could be lost, doubled or overtaken, and every hand-over be wrong.
    #[test]
    fn what_is_sent_is_received_in_order() {
        let ring = Ring::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut sender = ring.sender().unwrap();
                assert!(ring.sender().is_none());
                (0..10_000_u64).for_each(|item| sender.send(item));
            });
            let mut receiver = ring.receiver().unwrap();
            assert!(ring.receiver().is_none());
            for item in 0..10_000 {
                assert_eq!(receiver.receive(), Some(item));
            }
            assert_eq!(receiver.receive(), None);
        });
    }
}
