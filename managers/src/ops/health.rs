//! How a stream is.

use crate::error::Error;
use crate::stream::Stream;

/// How a stream is, see [`health`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamHealth {
    /// All work on it has completed.
    Idle,
    /// Work on it has not completed yet.
    Busy,
    /// A capture is open on it: its work goes into a graph.
    Capturing,
    /// Its context is lost: nothing on it runs any more.
    Lost(Error),
    /// The driver did not say.
    Unknown(Error),
}

impl StreamHealth {
    /// Whether work that is put on the stream will run.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Idle | Self::Busy | Self::Capturing)
    }
}

/// How a stream is (`cuStreamIsCapturing`, `cuStreamQuery`). It waits for nothing, and breaks
/// no capture. A fault of earlier work in the context that no call has reported yet shows here.
#[doc(alias = "cuStreamIsCapturing")]
#[doc(alias = "cuStreamQuery")]
#[track_caller]
#[must_use]
pub fn health(stream: &Stream) -> StreamHealth {
    let asked = match stream.is_capturing() {
        Ok(true) => return StreamHealth::Capturing,
        Ok(false) => super::query(stream),
        Err(error) => Err(error),
    };
    match asked {
        Ok(true) => StreamHealth::Idle,
        Ok(false) => StreamHealth::Busy,
        Err(error) if error.is_sticky() => StreamHealth::Lost(error),
        Err(error) => StreamHealth::Unknown(error),
    }
}
