//! One allocation in device memory, and one range of page-locked host memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use cupola_sys::driver::CU_MEMHOSTREGISTER_READ_ONLY;

use crate::device::memory::access::PoolAccess;
use crate::device::memory::advice::Advices;
use crate::device::memory::backing::Backing;
use crate::device::memory::ipc::{self, Name, Opened};
use crate::device::memory::pages::{Pages, SUPPORTED};
use crate::device::memory::shadow::Shadow;
use crate::device::memory::space::{Owner, Seat};
use crate::device::strict::Origin;

/// An allocation in device memory.
#[derive(Debug)]
pub(in crate::device) struct Block {
    /// Device address of the first byte.
    pub(in crate::device) address: u64,
    /// Bytes that were asked for: access ends there.
    pub(in crate::device) len: u64,
    /// Bytes of addresses that it takes.
    pub(in crate::device) extent: u64,
    /// Bytes that the account charges.
    pub(in crate::device) charge: u64,
    /// The device's ordinal.
    pub(in crate::device) device: usize,
    /// Handle of the context it dies with.
    pub(in crate::device) context: u64,
    /// Handle of the pool it came from.
    pub(in crate::device) pool: Option<u64>,
    /// What other devices may do with it, if it came from a pool.
    pub(in crate::device) access: Option<Arc<PoolAccess>>,
    /// What the program has said about it, if it is managed memory: the address is the
    /// host's then.
    pub(in crate::device) managed: Option<Advices>,
    /// Where it came from, if it is memory of another process. No account is charged for
    /// it, and only a close takes it away.
    pub(in crate::device) opened: Option<Opened>,
    /// It is memory of another API, which has given it to other processes itself.
    external: bool,
    /// Where it is, if it is a graph's.
    pub(in crate::device) seat: Option<Arc<Seat>>,
    /// Unique in the machine.
    pub(in crate::device) id: u64,
    /// Belongs to a module, or to a semaphore: a program cannot free it.
    pub(in crate::device) module: bool,
    /// Kernels cannot write it.
    pub(in crate::device) constant: bool,
    /// The call that made it.
    pub(in crate::device) made: Origin,
    /// The variable that it is.
    name: OnceLock<Box<str>>,
    /// Whether synchronous operations on it wait in every case.
    pub(in crate::device) sync_memops: AtomicBool,
    /// Which bytes are written, if that is kept.
    shadow: Option<Shadow>,
    /// Set by the call that frees it in stream order, before the stream gets there.
    doomed: AtomicBool,
    backing: Backing,
}

impl Block {
    /// Memory at `address`; the other fields are the caller's to set. `None` if the host
    /// has no such memory.
    pub(super) fn new(address: u64, len: u64, device: usize, context: u64) -> Option<Self> {
        Some(Self::backed(
            address,
            len,
            (device, context),
            Backing::new(len)?,
        ))
    }

    /// Managed memory, at the host's own address. No account is charged for it.
    pub(super) fn managed(len: u64, device: usize, context: u64) -> Option<Self> {
        let backing = Backing::pages(usize::try_from(len).ok()?)?;
        let address = backing.start().expose_provenance() as u64;
        let mut block = Self::backed(address, len, (device, context), backing);
        block.extent = len;
        block.managed = Some(Advices::new(len));
        Some(block)
    }

    fn backed(address: u64, len: u64, (device, context): (usize, u64), backing: Backing) -> Self {
        Self {
            address,
            len,
            extent: 0,
            charge: 0,
            device,
            context,
            pool: None,
            access: None,
            managed: None,
            opened: None,
            external: false,
            seat: None,
            id: 0,
            module: false,
            constant: false,
            made: Origin::default(),
            name: OnceLock::new(),
            sync_memops: AtomicBool::new(false),
            shadow: None,
            doomed: AtomicBool::new(false),
            backing,
        }
    }

