//! Processes: which one this is, and whether another has ended.

use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::{fs, io};

use cupola_core::ledger::Owner;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::ledger::error::LedgerError;
use crate::ledger::header::Header;
use crate::ledger::stat::Stat;

/// This process, as a row's owner.
///
/// # Errors
/// [`LedgerError::Namespace`] where `/proc` is of another pid namespace, [`LedgerError::System`] where it cannot
/// be read.
pub(crate) fn this() -> Result<Owner, LedgerError> {
    let stat = read(None).map_err(|error| LedgerError::system("reading /proc/self/stat", error))?;
    let pid = std::process::id();
    let stat = stat.filter(|stat| stat.pid == pid);
    let owner = stat.and_then(|stat| Owner::new(pid, stat.start));
    owner.ok_or(LedgerError::Namespace { kind: "pid" })
}

/// The namespaces of this process, in which the numbers in a ledger have a meaning.
pub(crate) fn namespaces() -> Result<Header, LedgerError> {
    let of = |path: &'static str| fs::metadata(path).map(|namespace| namespace.ino());
    let processes = of("/proc/self/ns/pid");
    let processes =
        processes.map_err(|error| LedgerError::system("stat /proc/self/ns/pid", error))?;
    let time = match of("/proc/self/ns/time") {
        Ok(time) => time,
        // Before Linux 5.6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(LedgerError::system("stat /proc/self/ns/time", error)),
    };
    Ok(Header { processes, time })
}

/// Whether processes can be watched here at all.
pub(crate) fn check_support() -> Result<(), LedgerError> {
    let this = rustix::process::getpid();
    match pidfd_open(this, PidfdFlags::empty()) {
        Ok(_) => Ok(()),
        Err(error) => Err(LedgerError::system("pidfd_open", error.into())),
    }
}

/// Whether a process has ended, all its threads and all that they had open: then the driver has its memory back.
/// False where that cannot be told.
pub(crate) fn has_ended(owner: Owner) -> bool {
    let pid = i32::try_from(owner.pid()).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else {
        // No process has this number: other code wrote it.
        return true;
    };
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        // No process, or what has the number is a thread, a group or a session by now.
        Err(Errno::SRCH | Errno::INVAL | Errno::NOENT) => return true,
        // No more files may be open, say.
        Err(_) => return false,
    };
    let is_over = || {
        let mut polled = [PollFd::from_borrowed_fd(process.as_fd(), PollFlags::IN)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0)
    };
    if is_over() {
        return true;
    }
    match read(Some(owner.pid())) {
        // A later process of the same number.
        Ok(Some(stat)) => Owner::new(stat.pid, stat.start).is_some_and(|now| now != owner),
        // It may have ended just now; or it is another user's, and this one may not see it.
        Ok(None) | Err(_) => is_over(),
    }
}

/// What the kernel says about a process, or about this one.
fn read(pid: Option<u32>) -> io::Result<Option<Stat>> {
    let line = match pid {
        Some(pid) => fs::read(format!("/proc/{pid}/stat")),
        None => fs::read("/proc/self/stat"),
    };
    Ok(Stat::parse(&line?))
}
