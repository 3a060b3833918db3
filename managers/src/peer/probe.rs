//! `Probe`: memory and streams of two contexts, of the driver's own, to send a pattern between them.
//!
//! The streams are not the program's, which may wait for anything. The memory is freed when both
//! streams have come to their end; where that is not known it is left alone.

use std::mem::{self, ManuallyDrop};
use std::ptr;

use cupola_sys::driver::{
    CUdeviceptr, CUfunction, CUmodule, CUresult, CUstream, CUstream_flags, Driver, DriverError,
};

use crate::driver::{ContextCore, Kind, check_between};
use crate::error::{Result, Site};
use crate::stream::submit;

/// Bytes of the memory on each side, and where a device has no room for that.
pub(super) const SIZES: [usize; 2] = [4 << 20, 512 << 10];

/// Bytes that a block of the kernel copies, which divide the sizes.
pub(super) const BYTES_OF_BLOCK: usize = THREADS as usize * 16;

/// Threads of a block.
const THREADS: u32 = 256;

/// Copies 16 bytes a thread.
const PTX: &core::ffi::CStr = c"
.version 6.0
.target sm_60
.address_size 64
.visible .entry cupola_peer_copy(.param .u64 from, .param .u64 to) {
    .reg .b32 %r<8>;
    .reg .b64 %d<6>;
    ld.param.u64 %d1, [from];
    ld.param.u64 %d2, [to];
    cvta.to.global.u64 %d1, %d1;
    cvta.to.global.u64 %d2, %d2;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    mul.wide.u32 %d3, %r1, 16;
    add.u64 %d4, %d1, %d3;
    add.u64 %d5, %d2, %d3;
    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d4];
    st.global.v4.u32 [%d5], {%r4, %r5, %r6, %r7};
    ret;
}
";

/// A part of the memory: where it is at the source and at the target, and how many bytes it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) bytes: usize,
}

impl Piece {
    pub(super) fn new(from: usize, to: usize, bytes: usize) -> Self {
        Self { from, to, bytes }
    }
}

/// One of the two contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// That which begins: it copies, or accesses the other one's memory.
    Own,
    /// The other one.
    Peer,
}

/// What a probe has in one context.
struct Side<'c> {
    core: &'c ContextCore,
    stream: CUstream,
    memory: CUdeviceptr,
}

/// Memory of two contexts, and a stream in each.
pub(super) struct Probe<'c> {
    own: Side<'c>,
    peer: Side<'c>,
    /// What copies of the host read and write: it outlives them.
    host: Vec<u8>,
    module: CUmodule,
    function: CUfunction,
}

impl<'c> Probe<'c> {
    /// As much memory as both devices have room for.
    #[track_caller]
    pub(super) fn new(own: &'c ContextCore, peer: &'c ContextCore) -> Result<Self> {
        let mut probe = Self {
            own: Side::new(own),
            peer: Side::new(peer),
            host: Vec::new(),
            module: ptr::null_mut(),
            function: ptr::null_mut(),
        };
        probe.own.open()?;
        probe.peer.open()?;
        let bytes = probe.allocate()?;
        probe.host = vec![0; bytes];
        Ok(probe)
    }

    /// Bytes of the memory on each side.
    #[track_caller]
    fn allocate(&mut self) -> Result<usize> {
        let [most, least] = SIZES;
        let mut had = self.own.allocate(most)?;
        if had {
            had = self.peer.allocate(most)?;
        }
        if had {
            return Ok(most);
        }
        self.own.free();
        self.own.try_allocate(least)?;
        self.peer.try_allocate(least)?;
        Ok(least)
    }

    /// Bytes of the memory on each side.
    pub(super) fn bytes(&self) -> usize {
        self.host.len()
    }

    /// Loads the kernel in the own context.
    #[track_caller]
    pub(super) fn load_kernel(&mut self) -> Result<()> {
        let core = self.own.core;
        let driver = core.enter()?;
        // SAFETY: the place outlives the call, and the text ends in a zero.
        core.check(unsafe { driver.cuModuleLoadData(&raw mut self.module, PTX.as_ptr().cast()) })?;
        let name = c"cupola_peer_copy".as_ptr();
        // SAFETY: the place outlives the call, the module was just loaded, and the name ends in a zero.
        core.check(unsafe { driver.cuModuleGetFunction(&raw mut self.function, self.module, name) })
    }

