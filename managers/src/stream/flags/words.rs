//! `Words`: the memory of a page, from the driver or of a model.

#[cfg(not(loom))]
pub(super) use from_the_driver::Words;
#[cfg(loom)]
pub(super) use of_a_model::Words;

/// As many words as a page of the host has, or as a model can bear.
pub(super) const WORDS: usize = if cfg!(loom) { 2 } else { 1024 };

#[cfg(not(loom))]
mod from_the_driver {
    use std::ptr::{self, NonNull};
    use std::sync::{Arc, Weak};

    use cupola_sys::driver::{CUdeviceptr, CUresult, DriverError, id};

    use super::super::page::is_past;
    use super::WORDS;
    use crate::driver::{Allocated, ContextCore, Grave, RelaxedCapture};
    use crate::error::Result;
    use crate::sync::AtomicU32;

    const BYTES: usize = WORDS * size_of::<AtomicU32>();

    /// Page-locked words, which have the same address for the device as for the host.
    pub(in crate::stream::flags) struct Words {
        host: NonNull<AtomicU32>,
        /// What has a flag, or may claim one, holds the context beside, so that a context counts only
        /// those.
        core: Weak<ContextCore>,
    }

    // SAFETY: the memory is reached as atomics alone, and freed from any thread.
    unsafe impl Send for Words {}
    // SAFETY: the memory is reached as atomics alone.
    unsafe impl Sync for Words {}

    impl Words {
        /// `cuMemHostAlloc`, then zeros. `None` where there is no such memory, or no stream can
        /// write to it.
        ///
        /// # Errors
        /// What the driver returned.
        pub(in crate::stream::flags) fn allocate(core: &Arc<ContextCore>) -> Result<Option<Self>> {
            let driver = core.enter()?;
            if !driver.has(id::cuStreamWriteValue32_v2) {
                return Ok(None);
            }
            let mut host = ptr::null_mut();
            let allocated = {
                let _relaxed = RelaxedCapture::uncounted(driver);
                // SAFETY: `host` outlives the call, and the context is current.
                unsafe { driver.cuMemHostAlloc(&raw mut host, BYTES, 0) }
            };
            match allocated {
                Err(DriverError::Missing { .. }) => return Ok(None),
                Err(call) if call.status() == Some(CUresult::CUDA_ERROR_NOT_SUPPORTED) => {
                    return Ok(None);
                }
                allocated => core.check(allocated)?,
            }
            let Some(host) = NonNull::new(host.cast::<AtomicU32>()) else {
                return Ok(None);
            };
            // SAFETY: so many bytes were allocated there just now.
            unsafe { host.cast::<u8>().write_bytes(0, BYTES) };
            let core = Arc::downgrade(core);
            Ok(Some(Self { host, core }))
        }

        pub(in crate::stream::flags) fn at(&self, place: usize) -> &AtomicU32 {
            debug_assert!(place < WORDS);
            // SAFETY: one of the words that `allocate` got, which are there as long as this value.
            unsafe { self.host.add(place).as_ref() }
        }

        pub(in crate::stream::flags) fn address(&self, place: usize) -> CUdeviceptr {
            ptr::from_ref(self.at(place)).expose_provenance() as CUdeviceptr
        }

        /// Whether this process is a fork of the one that they are of.
        pub(in crate::stream::flags) fn are_the_parents(&self) -> bool {
            let core = self.core.upgrade();
            core.is_none_or(|core| core.not_forked().is_err())
        }

        /// Leaves the memory to the end of the context, of which no word is used any more, but that a
        /// stream may write these numbers to. Where a graph may write to it, that is not known.
        pub(in crate::stream::flags) fn give_back(
            &self,
            awaited: Vec<(usize, u32)>,
            by_a_graph: bool,
        ) {
            let Some(core) = self.core.upgrade() else {
                return;
            };
            let words = Self {
                host: self.host,
                core: Weak::new(),
            };
            let is_idle = move || {
                let mut awaited = awaited.iter();
                awaited.all(|&(place, put)| is_past(words.at(place), put))
            };
            let is_idle = (!by_a_graph).then(|| Box::new(is_idle) as Box<_>);
            let memory = Allocated(self.host.as_ptr().cast());
            // SAFETY: allocated by `allocate`, and the page that it was of ends.
            core.bury(unsafe { Grave::new(memory, is_idle) });
        }
    }
}

#[cfg(loom)]
mod of_a_model {
    use std::sync::Arc;

    use cupola_sys::driver::CUdeviceptr;

    use super::WORDS;
    use crate::driver::ContextCore;
    use crate::error::Result;
    use crate::sync::AtomicU32;

    /// Words of a model, whose driver writes to them by their address.
    pub(in crate::stream::flags) struct Words(Box<[AtomicU32]>);

    impl Words {
        pub(in crate::stream::flags) fn new() -> Self {
            Self((0..WORDS).map(|_| AtomicU32::new(0)).collect())
        }

        /// None: a model makes a page of its own.
        pub(in crate::stream::flags) fn allocate(_: &Arc<ContextCore>) -> Result<Option<Self>> {
            Ok(None)
        }

        pub(in crate::stream::flags) fn at(&self, place: usize) -> &AtomicU32 {
            &self.0[place]
        }

        pub(in crate::stream::flags) fn address(&self, place: usize) -> CUdeviceptr {
            (&raw const self.0[place]).expose_provenance() as CUdeviceptr
        }

        pub(in crate::stream::flags) fn are_the_parents(&self) -> bool {
            false
        }

        pub(in crate::stream::flags) fn give_back(&self, _: Vec<(usize, u32)>, _: bool) {}
    }
}
