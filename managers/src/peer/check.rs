//! The first use of two devices: a pattern is sent each way and compared.
//!
//! On machines whose bridges or IOMMU do not pass the traffic of devices, the driver returns success
//! and the bytes are wrong, or never arrive. A program finds out by its results, if at all.

use std::ptr;
use std::sync::Arc;

use cupola_sys::driver::{
    CUdeviceptr, CUfunction, CUmodule, CUstream, CUstream_flags, Driver, DriverError,
};

use super::corruption::{PeerCorruption, PeerPath};
use super::error::PeerError;
use crate::driver::{ContextCore, Kind, PeerUse, Peers, RelaxedCapture, check_between};
use crate::error::{Error, Result, Site};
use crate::pool::is_out_of_memory;
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

/// Bytes of the memory on each side, and where a device has no room for that.
const SIZES: [usize; 2] = [4 << 20, 512 << 10];

/// A piece of a check: offset at the source, at the destination, and bytes.
type Piece = (usize, usize, usize);

/// The pieces of so many bytes, of several alignments and lengths, which lie apart on both sides.
fn pieces(all: usize) -> [Piece; 6] {
    let part = all / 4;
    let last = 3 * part + part / 4 + part / 16;
    [
        (0, 0, 2 * part),
        (2 * part + 1, 2 * part + 1, part / 2 - 1),
        (3 * part - 4096, 3 * part - 8192 + 3, 4093),
        (3 * part + 16, 3 * part + 4096, part / 4),
        (last + 7, last + 4096 + 2, part / 4 + 1),
        (all - 3, all - 1, 1),
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
    let _defer = DeferCallbacks::new();
    let mut peers = from.peers().lock();
    check(&mut peers, from, to, PeerUse::Copies, copies)
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
    let (source, target) = Scratch::pair(from, to)?;
    let (pattern, blank) = (pattern(1, source.bytes), pattern(2, source.bytes));
    source.upload(&pattern)?;
    target.upload(&blank)?;
    for (number, (at, to_at, bytes)) in pieces(source.bytes).into_iter().enumerate() {
        let side = match number % 2 {
            0 => &source,
            _ => &target,
        };
        let (into, out_of) = (target.memory + to_at as u64, source.memory + at as u64);
        side.put(|driver, stream| {
            // SAFETY: both are `bytes` bytes of their contexts' memory, which is freed after the
            // streams are waited for.
            unsafe {
                driver.cuMemcpyPeerAsync(
                    into,
                    to.current_raw(),
                    out_of,
                    from.current_raw(),
                    bytes,
                    stream,
                )
            }
        })?;
    }
    source.wait()?;
    target.wait()?;
    let expected = expected(&pattern, &blank);
    let found = target.download()?;
    let (device, peer) = (from.ordinal(), to.ordinal());
    Ok(PeerCorruption::find(
        device,
        peer,
        PeerPath::Copy,
        &expected,
        &found,
    ))
}

/// Reads and writes of the peer's memory by the copy engines and by a kernel.
#[track_caller]
fn accesses(own: &ContextCore, peer: &ContextCore) -> Result<Option<PeerCorruption>> {
    let _relaxed = RelaxedCapture::uncounted(own.driver());
    let (here, there) = Scratch::pair(own, peer)?;
    let kernel = WordCopy::load(own)?;
    let (pattern, blank) = (pattern(3, here.bytes), pattern(4, here.bytes));
    let by_pieces = expected(&pattern, &blank);
    for path in [
        PeerPath::ReadCopy,
        PeerPath::WriteCopy,
        PeerPath::KernelRead,
        PeerPath::KernelWrite,
    ] {
        let (source, target) = match path {
            PeerPath::ReadCopy | PeerPath::KernelRead => (&there, &here),
            _ => (&here, &there),
        };
        source.upload(&pattern)?;
        target.upload(&blank)?;
        let expected = match path {
            PeerPath::KernelRead | PeerPath::KernelWrite => {
                kernel.launch(&here, source.memory, target.memory)?;
                &pattern
            }
            _ => {
                for (at, to_at, bytes) in pieces(here.bytes) {
                    let (into, out_of) = (target.memory + to_at as u64, source.memory + at as u64);
                    here.put(|driver, stream| {
                        // SAFETY: both are `bytes` bytes, which this context may access, and freed
                        // after the stream is waited for.
                        unsafe { driver.cuMemcpyDtoDAsync_v2(into, out_of, bytes, stream) }
                    })?;
                }
                &by_pieces
            }
        };
        here.wait()?;
        let found = target.download()?;
        let (device, peer) = (own.ordinal(), peer.ordinal());
        let wrong = PeerCorruption::find(device, peer, path, expected, &found);
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
    for (from, to, bytes) in pieces(blank.len()) {
        expected[to..to + bytes].copy_from_slice(&pattern[from..from + bytes]);
    }
    expected
}

/// Memory of one device, and a stream of its own: a program's streams may wait for anything.
struct Scratch<'c> {
    core: &'c ContextCore,
    /// The context of the other side.
    other: &'c ContextCore,
    memory: CUdeviceptr,
    bytes: usize,
    stream: CUstream,
}

impl<'c> Scratch<'c> {
    /// As much of both devices as both have room for.
    #[track_caller]
    fn pair(one: &'c ContextCore, other: &'c ContextCore) -> Result<(Self, Self)> {
        let mut made = Self::pair_of(one, other, SIZES[0]);
        for &bytes in &SIZES[1..] {
            if !is_out_of_memory(&made) {
                break;
            }
            made = Self::pair_of(one, other, bytes);
        }
        made
    }

    #[track_caller]
    fn pair_of(one: &'c ContextCore, other: &'c ContextCore, bytes: usize) -> Result<(Self, Self)> {
        Ok((Self::new(one, other, bytes)?, Self::new(other, one, bytes)?))
    }

    #[track_caller]
    fn new(core: &'c ContextCore, other: &'c ContextCore, bytes: usize) -> Result<Self> {
        let mut scratch = Self {
            core,
            other,
            memory: 0,
            bytes,
            stream: ptr::null_mut(),
        };
        let driver = core.enter()?;
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
        // SAFETY: the place outlives the call, and the context is current.
        core.check(unsafe { driver.cuStreamCreate(&raw mut scratch.stream, flags) })?;
        // SAFETY: as before.
        core.check(unsafe { driver.cuMemAlloc_v2(&raw mut scratch.memory, bytes) })?;
        Ok(scratch)
    }

    /// Puts work on the stream, which is waited for before the memory goes.
    #[track_caller]
    fn put(&self, put: impl FnOnce(&Driver, CUstream) -> Result<(), DriverError>) -> Result<()> {
        let driver = self.core.enter()?;
        check_between(self.core, self.other, put(driver, self.stream))
    }

    #[track_caller]
    fn wait(&self) -> Result<()> {
        // SAFETY: the stream is this value's.
        self.put(|driver, stream| unsafe { driver.cuStreamSynchronize(stream) })
    }

    #[track_caller]
    fn upload(&self, bytes: &[u8]) -> Result<()> {
        let (memory, from) = (self.memory, bytes.as_ptr());
        let len = bytes.len().min(self.bytes);
        self.put(|driver, stream| {
            // SAFETY: there are `len` bytes on both sides, and the copy is waited for.
            unsafe { driver.cuMemcpyHtoDAsync_v2(memory, from.cast(), len, stream) }
        })?;
        self.wait()
    }

    #[track_caller]
    fn download(&self) -> Result<Vec<u8>> {
        let (mut bytes, len) = (vec![0u8; self.bytes], self.bytes);
        let (memory, to) = (self.memory, bytes.as_mut_ptr());
        self.put(|driver, stream| {
            // SAFETY: there are so many bytes on both sides, and the copy is waited for.
            unsafe { driver.cuMemcpyDtoHAsync_v2(to.cast(), memory, len, stream) }
        })?;
        self.wait()?;
        Ok(bytes)
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let (core, memory, stream) = (self.core, self.memory, self.stream);
        let mut first = Ok(());
        if memory != 0 {
            // SAFETY: from `new`, and its last use: `cuMemFree` waits for the context's work.
            first = core.give_back(Site::here(), |driver| unsafe {
                driver.cuMemFree_v2(memory)
            });
        }
        if !stream.is_null() {
            // SAFETY: from `new`, and its last use.
            let gone = core.give_back(Site::here(), |driver| unsafe {
                driver.cuStreamDestroy_v2(stream)
            });
            first = first.and(gone);
        }
        if first.is_err() {
            core.ledger().add(Kind::Abandoned, 1);
        }
    }
}

/// Copies words of four bytes, one a thread.
const PTX: &core::ffi::CStr = c"
.version 6.0
.target sm_60
.address_size 64
.visible .entry cupola_peer_copy(.param .u64 from, .param .u64 to) {
    .reg .b32 %r<5>;
    .reg .b64 %d<6>;
    ld.param.u64 %d1, [from];
    ld.param.u64 %d2, [to];
    cvta.to.global.u64 %d1, %d1;
    cvta.to.global.u64 %d2, %d2;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    mul.wide.u32 %d3, %r1, 4;
    add.u64 %d4, %d1, %d3;
    add.u64 %d5, %d2, %d3;
    ld.global.u32 %r4, [%d4];
    st.global.u32 [%d5], %r4;
    ret;
}
";

/// Threads of a block, which divide the words.
const THREADS: u32 = 256;

/// A kernel that copies the scratch memory.
struct WordCopy<'c> {
    core: &'c ContextCore,
    module: CUmodule,
    function: CUfunction,
}

