//! The address space that all devices of a machine share.
//!
//! Device addresses start at 2^48 + 2^40, behind everything that a process can have, so
//! that a host dereference of a device pointer traps, and no address of the host is taken
//! for one of a device. Programs end at 2^47 on x86-64, at 2^48 on aarch64 at the latest,
//! in every layout that Linux has; where the hardware has more, a process must ask for
//! such an address by its number to get it. Nothing has to be held there. Each device has
//! 4 TiB, handed out in circles: a freed address is used again only when the whole range
//! has been, and not before the last copy or kernel that still accesses the freed memory
//! has ended. Pinned host memory is at its host address.

mod ipc;
mod place;
mod seat;
mod table;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock, Weak};

use cupola_sys::driver::{CU_MEMHOSTREGISTER_READ_ONLY, CUresult};

use crate::device::calls::args::Reply;
use crate::device::contexts::health::Fault;
use crate::device::memory::access::{Access, AccessRequest, Accessor, PoolAccess};
use crate::device::memory::block::{Block, HostRange};
use crate::device::memory::external::Externals;
use crate::device::memory::heap::Heap;
use crate::device::memory::host;
use crate::device::memory::mapped::Virtual;
use crate::device::memory::rows::Rows;
use crate::device::memory::space::table::Table;
use crate::device::strict::{Miss, Monitor};
use crate::device::sync::{read, write};

pub(in crate::device) use place::Place;
pub(in crate::device) use seat::Seat;

const FIRST: u64 = 0x1_0100_0000_0000;
pub(super) const PER_DEVICE: u64 = 1 << 42;

/// Where reservations of addresses begin, after the sixteenth device: as much as a
/// device has, and still in the 49 bits that addresses of GPUs have.
pub(super) const FIRST_VIRTUAL: u64 = FIRST + PER_DEVICE * 16;

/// Device allocations start at multiples of this.
pub(in crate::device) const GRANULE: u64 = 512;

/// How many freed stream-ordered ranges are remembered, to tell a use after free from a
/// pointer that never was one.
const REMEMBERED: usize = 4096;

/// The address space: a table of live allocations, and what is mapped at reserved addresses.
#[derive(Debug, Default)]
pub(in crate::device) struct Space {
    table: RwLock<Table>,
    mapped: Virtual,
    externals: Externals,
    /// Of the contexts whose kernels allocate.
    heaps: RwLock<Vec<Weak<Heap>>>,
    ids: AtomicU64,
    strict: Arc<Monitor>,
}

/// What a new device block belongs to.
#[derive(Clone, Debug)]
pub(in crate::device) struct Owner {
    pub(in crate::device) device: usize,
    pub(in crate::device) context: u64,
    /// The pool it comes from, and who may access that.
    pub(in crate::device) pool: Option<(u64, Arc<PoolAccess>)>,
    /// For a module's variable: whether it is constant.
    pub(in crate::device) module: Option<bool>,
}

impl Space {
    pub(in crate::device) fn new(strict: Arc<Monitor>) -> Self {
        Self {
            strict,
            ..Self::default()
        }
    }

    /// A new block of `len` bytes that takes `extent` bytes of addresses from a multiple of
    /// `align`, and whose account has been charged `charge` bytes.
    pub(in crate::device) fn allocate(
        &self,
        len: u64,
        (extent, align): (u64, u64),
        charge: u64,
        owner: Owner,
    ) -> Reply<Arc<Block>> {
        const MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        // The host memory first, outside the lock; the address is only known inside.
        let mut block = Block::new(0, len, owner.device, owner.context).ok_or(MEMORY)?;
        block.extent = extent;
        block.charge = charge;
        block.id = self.next_id();
        block.made = self.strict.origin();
        block.set_owner(owner);
        if self.strict.keeps_shadows() && !block.module {
            block.keep_shadow().ok_or(MEMORY)?;
        }
        write(&self.table).add(block, align, &self.strict)
    }

    /// Gives a block its address, a multiple of `align`, with what every block has.
    pub(super) fn add_block(&self, mut block: Block, align: u64) -> Reply<Arc<Block>> {
        let extent = block.len.checked_next_multiple_of(GRANULE);
        block.extent = extent.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        block.id = self.next_id();
        block.made = self.strict.origin();
        write(&self.table).add(block, align, &self.strict)
    }

    /// Imported memory.
    pub(in crate::device) fn externals(&self) -> &Externals {
        &self.externals
    }

