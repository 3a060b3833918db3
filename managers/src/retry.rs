//! `Retry`: tries a call again that may succeed later, and no other.
//!
//! [`Error::is_retryable`] tells which may: a finite resource ran out, or was not ready. An error
//! after which a context is lost is never tried again, nor is a mistake.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// How often and how patiently to try again.
///
/// The pause before the n-th retry is `first << (n - 1)`, at most `ceiling`, less a random
/// part of at most `jitter` of it, so that threads that failed together do not come back together.
/// Pauses are spent in [`thread::sleep`](std::thread::sleep) on the calling thread.
///
/// ```
/// use std::time::Duration;
/// use cupola_managers::retry::Retry;
/// # use cupola_managers::{Error, Result};
/// # fn allocate() -> Result<u32> { Ok(7) }
/// # fn free_something() {}
/// let patient = Retry::new(5).deadline(Duration::from_secs(1));
/// let buffer = patient.run_with(|_failure| free_something(), |_attempt| allocate())?;
/// # assert_eq!(buffer, 7);
/// # Ok::<(), cupola_managers::retry::RetryError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    attempts: u32,
    first: Duration,
    ceiling: Duration,
    jitter: f64,
    deadline: Option<Duration>,
    seed: Option<u64>,
}

/// An attempt that failed and is about to be followed by another.
#[derive(Debug)]
pub struct Failure<'e> {
    /// Which attempt it was, from 1.
    pub attempt: u32,
    /// Why it failed.
    pub error: &'e Error,
    /// How long the pause before the next one is.
    pub pause: Duration,
}

/// Why there was no further attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GaveUp {
    /// The error is not one that goes away.
    NotRetryable,
    /// As many attempts as allowed were made.
    Attempts,
    /// The next one would have begun after the deadline.
    Deadline,
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotRetryable => "trying again would not help",
            Self::Attempts => "no attempt is left",
            Self::Deadline => "no time is left",
        })
    }
}

/// The last error, and the attempts that were made.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryError {
    /// The error of the last attempt.
    pub last: Error,
    /// Attempts that were made.
    pub attempts: u32,
    /// Time from the start of the first to the end of the last.
    pub elapsed: Duration,
    /// Why there was no other.
    pub why: GaveUp,
}

impl fmt::Display for RetryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            last,
            attempts,
            elapsed,
            why,
        } = self;
        write!(f, "{last} (attempt {attempts}, after {elapsed:?}: {why})")
    }
}

impl std::error::Error for RetryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.last)
    }
}

impl From<RetryError> for Error {
    fn from(error: RetryError) -> Self {
        error.last
    }
}

/// Tells the time and waits: the system, or a test that does neither.
pub trait Clock {
    /// Time since some fixed moment.
    fn now(&mut self) -> Duration;

    /// Waits this long.
    fn pause(&mut self, pause: Duration);
}

/// The system's monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&mut self) -> Duration {
        self.0.elapsed()
    }

    fn pause(&mut self, pause: Duration) {
        std::thread::sleep(pause);
    }
}

impl Retry {
    /// At most this many attempts, the first one included; 0 counts as 1. Pauses from 1 ms
    /// to 1 s, half of each random, and no deadline.
    #[must_use]
    pub const fn new(attempts: u32) -> Self {
        Self {
            attempts,
            first: Duration::from_millis(1),
            ceiling: Duration::from_secs(1),
            jitter: 0.5,
            deadline: None,
            seed: None,
        }
    }

    /// The pause before the first retry, which doubles from one to the next, and the longest.
    #[must_use]
    pub const fn pauses(self, first: Duration, ceiling: Duration) -> Self {
        Self {
            first,
            ceiling,
            ..self
        }
    }

    /// The part of each pause that is random, from 0.0 to 1.0; other values are brought
    /// into that range, and a value that is no number counts as 0.
    #[must_use]
    pub fn jitter(self, part: f64) -> Self {
        let jitter = if part.is_nan() {
            0.0
        } else {
            part.clamp(0.0, 1.0)
        };
        Self { jitter, ..self }
    }

