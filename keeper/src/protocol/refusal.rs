//! `Refusal`: why a keeper does not do what a guest has asked for, as numbers.

use super::ProtocolError;

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
        bytes: u64,
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

impl Refusal {
    pub(super) fn numbers(self) -> (u32, [u64; 3]) {
        match self {
            Self::NotDiscarded => (1, [0; 3]),
            Self::Exists => (2, [0; 3]),
            Self::NotFound => (3, [0; 3]),
            Self::Filling => (4, [0; 3]),
            Self::ReadOnly => (5, [0; 3]),
            Self::Asleep => (6, [0; 3]),
            Self::Discarded => (7, [0; 3]),
            Self::NotHeld => (8, [0; 3]),
            Self::Attend => (9, [0; 3]),
            Self::Bytes => (10, [0; 3]),
            Self::Device => (11, [0; 3]),
            Self::Guests { most } => (12, [most, 0, 0]),
            Self::Objects { most } => (13, [most, 0, 0]),
            Self::OverLimit { bytes, used, limit } => (14, [bytes, used, limit]),
            Self::HostLimit => (15, [0; 3]),
            Self::OutOfMemory => (16, [0; 3]),
            Self::Driver { status } => (17, [status.into(), 0, 0]),
            Self::Ended => (18, [0; 3]),
        }
    }

    pub(super) fn of(code: u32, numbers: [u64; 3]) -> Result<Self, ProtocolError> {
        let [first, second, third] = numbers;
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
                bytes: first,
                used: second,
                limit: third,
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
        if refusal.numbers() != (code, numbers) {
            return Err(ProtocolError::Malformed(
                "numbers that the refusal does not have",
            ));
        }
        Ok(refusal)
    }
}
