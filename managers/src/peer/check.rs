//! The first use of two devices: a pattern is sent each way and compared.
//!
//! On machines whose bridges or IOMMU do not pass the traffic of devices, the driver returns success
//! and the bytes are wrong, or never arrive. A program finds out by its results, if at all.

use std::sync::Arc;

use super::corruption::{PeerCorruption, PeerPath};
use super::error::PeerError;
use super::probe::{End, Piece, Probe};
use crate::driver::{ContextCore, PeerUse, Peers, RelaxedCapture};
use crate::error::{Error, Result};
use crate::sync::deferred::DeferCallbacks;

/// Whether the way from one device to another is checked before its first use: of copies, and of
/// access to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerCheck {
    /// Once for each ordered pair of a context and a device: 4 MiB are sent in pieces of several
    /// alignments, by the copy engines of both devices and, for access, by a kernel, and compared. It
    /// takes some milliseconds and 4 MiB of each device, outside of all limits, while it runs; 512 KiB
    /// where a device has no room for that. What is found is remembered: each later use of the pair is
    /// refused too.
    #[default]
    FirstUse,
    /// Not: for machines that are known to be well, and devices without room. If the context at either
    /// end says so, it is not checked.
    Never,
}

/// The pieces of so many bytes, of several alignments and lengths, which lie apart on both sides.
fn pieces(all: usize) -> [Piece; 6] {
    let part = all / 4;
    let last = 3 * part + part / 4 + part / 16;
    [
        Piece::new(0, 0, 2 * part),
        Piece::new(2 * part + 1, 2 * part + 1, part / 2 - 1),
        Piece::new(3 * part - 4096, 3 * part - 8192 + 3, 4093),
        Piece::new(3 * part + 16, 3 * part + 4096, part / 4),
        Piece::new(last + 7, last + 4096 + 2, part / 4 + 1),
        Piece::new(all - 3, all - 1, 1),
    ]
}

/// Whether the first use of these is to be checked.
pub(super) fn is_wanted(own: &ContextCore, peer: &ContextCore) -> bool {
    own.checks_peers() && peer.checks_peers() && own.device() != peer.device()
}

/// Refuses a use for which the check found wrong bytes.
pub(super) fn outcome(peers: &Peers, peer: &ContextCore, of: PeerUse) -> Result<()> {
    match peers.checked(peer.device(), of) {
        Some(Err(corruption)) => Err(corrupt(corruption)),
        Some(Ok(())) | None => Ok(()),
    }
}

fn corrupt(corruption: PeerCorruption) -> Error {
    Error::Peer(Box::new(PeerError::Corrupt(corruption)))
}

/// Before a copy from the memory of one context to that of another: the first one checks the way.
///
/// # Errors
/// [`Error::Peer`]; what the driver returned, and the next copy tries again.
#[track_caller]
pub(crate) fn check_copies(from: &Arc<ContextCore>, to: &Arc<ContextCore>) -> Result<()> {
    check_copies_by(from, to, copies)
}

/// As [`check_copies`], by this check.
#[track_caller]
pub(crate) fn check_copies_by(
    from: &Arc<ContextCore>,
    to: &Arc<ContextCore>,
    run: impl FnOnce(&ContextCore, &ContextCore) -> Result<Option<PeerCorruption>>,
) -> Result<()> {
    if from.peers().copies_are_well(to.device()) {
        return Ok(());
    }
    let _defer = DeferCallbacks::new();
    let mut peers = from.peers().lock();
    check(&mut peers, from, to, PeerUse::Copies, run)?;
    if peers.checked(to.device(), PeerUse::Copies).is_some() {
        from.peers().note_copies_are_well(to.device());
    }
    Ok(())
}

/// Before the first use of an access of `own` to the memory of `peer`, which is enabled.
///
/// # Errors
/// As [`check_copies`].
#[track_caller]
pub(super) fn check_access(
    own: &Arc<ContextCore>,
    peer: &Arc<ContextCore>,
    peers: &mut Peers,
) -> Result<()> {
    check(peers, own, peer, PeerUse::Access, accesses)
}

#[track_caller]
fn check(
    peers: &mut Peers,
    own: &Arc<ContextCore>,
    peer: &Arc<ContextCore>,
    of: PeerUse,
    run: impl FnOnce(&ContextCore, &ContextCore) -> Result<Option<PeerCorruption>>,
) -> Result<()> {
    if peers.checked(peer.device(), of).is_none() && is_wanted(own, peer) {
        let wrong = run(own, peer)?;
        if let Some(wrong) = &wrong {
            tracing::error!("{wrong}");
        }
        peers.note_check(peer.device(), of, wrong.map_or(Ok(()), Err));
    }
    outcome(peers, peer, of)
}