impl<'c> WordCopy<'c> {
    #[track_caller]
    fn load(core: &'c ContextCore) -> Result<Self> {
        let mut copy = Self {
            core,
            module: ptr::null_mut(),
            function: ptr::null_mut(),
        };
        let driver = core.enter()?;
        // SAFETY: the place outlives the call, and the text ends in a zero.
        core.check(unsafe { driver.cuModuleLoadData(&raw mut copy.module, PTX.as_ptr().cast()) })?;
        let name = c"cupola_peer_copy".as_ptr();
        // SAFETY: the place outlives the call, the module was just loaded, and the name ends in a zero.
        core.check(unsafe {
            driver.cuModuleGetFunction(&raw mut copy.function, copy.module, name)
        })?;
        Ok(copy)
    }

    #[track_caller]
    fn launch(&self, side: &Scratch<'_>, from: CUdeviceptr, to: CUdeviceptr) -> Result<()> {
        let (mut from, mut to) = (from, to);
        let mut arguments = [(&raw mut from).cast(), (&raw mut to).cast()];
        let blocks = (side.bytes / 4) as u32 / THREADS;
        side.put(|driver, stream| {
            // SAFETY: the kernel takes two addresses of as many bytes as the side has, which the device may access, and
            // touches one word of each in each of its threads; the stream is waited for before the
            // memory goes.
            unsafe {
                driver.cuLaunchKernel(
                    self.function,
                    blocks,
                    1,
                    1,
                    THREADS,
                    1,
                    1,
                    0,
                    stream,
                    arguments.as_mut_ptr(),
                    ptr::null_mut(),
                )
            }
        })
    }
}