    /// Memory of another process; the address is the caller's to set. `None` if the host
    /// has no room for a mapping.
    pub(super) fn opened(name: Name, pages: Pages, device: usize, context: u64) -> Option<Self> {
        let backing = Backing::file(pages)?;
        let mut block = Self::backed(0, name.len, (device, context), backing);
        block.opened = Some(Opened {
            name,
            times: AtomicUsize::new(1),
        });
        Some(block)
    }

    /// Memory of another API: `len` bytes of the pages from `offset` on. The address is the caller's to set.
    /// `None` if the host has no room for a mapping.
    pub(super) fn external(
        pages: Pages,
        offset: u64,
        len: u64,
        owner: (usize, u64),
    ) -> Option<Self> {
        let backing = Backing::file_from(pages, offset)?;
        let mut block = Self::backed(0, len, owner, backing);
        block.external = true;
        Some(block)
    }

    /// The value of a semaphore of another API, which no program frees. `None` if the host has no room for a mapping.
    #[cfg(target_os = "linux")]
    pub(super) fn semaphore(pages: Pages, owner: (usize, u64)) -> Option<Self> {
        let mut block = Self::external(pages, 0, 8, owner)?;
        block.module = true;
        Some(block)
    }

    /// Whether other processes may have it: plain memory of this process.
    pub(in crate::device) fn can_export(&self) -> bool {
        let plain = self.pool.is_none() && self.managed.is_none() && self.opened.is_none();
        let plain = plain && self.seat.is_none() && !self.external;
        SUPPORTED && plain && !self.module && !self.is_doomed()
    }

    /// Moves the bytes to a file that other processes can have. Which of them are written
    /// is not kept any more: the others do not say. `None` if the host has no memory for it.
    pub(super) fn share(&mut self) -> Option<()> {
        const PAGE: usize = 4 << 10;
        let pages = Pages::shared(ipc::file_len(self.len)?, &ipc::label(self))?;
        let backing = Backing::file(pages)?;
        let len = usize::try_from(self.len).ok()?;
        // SAFETY: the old memory has so many bytes, and no other code accesses them: an
        // access holds the block, and here is the only reference to it.
        let bytes = unsafe { std::slice::from_raw_parts(self.backing.start(), len) };
        for (index, page) in bytes.chunks(PAGE).enumerate() {
            // Pages that were never touched take no memory afterwards either.
            if page != &[0; PAGE][..page.len()] {
                let place = backing.start().wrapping_add(index * PAGE);
                // SAFETY: the new memory is at least as long, and only here is its address known.
                unsafe { place.copy_from_nonoverlapping(page.as_ptr(), page.len()) };
            }
        }
        self.backing = backing;
        self.shadow = None;
        Some(())
    }

    /// The pages that other processes may have, if it is in such.
    pub(super) fn pages(&self) -> Option<&Pages> {
        self.backing.shared()
    }

    pub(super) fn set_owner(&mut self, owner: Owner) {
        (self.pool, self.access) = owner.pool.unzip();
        self.module = owner.module.is_some();
        self.constant = owner.module == Some(true);
    }

    /// Host address of the byte at `address`, which must lie within the block.
    pub(in crate::device) fn host(&self, address: u64) -> *mut u8 {
        let offset = address.wrapping_sub(self.address).min(self.len);
        self.backing
            .start()
            .wrapping_add(usize::try_from(offset).unwrap_or(0))
    }

    /// Keeps from now on which bytes are written. Fails if the host has no memory for it.
    pub(super) fn keep_shadow(&mut self) -> Option<()> {
        self.shadow = Some(Shadow::new(self.len)?);
        Some(())
    }

    /// Notes that these bytes are written.
    pub(in crate::device) fn wrote(&self, address: u64, bytes: u64) {
        if let Some(shadow) = &self.shadow {
            shadow.wrote(address.wrapping_sub(self.address), bytes);
        }
    }

    /// The address of the first of these bytes that was never written, if that is kept.
    pub(in crate::device) fn unwritten(&self, address: u64, bytes: u64) -> Option<u64> {
        let shadow = self.shadow.as_ref()?;
        let first = shadow.unwritten(address.wrapping_sub(self.address), bytes)?;
        Some(self.address + first)
    }

