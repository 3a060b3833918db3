//! `PeerCorruption`: the bytes that a first use of two devices found wrong.

use core::fmt;

/// The way between two devices on which bytes were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerPath {
    /// A copy that names both contexts (`cuMemcpyPeerAsync`), from the first device to the second.
    Copy,
    /// A copy that the first device makes out of the second one's memory (`cuMemcpyDtoDAsync`).
    ReadCopy,
    /// A copy that the first device makes into the second one's memory (`cuMemcpyDtoDAsync`).
    WriteCopy,
    /// A kernel of the first device that reads the second one's memory.
    KernelRead,
    /// A kernel of the first device that writes the second one's memory.
    KernelWrite,
}

impl fmt::Display for PeerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Copy => "a peer copy to",
            Self::ReadCopy => "a copy out of",
            Self::WriteCopy => "a copy into",
            Self::KernelRead => "a kernel that reads",
            Self::KernelWrite => "a kernel that writes",
        })
    }
}

/// Wrong bytes: the driver has returned success, and the memory does not hold what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerCorruption {
    /// Ordinal of the device that copied, or that the copy was from.
    pub device: u32,
    /// Ordinal of the other device.
    pub peer: u32,
    /// The way on which the bytes went.
    pub path: PeerPath,
    /// Offset of the first wrong byte.
    pub offset: u64,
    /// The byte that should be there.
    pub expected: u8,
    /// The byte that is.
    pub found: u8,
    /// How many bytes are wrong.
    pub wrong: u64,
    /// How many were looked at.
    pub bytes: u64,
}

impl PeerCorruption {
    /// Compares memory that was read back with what it should hold.
    pub(crate) fn find(
        device: u32,
        peer: u32,
        path: PeerPath,
        expected: &[u8],
        found: &[u8],
    ) -> Option<Self> {
        let mut differing = expected.iter().zip(found).enumerate();
        let (offset, (&first, &there)) =
            differing.find(|(_, (expected, found))| expected != found)?;
        let rest = differing.filter(|(_, (expected, found))| expected != found);
        Some(Self {
            device,
            peer,
            path,
            offset: offset as u64,
            expected: first,
            found: there,
            wrong: 1 + rest.count() as u64,
            bytes: expected.len() as u64,
        })
    }
}

impl fmt::Display for PeerCorruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            device,
            peer,
            path,
            offset,
            expected,
            found,
            wrong,
            bytes,
        } = self;
        write!(
            f,
            "device {device}: {path} device {peer} returns success and {wrong} of {bytes} bytes are \
             wrong, the first at offset {offset}: {found:#04x} in place of {expected:#04x}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a report could name another byte than the first, or miscount.
    #[test]
    fn the_first_wrong_byte_is_named() {
        let expected = [1, 2, 3, 4, 5];
        assert_eq!(
            PeerCorruption::find(0, 1, PeerPath::Copy, &expected, &expected),
            None
        );
        let found = [1, 2, 9, 4, 0];
        let wrong = PeerCorruption::find(0, 1, PeerPath::Copy, &expected, &found).unwrap();
        assert_eq!((wrong.offset, wrong.wrong, wrong.bytes), (2, 2, 5));
        assert_eq!((wrong.expected, wrong.found), (3, 9));
        let text = wrong.to_string();
        assert!(
            text.contains("device 0") && text.contains("device 1") && text.contains("offset 2"),
            "{text}"
        );
    }
}
