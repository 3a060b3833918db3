//! A counter in several parts, so that threads which count do not meet.
//!
//! Each part has one word for what is added and one for what is subtracted: both only ever
//! grow, and that is what makes a reading of many words mean something. The reader takes
//! the subtractions first, then the additions, then the subtractions again, and is done
//! when they have not moved.

use core::fmt;

use crate::padded::Padded;
use crate::sync::{AtomicU64, Ordering, const_fn, repeat};

/// How often a reader starts again when subtractions overtake it.
const ATTEMPTS: usize = if cfg!(loom) { 3 } else { 16 };

/// A counter that threads change without meeting, in `SHARDS` parts of one cache line pair
/// each.
///
/// The caller says which shard an addition goes to, for example the index of its thread or
/// stream; any number will do, and what is added to one shard may be subtracted from
/// another. Threads on different shards share nothing; a reader pays for that by looking
/// at every shard.
///
/// # What a reading means
/// - While nobody changes the counter it is exact.
/// - While there are only additions, readings that come one after another never fall, and
///   each lies between the values at the start and at the end of the call.
/// - An addition that comes before its subtraction (in one thread, or by any
///   synchronisation between two) is never missed when the subtraction is seen: the
///   result is not below zero. What is added and subtracted again in turn is not counted
///   many times over, either: the result lies between the lowest and the highest value
///   during the call, even if the reader is suspended in the middle.
/// - One exception: when subtractions overtake a reader sixteen times in a row, it returns
///   the last result, too high by at most what was subtracted while it took that one.
///
/// All arithmetic is modulo 2^64: the totals may wrap, the difference stays right. A reader
/// that is overtaken by subtractions of a multiple of 2^64 in all does not notice. To
/// subtract more than has been added is the caller's mistake, and shows as a number near
/// 2^64.
///
/// ```
/// use cupola_core::ShardedCounter;
///
/// static LIVE: ShardedCounter<8> = ShardedCounter::new();
///
/// LIVE.add(3, 2); // thread 3 makes two
/// LIVE.sub(11, 1); // thread 11 destroys one
/// assert_eq!(LIVE.read(), 1);
/// ```
pub struct ShardedCounter<const SHARDS: usize> {
    shards: [Padded<Shard>; SHARDS],
}

/// What was ever added to a shard, and subtracted from it.
struct Shard {
    up: AtomicU64,
    down: AtomicU64,
}

impl<const SHARDS: usize> ShardedCounter<SHARDS> {
    const FITS: () = assert!(SHARDS > 0, "a counter has at least one shard");

    const_fn! {
        /// A counter at zero.
        #[must_use]
        pub fn new() -> Self {
            let () = Self::FITS;
            Self {
                shards: repeat![
                    Padded(Shard { up: AtomicU64::new(0), down: AtomicU64::new(0) });
                    SHARDS
                ],
            }
        }
    }

    /// Adds `amount`, on the shard `hint` modulo the number of shards. Wait-free.
    pub fn add(&self, hint: usize, amount: u64) {
        let release = if mutant!("counter_relaxed_add") {
            Ordering::Relaxed
        } else {
            // Whoever sees this sees the subtractions that came before.
            Ordering::Release
        };
        self.shard(hint).up.fetch_add(amount, release);
    }

    /// Subtracts `amount`, on the shard `hint` modulo the number of shards. Wait-free.
    pub fn sub(&self, hint: usize, amount: u64) {
        let release = if mutant!("counter_relaxed_sub") {
            Ordering::Relaxed
        } else {
            // Whoever sees this sees the additions that came before.
            Ordering::Release
        };
        self.shard(hint).down.fetch_add(amount, release);
    }

    /// What has been added less what has been subtracted; the type says how exactly.
    #[must_use]
    pub fn read(&self) -> u64 {
        let mut downs = self.downs();
        for _ in 1..ATTEMPTS {
            let ups = self.ups();
            let now = self.downs();
            if mutant!("counter_ups_first") {
                downs = now;
            }
            if now == downs || mutant!("counter_one_look") {
                return ups.wrapping_sub(downs);
            }
            downs = now;
        }
        self.ups().wrapping_sub(downs)
    }

    fn shard(&self, hint: usize) -> &Shard {
        &self.shards[hint % SHARDS]
    }

    // Acquire in both: each word read orders the words that are read after it.

    #[inline]
    fn ups(&self) -> u64 {
        let words = self.shards.iter().map(|shard| &shard.up);
        words.fold(0, |sum, up| sum.wrapping_add(up.load(Ordering::Acquire)))
    }

    #[inline]
    fn downs(&self) -> u64 {
        let words = self.shards.iter().map(|shard| &shard.down);
        words.fold(0, |sum, down| {
            sum.wrapping_add(down.load(Ordering::Acquire))
        })
    }
}

impl<const SHARDS: usize> Default for ShardedCounter<SHARDS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const SHARDS: usize> fmt::Debug for ShardedCounter<SHARDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ShardedCounter").field(&self.read()).finish()
    }
}