impl Drop for WordCopy<'_> {
    fn drop(&mut self) {
        let module = self.module;
        if module.is_null() {
            return;
        }
        // SAFETY: from `load`, and its last use: its kernels were waited for, or the context is lost.
        let gone = self.core.give_back(Site::here(), |driver| unsafe {
            driver.cuModuleUnload(module)
        });
        if gone.is_err() {
            self.core.ledger().add(Kind::Abandoned, 1);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it pieces could overlap or reach beyond the memory, and the check find errors of its own.
    #[test]
    fn pieces_lie_apart() {
        for all in SIZES {
            for side in [|piece: &Piece| piece.0, |piece: &Piece| piece.1] {
                let mut end = 0;
                for piece in &pieces(all) {
                    assert!(side(piece) >= end, "{piece:?} of {all}");
                    end = side(piece) + piece.2;
                }
                assert!(end <= all);
            }
            assert!((all / 4).is_multiple_of(THREADS as usize));
        }
    }

    // Without it a copy of nothing could leave what is expected.
    #[test]
    fn patterns_differ_everywhere() {
        for all in SIZES {
            let (one, two) = (pattern(1, all), pattern(2, all));
            let expected = expected(&one, &two);
            for (from, to, bytes) in pieces(all).into_iter().filter(|piece| piece.2 > 16) {
                assert_ne!(one[from..from + 16], two[to..to + 16]);
                assert_eq!(one[from..from + bytes], expected[to..to + bytes]);
            }
        }
    }
}
