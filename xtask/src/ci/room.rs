//! The room on the disk that a run takes.

use std::path::Path;

use crate::tasks::target;

/// Bytes that a run from nothing has on the disk at most, and some: two stages build at a time.
const KEPT: u64 = 16 << 30;
const TIDY: u64 = 6 << 30;

/// Says how much room there is: a full disk kills linkers with signals that tell nothing.
pub(super) fn say(tidy: bool) {
    let needed = if tidy { TIDY } else { KEPT };
    let Some(free) = free(&target()) else {
        return;
    };
    let gib = |bytes: u64| bytes as f64 / (1_u64 << 30) as f64;
    let (free_gib, needed_gib) = (gib(free), gib(needed));
    if free < needed {
        eprintln!(
            "\n==== THE DISK MAY GET FULL: {free_gib:.1} GiB are free, a run from nothing takes \
             about {needed_gib:.1} GiB{}",
            if tidy { "" } else { "; --tidy takes less" }
        );
    } else {
        eprintln!("\n==== {free_gib:.1} GiB of disk are free");
    }
}

/// Free bytes of the disk that a folder is on, or will be.
#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|path| path.exists())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}
