//! Memory and semaphores of another API, by the file that it has exported: as the software device has no such API, files
//! of its own exportable memory stand for them. A semaphore is the first 8 bytes of such a file, so that a program that maps it, in
//! whichever process, is the other side.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::contexts::context::Context;
use crate::device::memory::block::Block;
use crate::device::memory::keep_if_open;
use crate::device::memory::pages::Pages;
use crate::device::memory::space::{GRANULE, Space};
use crate::device::strict::Here;
use crate::device::sync::{read, write};

const BAD: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const MEMORY: CUresult = CUresult::CUDA_ERROR_OUT_OF_MEMORY;

/// Imported memory.
#[derive(Debug)]
struct External {
    pages: Pages,
    /// Bytes that the importer says it has.
    len: u64,
    device: usize,
    made: Here,
}

/// What a semaphore does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum SemaphoreKind {
    /// A signal sets it, a wait takes that back.
    Binary,
    /// A signal sets its value, a wait is for a value at least.
    Timeline,
}

/// An imported semaphore.
#[derive(Debug)]
struct Semaphore {
    /// Its value, which streams write and wait for as any other.
    block: Arc<Block>,
    kind: SemaphoreKind,
    made: Here,
}

/// Imported memory and semaphores of a machine, by handle.
#[derive(Debug, Default)]
pub(in crate::device) struct Externals {
    memories: RwLock<BTreeMap<u64, External>>,
    semaphores: RwLock<BTreeMap<u64, Semaphore>>,
}

impl Externals {
    /// Enters memory of so many bytes, which the pages have.
    #[cfg(target_os = "linux")]
    pub(in crate::device) fn import(&self, handle: u64, device: usize, pages: Pages, len: u64) {
        let external = External {
            pages,
            len,
            device,
            made: Here::now(),
        };
        write(&self.memories).insert(handle, external);
    }

    /// Ends a handle. What is mapped of it stays until it is freed.
    pub(in crate::device) fn destroy(&self, handle: u64) -> Reply {
        let external = write(&self.memories).remove(&handle);
        let handle_error = CUresult::CUDA_ERROR_INVALID_HANDLE;
        external.map(drop).ok_or(handle_error)
    }

    /// Who made each handle that the program holds.
    pub(in crate::device) fn handles(&self) -> Vec<Here> {
        read(&self.memories)
            .values()
            .map(|external| external.made)
            .collect()
    }

    pub(in crate::device) fn count(&self) -> usize {
        read(&self.memories).len()
    }

    /// Where the value of a semaphore is, and what it does.
    pub(in crate::device) fn semaphore(&self, handle: u64) -> Reply<(Arc<Block>, SemaphoreKind)> {
        let semaphores = read(&self.semaphores);
        let found = semaphores.get(&handle);
        found
            .map(|semaphore| (Arc::clone(&semaphore.block), semaphore.kind))
            .ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Ends the handle of a semaphore, whose value is given back.
    pub(in crate::device) fn destroy_semaphore(&self, handle: u64) -> Reply<Arc<Block>> {
        let semaphore = write(&self.semaphores).remove(&handle);
        semaphore
            .map(|semaphore| semaphore.block)
            .ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Who made each semaphore that the program holds.
    pub(in crate::device) fn semaphores(&self) -> Vec<Here> {
        let semaphores = read(&self.semaphores);
        semaphores
            .values()
            .map(|semaphore| semaphore.made)
            .collect()
    }

    pub(in crate::device) fn semaphore_count(&self) -> usize {
        read(&self.semaphores).len()
    }
}

/// A buffer of a context that is `len` bytes of imported memory from `offset` on.
///
/// # Errors
/// There is no such memory, or it has no such bytes; the host or the device has no room; the context has ended.
pub(in crate::device) fn map_external(
    context: &Context,
    handle: u64,
    offset: u64,
    len: u64,
) -> Reply<Arc<Block>> {
    let space = &context.device.space;
    let block = space.map_external(handle, offset, len, context.handle)?;
    keep_if_open(context, &context.device, block)
}

/// Enters a semaphore whose value is the first 8 bytes of the pages.
///
/// # Errors
/// The host or the device has no room; the context has ended.
#[cfg(target_os = "linux")]
pub(in crate::device) fn import_semaphore(
    context: &Context,
    handle: u64,
    pages: Pages,
    kind: SemaphoreKind,
) -> Reply {
    let space = &context.device.space;
    let owner = (context.device.ordinal, context.handle);
    let block = Block::semaphore(pages, owner).ok_or(MEMORY)?;
    let block = keep_if_open(context, &context.device, space.add_block(block, GRANULE)?)?;
    let semaphore = Semaphore {
        block,
        kind,
        made: Here::now(),
    };
    write(&space.externals().semaphores).insert(handle, semaphore);
    Ok(())
}

impl Space {
    /// A block that is `len` bytes of imported memory from `offset` on. No account is charged for it.
    ///
    /// # Errors
    /// There is no such memory, or it has no such bytes; the host or the device has no room.
    fn map_external(&self, handle: u64, offset: u64, len: u64, context: u64) -> Reply<Arc<Block>> {
        let (pages, device) = {
            let externals = read(&self.externals().memories);
            let external = externals.get(&handle);
            let external = external.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
            let end = offset.checked_add(len).filter(|_| len > 0);
            if end.is_none_or(|end| end > external.len) {
                return Err(BAD);
            }
            (external.pages.another(), external.device)
        };
        let block = Block::external(pages, offset, len, (device, context));
        self.add_block(block.ok_or(MEMORY)?, GRANULE)
    }
}
