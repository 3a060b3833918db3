//! Which devices may access mapped memory.

use cupola_sys::driver::{CUdevice, CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc};

use super::Vmm;
use crate::error::Result;
use crate::pool::inspect::history::Action;

impl Vmm {
    /// Lets the device access `bytes` bytes from `at` on in the way that `flags` say, and the peers too.
    ///
    /// # Safety
    /// All of them are mapped.
    #[track_caller]
    pub(crate) unsafe fn set_access(
        &self,
        at: CUdeviceptr,
        bytes: u64,
        flags: CUmemAccess_flags,
        peers: &[CUdevice],
    ) -> Result<()> {
        let own = CUmemAccessDesc {
            location: self.properties.location,
            flags,
        };
        match peers {
            // SAFETY: the condition is this function's own.
            [] => unsafe { self.describe_access(at, bytes, &[own]) },
            peers => {
                let others = peers.iter().map(|&peer| self.access_of(peer, flags));
                let all: Vec<_> = std::iter::once(own).chain(others).collect();
                // SAFETY: the condition is this function's own.
                unsafe { self.describe_access(at, bytes, &all) }
            }
        }?;
        self.history.note_memory(Action::Map, at, bytes);
        Ok(())
    }

    /// Says what another device may do with the memory.
    ///
    /// # Safety
    /// As [`set_access`](Self::set_access).
    #[track_caller]
    pub(crate) unsafe fn set_peer_access(
        &self,
        at: CUdeviceptr,
        bytes: u64,
        peer: CUdevice,
        flags: CUmemAccess_flags,
    ) -> Result<()> {
        // SAFETY: the condition is this function's own.
        unsafe { self.describe_access(at, bytes, &[self.access_of(peer, flags)]) }
    }

    fn access_of(&self, device: CUdevice, flags: CUmemAccess_flags) -> CUmemAccessDesc {
        let mut location = self.properties.location;
        location.__bindgen_anon_1.id = device;
        CUmemAccessDesc { location, flags }
    }

    /// # Safety
    /// As [`set_access`](Self::set_access).
    #[track_caller]
    unsafe fn describe_access(
        &self,
        at: CUdeviceptr,
        bytes: u64,
        access: &[CUmemAccessDesc],
    ) -> Result<()> {
        // SAFETY: `cuMemSetAccess` needs mapped addresses: condition of this function. The
        // descriptions outlive the call.
        self.call(&self.calls.set_access, |driver| unsafe {
            driver.cuMemSetAccess(at, bytes as usize, access.as_ptr(), access.len())
        })
    }
}