    /// A heap of `extent` bytes for a context's kernels. It is no allocation that calls can
    /// name: copies and memsets do not find it.
    pub(in crate::device) fn make_heap(
        &self,
        extent: u64,
        device: usize,
        context: u64,
    ) -> Reply<Arc<Heap>> {
        const MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        let mut block = Block::new(0, extent, device, context).ok_or(MEMORY)?;
        block.extent = extent;
        block.charge = extent;
        let block = {
            let mut table = write(&self.table);
            table.leaving.retain(|_, block| block.strong_count() > 0);
            block.address = table.place(device, extent, GRANULE).ok_or(MEMORY)?;
            let block = Arc::new(block);
            table.leaving.insert(block.address, Arc::downgrade(&block));
            self.strict.there(block.address, block.len);
            block
        };
        let heap = Arc::new(Heap::new(block));
        let mut heaps = write(&self.heaps);
        heaps.retain(|heap| heap.strong_count() > 0);
        heaps.push(Arc::downgrade(&heap));
        Ok(heap)
    }

    /// The heap that an address is in.
    pub(in crate::device) fn heap(&self, address: u64) -> Option<Arc<Heap>> {
        let heaps = read(&self.heaps);
        let mut heaps = heaps.iter().filter_map(Weak::upgrade);
        heaps.find(|heap| heap.holds(address))
    }

    /// New memory with one address for host and devices.
    pub(in crate::device) fn allocate_managed(&self, len: u64, owner: Owner) -> Reply<Arc<Block>> {
        let block = Block::managed(len, owner.device, owner.context);
        let mut block = block.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        block.id = self.next_id();
        block.set_owner(owner);
        block.made = self.strict.origin();
        let block = Arc::new(block);
        let mut table = write(&self.table);
        self.strict.there(block.address, block.len);
        table.blocks.insert(block.address, Arc::clone(&block));
        Ok(block)
    }

    /// Takes a block out of the table, if it still is in it; a copy or kernel that runs
    /// keeps the bytes.
    pub(in crate::device) fn remove(&self, block: &Block) {
        let mut table = write(&self.table);
        let found = table.blocks.get(&block.address);
        if found.is_none_or(|found| !std::ptr::eq(&raw const **found, block)) {
            return;
        }
        if let Some(found) = table.blocks.remove(&block.address) {
            // A graph keeps the addresses of its memory by itself.
            if found.seat.is_none() {
                table.leaving.insert(found.address, Arc::downgrade(&found));
            }
            self.strict.gone(found.id, || found.allocation());
        }
        if block.pool.is_some() {
            if table.gone.len() == REMEMBERED {
                table.gone.pop_front();
            }
            table.gone.push_back((block.address, block.len));
        }
    }

    /// New page-locked memory.
    pub(in crate::device) fn allocate_host(
        &self,
        len: u64,
        flags: u32,
        context: u64,
        device: usize,
    ) -> Reply<Arc<HostRange>> {
        let range = HostRange::allocate(len, flags, context, device);
        self.insert_host(range.ok_or(CUresult::CUDA_ERROR_OUT_OF_MEMORY)?)
    }

    /// Registers memory of the program.
    ///
    /// # Errors
    /// The process does not have it, or not so; or it is registered already.
    pub(in crate::device) fn register_host(
        &self,
        start: *mut u8,
        len: u64,
        flags: u32,
        context: u64,
        device: usize,
    ) -> Reply {
        let write = flags & CU_MEMHOSTREGISTER_READ_ONLY == 0;
        if !host::permits(start.expose_provenance() as u64, len, write) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        self.insert_host(HostRange::register(start, len, flags, context, device))
            .map(drop)
    }

