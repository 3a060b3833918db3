//! Access to memory: address resolution, loads and stores, atomics.
//!
//! Global memory is reached through a small per-worker cache of ranges, one slot
//! per load or store instruction (modulo 16). The common case, all lanes in the
//! cached range, is one vector comparison; everything else goes lane by lane
//! through [`Ctx::resolve`], which knows the windows and finds faults.

pub(crate) mod atom;
pub(crate) mod load_store;
#[cfg(target_arch = "x86_64")]
mod wide;

use super::check::{Observation, Observed};
use super::ctx::{CACHE, Ctx};
use super::fault::{FaultAccess, FaultKind, FaultSpace};
use super::inst::Func;
use super::memory::{
    CODE_WINDOW, LOCAL_WINDOW, MemRange, PARAM_WINDOW, SHARED_WINDOW, WINDOW_SIZE, WINDOWS_END,
    WINDOWS_START,
};

/// State space of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemSpace {
    /// `.global`, `.const`, and generic addresses.
    Generic,
    Shared,
    Local,
}

/// One lane's access.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access {
    pub(crate) space: MemSpace,
    pub(crate) addr: u64,
    pub(crate) size: u64,
    /// Alignment, as a mask.
    pub(crate) align: u64,
    pub(crate) write: bool,
    /// Cache slot to go by.
    pub(crate) slot: usize,
    /// Line of the PTX text.
    pub(crate) line: u32,
}

/// Who else may access the bytes at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Other blocks and the host: atomics of the access's size.
    Device,
    /// Only this block, which one worker executes at a time: plain accesses.
    Block,
}

pub(super) fn within(addr: u64, window: u64) -> bool {
    addr.wrapping_sub(window) < WINDOW_SIZE
}

/// Whether the device's memory is to be asked.
pub(super) fn outside_windows(addr: u64) -> bool {
    !(WINDOWS_START..WINDOWS_END).contains(&addr)
}