    /// The bits of its written bytes, if they are kept, and the offset of an address in them.
    pub(super) fn shadow(&self, address: u64) -> Option<(&Shadow, u64)> {
        let shadow = self.shadow.as_ref()?;
        Some((shadow, address.wrapping_sub(self.address)))
    }

    /// Says which variable it is, once.
    pub(in crate::device) fn set_name(&self, name: &str) {
        // The first name stays.
        let _ = self.name.set(name.into());
    }

    pub(in crate::device) fn name(&self) -> Option<&str> {
        self.name.get().map(AsRef::as_ref)
    }

    /// Whether `len` bytes from `address` lie within.
    pub(in crate::device) fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.address);
        offset < self.len && self.len - offset >= len
    }

    /// Claims the right to free the block; false if another call had it already.
    pub(in crate::device) fn doom(&self) -> bool {
        !self.doomed.swap(true, Ordering::AcqRel)
    }

    /// Whether a free of the block is on its way.
    pub(in crate::device) fn is_doomed(&self) -> bool {
        self.doomed.load(Ordering::Acquire)
    }
}

/// Page-locked host memory: the machine's own, or a registered range of the program's.
#[derive(Debug)]
pub(in crate::device) struct HostRange {
    /// Host address, which is the device address too.
    pub(in crate::device) address: u64,
    pub(in crate::device) len: u64,
    pub(in crate::device) flags: u32,
    pub(in crate::device) context: u64,
    pub(in crate::device) device: usize,
    pub(in crate::device) id: u64,
    /// The call that made it.
    pub(in crate::device) made: Origin,
    /// Where the range is, with the provenance to access it.
    start: *mut u8,
    /// The memory, unless it is the program's.
    backing: Option<Backing>,
}

// SAFETY: the range is the machine's own memory or the program's, registered for access
// by the device's threads.
unsafe impl Send for HostRange {}
// SAFETY: as above.
unsafe impl Sync for HostRange {}

impl HostRange {
    /// Memory of the machine's own; `None` if the host has none.
    pub(super) fn allocate(len: u64, flags: u32, context: u64, device: usize) -> Option<Self> {
        let backing = Backing::pages(usize::try_from(len).ok()?)?;
        let start = backing.start();
        let address = start.expose_provenance() as u64;
        Some(Self {
            address,
            len,
            flags,
            context,
            device,
            id: 0,
            made: Origin::default(),
            start,
            backing: Some(backing),
        })
    }

    /// The program's memory.
    pub(super) fn register(
        start: *mut u8,
        len: u64,
        flags: u32,
        context: u64,
        device: usize,
    ) -> Self {
        let address = start.expose_provenance() as u64;
        Self {
            address,
            len,
            flags,
            context,
            device,
            id: 0,
            made: Origin::default(),
            start,
            backing: None,
        }
    }

    /// Whether devices may write it. Numbers of flags of allocated memory are others'.
    pub(in crate::device) fn is_writable(&self) -> bool {
        self.is_allocated() || self.flags & CU_MEMHOSTREGISTER_READ_ONLY == 0
    }

    /// Whether `cuMemHostAlloc` made it, rather than `cuMemHostRegister`.
    pub(in crate::device) fn is_allocated(&self) -> bool {
        self.backing.is_some()
    }

    pub(in crate::device) fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.address);
        offset < self.len && self.len - offset >= len
    }

    /// Pointer to the byte at `address`, which must lie within the range.
    pub(in crate::device) fn host(&self, address: u64) -> *mut u8 {
        let offset = address.wrapping_sub(self.address).min(self.len);
        self.start
            .wrapping_add(usize::try_from(offset).unwrap_or(0))
    }

    pub(super) fn set_id(&mut self, id: u64, made: Origin) {
        self.id = id;
        self.made = made;
    }
}
