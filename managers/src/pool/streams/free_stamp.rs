//! `Stamp`: on which stream, and in which batch, a piece of memory was freed.

/// The place of a stream in its pool's table, from 1; 0 stands for no stream.
pub(crate) type StreamIndex = u16;

const TICKET_BITS: u32 = 48;
const TICKETS: u64 = (1 << TICKET_BITS) - 1;

/// A stream and a ticket of its timeline in one word. Any stream may use memory with the stamp
/// `READY`; other memory only the stamp's stream may use, until the ticket is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Nothing that runs uses the memory.
    pub(crate) const READY: Self = Self(0);

    /// Tickets count batches that a request closed, at microseconds each: 48 bits last for
    /// years. Should they run out, the largest is never complete, so nothing is used early.
    pub(crate) fn new(stream: StreamIndex, ticket: u64) -> Self {
        Self(u64::from(stream) << TICKET_BITS | ticket.min(TICKETS))
    }

    #[inline]
    pub(crate) fn stream(self) -> StreamIndex {
        (self.0 >> TICKET_BITS) as StreamIndex
    }

    #[inline]
    pub(crate) fn ticket(self) -> u64 {
        self.0 & TICKETS
    }

    #[inline]
    pub(crate) fn is_ready(self) -> bool {
        self.0 == 0
    }

    /// The one of two stamps of a stream that is complete last.
    pub(crate) fn later(self, other: Self) -> Self {
        if self.ticket() >= other.ticket() {
            self
        } else {
            other
        }
    }
}

/// Places of streams that are gone, all of whose tickets are complete.
#[derive(Debug, Default)]
pub(crate) struct RetiredStreams(Vec<bool>);

impl RetiredStreams {
    pub(crate) fn insert(&mut self, stream: StreamIndex) {
        let at = usize::from(stream);
        if self.0.len() <= at {
            self.0.resize(at + 1, false);
        }
        self.0[at] = true;
    }

    #[inline]
    pub(crate) fn has(&self, stream: StreamIndex) -> bool {
        self.0.get(usize::from(stream)).copied().unwrap_or(false)
    }

    /// The stamp without these streams: READY if it is of one, because all their work is complete.
    #[inline]
    pub(crate) fn without(&self, stamp: Stamp) -> Stamp {
        if self.has(stamp.stream()) && !mutant!("reap_keeps_stamps") {
            Stamp::READY
        } else {
            stamp
        }
    }
}
