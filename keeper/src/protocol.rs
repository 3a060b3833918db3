//! What keeper and guest say to each other. A frame has a header of 16 bytes, little-endian (magic of four
//! bytes, version `u16`, kind `u16`, length of the body `u32`, zero `u32`), and a body whose form its kind
//! says. Each value has one encoding. The file uses nothing else of this crate, so that the fuzz target can
//! include it.

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

/// What a guest may do with an object, or asks to do.
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

/// Why a keeper does not do what a guest has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Exists,
    NotFound,
    Filling,
    ReadOnly,
    Asleep,
    Discarded,
    NotDiscarded,
    NotHeld,
    /// It would wait for itself.
    Attend,
    Bytes,
    Device,
    Guests {
        most: u64,
    },
    Objects {
        most: u64,
    },
    OverLimit {
        used: u64,
        limit: u64,
    },
    HostLimit,
    OutOfMemory,
    Driver {
        status: u32,
    },
    /// Its process has.
    Ended,
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
    /// The guest is one, with the descriptor of the limit.
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
        kind == Self::PIECE
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
                let (code, first, second) = refusal.numbers();
                Writer::new(38).u32(code).u64(first).u64(second)
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
            38 => Self::Refused(Refusal::of(body.u32()?, body.u64()?, body.u64()?)?),
            39 => Self::Sleep {
                object: body.u64()?,
            },
            kind => return Err(ProtocolError::Kind { kind }),
        };
        body.end()?;
        Ok(reply)
    }
}

impl Refusal {
    fn numbers(self) -> (u32, u64, u64) {
        match self {
            Self::NotDiscarded => (1, 0, 0),
            Self::Exists => (2, 0, 0),
            Self::NotFound => (3, 0, 0),
            Self::Filling => (4, 0, 0),
            Self::ReadOnly => (5, 0, 0),
            Self::Asleep => (6, 0, 0),
            Self::Discarded => (7, 0, 0),
            Self::NotHeld => (8, 0, 0),
            Self::Attend => (9, 0, 0),
            Self::Bytes => (10, 0, 0),
            Self::Device => (11, 0, 0),
            Self::Guests { most } => (12, most, 0),
            Self::Objects { most } => (13, most, 0),
            Self::OverLimit { used, limit } => (14, used, limit),
            Self::HostLimit => (15, 0, 0),
            Self::OutOfMemory => (16, 0, 0),
            Self::Driver { status } => (17, status.into(), 0),
            Self::Ended => (18, 0, 0),
        }
    }

    fn of(code: u32, first: u64, second: u64) -> Result<Self, ProtocolError> {
        let refusal = match code {
            1 => Self::NotDiscarded,
            2 => Self::Exists,
            3 => Self::NotFound,
            4 => Self::Filling,
            5 => Self::ReadOnly,
            6 => Self::Asleep,
            7 => Self::Discarded,
            8 => Self::NotHeld,
            9 => Self::Attend,
            10 => Self::Bytes,
            11 => Self::Device,
            12 => Self::Guests { most: first },
            13 => Self::Objects { most: first },
            14 => Self::OverLimit {
                used: first,
                limit: second,
            },
            15 => Self::HostLimit,
            16 => Self::OutOfMemory,
            17 => {
                let status = u32::try_from(first);
                let status = status.map_err(|_| ProtocolError::Malformed("a code of 64 bits"))?;
                Self::Driver { status }
            }
            18 => Self::Ended,
            _ => return Err(ProtocolError::Malformed("an unknown refusal")),
        };
        if refusal.numbers() != (code, first, second) {
            return Err(ProtocolError::Malformed(
                "numbers that the refusal does not have",
            ));
        }
        Ok(refusal)
    }
}

fn code(rights: Rights) -> u8 {
    u8::from(rights == Rights::ReadWrite)
}

/// A frame that is written.
struct Writer(Vec<u8>);

impl Writer {
    fn new(kind: u16) -> Self {
        let mut raw = Vec::with_capacity(64);
        raw.extend_from_slice(&MAGIC);
        raw.extend_from_slice(&VERSION.to_le_bytes());
        raw.extend_from_slice(&kind.to_le_bytes());
        raw.extend_from_slice(&[0; 8]);
        Self(raw)
    }

    fn put(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn u8(self, value: u8) -> Self {
        self.put(&[value])
    }

    fn u32(self, value: u32) -> Self {
        self.put(&value.to_le_bytes())
    }

    fn u64(self, value: u64) -> Self {
        self.put(&value.to_le_bytes())
    }

    fn finish(mut self) -> Vec<u8> {
        // Names and descriptions are bounded before, so it fits.
        let body = (self.0.len() - HEADER) as u32;
        self.0[8..12].copy_from_slice(&body.to_le_bytes());
        self.0
    }
}

/// What is left of a body.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtocolError> {
        let Some((now, later)) = self.0.split_first_chunk() else {
            return Err(ProtocolError::Malformed("a body that is too short"));
        };
        self.0 = later;
        Ok(*now)
    }

    fn u8(&mut self) -> Result<u8, ProtocolError> {
        self.array().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Result<u16, ProtocolError> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, ProtocolError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, ProtocolError> {
        self.array().map(u64::from_le_bytes)
    }

    fn rights(&mut self) -> Result<Rights, ProtocolError> {
        match self.u8()? {
            0 => Ok(Rights::Read),
            1 => Ok(Rights::ReadWrite),
            _ => Err(ProtocolError::Malformed("unknown rights")),
        }
    }

    fn opening(&mut self) -> Result<Opening, ProtocolError> {
        match self.u8()? {
            0 => Ok(Opening::Mapped),
            1 => Ok(Opening::Sleeping),
            _ => Err(ProtocolError::Malformed("an unknown kind of opening")),
        }
    }

    fn state(&mut self) -> Result<ObjectState, ProtocolError> {
        match self.u8()? {
            0 => Ok(ObjectState::Filling),
            1 => Ok(ObjectState::Awake),
            2 => Ok(ObjectState::Asleep),
            3 => Ok(ObjectState::Discarded),
            _ => Err(ProtocolError::Malformed("an unknown state")),
        }
    }

    /// The rest of the body.
    fn name(&mut self) -> Result<String, ProtocolError> {
        let bytes = std::mem::take(&mut self.0);
        if bytes.is_empty() || bytes.len() > MAX_NAME {
            return Err(ProtocolError::Malformed(
                "a name of no bytes, or of too many",
            ));
        }
        let name = std::str::from_utf8(bytes);
        let name = name.map_err(|_| ProtocolError::Malformed("a name that is not UTF-8"))?;
        Ok(name.to_owned())
    }

    /// The rest of the body.
    fn description(&mut self) -> Result<Vec<u8>, ProtocolError> {
        let bytes = std::mem::take(&mut self.0);
        if bytes.len() > MAX_DESCRIPTION {
            return Err(ProtocolError::Malformed("a description of too many bytes"));
        }
        Ok(bytes.to_vec())
    }

    /// With its length before it.
    fn counted_description(&mut self) -> Result<Vec<u8>, ProtocolError> {
        let length = self.u32()? as usize;
        let Some((now, later)) = self.0.split_at_checked(length) else {
            return Err(ProtocolError::Malformed("a body that is too short"));
        };
        self.0 = later;
        Reader(now).description()
    }

    fn end(&self) -> Result<(), ProtocolError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(ProtocolError::Malformed("bytes behind the end of a body"))
        }
    }
}
