//! What crosses the connection: frames, and the parser that takes nothing on trust.
//!
//! A frame is a head of 16 bytes, little-endian (length of the rest `u32`, kind `u8`, zero
//! `u8`, attempt `u16`, sequence number `u64`), and the rest. Each value has one encoding.
//! The file uses nothing else of this crate, so that the fuzz target can include it.

mod decoder;

use core::fmt;

use cupola_sys::ErrorClass;

pub(crate) use decoder::Decoder;
use decoder::Head;

/// Bytes of a head.
pub(crate) const HEAD: usize = 16;
/// The version of what this file describes. Both sides are the same program as a rule, so
/// there is no talk between versions: another one is refused.
pub(crate) const VERSION: u32 = 1;
/// Most bytes of the rest of a frame that is neither an item nor its result.
pub(crate) const CONTROL_LIMIT: usize = 16 << 10;
/// Most bytes of a job's name.
pub(crate) const JOB_LIMIT: usize = 255;

const MAGIC: [u8; 8] = *b"cupolawk";
const HELLO: u8 = 1;
const READY: u8 = 2;
const NOT_OPENED: u8 = 3;
const ITEM: u8 = 4;
const DONE: u8 = 5;
const FAILED: u8 = 6;

/// A frame, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// The first frame of each side.
    Hello(Hello),
    /// Worker: the handler is there, send items.
    Ready,
    /// Worker: the handler could not be made; the worker ends.
    NotOpened(Trouble),
    /// Supervisor: work on this.
    Item {
        sequence: u64,
        attempt: u16,
        bytes: Vec<u8>,
    },
    /// Worker: the result of an item.
    Done { sequence: u64, bytes: Vec<u8> },
    /// Worker: the item failed. The worker ends if it is lost or has panicked.
    Failed { sequence: u64, trouble: Trouble },
}

/// Who speaks, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    /// Most bytes of an item and of a result.
    pub(crate) limit: u32,
    /// The process of the speaker.
    pub(crate) process: u32,
    /// The job.
    pub(crate) job: String,
}

/// An error on its way from the worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) lost: bool,
    pub(crate) panicked: bool,
    pub(crate) class: ErrorClass,
    pub(crate) code: Option<u32>,
    pub(crate) text: String,
}

/// What is wrong with what the other side sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// It does not start like a connection between supervisor and worker.
    NotAWorker,
    /// The other side is of a version of this crate that speaks another protocol.
    Version {
        /// The version that the other side speaks.
        theirs: u32,
        /// The version that this side speaks.
        ours: u32,
    },
    /// A frame is longer than was agreed.
    TooLong {
        /// Bytes that the frame claims.
        bytes: u32,
        /// Bytes that were agreed.
        limit: u32,
    },
    /// A frame is not one of the protocol, or says something that cannot be.
    Malformed(&'static str),
    /// A frame that does not belong here, as the result of an item that is not asked for.
    Unexpected(&'static str),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAWorker => f.write_str("it does not speak the protocol of a worker"),
            Self::Version { theirs, ours } => write!(
                f,
                "it speaks version {theirs} of the protocol, this side version {ours}: build both \
                 from the same cupola"
            ),
            Self::TooLong { bytes, limit } => {
                write!(f, "a frame of {bytes} bytes, over the limit of {limit}")
            }
            Self::Malformed(what) => write!(f, "a malformed frame: {what}"),
            Self::Unexpected(what) => write!(f, "an unexpected frame: {what}"),
        }
    }
}

impl core::error::Error for FrameError {}

/// The head of an item's frame; the item's bytes follow.
pub(crate) fn item_head(sequence: u64, attempt: u16, bytes: u32) -> [u8; HEAD] {
    head(ITEM, attempt, sequence, bytes)
}

/// The head of a result's frame; the result's bytes follow.
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no workers"))]
pub(crate) fn done_head(sequence: u64, bytes: u32) -> [u8; HEAD] {
    head(DONE, 0, sequence, bytes)
}

fn head(kind: u8, attempt: u16, sequence: u64, bytes: u32) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&bytes.to_le_bytes());
    head[4] = kind;
    head[6..8].copy_from_slice(&attempt.to_le_bytes());
    head[8..].copy_from_slice(&sequence.to_le_bytes());
    head
}

