//! What keeper and guest say to each other. A frame has a header of 16 bytes, little-endian (magic of four
//! bytes, version `u16`, kind `u16`, length of the body `u32`, zero `u32`), and a body whose form its kind
//! says. Each value has one encoding. The file uses nothing else of this crate, so that the fuzz target can
//! include it.

mod codec;
mod refusal;
#[cfg(test)]
mod tests;

use codec::{Reader, Writer, code};
pub(crate) use refusal::Refusal;

/// Bytes of a header.
pub(crate) const HEADER: usize = 16;
/// The most bytes of a body.
pub(crate) const MAX_BODY: usize = 8 << 10;
/// The most bytes of a name.
pub(crate) const MAX_NAME: usize = 255;
/// The most bytes of a description.
pub(crate) const MAX_DESCRIPTION: usize = 4096;

const MAGIC: [u8; 4] = *b"cukp";
/// The version of what this file describes. There is no talk between versions: another one is refused.
const VERSION: u16 = 1;

/// What is wrong with what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// It does not begin as a frame.
    #[error("this is no frame of a keeper or a guest: the other side speaks another protocol")]
    NotAFrame,
    /// The other side has a version of this crate that speaks otherwise.
    #[error("a frame of version {theirs}, and this is version {ours}: build both sides alike")]
    Version {
        /// The sender's.
        theirs: u16,
        /// The receiver's.
        ours: u16,
    },
    /// It is no frame that comes in this direction.
    #[error("a frame of kind {kind}, which this side is not sent")]
    Kind {
        /// Its number.
        kind: u16,
    },
    /// It contradicts itself.
    #[error("a malformed frame: {0}")]
    Malformed(&'static str),
    /// It came with a descriptor where there should be none, or without one.
    #[error("a frame of kind {kind} with {} file descriptor", if *.came { "a" } else { "no" })]
    Descriptor {
        /// Its number.
        kind: u16,
        /// Whether one came.
        came: bool,
    },
}

/// A header, as far as it says what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: u16,
    /// At most [`MAX_BODY`].
    pub(crate) body: usize,
}

impl Header {
    pub(crate) fn decode(raw: &[u8; HEADER]) -> Result<Self, ProtocolError> {
        let mut rest = Reader(raw);
        if rest.array::<4>()? != MAGIC {
            return Err(ProtocolError::NotAFrame);
        }
        let theirs = rest.u16()?;
        if theirs != VERSION {
            let ours = VERSION;
            return Err(ProtocolError::Version { theirs, ours });
        }
        let kind = rest.u16()?;
        let body = rest.u32()? as usize;
        if body > MAX_BODY {
            return Err(ProtocolError::Malformed("a body beyond the most bytes"));
        }
        if rest.u32()? != 0 {
            return Err(ProtocolError::Malformed("reserved bytes are in use"));
        }
        Ok(Self { kind, body })
    }
}

/// What a guest may do with an object, or asks to do. The guest's mapping has these rights, which holds against
/// work that goes astray; the descriptor that it was made of has no rights of its own, so a program that wants to write can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Guests read it once it is sealed.
    Read,
    /// Guests that ask for it also write it.
    ReadWrite,
}

/// How an object is that a guest asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectState {
    /// Its creator fills it.
    Filling,
    /// It is sealed, and on the device.
    Awake,
    /// It is sealed, and its bytes are in the keeper's host memory, or on their way there or back.
    Asleep,
    /// It is sealed, its memory was given up, and no copy was kept: it has to be filled again.
    Discarded,
}

/// Which of its openings a guest lets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    Mapped,
    Sleeping,
}

/// What a guest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// The first frame, with the guest's `pidfd`.
    Hello {
        device: [u8; 16],
    },
    Create {
        bytes: u64,
        rights: Rights,
        name: String,
    },
    /// Memory again for an object that was discarded.
    Refill {
        name: String,
    },
    Seal {
        object: u64,
        description: Vec<u8>,
    },
    Open {
        rights: Rights,
        name: String,
    },
    Remove {
        name: String,
    },
    List,
    /// Has no answer.
    LetGo {
        object: u64,
        opening: Opening,
    },
    /// What the keeper has asked for is done. Has no answer.
    Slept {
        object: u64,
    },
    Wake {
        object: u64,
    },
}

/// What a keeper says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The first frame.
    Greeting,
    /// The guest is one. With the descriptor of the ledger.
    Welcome,
    Done,
    /// As many frames of pieces follow.
    Memory {
        object: u64,
        bytes: u64,
        rights: Rights,
        pieces: u32,
        description: Vec<u8>,
    },
    /// With the descriptor of its memory.
    Piece {
        bytes: u64,
    },
    /// One object of several, the last of which `Done` follows.
    Entry {
        bytes: u64,
        guests: u32,
        rights: Rights,
        state: ObjectState,
        description: Vec<u8>,
        name: String,
    },
    Refused(Refusal),
    /// Comes at any time between frames: let go of this object.
    Sleep {
        object: u64,
    },
}

impl Request {
    const HELLO: u16 = 1;

