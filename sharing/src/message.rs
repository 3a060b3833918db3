//! What is sent with a descriptor: 40 bytes, little-endian (magic, version `u32`, zero `u32`, length of
//! the memory `u64`, UUID of its device). Each value has one encoding. The file uses nothing else of this
//! crate, so that the fuzz target can include it.

/// Bytes of a message.
pub(crate) const LEN: usize = 40;

const MAGIC: [u8; 8] = *b"cupolamm";
/// The version of what this file describes. There is no talk between versions: another one is refused.
const VERSION: u32 = 1;

/// What is wrong with what came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// It does not begin as a message of this crate.
    #[error("this is no message about memory: the other side speaks another protocol")]
    NotAMessage,
    /// The other side has a version of this crate that writes other messages.
    #[error("a message of version {theirs}, and this is version {ours}: build both sides alike")]
    Version {
        /// The sender's.
        theirs: u32,
        /// The receiver's.
        ours: u32,
    },
    /// It contradicts itself.
    #[error("a malformed message: {0}")]
    Malformed(&'static str),
}

/// Memory, as its sender describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// As many are in the allocation.
    pub(crate) bytes: u64,
    /// The UUID of the device.
    pub(crate) device: [u8; 16],
}

impl Message {
    pub(crate) fn encode(self) -> [u8; LEN] {
        let mut raw = [0; LEN];
        raw[..8].copy_from_slice(&MAGIC);
        raw[8..12].copy_from_slice(&VERSION.to_le_bytes());
        raw[16..24].copy_from_slice(&self.bytes.to_le_bytes());
        raw[24..].copy_from_slice(&self.device);
        raw
    }

    pub(crate) fn decode(raw: &[u8; LEN]) -> Result<Self, MessageError> {
        let mut rest = raw.as_slice();
        if take(&mut rest) != MAGIC {
            return Err(MessageError::NotAMessage);
        }
        let theirs = u32::from_le_bytes(take(&mut rest));
        if theirs != VERSION {
            let ours = VERSION;
            return Err(MessageError::Version { theirs, ours });
        }
        if take(&mut rest) != [0; 4] {
            return Err(MessageError::Malformed("reserved bytes are in use"));
        }
        let bytes = u64::from_le_bytes(take(&mut rest));
        if bytes == 0 {
            return Err(MessageError::Malformed("memory of 0 bytes"));
        }
        let device = take(&mut rest);
        Ok(Self { bytes, device })
    }
}

/// The next `N` bytes. A message has as many as are taken of it; beyond them are zeros.
fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (now, later) = rest.split_at(N.min(rest.len()));
    *rest = later;
    let mut taken = [0; N];
    taken[..now.len()].copy_from_slice(now);
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    quickcheck::quickcheck! {
        /// Without it memory could come out larger than it went in, or on another device.
        fn a_message_comes_out_as_it_went_in(bytes: u64, low: u64, high: u64) -> bool {
            let mut device = [0; 16];
            device[..8].copy_from_slice(&low.to_le_bytes());
            device[8..].copy_from_slice(&high.to_le_bytes());
            let message = Message { bytes: bytes.max(1), device };
            Message::decode(&message.encode()) == Ok(message)
        }

        /// Without it a message that no sender writes could be taken for one: with one byte changed it is
        /// refused, or is another value with that encoding.
        fn each_value_has_one_encoding(bytes: u64, at: usize, byte: u8) -> bool {
            let mut raw = Message { bytes: bytes.max(1), device: [7; 16] }.encode();
            raw[at % LEN] = byte;
            Message::decode(&raw).is_ok_and(|message| message.encode() == raw)
                || Message::decode(&raw).is_err() && (at % LEN < 24)
        }
    }

    // Without it a refusal could name the wrong reason, and its reader look in the wrong place.
    #[test]
    fn refusals_name_their_reason() {
        let good = Message {
            bytes: 5,
            device: [1; 16],
        }
        .encode();
        let with = |at: usize, byte: u8| {
            let mut raw = good;
            raw[at] = byte;
            Message::decode(&raw).unwrap_err()
        };
        assert_eq!(with(0, b'C'), MessageError::NotAMessage);
        let (theirs, ours) = (2, 1);
        assert_eq!(with(8, 2), MessageError::Version { theirs, ours });
        assert!(matches!(with(15, 1), MessageError::Malformed(_)));
        assert!(matches!(with(16, 0), MessageError::Malformed(_)));
    }
}
