//! Memory of another API, by the file that it has exported: as the software device has no such API, files of its
//! own exportable memory stand for it.

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

/// Imported memory of a machine, by handle.
#[derive(Debug, Default)]
pub(in crate::device) struct Externals(RwLock<BTreeMap<u64, External>>);

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
        write(&self.0).insert(handle, external);
    }

    /// Ends a handle. What is mapped of it stays until it is freed.
    pub(in crate::device) fn destroy(&self, handle: u64) -> Reply {
        let external = write(&self.0).remove(&handle);
        let handle_error = CUresult::CUDA_ERROR_INVALID_HANDLE;
        external.map(drop).ok_or(handle_error)
    }

    /// Who made each handle that the program holds.
    pub(in crate::device) fn handles(&self) -> Vec<Here> {
        read(&self.0)
            .values()
            .map(|external| external.made)
            .collect()
    }

    pub(in crate::device) fn count(&self) -> usize {
        read(&self.0).len()
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

impl Space {
    /// A block that is `len` bytes of imported memory from `offset` on. No account is charged for it.
    ///
    /// # Errors
    /// There is no such memory, or it has no such bytes; the host or the device has no room.
    fn map_external(&self, handle: u64, offset: u64, len: u64, context: u64) -> Reply<Arc<Block>> {
        let (pages, device) = {
            let externals = read(&self.externals().0);
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