    /// No attempt begins later than this after the first one. A pause that would end later
    /// is not begun. The first attempt is made in any case, and none is interrupted.
    #[must_use]
    pub const fn deadline(self, deadline: Duration) -> Self {
        Self {
            deadline: Some(deadline),
            ..self
        }
    }

    /// Makes the random part of the pauses repeatable.
    #[must_use]
    pub const fn seed(self, seed: u64) -> Self {
        Self {
            seed: Some(seed),
            ..self
        }
    }

    /// Calls `attempt` with 1, 2, ... until it succeeds.
    ///
    /// # Errors
    /// The last error, when it is not retryable, or no attempt or time is left.
    pub fn run<T>(&self, attempt: impl FnMut(u32) -> Result<T>) -> Result<T, RetryError> {
        self.run_with(|_| (), attempt)
    }

    /// Calls `attempt` until it succeeds, as [`run`](Self::run) does, and calls `on_retry` before
    /// each pause: to free something, or to log.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_with<T>(
        &self,
        on_retry: impl FnMut(Failure<'_>),
        attempt: impl FnMut(u32) -> Result<T>,
    ) -> Result<T, RetryError> {
        self.run_on(&mut SystemClock::default(), on_retry, attempt)
    }

    /// The retries of [`run_with`](Self::run_with), by a clock of the caller's.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_on<T>(
        &self,
        clock: &mut impl Clock,
        mut on_retry: impl FnMut(Failure<'_>),
        mut attempt: impl FnMut(u32) -> Result<T>,
    ) -> Result<T, RetryError> {
        let start = clock.now();
        let mut random = None;
        let mut attempts = 1;
        loop {
            let last = match attempt(attempts) {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            let elapsed = clock.now().saturating_sub(start);
            let give_up = |last, why| {
                Err(RetryError {
                    last,
                    attempts,
                    elapsed,
                    why,
                })
            };
            if !last.is_retryable() {
                return give_up(last, GaveUp::NotRetryable);
            }
            if attempts >= self.attempts {
                return give_up(last, GaveUp::Attempts);
            }
            let random = random.get_or_insert_with(|| {
                Random(self.seed.unwrap_or_else(|| RandomState::new().hash_one(0)))
            });
            let pause = self.pause(attempts, random.part());
            if self.is_late(clock.now().saturating_sub(start), pause) {
                return give_up(last, GaveUp::Deadline);
            }
            on_retry(Failure {
                attempt: attempts,
                error: &last,
                pause,
            });
            // The hook may have taken its time.
            if self.is_late(clock.now().saturating_sub(start), pause) {
                return give_up(last, GaveUp::Deadline);
            }
            clock.pause(pause);
            // A pause may take longer than it was to.
            if self.is_late(clock.now().saturating_sub(start), Duration::ZERO) {
                return give_up(last, GaveUp::Deadline);
            }
            attempts += 1;
        }
    }

    fn is_late(&self, elapsed: Duration, pause: Duration) -> bool {
        // With no time at all there is no retry, however short the pause.
        self.deadline
            .is_some_and(|deadline| deadline.is_zero() || elapsed.saturating_add(pause) > deadline)
    }

    /// The pause before the n-th retry; `part` is from 0.0 to 1.0.
    fn pause(&self, retry: u32, part: f64) -> Duration {
        let factor = 1u32.checked_shl(retry - 1).unwrap_or(u32::MAX);
        let whole = self.first.saturating_mul(factor).min(self.ceiling);
        whole.saturating_sub(Duration::from_secs_f64(
            // At most the whole, which is in range.
            (whole.as_secs_f64() * self.jitter * part).min(1e9),
        ))
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    /// From 0.0 to 1.0.
    fn part(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(all(test, not(loom)))]
#[path = "retry_tests.rs"]
mod tests;
