//! `SharingError`: why memory was not sent or received.

use std::fmt;
use std::io;

use crate::message::MessageError;

/// Why memory was not sent or received. Nothing was imported then, and all descriptors that came are
/// closed.
///
/// After [`Device`](Self::Device), [`NoDescriptor`](Self::NoDescriptor) and [`Cuda`](Self::Cuda) the
/// message was read to its end, and the socket goes on with the next one. After any other the place in the
/// stream is not known: close it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharingError {
    /// A call of the socket failed: `WouldBlock` where the socket has a timeout or does not block.
    #[error("{call} failed: {source}")]
    Socket {
        /// The system's function.
        call: &'static str,
        /// Its error.
        source: io::Error,
    },
    /// The other side has closed the socket, or its process has ended.
    #[error(
        "the other side has closed the socket, {}",
        At(*.received)
    )]
    Closed {
        /// Bytes of the message that came before: 0 between two messages.
        received: usize,
    },
    /// What came is no message that this version reads.
    #[error("{0}")]
    Message(#[from] MessageError),
    /// The message came without a descriptor.
    #[error("the message came without its file descriptor: send it by cupola_sharing::send")]
    NoDescriptor,
    /// More than one descriptor came with a message.
    #[error("{count} file descriptors came with a message about one piece of memory")]
    Descriptors {
        /// As many were seen.
        count: usize,
    },
    /// Descriptors that were sent did not arrive: there were too many, or this process may open no more
    /// files (`RLIMIT_NOFILE`).
    #[error("file descriptors were lost on the way: too many, or this process may open no more")]
    Truncated,
    /// The memory is on another device than the receiver's.
    #[error(
        "the memory is on device {}, and the receiver's is {}: use a context of that device",
        Uuid(*.theirs),
        Uuid(*.ours)
    )]
    Device {
        /// The UUID of the memory's.
        theirs: [u8; 16],
        /// The UUID of the receiver's.
        ours: [u8; 16],
    },
    /// The driver, the limit or the manager has refused to export or import.
    #[error("{0}")]
    Cuda(#[from] cupola_managers::Error),
}

impl SharingError {
    pub(crate) fn socket(call: &'static str, source: io::Error) -> Self {
        Self::Socket { call, source }
    }
}

/// Where in a message the stream has ended.
struct At(usize);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("between two messages"),
            bytes => write!(f, "{bytes} bytes into a message"),
        }
    }
}

/// Written as the tools write it: `8d1f...-....`, without what a tool puts before it.
struct Uuid([u8; 16]);

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}