/// Copies from one device to another, on streams of both.
#[track_caller]
fn copies(from: &ContextCore, to: &ContextCore) -> Result<Option<PeerCorruption>> {
    let _relaxed = RelaxedCapture::uncounted(from.driver());
    let mut probe = Probe::new(from, to)?;
    let bytes = probe.bytes();
    let (pattern, blank) = (pattern(1, bytes), pattern(2, bytes));
    probe.upload(End::Own, &pattern)?;
    probe.upload(End::Peer, &blank)?;
    for (number, piece) in pieces(bytes).into_iter().enumerate() {
        let on = match number % 2 {
            0 => End::Own,
            _ => End::Peer,
        };
        probe.copy_across(piece, on)?;
    }
    probe.wait(End::Own)?;
    probe.wait(End::Peer)?;
    let expected = expected(&pattern, &blank);
    let (device, peer) = (from.ordinal(), to.ordinal());
    let found = probe.download(End::Peer)?;
    let path = PeerPath::Copy;
    Ok(PeerCorruption::find(device, peer, path, &expected, found))
}

/// Reads and writes of the peer's memory by the copy engines and by a kernel.
#[track_caller]
fn accesses(own: &ContextCore, peer: &ContextCore) -> Result<Option<PeerCorruption>> {
    let _relaxed = RelaxedCapture::uncounted(own.driver());
    let mut probe = Probe::new(own, peer)?;
    probe.load_kernel()?;
    let bytes = probe.bytes();
    let (pattern, blank) = (pattern(3, bytes), pattern(4, bytes));
    let by_pieces = expected(&pattern, &blank);
    for path in [
        PeerPath::ReadCopy,
        PeerPath::WriteCopy,
        PeerPath::KernelRead,
        PeerPath::KernelWrite,
    ] {
        let (source, target) = match path {
            PeerPath::ReadCopy | PeerPath::KernelRead => (End::Peer, End::Own),
            _ => (End::Own, End::Peer),
        };
        probe.upload(source, &pattern)?;
        probe.upload(target, &blank)?;
        let expected = match path {
            PeerPath::KernelRead | PeerPath::KernelWrite => {
                probe.launch(source, target)?;
                &pattern
            }
            _ => {
                for piece in pieces(bytes) {
                    probe.copy(piece, source, target)?;
                }
                &by_pieces
            }
        };
        probe.wait(End::Own)?;
        let (device, peer) = (own.ordinal(), peer.ordinal());
        let found = probe.download(target)?;
        let wrong = PeerCorruption::find(device, peer, path, expected, found);
        if wrong.is_some() {
            return Ok(wrong);
        }
    }
    Ok(None)
}

/// Pseudo-random bytes: no two patterns agree in a run of bytes, nor a pattern with itself moved.
fn pattern(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed << 32;
    let mut bytes = Vec::with_capacity(len);
    while bytes.len() < len {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(x ^ (x >> 31)).to_le_bytes());
    }
    bytes
}

/// What the destination holds when all pieces are there.
fn expected(pattern: &[u8], blank: &[u8]) -> Vec<u8> {
    let mut expected = blank.to_vec();
    for Piece { from, to, bytes } in pieces(blank.len()) {
        expected[to..to + bytes].copy_from_slice(&pattern[from..from + bytes]);
    }
    expected
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::peer::probe::{BYTES_OF_BLOCK, SIZES};

    // Without it pieces could overlap or reach beyond the memory, and the check find errors of its own.
    #[test]
    fn pieces_lie_apart() {
        for all in SIZES {
            for side in [|piece: &Piece| piece.from, |piece: &Piece| piece.to] {
                let mut end = 0;
                for piece in &pieces(all) {
                    assert!(side(piece) >= end, "{piece:?} of {all}");
                    end = side(piece) + piece.bytes;
                }
                assert!(end <= all);
            }
            assert!(all.is_multiple_of(BYTES_OF_BLOCK));
        }
    }

    // Without it a copy of nothing could leave what is expected.
    #[test]
    fn patterns_differ_everywhere() {
        for all in SIZES {
            let (one, two) = (pattern(1, all), pattern(2, all));
            let expected = expected(&one, &two);
            let long = pieces(all).into_iter().filter(|piece| piece.bytes > 16);
            for Piece { from, to, bytes } in long {
                assert_ne!(one[from..from + 16], two[to..to + 16]);
                assert_eq!(one[from..from + bytes], expected[to..to + bytes]);
            }
        }
    }
}
