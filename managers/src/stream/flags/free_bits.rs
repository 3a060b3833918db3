//! `FreeBits`: which of some places are free, a bit each.

use crate::sync::{AtomicU64, Ordering};

/// So many places are in one word.
const PLACES: usize = u64::BITS as usize;

/// The free ones of `64 * WORDS` places, or of the first few. Claimed and freed by any thread,
/// without a lock.
pub(crate) struct FreeBits<const WORDS: usize>([AtomicU64; WORDS]);

impl<const WORDS: usize> FreeBits<WORDS> {
    /// The first `places` are free.
    pub(crate) fn new(places: usize) -> Self {
        Self(std::array::from_fn(|word| {
            let here = places.saturating_sub(word * PLACES).min(PLACES);
            AtomicU64::new(match here {
                PLACES => u64::MAX,
                here => (1 << here) - 1,
            })
        }))
    }

    /// A free place, which is the caller's until it is [freed](Self::free).
    pub(crate) fn claim(&self) -> Option<usize> {
        for (at, word) in self.0.iter().enumerate() {
            let mut free = word.load(Ordering::Relaxed);
            while free != 0 {
                let bit = free & free.wrapping_neg();
                if mutant!("flag_claim_by_store") {
                    word.store(free & !bit, Ordering::Relaxed);
                    return Some(at * PLACES + bit.trailing_zeros() as usize);
                }
                // Acquire: what its last owner did with the place comes before.
                let before = word.fetch_and(!bit, Ordering::Acquire);
                if before & bit != 0 {
                    return Some(at * PLACES + bit.trailing_zeros() as usize);
                }
                free = before & !bit;
            }
        }
        None
    }

    /// Frees a place that was claimed.
    pub(crate) fn free(&self, place: usize) {
        let bit = 1 << (place % PLACES);
        self.0[place / PLACES].fetch_or(bit, Ordering::Release);
    }
}