    fn side(&self, end: End) -> &Side<'c> {
        match end {
            End::Own => &self.own,
            End::Peer => &self.peer,
        }
    }

    fn other(&self, end: End) -> &Side<'c> {
        match end {
            End::Own => &self.peer,
            End::Peer => &self.own,
        }
    }

    /// Puts work on one side's stream.
    #[track_caller]
    fn put(
        &self,
        on: End,
        put: impl FnOnce(&Driver, CUstream) -> Result<(), DriverError>,
    ) -> Result<()> {
        let side = self.side(on);
        let driver = side.core.enter()?;
        let result = put(driver, side.stream);
        check_between(side.core, self.other(on).core, result)
    }

    /// Waits for one side's stream.
    #[track_caller]
    pub(super) fn wait(&self, on: End) -> Result<()> {
        // SAFETY: the stream is the side's.
        self.put(on, |driver, stream| unsafe {
            driver.cuStreamSynchronize(stream)
        })
    }

    /// Writes one side's memory, as many bytes as it has, and waits.
    #[track_caller]
    pub(super) fn upload(&mut self, to: End, bytes: &[u8]) -> Result<()> {
        self.host.clear();
        self.host.extend_from_slice(bytes);
        let (memory, from, len) = (self.side(to).memory, self.host.as_ptr(), self.host.len());
        self.put(to, |driver, stream| {
            // SAFETY: there are `len` bytes on both sides, kept until the stream is waited for.
            unsafe { driver.cuMemcpyHtoDAsync_v2(memory, from.cast(), len, stream) }
        })?;
        self.wait(to)
    }

    /// Reads one side's memory, and waits.
    #[track_caller]
    pub(super) fn download(&mut self, from: End) -> Result<&[u8]> {
        let (memory, to, len) = (
            self.side(from).memory,
            self.host.as_mut_ptr(),
            self.host.len(),
        );
        self.put(from, |driver, stream| {
            // SAFETY: there are `len` bytes on both sides, kept until the stream is waited for.
            unsafe { driver.cuMemcpyDtoHAsync_v2(to.cast(), memory, len, stream) }
        })?;
        self.wait(from)?;
        Ok(&self.host)
    }

    /// Copies a piece from the own memory to the peer's, by a call that names both contexts.
    #[track_caller]
    pub(super) fn copy_across(&self, piece: Piece, on: End) -> Result<()> {
        let (from, to) = (&self.own, &self.peer);
        let (into, out_of) = (to.at(piece.to), from.at(piece.from));
        self.put(on, |driver, stream| {
            // SAFETY: both are `bytes` bytes of their contexts, freed behind both streams.
            unsafe {
                driver.cuMemcpyPeerAsync(
                    into,
                    to.core.current_raw(),
                    out_of,
                    from.core.current_raw(),
                    piece.bytes,
                    stream,
                )
            }
        })
    }

    /// Copies a piece by the own context, which has access to the peer's memory.
    #[track_caller]
    pub(super) fn copy(&self, piece: Piece, from: End, to: End) -> Result<()> {
        let (into, out_of) = (self.side(to).at(piece.to), self.side(from).at(piece.from));
        self.put(End::Own, |driver, stream| {
            // SAFETY: both are `bytes` bytes that the context may access, freed behind the stream.
            unsafe { driver.cuMemcpyDtoDAsync_v2(into, out_of, piece.bytes, stream) }
        })
    }

    /// Copies all bytes by a kernel of the own context.
    #[track_caller]
    pub(super) fn launch(&self, from: End, to: End) -> Result<()> {
        let (mut from, mut to) = (self.side(from).memory, self.side(to).memory);
        let mut arguments = [(&raw mut from).cast(), (&raw mut to).cast()];
        let blocks = (self.bytes() / BYTES_OF_BLOCK) as u32;
        self.put(End::Own, |driver, stream| {
            // SAFETY: the kernel takes two addresses, and each of its threads touches 16 bytes of both,
            // which are so many and which the device may access; they are freed behind the stream.
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

impl<'c> Side<'c> {
    fn new(core: &'c ContextCore) -> Self {
        Self {
            core,
            stream: ptr::null_mut(),
            memory: 0,
        }
    }

    #[track_caller]
    fn open(&mut self) -> Result<()> {
        let driver = self.core.enter()?;
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
        // SAFETY: the place outlives the call, and the context is current.
        self.core
            .check(unsafe { driver.cuStreamCreate(&raw mut self.stream, flags) })
    }

    /// False where the device has no room.
    #[track_caller]
    fn allocate(&mut self, bytes: usize) -> Result<bool> {
        match self.try_allocate(bytes) {
            Err(error) if error.status() == Some(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => Ok(false),
            allocated => allocated.map(|()| true),
        }
    }

    #[track_caller]
    fn try_allocate(&mut self, bytes: usize) -> Result<()> {
        let driver = self.core.enter()?;
        // SAFETY: the place outlives the call, and the context is current.
        self.core
            .check(unsafe { driver.cuMemAlloc_v2(&raw mut self.memory, bytes) })
    }

    /// An address of its memory.
    fn at(&self, offset: usize) -> CUdeviceptr {
        self.memory + offset as u64
    }

    /// Whether its stream has come to its end.
    fn settle(&self) -> bool {
        let wait = || {
            // SAFETY: the stream is this value's.
            self.core.last_wait(Site::here(), |driver| unsafe {
                driver.cuStreamSynchronize(self.stream)
            })
        };
        self.stream.is_null() || submit::settled(wait)
    }

    fn give_back(&self, call: impl FnOnce(&Driver) -> Result<(), DriverError>) {
        if self.core.give_back(Site::here(), call).is_err() {
            self.core.ledger().add(Kind::Abandoned, 1);
        }
    }

    /// Frees the memory, which nothing uses.
    fn free(&mut self) {
        let memory = mem::take(&mut self.memory);
        if memory != 0 {
            // SAFETY: from `allocate`, and its last use.
            self.give_back(|driver| unsafe { driver.cuMemFree_v2(memory) });
        }
    }

    fn close(&mut self) {
        let stream = mem::replace(&mut self.stream, ptr::null_mut());
        if !stream.is_null() {
            // SAFETY: from `open`, and its last use.
            self.give_back(|driver| unsafe { driver.cuStreamDestroy_v2(stream) });
        }
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        // Each copy may use the memory of both sides.
        let is_over = self.own.settle() & self.peer.settle();
        if !is_over {
            // For all that is known a copy may still use it.
            let _left = ManuallyDrop::new(mem::take(&mut self.host));
            if self.own.core.is_healthy() && self.peer.core.is_healthy() {
                self.own.core.ledger().add(Kind::Abandoned, 1);
                return;
            }
        }
        let module = self.module;
        if !module.is_null() {
            // SAFETY: from `load_kernel`, and its last use: its kernels are over, or the context is lost.
            self.own
                .give_back(|driver| unsafe { driver.cuModuleUnload(module) });
        }
        for side in [&mut self.own, &mut self.peer] {
            side.free();
            side.close();
        }
    }
}