impl Ctx<'_> {
    /// The range with all of `addr .. addr + size`, by way of cache slot `slot`.
    pub(crate) fn range(&mut self, slot: usize, addr: u64, size: u64) -> Option<MemRange> {
        let cached = &self.cache[slot % CACHE];
        let inside = |r: &MemRange| {
            let offset = addr.wrapping_sub(r.base);
            offset < r.len && r.len - offset >= size
        };
        if inside(cached) {
            return Some(*cached);
        }
        let found = self.env.mem.lookup(addr)?;
        let usable = inside(&found) && (found.host.addr() as u64 ^ found.base) & 15 == 0;
        if !usable {
            return None;
        }
        self.cache[slot % CACHE] = found;
        Some(found)
    }

    /// Host pointer of the bytes that a lane accesses.
    ///
    /// # Errors
    /// The fault of an address that is misaligned, outside any memory, or not
    /// writable.
    #[inline]
    pub(crate) fn resolve(
        &mut self,
        lane: usize,
        access: Access,
    ) -> Result<(*mut u8, Sharing), FaultKind> {
        let found = self.locate(lane, access);
        if found.is_err() {
            if let Some(strayed) = self.stray(lane, access) {
                return Ok(strayed);
            }
            self.refuse(access);
        }
        found
    }

    /// Memory for an access that the launch may not make, but hardware would: the watch is told.
    #[cold]
    fn stray(&mut self, lane: usize, access: Access) -> Option<(*mut u8, Sharing)> {
        let Access {
            addr, size, write, ..
        } = access;
        let generic = access.space == MemSpace::Generic && outside_windows(addr);
        if !generic || addr & access.align != 0 {
            return None;
        }
        let range = self.env.mem.stray(addr)?;
        let offset = addr.wrapping_sub(range.base);
        let whole = offset < range.len && range.len - offset >= size;
        let aligned = (range.host.addr() as u64 ^ range.base) & 15 == 0;
        if !whole || !aligned || write && !range.writable {
            return None;
        }
        if let Some(watch) = self.env.watch {
            let has_line = |f: &&Func| f.code.iter().any(|inst| inst.line == access.line);
            let function = self.env.funcs.iter().find(has_line);
            // SAFETY: the context's pointers are those of the running warp.
            let ids = unsafe { &*self.ids };
            watch.observe(Observation {
                observed: Observed::Stray,
                function: function.map_or_else(String::new, |f| f.name.clone()),
                line: access.line,
                block: self.ctaid,
                thread: ids.tid.map(|axis| axis[lane]),
                access: FaultAccess {
                    bytes: size,
                    write,
                    space: FaultSpace::Global,
                    offset: addr,
                },
            });
        }
        // SAFETY: `range` contains size bytes from addr, and they are contiguous at its host
        // address.
        let at = unsafe { range.host.add(offset as usize) };
        Some((at, Sharing::Device))
    }

    /// Keeps what a fault should say of its access.
    #[cold]
    fn refuse(&mut self, access: Access) {
        let Access {
            space, addr, size, ..
        } = access;
        let shared = FaultSpace::Shared {
            len: self.shared_len,
        };
        let local = FaultSpace::Local {
            len: self.local_len,
        };
        let (space, offset) = match space {
            MemSpace::Shared => (shared, addr),
            MemSpace::Local => (local, addr),
            _ if within(addr, SHARED_WINDOW) => (shared, addr - SHARED_WINDOW),
            _ if within(addr, LOCAL_WINDOW) => (local, addr - LOCAL_WINDOW),
            MemSpace::Generic => (FaultSpace::Global, addr),
        };
        self.refused = Some(FaultAccess {
            bytes: size,
            write: access.write,
            space,
            offset,
        });
    }

    #[inline]
    fn locate(&mut self, lane: usize, access: Access) -> Result<(*mut u8, Sharing), FaultKind> {
        let Access {
            space,
            addr,
            size,
            align,
            write,
            slot,
            ..
        } = access;
        if addr & align != 0 {
            return Err(FaultKind::MisalignedAddress);
        }
        match space {
            MemSpace::Shared => self.resolve_shared(addr, size),
            MemSpace::Local => self.resolve_local(lane, addr, size),
            MemSpace::Generic if outside_windows(addr) => {
                let range = self
                    .range(slot, addr, size)
                    .ok_or(FaultKind::IllegalAddress)?;
                if write && !range.writable {
                    return Err(FaultKind::IllegalAddress);
                }
                // SAFETY: `range` contains size bytes from addr, and they are
                // contiguous at its host address.
                Ok((
                    unsafe { range.host.add((addr - range.base) as usize) },
                    Sharing::Device,
                ))
            }
            MemSpace::Generic if within(addr, SHARED_WINDOW) => {
                self.resolve_shared(addr - SHARED_WINDOW, size)
            }
            MemSpace::Generic if within(addr, LOCAL_WINDOW) => {
                self.resolve_local(lane, addr - LOCAL_WINDOW, size)
            }
            MemSpace::Generic if within(addr, PARAM_WINDOW) && !write => {
                let at = (addr - PARAM_WINDOW) as usize;
                let bytes = self.env.params.get(at..).filter(|b| b.len() as u64 >= size);
                let bytes = bytes.ok_or(FaultKind::IllegalAddress)?;
                // Parameters are only read, so the lost mutability is not used.
                Ok((bytes.as_ptr().cast_mut(), Sharing::Block))
            }
            MemSpace::Generic => Err(FaultKind::IllegalAddress),
        }
    }

    #[inline]
    fn resolve_shared(&self, at: u64, size: u64) -> Result<(*mut u8, Sharing), FaultKind> {
        if at >= self.shared_len || self.shared_len - at < size {
            return Err(FaultKind::IllegalAddress);
        }
        // SAFETY: shared_len bytes are allocated at shared.
        Ok((unsafe { self.shared.add(at as usize) }, Sharing::Block))
    }

    #[inline]
    fn resolve_local(
        &self,
        lane: usize,
        at: u64,
        size: u64,
    ) -> Result<(*mut u8, Sharing), FaultKind> {
        // Aligned accesses of up to 16 bytes do not leave their 16-byte piece.
        if at >= self.local_len || self.local_len - at < size {
            return Err(FaultKind::IllegalAddress);
        }
        // SAFETY: local_len bytes per lane, times 32, are allocated at local.
        Ok((
            unsafe { self.local.add(Self::local_offset(at, lane)) },
            Sharing::Block,
        ))
    }

    /// Bytes at a generic address up to a NUL, for message texts.
    pub(crate) fn read_text(&mut self, lane: usize, addr: u64) -> Result<Vec<u8>, FaultKind> {
        let mut text = Vec::new();
        while text.len() < 1 << 16 {
            let byte = self.read_bytes(lane, addr.wrapping_add(text.len() as u64), 1)?;
            if byte == 0 {
                break;
            }
            text.push(byte as u8);
        }
        Ok(text)
    }

    /// A value of 1, 2, 4 or 8 bytes at a generic address.
    pub(crate) fn read_bytes(
        &mut self,
        lane: usize,
        addr: u64,
        size: u64,
    ) -> Result<u64, FaultKind> {
        let (at, sharing) = self.resolve(
            lane,
            Access {
                space: MemSpace::Generic,
                addr,
                size,
                align: size - 1,
                write: false,
                slot: 0,
                line: 0,
            },
        )?;
        // SAFETY: resolve gave an aligned pointer to size readable bytes.
        Ok(unsafe { load_store::read(at, size, sharing) })
    }
}

/// Whether an address is in one of the engine's windows: `isspacep`.
pub(crate) fn in_window(addr: u64, space: &str) -> Option<bool> {
    Some(match space {
        "shared" => within(addr, SHARED_WINDOW),
        "local" => within(addr, LOCAL_WINDOW),
        "param" => within(addr, PARAM_WINDOW),
        "global" => outside_windows(addr) || within(addr, CODE_WINDOW),
        "const" => false,
        _ => return None,
    })
}