impl Message {
    /// The whole frame. Texts that are too long for one are cut.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (kind, attempt, sequence, rest) = match self {
            Self::Hello(hello) => (HELLO, 0, 0, hello.encode()),
            Self::Ready => (READY, 0, 0, Vec::new()),
            Self::NotOpened(trouble) => (NOT_OPENED, 0, 0, trouble.encode()),
            Self::Item {
                sequence,
                attempt,
                bytes,
            } => (ITEM, *attempt, *sequence, bytes.clone()),
            Self::Done { sequence, bytes } => (DONE, 0, *sequence, bytes.clone()),
            Self::Failed { sequence, trouble } => (FAILED, 0, *sequence, trouble.encode()),
        };
        // No limit is as high as the largest length: see `WorkerConfig::item_limit`.
        let bytes = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        let mut frame = Vec::with_capacity(HEAD + rest.len());
        frame.extend_from_slice(&head(kind, attempt, sequence, bytes));
        frame.extend_from_slice(&rest);
        frame
    }

    fn decode(head: &Head, rest: Vec<u8>) -> Result<Self, FrameError> {
        let sequence = head.sequence;
        match head.kind {
            HELLO => Hello::decode(&rest).map(Self::Hello),
            READY if rest.is_empty() => Ok(Self::Ready),
            READY => Err(FrameError::Malformed("a ready frame has contents")),
            NOT_OPENED => Trouble::decode(&rest).map(Self::NotOpened),
            ITEM => Ok(Self::Item {
                sequence,
                attempt: head.attempt,
                bytes: rest,
            }),
            DONE => Ok(Self::Done {
                sequence,
                bytes: rest,
            }),
            FAILED => Ok(Self::Failed {
                sequence,
                trouble: Trouble::decode(&rest)?,
            }),
            _ => Err(FrameError::Malformed("its kind is unknown")),
        }
    }
}

impl Hello {
    fn encode(&self) -> Vec<u8> {
        let mut rest = Vec::with_capacity(20 + self.job.len());
        rest.extend_from_slice(&MAGIC);
        rest.extend_from_slice(&VERSION.to_le_bytes());
        rest.extend_from_slice(&self.limit.to_le_bytes());
        rest.extend_from_slice(&self.process.to_le_bytes());
        rest.extend_from_slice(cut(&self.job, JOB_LIMIT).as_bytes());
        rest
    }

    fn decode(rest: &[u8]) -> Result<Self, FrameError> {
        let mut words = Words(rest);
        if words.take()? != MAGIC {
            return Err(FrameError::NotAWorker);
        }
        // Nothing behind the version is looked at before it is known.
        let theirs = words.word()?;
        if theirs != VERSION {
            let ours = VERSION;
            return Err(FrameError::Version { theirs, ours });
        }
        let (limit, process) = (words.word()?, words.word()?);
        if words.0.len() > JOB_LIMIT {
            return Err(FrameError::Malformed("the name of a job is too long"));
        }
        Ok(Self {
            limit,
            process,
            job: text(words.0)?,
        })
    }
}

impl Trouble {
    fn encode(&self) -> Vec<u8> {
        let flags =
            u8::from(self.lost) | u8::from(self.panicked) << 1 | u8::from(self.code.is_some()) << 2;
        let mut rest = vec![flags, class_number(self.class), 0, 0];
        rest.extend_from_slice(&self.code.unwrap_or(0).to_le_bytes());
        let room = CONTROL_LIMIT - rest.len();
        rest.extend_from_slice(cut(&self.text, room).as_bytes());
        rest
    }

    fn decode(rest: &[u8]) -> Result<Self, FrameError> {
        let mut words = Words(rest);
        let [flags, class, 0, 0] = words.take()? else {
            return Err(FrameError::Malformed("reserved bytes are in use"));
        };
        let code = words.word()?;
        let has_code = flags & 4 != 0;
        if flags > 7 || !has_code && code != 0 {
            return Err(FrameError::Malformed("flags that do not exist"));
        }
        let Some(&class) = CLASSES.get(usize::from(class)) else {
            return Err(FrameError::Malformed("a class that does not exist"));
        };
        Ok(Self {
            lost: flags & 1 != 0,
            panicked: flags & 2 != 0,
            class,
            code: has_code.then_some(code),
            text: text(words.0)?,
        })
    }
}

/// The classes by their number on the wire.
const CLASSES: [ErrorClass; 12] = [
    ErrorClass::Unknown,
    ErrorClass::Success,
    ErrorClass::Transient,
    ErrorClass::Resource,
    ErrorClass::Programmer,
    ErrorClass::Program,
    ErrorClass::Unsupported,
    ErrorClass::Environment,
    ErrorClass::Capture,
    ErrorClass::StickyProcess,
    ErrorClass::Hardware,
    ErrorClass::Shutdown,
];

/// A class that is newer than this file is unknown to the other side too.
fn class_number(class: ErrorClass) -> u8 {
    let number = CLASSES.iter().position(|&known| known == class);
    number.map_or(0, |number| number as u8)
}

/// The longest start of `text` that has at most `room` bytes.
fn cut(text: &str, room: usize) -> &str {
    let mut end = text.len().min(room);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn text(bytes: &[u8]) -> Result<String, FrameError> {
    let text = core::str::from_utf8(bytes);
    text.map(str::to_owned)
        .map_err(|_| FrameError::Malformed("a text is not UTF-8"))
}

/// Takes fixed parts off the front.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        let (taken, left) = (self.0)
            .split_first_chunk()
            .ok_or(FrameError::Malformed("it ends too early"))?;
        self.0 = left;
        Ok(*taken)
    }

    fn word(&mut self) -> Result<u32, FrameError> {
        self.take().map(u32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests;
