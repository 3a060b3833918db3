//! cudarc's `CudaStream::alloc`, and dropping what it gives, with and without its event
//! tracking. It takes the driver's default pool, whose threshold `driver` has set. It finds
//! a driver of its own by the library's name, so it is measured where that is the device's.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use cupola_managers::Device;

use super::Error;
use super::allocator::Allocator;

pub(super) struct Cudarc {
    context: Arc<CudaContext>,
    name: &'static str,
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Peer("cudarc", error.to_string())
}

impl Cudarc {
    /// With and without event tracking.
    pub(super) fn both(device: &Device) -> Result<[Self; 2], Error> {
        let make = |name| -> Result<Self, Error> {
            let context = CudaContext::new(device.ordinal() as usize).map_err(failed)?;
            Ok(Self { context, name })
        };
        let without = make("cudarc without event tracking")?;
        // SAFETY: memory of this context is used by nothing, so nothing needs ordering.
        unsafe { without.context.disable_event_tracking() };
        Ok([make("cudarc")?, without])
    }
}

impl Allocator for Cudarc {
    type Stream = Arc<CudaStream>;
    type Block = CudaSlice<u8>;

    fn name(&self) -> String {
        self.name.into()
    }

    fn stream(&self) -> Result<Arc<CudaStream>, Error> {
        self.context.new_stream().map_err(failed)
    }

    fn enter(&self) -> bool {
        self.context.bind_to_thread().is_ok()
    }

    fn allocate(&self, bytes: u64, stream: &Arc<CudaStream>) -> Option<CudaSlice<u8>> {
        let bytes = usize::try_from(bytes).ok()?;
        // SAFETY: nothing reads the memory.
        unsafe { stream.alloc::<u8>(bytes) }.ok()
    }

    fn free(&self, block: CudaSlice<u8>, _: &Arc<CudaStream>) -> bool {
        drop(block);
        true
    }

    fn address(_: &CudaSlice<u8>) -> Option<u64> {
        None
    }

    fn settle(&self, stream: &Arc<CudaStream>) -> bool {
        // An error of a drop is kept there until it is asked for.
        stream.synchronize().is_ok() && self.context.check_err().is_ok()
    }
}
