//! Blocks that other processes may have, and blocks of theirs.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::memory::access::{Access, PoolAccess};
use crate::device::memory::block::Block;
use crate::device::memory::ipc::{self, Name, Refusal};
use crate::device::memory::space::{GRANULE, Space};
use crate::device::sync::write;

const BAD: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

impl Space {
    /// Names the block that holds `address` for other processes. The first time, the block
    /// moves to a file, which it can only while it is not accessed: `None` if it is.
    ///
    /// # Errors
    /// No memory that can be shared is there, or the host has none for the file.
    pub(in crate::device) fn export(&self, address: u64) -> Reply<Option<Name>> {
        let mut table = write(&self.table);
        let base = table.block(address).map(|block| block.address);
        let block = base.and_then(|base| table.blocks.get_mut(&base));
        let block = block.filter(|block| block.can_export()).ok_or(BAD)?;
        if block.pages().is_none() {
            // A thread that accesses a block, or is about to, holds it; a thread that would
            // find it now waits for the lock.
            let Some(block) = Arc::get_mut(block) else {
                return Ok(None);
            };
            block.share().ok_or(MEMORY)?;
        }
        ipc::name(block).map(Some).ok_or(MEMORY)
    }

    /// Memory of another process, which is on this device. The opener is a context and its
    /// device's ordinal. What that context has open already is opened once more.
    ///
    /// # Errors
    /// What became of the memory, that it is open and may not be opened `again`, or that the
    /// host or the device has no room.
    pub(in crate::device) fn open(
        &self,
        name: Name,
        device: usize,
        (context, accessor): (u64, usize),
        again: bool,
    ) -> Result<Arc<Block>, Refusal> {
        let mut table = write(&self.table);
        let same = |block: &&Arc<Block>| {
            let opened = block.opened.as_ref();
            let same = opened.is_some_and(|opened| opened.name == name);
            same && block.context == context && !block.is_doomed()
        };
        if let Some(block) = table.blocks.values().find(same) {
            if !again {
                return Err(CUresult::CUDA_ERROR_ALREADY_MAPPED.into());
            }
            if let Some(opened) = &block.opened {
                opened.times.fetch_add(1, Ordering::Relaxed);
            }
            return Ok(Arc::clone(block));
        }
        let pages = ipc::open_pages(&name)?;
        let mut block = Block::opened(name, pages, device, context).ok_or(MEMORY)?;
        let extent = name.len.checked_next_multiple_of(GRANULE);
        block.extent = extent.ok_or(MEMORY)?;
        block.id = self.next_id();
        block.made = self.strict.origin();
        if accessor != device {
            let access = PoolAccess::default();
            access.set(accessor, Access::Write);
            block.access = Some(Arc::new(access));
        }
        Ok(table.add(block, GRANULE, &self.strict)?)
    }

    /// Closes memory of another process once. The block, if that was the last time: the
    /// caller then removes it.
    ///
    /// # Errors
    /// No such memory begins at `address`.
    pub(in crate::device) fn close(&self, address: u64) -> Reply<Option<Arc<Block>>> {
        let table = write(&self.table);
        let block = table.blocks.get(&address).ok_or(BAD)?;
        let opened = block.opened.as_ref().ok_or(BAD)?;
        if block.is_doomed() {
            return Err(BAD);
        }
        let last = opened.times.fetch_sub(1, Ordering::Relaxed) == 1;
        Ok((last && block.doom()).then(|| Arc::clone(block)))
    }
}