    fn insert_host(&self, mut range: HostRange) -> Reply<Arc<HostRange>> {
        range.set_id(self.next_id(), self.strict.origin());
        let end = range
            .address
            .checked_add(range.len)
            .ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let mut table = write(&self.table);
        let before = table.hosts.range(..end).next_back();
        let managed = table.blocks.range(..end).next_back();
        if before.is_some_and(|(base, other)| base + other.len > range.address)
            || managed.is_some_and(|(base, other)| base + other.len > range.address)
        {
            return Err(CUresult::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        }
        let range = Arc::new(range);
        self.strict.there(range.address, range.len);
        table.hosts.insert(range.address, Arc::clone(&range));
        Ok(range)
    }

    /// Takes the range that starts at `address` out, if it is of the kind.
    pub(in crate::device) fn remove_host(
        &self,
        address: u64,
        allocated: bool,
    ) -> Option<Arc<HostRange>> {
        let mut table = write(&self.table);
        let fits = table
            .hosts
            .get(&address)
            .is_some_and(|range| range.is_allocated() == allocated);
        let removed = fits.then(|| table.hosts.remove(&address)).flatten();
        if let Some(range) = &removed {
            self.strict.gone(range.id, || range.allocation());
        }
        removed
    }

    /// Whether the address is in the range that device memory is in.
    pub(in crate::device) fn is_device_address(address: u64) -> bool {
        (FIRST..FIRST_VIRTUAL + PER_DEVICE).contains(&address)
    }

    /// What `address` lies in.
    pub(in crate::device) fn find(&self, address: u64) -> Option<Place> {
        self.find_range(address, 1)
    }

    /// What a range begins in. The range may go on after the place, unless it lies over
    /// several mappings: their place holds all of it.
    fn find_range(&self, address: u64, len: u64) -> Option<Place> {
        if Self::is_virtual(address) {
            return self.mapped.find(address, len).map(Place::Mapped);
        }
        let table = read(&self.table);
        if let Some(block) = table.block(address) {
            return Some(Place::Device(Arc::clone(block)));
        }
        let (_, range) = table.hosts.range(..=address).next_back()?;
        range
            .holds(address, 1)
            .then(|| Place::Pinned(Arc::clone(range)))
    }

    /// An operation may not do what it wants with what it found: its fault.
    pub(in crate::device) fn refused(
        &self,
        place: &Place,
        address: u64,
        len: u64,
        request: AccessRequest<'_>,
    ) -> Fault {
        self.strict
            .missed(self, Miss::request(&request, address, len));
        let why = match place {
            Place::Mapped(_) => "their mapping does not give that access".into(),
            Place::Pinned(_) => "they are registered for reading alone".into(),
            Place::Device(block) => format!(
                "they are memory of device {}, which this context may not access",
                block.device
            ),
        };
        let what = request.what;
        Fault::illegal_address(format!("{what} of {len} bytes at 0x{address:x}: {why}"))
    }

    /// What lies before and after an address that is in nothing, nearest first on each
    /// side.
    pub(in crate::device) fn around(&self, address: u64) -> Vec<Place> {
        let table = read(&self.table);
        let (below, above) = (..=address, address..);
        let blocks = [
            table.blocks.range(below).next_back(),
            table.blocks.range(above.clone()).next(),
        ];
        let hosts = [
            table.hosts.range(below).next_back(),
            table.hosts.range(above).next(),
        ];
        let blocks = blocks.into_iter().flatten();
        let hosts = hosts.into_iter().flatten();
        blocks
            .map(|(_, block)| Place::Device(Arc::clone(block)))
            .chain(hosts.map(|(_, range)| Place::Pinned(Arc::clone(range))))
            .collect()
    }

    /// The device block that starts at `address`.
    pub(in crate::device) fn block_at(&self, address: u64) -> Option<Arc<Block>> {
        read(&self.table).blocks.get(&address).cloned()
    }

    /// Checks every row of a device range when a call names it. A row that lies in memory
    /// freed in stream order passes: the operation itself will fault.
    pub(in crate::device) fn check_rows(&self, address: u64, rows: Rows) -> Reply {
        let table = read(&self.table);
        let names = |start, len| match Self::is_virtual(start) {
            true => self.mapped.find(start, len).is_some(),
            false => table.names(start, len),
        };
        // Almost always one allocation has them all.
        if names(address, rows.span()) {
            return Ok(());
        }
        let mut starts = rows.offsets().map(|offset| address.wrapping_add(offset));
        let bad = starts.find(|start| !names(*start, rows.width));
        drop(table);
        let Some(start) = bad else { return Ok(()) };
        self.strict
            .missed(self, Miss::of("access", start, rows.width));
        Err(CUresult::CUDA_ERROR_INVALID_VALUE)
    }

    /// What holds all of a range, for who only looks: nothing is reported if nothing does.
    pub(in crate::device) fn find_whole(&self, address: u64, len: u64) -> Option<Place> {
        self.find_range(address, len)
            .filter(|place| place.holds(address, len))
    }

    /// The place of a range, when an operation accesses it.
    pub(in crate::device) fn resolve(
        &self,
        address: u64,
        len: u64,
        what: &str,
    ) -> Result<Place, Fault> {
        match self.find_whole(address, len) {
            Some(place) => Ok(place),
            None => {
                self.strict.missed(self, Miss::of(what, address, len));
                let why = self.mapped.why_not(address, len, None);
                let why = why.unwrap_or_else(|| "no live allocation holds them".into());
                Err(Fault::illegal_address(format!(
                    "{what} of {len} bytes at 0x{address:x}: {why}"
                )))
            }
        }
    }

    /// Whether rows of mapped memory may be accessed so when a call names them. For other
    /// memory the answer is always yes. Strict mode is told of a no.
    pub(in crate::device) fn check_access(
        &self,
        address: u64,
        rows: Rows,
        accessor: Accessor<'_>,
        wanted: Access,
    ) -> Result<(), String> {
        if !Self::is_virtual(address) {
            return Ok(());
        }
        let may = |address, len| {
            let view = self.mapped.find(address, len);
            view.is_some_and(|view| accessor.access(&Place::Mapped(view)) >= wanted)
        };
        if may(address, rows.span()) {
            return Ok(());
        }
        for offset in rows.offsets() {
            let at = address.wrapping_add(offset);
            if !may(at, rows.width) {
                let who = Some((accessor.device(), wanted));
                let why = self.mapped.why_not(at, rows.width, who);
                let miss = Miss {
                    what: if wanted == Access::Write {
                        "write"
                    } else {
                        "read"
                    },
                    address: at,
                    bytes: rows.width,
                    wanted,
                    device: who.map(|(device, _)| device),
                };
                self.strict.missed(self, miss);
                return Err(why.unwrap_or_default());
            }
        }
        Ok(())
    }

    fn is_virtual(address: u64) -> bool {
        address.wrapping_sub(FIRST_VIRTUAL) < PER_DEVICE
    }

    /// Reservations, and what is mapped in them.
    pub(in crate::device) fn mapped(&self) -> &Virtual {
        &self.mapped
    }

    /// Takes out everything that belongs to a context.
    pub(in crate::device) fn drain(&self, context: u64) -> (Vec<Arc<Block>>, Vec<Arc<HostRange>>) {
        let mut table = write(&self.table);
        let mut blocks = Vec::new();
        table.blocks.retain(|_, block| {
            let keep = block.context != context;
            if !keep {
                blocks.push(Arc::clone(block));
            }
            keep
        });
        for block in &blocks {
            if block.seat.is_none() {
                table.leaving.insert(block.address, Arc::downgrade(block));
            }
            self.strict.gone(block.id, || block.allocation());
        }
        let mut hosts = Vec::new();
        table.hosts.retain(|_, range| {
            let keep = range.context != context;
            if !keep {
                hosts.push(Arc::clone(range));
            }
            keep
        });
        for range in &hosts {
            self.strict.gone(range.id, || range.allocation());
        }
        (blocks, hosts)
    }

    /// Calls the functions for every live allocation.
    pub(in crate::device) fn each(
        &self,
        mut device: impl FnMut(&Block),
        mut host: impl FnMut(&HostRange),
    ) {
        let table = read(&self.table);
        table.blocks.values().for_each(|block| device(block));
        table.hosts.values().for_each(|range| host(range));
    }

    pub(in crate::device) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: Owner = Owner {
        device: 0,
        context: 1,
        pool: None,
        module: None,
    };

    fn allocate(space: &Space) -> Arc<Block> {
        space
            .allocate(GRANULE, (GRANULE, GRANULE), GRANULE, OWNER)
            .unwrap()
    }

    /// As if the whole range had been handed out since.
    fn wrap(space: &Space) {
        write(&space.table).cursors[0] = FIRST;
    }

    /// Without it, a kernel that still writes to freed memory and a new allocation could
    /// have the same address once the addresses have gone round.
    #[test]
    fn an_address_is_not_used_again_while_something_holds_it() {
        let space = Space::default();
        let (removed, drained) = (allocate(&space), allocate(&space));
        space.remove(&removed);
        space.drain(OWNER.context);
        wrap(&space);
        let next = allocate(&space);
        assert_eq!(next.address, drained.address + 2 * GRANULE);
        let first = removed.address;
        drop((removed, drained));
        wrap(&space);
        assert_eq!(allocate(&space).address, first);
    }

    /// Without it, a variable with a large `.align` would be where it asked by luck alone.
    #[test]
    fn blocks_are_as_aligned_as_asked() {
        let space = Space::default();
        for align in [1, 4096, 1 << 21, 1 << 31] {
            allocate(&space);
            let block = space.allocate(4, (GRANULE, align), GRANULE, OWNER).unwrap();
            assert_eq!(block.address % align.max(GRANULE), 0);
        }
    }

    /// Without it, freeing a block late could take away the one that has its address now.
    #[test]
    fn only_the_block_itself_is_removed() {
        let space = Space::default();
        let live = allocate(&space);
        let mut other = Block::new(live.address, GRANULE, 0, 1).unwrap();
        other.pool = Some(1);
        space.remove(&other);
        assert!(space.block_at(live.address).is_some());
        space.remove(&live);
        assert!(space.find(live.address).is_none());
    }
}
