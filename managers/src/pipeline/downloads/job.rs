//! `Download`: what a thread needs to put the download of one item on its stream.

use cupola_sys::driver::CUdeviceptr;

use crate::error::{Result, Site};
use crate::event::LeasedEvent;
use crate::ops;
use crate::pipeline::telemetry::scope::Scope;
use crate::stream::fence::Fence;
use crate::stream::{Stream, submit};

/// A copy from the device to pinned memory.
#[derive(Clone, Copy)]
pub(in crate::pipeline) struct HostCopy {
    pub(in crate::pipeline) from: CUdeviceptr,
    pub(in crate::pipeline) to: *mut u8,
    pub(in crate::pipeline) bytes: usize,
}

/// Puts a copy on its stream behind `computed`, between `marks` that take the time, and records
/// `downloaded` behind it. For a caller at `site`.
///
/// # Safety
/// Both ends of the copy are good for its bytes, and no other code touches `copy.to`, until the copy is
/// done.
pub(in crate::pipeline) unsafe fn put(
    copy: HostCopy,
    computed: &Fence,
    marks: Option<&(LeasedEvent, LeasedEvent)>,
    downloaded: &mut Fence,
    stream: &Stream,
    site: Site,
) -> Result<()> {
    computed.wait_on_new_at(stream, site)?;
    if let Some((start, _)) = marks {
        submit::record_at(start, stream, site)?;
    }
    // SAFETY: this function's condition.
    unsafe { ops::download_raw_at(copy.from, copy.to, copy.bytes, stream, site) }?;
    if let Some((_, end)) = marks {
        submit::record_at(end, stream, site)?;
    }
    downloaded.record_at(stream, site)
}

/// The download of one item, for a thread. It keeps the events that it needs.
pub(in crate::pipeline) struct Download {
    item: u64,
    copy: HostCopy,
    computed: Fence,
    marks: Option<(LeasedEvent, LeasedEvent)>,
    downloaded: Fence,
    /// The caller that submitted the item.
    site: Site,
}

// SAFETY: `copy.to` is the only part that is not Send. It is touched by the driver alone until the copy is
// done, which the condition of `new` says and which holds for any thread that puts the copy.
unsafe impl Send for Download {}

impl Download {
    /// The download of the item of this number, behind `computed`, for a caller at `site`.
    ///
    /// # Safety
    /// Both ends of the copy are good for its bytes, and no other code touches `copy.to`, until this was
    /// dropped, or was [put](Self::put) and the copy is done.
    pub(in crate::pipeline) unsafe fn new(
        item: u64,
        copy: HostCopy,
        computed: Fence,
        marks: Option<(LeasedEvent, LeasedEvent)>,
        downloaded: Fence,
        site: Site,
    ) -> Self {
        Self {
            item,
            copy,
            computed,
            marks,
            downloaded,
            site,
        }
    }

    /// Puts it on its stream, and returns the fence behind it. Where copies block, the copy is done then.
    ///
    /// # Errors
    /// What the driver returned: the copy may run all the same.
    pub(super) fn put(self, stream: &Stream) -> Result<Fence> {
        let Self {
            copy,
            computed,
            marks,
            mut downloaded,
            site,
            ..
        } = self;
        let _scope = Scope::download(self.item);
        // SAFETY: the condition of `new`.
        unsafe {
            put(
                copy,
                &computed,
                marks.as_ref(),
                &mut downloaded,
                stream,
                site,
            )
        }?;
        Ok(downloaded)
    }
}
