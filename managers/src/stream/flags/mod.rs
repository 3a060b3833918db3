//! `Flags`: words in page-locked memory that the streams of a context write to, as a hint that
//! their work is done, which the host sees without a driver call.
//!
//! A flag says *ask now*; the answer is the driver's. So a flag that is written late, or never,
//! because the context is lost or the stream has got more work since, costs time alone.

mod free_bits;
mod page;
#[cfg(all(test, not(loom)))]
mod tests;
mod words;

use std::sync::atomic::{AtomicU64 as Counter, Ordering};
use std::sync::{Arc, Mutex};

#[cfg(loom)]
pub(crate) use free_bits::FreeBits;
pub(crate) use page::{Flag, Page};

use words::Words;

use crate::driver::ContextCore;
use crate::sync;

/// The flags of one context. Their memory is allocated when the first is claimed.
pub(crate) struct Flags {
    page: Mutex<State>,
    /// Counters on which no decision rests.
    flagged: Counter,
    polled: Counter,
}

enum State {
    Unmade,
    Made(Arc<Page>),
    /// The driver has no such memory or no such write.
    Refused,
}

/// How the ends of waits were found out, see
/// [`StreamManager::completion_stats`](super::StreamManager::completion_stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompletionStats {
    /// Waits for which a stream writes to a flag when its work is done.
    pub flagged: u64,
    /// Waits that go by questions to the driver alone, because all flags were in use, or the
    /// driver cannot have a stream write (before CUDA 11.7).
    pub polled: u64,
}

impl Flags {
    pub(super) fn new() -> Self {
        Self {
            page: Mutex::new(State::Unmade),
            flagged: Counter::new(0),
            polled: Counter::new(0),
        }
    }

    pub(super) fn stats(&self) -> CompletionStats {
        CompletionStats {
            flagged: self.flagged.load(Ordering::Relaxed),
            polled: self.polled.load(Ordering::Relaxed),
        }
    }

    /// A flag that no stream writes to; `None` when all are in use, or none can be had. The caller
    /// holds the context at least as long as the flag.
    pub(super) fn claim(&self, core: &Arc<ContextCore>) -> Option<Flag> {
        let mut state = sync::lock(&self.page);
        if let State::Unmade = *state {
            *state = match Words::allocate(core) {
                Ok(Some(words)) => State::Made(Arc::new(Page::new(words))),
                Ok(None) => State::Refused,
                // It may be had next time.
                Err(_) => State::Unmade,
            };
        }
        match &*state {
            State::Made(page) => page.claim(),
            State::Unmade | State::Refused => None,
        }
    }

    /// Counts a wait.
    pub(super) fn count(&self, is_flagged: bool) {
        let counter = match is_flagged {
            true => &self.flagged,
            false => &self.polled,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
