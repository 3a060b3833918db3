//! `Process`: another process, to see when it has ended.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, getpid, pidfd_open};

use crate::error::{KeeperError, Result};

/// A process by its `pidfd`, which is never another process's, as a number may become. It can be read when all
/// threads have ended and all files are closed: the driver has the memory that was mapped there.
#[derive(Debug)]
pub(crate) struct Process {
    file: OwnedFd,
    /// In this process's namespace; 0 if it has none there.
    number: u32,
}

/// A descriptor of this process.
pub(crate) fn own() -> Result<OwnedFd> {
    let own = pidfd_open(getpid(), PidfdFlags::empty());
    own.map_err(|errno| KeeperError::system("pidfd_open", errno))
}

impl Process {
    /// What a guest has sent as its own.
    pub(crate) fn of(file: OwnedFd) -> Result<Self> {
        let path = format!("/proc/self/fdinfo/{}", file.as_raw_fd());
        let info = fs::read_to_string(path);
        let info = info.map_err(|error| KeeperError::system("read of /proc/self/fdinfo", error))?;
        let number = info.lines().find_map(|line| line.strip_prefix("Pid:"));
        let Some(number) = number else {
            let problem = "the descriptor that the guest has sent is no pidfd".to_owned();
            return Err(KeeperError::Invalid {
                field: "process",
                problem,
            });
        };
        // One that has ended has -1.
        let number = number.trim().parse().unwrap_or(0);
        Ok(Self { file, number })
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn has_ended(&self) -> bool {
        let mut files = [PollFd::new(&self.file, PollFlags::IN)];
        poll(&mut files, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
