//! `CopyMode`: whether copies of pinned memory return before they are done.

use std::fmt;
use std::time::{Duration, Instant};

use crate::buffer::{Buffer, PinnedBuffer};
use crate::error::Result;
use crate::ops;
use crate::stream::Stream;

/// What a copy between device and pinned memory does to the thread that puts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CopyMode {
    /// The call returns at once, and the copy overlaps with all other work.
    Asynchronous,
    /// The call returns when the copy is done, and with it the work before it on the stream: so it is
    /// where what goes over the bus is encrypted (confidential computing). A
    /// [pipeline](crate::pipeline::CopyThreads) has a thread of its own for downloads then, because
    /// stages that one thread puts do not overlap.
    Blocking,
}

/// Bytes of a copy that is timed: much longer than a call, and short.
pub(crate) const MEASURED_BYTES: usize = 4 << 20;
/// Copies that are timed, after one that warms up: a thread may be held up in some.
const ROUNDS: usize = 5;

impl CopyMode {
    /// Times copies: a call that takes longer than the wait for its copy has waited itself.
    #[track_caller]
    pub(crate) fn measure(
        host: &PinnedBuffer<u8>,
        device: &mut Buffer<u8>,
        stream: &Stream,
    ) -> Result<Self> {
        let mut blocked = 0;
        for round in 0..=ROUNDS {
            let start = Instant::now();
            ops::copy_to_device(host, &mut *device, stream)?;
            let called = start.elapsed();
            ops::synchronize(stream)?;
            let waited: Duration = start.elapsed() - called;
            blocked += usize::from(round > 0 && called > waited);
        }
        Ok(match blocked > ROUNDS / 2 {
            true => Self::Blocking,
            false => Self::Asynchronous,
        })
    }
}

impl fmt::Display for CopyMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asynchronous => "copies of pinned memory overlap with other work",
            Self::Blocking => {
                "copies of pinned memory block the thread that puts them (confidential computing?): \
                 stages that one thread puts do not overlap"
            }
        })
    }
}
