//! Memory that is exported, sent, received and imported, and freed by either side first.

use std::os::unix::net::UnixStream;

use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::{Access, ImportCharge};
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
    Ok(())
}
