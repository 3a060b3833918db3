//! What is counted in a rotation.

use crate::sync::{AtomicU64, Ordering, const_fn};

/// What is known of one buffer. Only its holder writes here; holders follow one another
/// through the word, so the counts need no read-modify-write.
pub(super) struct Account {
    /// Of its last publication. Read without holding the buffer, to order fresh ones.
    pub(super) generation: AtomicU64,
    /// Publications consumed from this buffer.
    pub(super) consumed: AtomicU64,
    /// Publications skipped by whoever then held this buffer.
    pub(super) skipped: AtomicU64,
}

impl Account {
    const_fn! {
        pub(super) fn new() -> Self {
            Self {
                generation: AtomicU64::new(0),
                consumed: AtomicU64::new(0),
                skipped: AtomicU64::new(0),
            }
        }
    }

    #[inline]
    pub(super) fn consumed(&self) {
        let consumed = self.consumed.load(Ordering::Relaxed);
        self.consumed.store(consumed + 1, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn skipped(&self, more: usize) {
        if more > 0 {
            let skipped = self.skipped.load(Ordering::Relaxed);
            self.skipped.store(skipped + more as u64, Ordering::Relaxed);
        }
    }
}

/// What has become of the publications: published = consumed + skipped + fresh, exactly,
/// whenever no call is under way. Each count only grows, save `fresh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotationCounts {
    /// Publications: the newest generation.
    pub published: u64,
    /// Publications that a consumer took.
    pub consumed: u64,
    /// Publications that a newer one has replaced before a consumer took them.
    pub skipped: u64,
    /// Publications that wait for a consumer.
    pub fresh: u64,
}
