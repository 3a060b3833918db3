//! `StageRing`: the stages of a pipeline's buffers. The pipelines of `cupola-managers` keep one
//! each.
//!
//! Work passes every stage in the order in which it began, so four counters are the whole
//! state: how many turns have entered each stage. A turn's number never repeats, which makes
//! it the generation of its buffer.

use core::fmt;
use core::num::NonZeroUsize;

/// The stage that a buffer is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Not in use.
    Free,
    /// Being filled from the host.
    Uploading,
    /// Being worked on by the device.
    Processing,
    /// Being read back to the host.
    Downloading,
}

/// One passage of one buffer through the stages. Turns are ordered as they began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn(u64);

impl Turn {
    /// The number of the turn, from 0: how many began before it.
    #[must_use]
    #[inline]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// The reason why a turn cannot advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageRingError {
    /// The turn is over, or this ring has not begun it.
    Stale(Turn),
    /// A turn that began earlier is still in the same stage.
    NotFirst(Turn),
}

impl fmt::Display for StageRingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale(Turn(number)) => write!(f, "turn {number} is not under way"),
            Self::NotFirst(Turn(number)) => {
                write!(f, "turn {number} cannot overtake the turns before it")
            }
        }
    }
}

impl core::error::Error for StageRingError {}

/// A ring of buffers that go through the stages of a pipeline: free, uploading, processing,
/// downloading and free again, always in the order in which the turns began.
///
/// ```
/// use core::num::NonZeroUsize;
/// use cupola_core::{Stage, StageRing};
///
/// let mut buffers = StageRing::new(NonZeroUsize::new(2).unwrap());
/// let first = buffers.begin().unwrap();
/// let second = buffers.begin().unwrap();
/// assert_eq!(buffers.begin(), None); // both buffers are in use
///
/// assert_eq!(buffers.advance(first), Ok(Stage::Processing));
/// assert_eq!(buffers.advance(second), Ok(Stage::Processing));
/// assert!(buffers.advance(second).is_err()); // the first one goes first
/// assert_eq!(buffers.advance(first), Ok(Stage::Downloading));
/// assert_eq!(buffers.advance(first), Ok(Stage::Free));
/// let third = buffers.begin().unwrap();
/// assert_eq!(buffers.buffer(third), buffers.buffer(first));
/// assert!(buffers.advance(first).is_err()); // a turn that is over stays over
/// ```
#[doc(alias("triple buffer", "ring buffer"))]
#[derive(Clone, Debug)]
pub struct StageRing {
    /// How many buffers there are.
    depth: NonZeroUsize,
    /// Turns that have entered `Uploading`, `Processing`, `Downloading` and, last, `Free`
    /// again. Never increasing from left to right.
    entered: [u64; 4],
}

impl StageRing {
    /// A ring of `depth` buffers, all of them free.
    #[must_use]
    pub const fn new(depth: NonZeroUsize) -> Self {
        Self {
            depth,
            entered: [0; 4],
        }
    }

    /// How many buffers there are.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth.get()
    }

    /// Starts a turn with the next buffer, which enters [`Stage::Uploading`]. `None` when
    /// that buffer is still in use.
    pub fn begin(&mut self) -> Option<Turn> {
        if self.in_flight() == self.depth() {
            return None;
        }
        let turn = Turn(self.entered[0]);
        self.entered[0] += 1;
        Some(turn)
    }

    /// Moves a turn on to the next stage, which is returned; [`Stage::Free`] is its end.
    ///
    /// # Errors
    /// [`StageRingError`]; nothing has changed then.
    pub fn advance(&mut self, turn: Turn) -> Result<Stage, StageRingError> {
        let stage = self.stage(turn).ok_or(StageRingError::Stale(turn))?;
        let (next, entered) = match stage {
            Stage::Uploading => (Stage::Processing, &mut self.entered[1]),
            Stage::Processing => (Stage::Downloading, &mut self.entered[2]),
            Stage::Downloading => (Stage::Free, &mut self.entered[3]),
            Stage::Free => return Err(StageRingError::Stale(turn)),
        };
        if *entered != turn.0 {
            return Err(StageRingError::NotFirst(turn));
        }
        *entered += 1;
        Ok(next)
    }

    /// The stage that a turn is in; `None` when it is over or has not begun.
    #[must_use]
    pub fn stage(&self, turn: Turn) -> Option<Stage> {
        let [uploading, processing, downloading, over] = self.entered;
        if turn.0 >= uploading || turn.0 < over {
            None
        } else if turn.0 < downloading {
            Some(Stage::Downloading)
        } else if turn.0 < processing {
            Some(Stage::Processing)
        } else {
            Some(Stage::Uploading)
        }
    }

    /// The buffer that a turn uses, below [`depth`](Self::depth).
    #[must_use]
    pub fn buffer(&self, turn: Turn) -> usize {
        // The remainder is below the depth, so it fits.
        (turn.0 % self.depth() as u64) as usize
    }

    /// The buffer that the next turn will use, below [`depth`](Self::depth).
    #[must_use]
    pub fn next_buffer(&self) -> usize {
        self.buffer(Turn(self.entered[0]))
    }

    /// The oldest turn in `stage`: the only one there that can advance. `None` for an
    /// empty stage and for [`Stage::Free`].
    #[must_use]
    pub fn oldest(&self, stage: Stage) -> Option<Turn> {
        let oldest = Turn(
            self.entered[match stage {
                Stage::Free => return None,
                Stage::Uploading => 1,
                Stage::Processing => 2,
                Stage::Downloading => 3,
            }],
        );
        (self.stage(oldest) == Some(stage)).then_some(oldest)
    }

    /// Buffers in use.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        // At most the depth by construction, so it fits.
        (self.entered[0] - self.entered[3]) as usize
    }

    /// Ends every turn, as after a failure: all buffers are free and the turns are stale.
    pub fn reset(&mut self) {
        self.entered = [self.entered[0]; 4];
    }
}
