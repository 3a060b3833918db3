//! `TraceError`: why a file is no trace, and where.

use std::io;

/// Why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// The file cannot be read or is damaged.
    #[error("the trace cannot be read: {0}")]
    Read(#[from] io::Error),
    /// A line that is no operation, or makes no sense where it stands.
    #[error("line {line} of the trace: {problem}: {text:?}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
        /// The line, or its beginning.
        text: String,
    },
    /// The bytes are not a pickle that this reads.
    #[error("byte {offset} of the pickle: {problem}")]
    Pickle {
        /// Counted from 0, after decompression.
        offset: u64,
        /// What is wrong there.
        problem: String,
    },
    /// The bytes are not JSON.
    #[error("the JSON cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// A snapshot lacks a field, or has something else there.
    #[error("{field} of the snapshot: {problem}")]
    Field {
        /// Where it is, as one would write it: `device_traces[0][17].addr`.
        field: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// One device's events were asked for, of a trace that says nothing of devices.
    #[error("the trace says nothing of devices, and the events of one were asked for")]
    NoDevices,
    /// It is a trace, of no operations.
    #[error("there is nothing in the trace to replay")]
    Empty,
    /// Reading takes more memory than it may.
    #[error("reading the trace takes more than {limit} bytes of memory")]
    TooLarge {
        /// [`ReadOptions::memory`](super::ReadOptions::memory).
        limit: u64,
    },
}
