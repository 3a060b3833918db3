//! `RoomQueue`: requests that lack memory, first come, first served.

use std::collections::VecDeque;

/// The place of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueTicket(u64);

/// The requests that lack memory, in the order in which they came. The first of them alone loads, or waits for
/// leases to end; it keeps what it has got by then, so that many small leases cannot starve it.
#[derive(Debug)]
pub(crate) struct RoomQueue {
    waiting: VecDeque<QueueTicket>,
    next: u64,
    /// Hits that have passed the first one.
    passed: u32,
    /// How many may.
    passes: u32,
    /// How often memory may have become free.
    changes: u64,
}

impl RoomQueue {
    pub(crate) fn new(passes: u32) -> Self {
        Self {
            waiting: VecDeque::new(),
            next: 0,
            passed: 0,
            passes,
            changes: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The place behind all others.
    pub(crate) fn join(&mut self) -> QueueTicket {
        let ticket = QueueTicket(self.next);
        self.next += 1;
        self.waiting.push_back(ticket);
        ticket
    }

    /// Gives a place up. The one behind the first is the first then, and may be passed as often.
    pub(crate) fn leave(&mut self, ticket: QueueTicket) {
        if self.is_first(ticket) {
            self.passed = 0;
        }
        self.waiting.retain(|&it| it != ticket);
    }

    pub(crate) fn is_first(&self, ticket: QueueTicket) -> bool {
        self.waiting.front() == Some(&ticket)
    }

    /// How many requests are served before this one.
    pub(crate) fn before(&self, ticket: QueueTicket) -> usize {
        let place = self.waiting.iter().position(|&it| it == ticket);
        place.unwrap_or(0)
    }

    /// Whether a hit may pass those that wait; it is counted then.
    pub(crate) fn pass(&mut self) -> bool {
        if self.waiting.is_empty() {
            return true;
        }
        let may_pass = self.passed < self.passes || mutant!("residency_hits_pass_for_ever");
        self.passed = self.passed.saturating_add(u32::from(may_pass));
        may_pass
    }

    /// Memory may have become free.
    pub(crate) fn note_change(&mut self) {
        self.changes += 1;
    }

    /// How often memory may have become free: a request reads it, looks for memory, and waits for another number.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a request could be served before one that came earlier, or hits starve the first one.
    #[test]
    fn requests_are_served_in_their_order_and_passed_so_often() {
        let mut queue = RoomQueue::new(2);
        assert!((0..9).all(|_| queue.pass()), "there is none to pass");
        let [first, second, third] = [(); 3].map(|()| queue.join());
        assert!(queue.is_first(first) && !queue.is_first(second));
        assert_eq!([first, second, third].map(|it| queue.before(it)), [0, 1, 2]);
        assert_eq!([(); 4].map(|()| queue.pass()), [true, true, false, false]);
        queue.leave(second);
        assert!(!queue.pass(), "the first one is the same");
        queue.leave(first);
        assert!(queue.is_first(third) && queue.pass());
        queue.leave(third);
        assert!(queue.is_empty());
    }
}
