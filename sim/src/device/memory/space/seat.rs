//! Addresses of a graph's memory, which stay while the memory comes and goes.

use std::sync::{Arc, Mutex, Weak};

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::memory::access::PoolAccess;
use crate::device::memory::block::Block;
use crate::device::memory::space::{GRANULE, Space};
use crate::device::sync::{lock, read, write};

const MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// The addresses of a graph's allocation.
#[derive(Debug)]
pub(in crate::device) struct Seat {
    pub(in crate::device) address: u64,
    pub(in crate::device) len: u64,
    extent: u64,
    /// The device's ordinal.
    pub(in crate::device) device: usize,
    /// Handle of the context that the memory dies with.
    pub(in crate::device) context: u64,
    /// What other devices may do with it.
    access: Arc<PoolAccess>,
    /// The memory that a launch has put there last.
    current: Mutex<Weak<Block>>,
}

impl Seat {
    /// The memory that is there and that no call has freed.
    pub(in crate::device) fn live(&self) -> Option<Arc<Block>> {
        let block = lock(&self.current).upgrade();
        block.filter(|block| !block.is_doomed())
    }

    /// Bytes of addresses that it takes, and of memory while it is used.
    pub(in crate::device) fn extent(&self) -> u64 {
        self.extent
    }

    /// Says which memory calls can free from now on, before it is there too.
    pub(in crate::device) fn set_live(&self, block: &Arc<Block>) {
        *lock(&self.current) = Arc::downgrade(block);
    }

    pub(super) fn holds(&self, address: u64, len: u64) -> bool {
        let offset = address.wrapping_sub(self.address);
        offset < self.len && self.len - offset >= len
    }
}

impl Space {
    /// Addresses for `len` bytes, as long as the seat is kept.
    pub(in crate::device) fn take_seat(
        &self,
        len: usize,
        (device, context): (usize, u64),
        access: Arc<PoolAccess>,
    ) -> Reply<Arc<Seat>> {
        let len = len as u64;
        if len == 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let extent = len.checked_next_multiple_of(GRANULE).ok_or(MEMORY)?;
        let mut table = write(&self.table);
        table.leaving.retain(|_, block| block.strong_count() > 0);
        table.seats.retain(|_, seat| seat.strong_count() > 0);
        let address = table.place(device, extent, GRANULE).ok_or(MEMORY)?;
        let seat = Arc::new(Seat {
            address,
            len,
            extent,
            device,
            context,
            access,
            current: Mutex::default(),
        });
        table.seats.insert(address, Arc::downgrade(&seat));
        Ok(seat)
    }

    /// The seat that begins at an address.
    pub(in crate::device) fn seat(&self, address: u64) -> Option<Arc<Seat>> {
        read(&self.table).seats.get(&address)?.upgrade()
    }

    /// New memory for a seat, whose account has been charged. It is there once it is inserted.
    pub(in crate::device) fn occupy(&self, seat: &Arc<Seat>) -> Reply<Arc<Block>> {
        let block = Block::new(seat.address, seat.len, seat.device, seat.context);
        let mut block = block.ok_or(MEMORY)?;
        block.extent = seat.extent;
        block.charge = seat.extent;
        block.id = self.next_id();
        block.made = self.strict.origin();
        block.access = Some(Arc::clone(&seat.access));
        block.seat = Some(Arc::clone(seat));
        if self.strict.keeps_shadows() {
            block.keep_shadow().ok_or(MEMORY)?;
        }
        Ok(Arc::new(block))
    }

    /// A stream gets to the memory's allocation.
    pub(in crate::device) fn insert(&self, block: Arc<Block>) {
        let mut table = write(&self.table);
        self.strict.there(block.address, block.len);
        table.blocks.insert(block.address, block);
    }
}