    /// Whether a frame of this kind comes with a descriptor.
    pub(crate) fn has_file(kind: u16) -> bool {
        kind == Self::HELLO
    }

    /// The whole frame.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Hello { device } => Writer::new(Self::HELLO).put(device),
            Self::Create {
                bytes,
                rights,
                name,
            } => Writer::new(2)
                .u64(*bytes)
                .u8(code(*rights))
                .put(name.as_bytes()),
            Self::Refill { name } => Writer::new(3).put(name.as_bytes()),
            Self::Seal {
                object,
                description,
            } => Writer::new(4).u64(*object).put(description),
            Self::Open { rights, name } => Writer::new(5).u8(code(*rights)).put(name.as_bytes()),
            Self::Remove { name } => Writer::new(6).put(name.as_bytes()),
            Self::List => Writer::new(7),
            Self::LetGo { object, opening } => {
                let sleeping = u8::from(*opening == Opening::Sleeping);
                Writer::new(8).u64(*object).u8(sleeping)
            }
            Self::Slept { object } => Writer::new(9).u64(*object),
            Self::Wake { object } => Writer::new(10).u64(*object),
        }
        .finish()
    }

    /// What a body of this kind says.
    pub(crate) fn decode(kind: u16, body: &[u8]) -> Result<Self, ProtocolError> {
        let mut body = Reader(body);
        let request = match kind {
            Self::HELLO => Self::Hello {
                device: body.array()?,
            },
            2 => Self::Create {
                bytes: body.u64()?,
                rights: body.rights()?,
                name: body.name()?,
            },
            3 => Self::Refill { name: body.name()? },
            4 => Self::Seal {
                object: body.u64()?,
                description: body.description()?,
            },
            5 => Self::Open {
                rights: body.rights()?,
                name: body.name()?,
            },
            6 => Self::Remove { name: body.name()? },
            7 => Self::List,
            8 => Self::LetGo {
                object: body.u64()?,
                opening: body.opening()?,
            },
            9 => Self::Slept {
                object: body.u64()?,
            },
            10 => Self::Wake {
                object: body.u64()?,
            },
            kind => return Err(ProtocolError::Kind { kind }),
        };
        body.end()?;
        Ok(request)
    }
}

impl Reply {
    const WELCOME: u16 = 33;
    const PIECE: u16 = 36;

    /// Whether a frame of this kind comes with a descriptor.
    pub(crate) fn has_file(kind: u16) -> bool {
        matches!(kind, Self::WELCOME | Self::PIECE)
    }

    /// The whole frame.
    pub(crate) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Greeting => Writer::new(32),
            Self::Welcome => Writer::new(Self::WELCOME),
            Self::Done => Writer::new(34),
            Self::Memory {
                object,
                bytes,
                rights,
                pieces,
                description,
            } => Writer::new(35)
                .u64(*object)
                .u64(*bytes)
                .u8(code(*rights))
                .u32(*pieces)
                .put(description),
            Self::Piece { bytes } => Writer::new(Self::PIECE).u64(*bytes),
            Self::Entry {
                bytes,
                guests,
                rights,
                state,
                description,
                name,
            } => {
                // A description is bounded, so its length fits.
                let length = description.len() as u32;
                let head = Writer::new(37).u64(*bytes).u32(*guests).u8(code(*rights));
                let state = match state {
                    ObjectState::Filling => 0,
                    ObjectState::Awake => 1,
                    ObjectState::Asleep => 2,
                    ObjectState::Discarded => 3,
                };
                head.u8(state)
                    .u32(length)
                    .put(description)
                    .put(name.as_bytes())
            }
            Self::Refused(refusal) => {
                let (code, numbers) = refusal.numbers();
                let frame = Writer::new(38).u32(code);
                numbers.into_iter().fold(frame, Writer::u64)
            }
            Self::Sleep { object } => Writer::new(39).u64(*object),
        }
        .finish()
    }

    /// What a body of this kind says.
    pub(crate) fn decode(kind: u16, body: &[u8]) -> Result<Self, ProtocolError> {
        let mut body = Reader(body);
        let reply = match kind {
            32 => Self::Greeting,
            Self::WELCOME => Self::Welcome,
            34 => Self::Done,
            35 => Self::Memory {
                object: body.u64()?,
                bytes: body.u64()?,
                rights: body.rights()?,
                pieces: body.u32()?,
                description: body.description()?,
            },
            Self::PIECE => Self::Piece { bytes: body.u64()? },
            37 => Self::Entry {
                bytes: body.u64()?,
                guests: body.u32()?,
                rights: body.rights()?,
                state: body.state()?,
                description: body.counted_description()?,
                name: body.name()?,
            },
            38 => {
                let code = body.u32()?;
                let numbers = [body.u64()?, body.u64()?, body.u64()?];
                Self::Refused(Refusal::of(code, numbers)?)
            }
            39 => Self::Sleep {
                object: body.u64()?,
            },
            kind => return Err(ProtocolError::Kind { kind }),
        };
        body.end()?;
        Ok(reply)
    }
}
