//! What the file of a ledger begins with: 56 bytes, little-endian (magic, version `u32`, zero `u32`, bytes of
//! a unit `u64`, rows `u64`, namespaces of processes and of time `u64`, zero `u64`). Each value has one encoding.
//! The file uses nothing else of this crate, so that the fuzz target can include it.

use cupola_core::ledger::{ROWS, UNIT};

/// Bytes of a header.
pub(crate) const LEN: usize = 56;

const MAGIC: [u8; 8] = *b"cupolald";
/// The version of what this file describes, and of the words of `cupola_core::ledger`.
const VERSION: u32 = 1;

/// Why bytes are no header of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// They do not begin as a ledger of this crate.
    #[error("this file is no ledger")]
    NotALedger,
    /// Another version of this crate has made it.
    #[error("a ledger of version {theirs}, and this is version {ours}: build both sides alike")]
    Version {
        /// That of the ledger's maker.
        theirs: u32,
        /// This one.
        ours: u32,
    },
    /// They contradict themselves.
    #[error("a malformed ledger: {0}")]
    Malformed(&'static str),
}

/// Where the numbers of processes in a ledger are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The pid namespace of the ledger's maker.
    pub(crate) processes: u64,
    /// Its time namespace; 0 where the kernel has none.
    pub(crate) time: u64,
}

impl Header {
    pub(crate) fn encode(self) -> [u8; LEN] {
        let mut raw = [0; LEN];
        raw[..8].copy_from_slice(&MAGIC);
        raw[8..12].copy_from_slice(&VERSION.to_le_bytes());
        raw[16..24].copy_from_slice(&UNIT.to_le_bytes());
        raw[24..32].copy_from_slice(&(ROWS as u64).to_le_bytes());
        raw[32..40].copy_from_slice(&self.processes.to_le_bytes());
        raw[40..48].copy_from_slice(&self.time.to_le_bytes());
        raw
    }

    pub(crate) fn decode(raw: &[u8; LEN]) -> Result<Self, HeaderError> {
        if raw[..8] != MAGIC {
            return Err(HeaderError::NotALedger);
        }
        let theirs = u32::from_le_bytes(part(raw, 8));
        if theirs != VERSION {
            let ours = VERSION;
            return Err(HeaderError::Version { theirs, ours });
        }
        let number = |at: usize| u64::from_le_bytes(part(raw, at));
        if part(raw, 12) != [0; 4] || number(48) != 0 {
            return Err(HeaderError::Malformed("reserved bytes are in use"));
        }
        if number(16) != UNIT || number(24) != ROWS as u64 {
            return Err(HeaderError::Malformed("another unit, or other rows"));
        }
        Ok(Self {
            processes: number(32),
            time: number(40),
        })
    }
}

/// `N` bytes from `at` on; beyond the end are zeros.
fn part<const N: usize>(raw: &[u8; LEN], at: usize) -> [u8; N] {
    let mut part = [0; N];
    for (to, from) in part.iter_mut().zip(raw.iter().skip(at)) {
        *to = *from;
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    quickcheck::quickcheck! {
        /// Without it a ledger could be taken for one of another namespace, whose process numbers mean others.
        fn a_header_comes_out_as_it_went_in(processes: u64, time: u64) -> bool {
            let header = Header { processes, time };
            Header::decode(&header.encode()) == Ok(header)
        }

        /// Without it a file that no ledger has written could be taken for one: with one byte changed it is
        /// refused, or is another value with that encoding.
        fn each_value_has_one_encoding(at: usize, byte: u8) -> bool {
            let header = Header { processes: 3, time: 4 };
            let mut raw = header.encode();
            raw[at % LEN] = byte;
            Header::decode(&raw).is_ok_and(|header| header.encode() == raw)
                || Header::decode(&raw).is_err() && !(32..48).contains(&(at % LEN))
        }
    }

    // Without it a refusal could name the wrong reason.
    #[test]
    fn refusals_name_their_reason() {
        let with = |at: usize, byte: u8| {
            let mut raw = Header {
                processes: 1,
                time: 2,
            }
            .encode();
            raw[at] = byte;
            Header::decode(&raw).unwrap_err()
        };
        assert_eq!(with(7, b'm'), HeaderError::NotALedger);
        let (theirs, ours) = (2, 1);
        assert_eq!(with(8, 2), HeaderError::Version { theirs, ours });
        for at in [12, 16, 24, 55] {
            assert!(matches!(with(at, 9), HeaderError::Malformed(_)), "{at}");
        }
    }
}
