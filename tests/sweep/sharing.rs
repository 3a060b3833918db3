//! Memory that is exported, sent, received and imported, and freed by either side first.

use std::os::unix::net::UnixStream;

use cupola_managers::interop::{
    ExternalMemory, ExternalMemoryConfig, ExternalSemaphore, ExternalTimeline,
};
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::{Access, ImportCharge, VirtualMemory};
use cupola_managers::{Context, ops};
use cupola_sharing::{receive, send};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

const PAGE: u64 = 2 << 20;

/// Both sides in one process.
pub(crate) fn sharing(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let memory = context.virtual_memory(&DeviceLimit::new(8 * PAGE))?;
    let (ours, theirs) = UnixStream::pair()?;
    for charge in [ImportCharge::ThisLimit, ImportCharge::OtherLimit] {
        let made = memory.create_exportable(2 * PAGE)?;
        send(&ours, &made)?;
        let imported = receive(&theirs, &memory, charge)?;
        let mut range = memory.reserve(4 * PAGE)?;
        range.map(0, made)?;
        range.map(2 * PAGE, imported)?;
        range.set_access(0..2 * PAGE, Access::ReadWrite)?;
        range.set_access(2 * PAGE..4 * PAGE, Access::Read)?;
        // SAFETY: nothing uses the range.
        drop(unsafe { range.unmap(0) }?);
    }
    external(&context, &memory)
}

/// The descriptor stands for one of another API.
fn external(context: &Context, memory: &VirtualMemory) -> Outcome {
    let stream = context.streams().create(Default::default())?;
    let made = memory.create_exportable(2 * PAGE)?;
    let config = ExternalMemoryConfig::new(2 * PAGE).within(memory.limit());
    // SAFETY: the descriptor is of as many bytes.
    let imported = unsafe { ExternalMemory::import(context, made.export()?, config) }?;
    let mut front = imported.map(0..PAGE)?;
    let back = imported.map(PAGE..2 * PAGE)?;
    // SAFETY: the work is on the stream, and nothing else uses the memory.
    let bytes = unsafe { front.slice_mut::<u8>(0..64, &stream) }?;
    ops::fill(bytes, 7, &stream)?;
    drop((imported, front, back));
    let made = memory.create_exportable(2 * PAGE)?;
    // SAFETY: the descriptors stand for those of semaphores.
    let (timeline, semaphore) = unsafe {
        (
            ExternalTimeline::import(context, made.export()?)?,
            ExternalSemaphore::import(context, made.export()?)?,
        )
    };
    timeline.signal(1, &stream)?;
    timeline.wait(1, &stream)?;
    semaphore.signal(&stream)?;
    semaphore.wait(&stream)?;
    Ok(())
}
