//! Advice about managed memory, and prefetches.

use std::ffi::c_int;
use std::ops::RangeBounds;

use cupola_sys::driver::{
    CU_DEVICE_CPU, CUdevice, CUmem_advise as Advise, CUmemLocation, CUmemLocationType as Type, id,
};

use super::ManagedBuffer;
use crate::buffer::DeviceCopy;
use crate::driver::ContextCore;
use crate::error::Result;
use crate::stream::Stream;

/// Where managed memory may be, or where it is used from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ManagedLocation {
    /// The device of the buffer's context.
    Device,
    /// The host, on whichever node.
    Host,
    /// A NUMA node of the host, by the system's number (CUDA 12.2).
    HostNode(u32),
    /// The NUMA node of the host that the calling thread runs on (CUDA 12.2).
    HostNodeOfThread,
}

/// What a program says about the use of managed memory, for the driver to place it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ManagedAdvice {
    /// It is mostly read: each processor that reads it gets a copy.
    ReadMostly,
    /// No longer so.
    NotReadMostly,
    /// It should be there, also while others use it.
    Preferred(ManagedLocation),
    /// No longer so.
    NoPreference,
    /// It is used from there, and should be mapped there all the time.
    AccessedBy(ManagedLocation),
    /// No longer so.
    NotAccessedBy(ManagedLocation),
}

impl ManagedLocation {
    /// For the second form of the functions.
    fn location(self, device: CUdevice) -> CUmemLocation {
        let (kind, number) = match self {
            Self::Device => (Type::CU_MEM_LOCATION_TYPE_DEVICE, device),
            Self::Host => (Type::CU_MEM_LOCATION_TYPE_HOST, 0),
            Self::HostNode(node) => (Type::CU_MEM_LOCATION_TYPE_HOST_NUMA, node.cast_signed()),
            Self::HostNodeOfThread => (Type::CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0),
        };
        location(kind, number)
    }

    /// For the first form of the functions, which knows no nodes.
    fn number(self, device: CUdevice) -> Option<CUdevice> {
        match self {
            Self::Device => Some(device),
            Self::Host => Some(CU_DEVICE_CPU),
            Self::HostNode(_) | Self::HostNodeOfThread => None,
        }
    }
}

fn location(kind: Type, number: c_int) -> CUmemLocation {
    let mut location = CUmemLocation {
        type_: kind,
        // SAFETY: all bytes zero are a value of a union of numbers.
        __bindgen_anon_1: unsafe { std::mem::zeroed() },
    };
    location.__bindgen_anon_1.id = number;
    location
}

impl ManagedAdvice {
    /// The driver's word for it, and the place that goes with it, if one does.
    fn parts(self) -> (Advise, Option<ManagedLocation>) {
        match self {
            Self::ReadMostly => (Advise::CU_MEM_ADVISE_SET_READ_MOSTLY, None),
            Self::NotReadMostly => (Advise::CU_MEM_ADVISE_UNSET_READ_MOSTLY, None),
            Self::Preferred(at) => (Advise::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, Some(at)),
            Self::NoPreference => (Advise::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, None),
            Self::AccessedBy(by) => (Advise::CU_MEM_ADVISE_SET_ACCESSED_BY, Some(by)),
            Self::NotAccessedBy(by) => (Advise::CU_MEM_ADVISE_UNSET_ACCESSED_BY, Some(by)),
        }
    }
}

/// Whether the second form of a function is to be called: where the driver has it, and where the place
/// needs it, so that a driver without it is named as the reason.
fn takes_second_form(
    core: &ContextCore,
    second: cupola_sys::SymbolId,
    at: ManagedLocation,
) -> bool {
    core.driver().has(second) || at.number(core.device()).is_none()
}

impl<T: DeviceCopy> ManagedBuffer<T> {
    /// Tells the driver how some elements are used, in whole pages (`cuMemAdvise_v2`, or `cuMemAdvise` of a
    /// driver before CUDA 12.2). It changes where they are, and never what they hold. No elements are
    /// not told of.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) when the range does not lie in the buffer;
    /// [`Error::Unsupported`](crate::Error::Unsupported) for a node of the host before CUDA 12.2;
    /// [`Error::Poisoned`](crate::Error::Poisoned), [`Error::Forked`](crate::Error::Forked); what the
    /// driver returned.
    #[doc(alias = "cuMemAdvise")]
    #[track_caller]
    pub fn advise(&self, range: impl RangeBounds<usize>, advice: ManagedAdvice) -> Result<()> {
        let (address, bytes) = self.part(&range)?;
        let core = &*self.core;
        let driver = core.enter()?;
        if bytes == 0 {
            return Ok(());
        }
        let (advice, at) = advice.parts();
        // Without a place any will do.
        let at = at.unwrap_or(ManagedLocation::Device);
        let device = core.device();
        let told = match at.number(device) {
            Some(number) if !takes_second_form(core, id::cuMemAdvise_v2, at) => {
                // SAFETY: the buffer's bytes.
                unsafe { driver.cuMemAdvise(address, bytes, advice, number) }
            }
            // SAFETY: as before.
            _ => unsafe { driver.cuMemAdvise_v2(address, bytes, advice, at.location(device)) },
        };
        core.check(told)
    }

    /// Moves some elements, in whole pages, to where they are going to be used, in the order of `stream`
    /// (`cuMemPrefetchAsync_v2`, or `cuMemPrefetchAsync` of a driver before CUDA 12.2). The stream is
    /// noted as one that uses them. No elements are not moved.
    ///
    /// # Errors
    /// As [`advise`](Self::advise) and [`device`](Self::device); in
    /// [checked mode](crate::Context::set_checked)
    /// [`Error::Unverified`](crate::Error::Unverified).
    #[doc(alias = "cuMemPrefetchAsync")]
    #[track_caller]
    pub fn prefetch(
        &self,
        range: impl RangeBounds<usize>,
        to: ManagedLocation,
        stream: &Stream,
    ) -> Result<()> {
        let (address, bytes) = self.part(&range)?;
        self.note(stream)?;
        if bytes == 0 {
            return self.core.healthy();
        }
        let device = self.core.device();
        match to.number(device) {
            Some(number) if !takes_second_form(&self.core, id::cuMemPrefetchAsync_v2, to) => {
                // SAFETY: the buffer's bytes, which stay until the stream's work is over.
                stream.submit(id::cuMemPrefetchAsync, |driver, raw| unsafe {
                    driver.cuMemPrefetchAsync(address, bytes, number, raw)
                })
            }
            // SAFETY: as before.
            _ => stream.submit(id::cuMemPrefetchAsync_v2, |driver, raw| unsafe {
                driver.cuMemPrefetchAsync_v2(address, bytes, to.location(device), 0, raw)
            }),
        }
    }
}
