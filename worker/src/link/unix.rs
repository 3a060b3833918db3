//! `Link`: one worker process and the connection to it.
//!
//! The connection is a pair of Unix sockets of its own for each process, so nothing that a
//! lost worker sends late can be taken for its successor's. Only the ends that must be are
//! inherited: both close on exec, the worker's end becomes its standard input.

use std::io::{self, IoSlice, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

use super::{Ended, Received};
use crate::VARIABLE;
use crate::loss::Loss;

/// A process that was started as a worker.
#[derive(Debug)]
pub(crate) struct Link {
    child: Child,
    socket: UnixStream,
    inbox: Vec<u8>,
}

impl Link {
    /// Starts the process.
    pub(crate) fn spawn(command: &mut Command, job: &str) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        command.env(VARIABLE, job);
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        let spawned = command.spawn();
        // The command keeps the worker's end otherwise, and its end would never be seen.
        command.stdin(Stdio::null());
        Ok(Self {
            child: spawned?,
            socket: ours,
            inbox: vec![0; 64 << 10],
        })
    }

    /// The process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Sends what can be sent now of `parts`, less the first `skip` bytes: how much, or 0.
    pub(crate) fn send(&self, parts: [&[u8]; 2], skip: usize) -> io::Result<usize> {
        match send(&self.socket, parts, skip) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            sent => sent,
        }
    }

    /// Reads what is there now, to be found in [`inbox`](Self::inbox).
    pub(crate) fn receive(&mut self) -> io::Result<Received> {
        loop {
            match (&self.socket).read(&mut self.inbox) {
                Ok(0) => return Ok(Received::End),
                Ok(bytes) => return Ok(Received::Bytes(bytes)),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => return Ok(Received::Nothing),
                    // What was sent has been read; it ended with something of ours unread.
                    io::ErrorKind::ConnectionReset => return Ok(Received::End),
                    _ => return Err(error),
                },
            }
        }
    }

    pub(crate) fn inbox(&self, bytes: usize) -> &[u8] {
        &self.inbox[..bytes]
    }

    /// Waits until there is something to read, or room to send if that is wanted, but not
    /// longer than `time`.
    pub(crate) fn wait(&self, to_send: bool, time: Duration) {
        let mut flags = PollFlags::IN;
        flags.set(PollFlags::OUT, to_send);
        let time = Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        };
        // A signal or a failure ends the wait early, and the caller looks at everything again.
        if let Err(error) = poll(&mut [PollFd::new(&self.socket, flags)], Some(&time))
            && error != Errno::INTR
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// How the process ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<Ended> {
        match self.child.try_wait() {
            Ok(status) => status.map(Ended::Status),
            // Another part of the program waits for every child, or has the system do it.
            Err(_) => Some(Ended::Unknown),
        }
    }

    /// Tells the worker that no more items come.
    pub(crate) fn say_end(&self) {
        // It fails if the worker has closed the connection: then it knows.
        let _ = self.socket.shutdown(std::net::Shutdown::Write);
    }

    pub(crate) fn kill(&mut self) {
        // The number of a process that was waited for may be another's by now.
        if self.ended().is_none() {
            let _ = self.child.kill();
        }
    }

    /// Waits for the end of the process until `deadline`, without a thread.
    pub(crate) fn wait_for_end(&mut self, deadline: Instant) -> Option<Ended> {
        let mut pause = Duration::from_micros(100);
        loop {
            if let Some(status) = self.ended() {
                return Some(status);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Sends `parts`, less the first `skip` bytes, as one, without a signal if the peer has closed.
pub(crate) fn send(socket: &UnixStream, parts: [&[u8]; 2], skip: usize) -> io::Result<usize> {
    let [first, second] = parts;
    let second = &second[skip.saturating_sub(first.len()).min(second.len())..];
    let first = &first[skip.min(first.len())..];
    #[cfg(not(target_vendor = "apple"))]
    let flags = SendFlags::NOSIGNAL;
    // Rust's sockets ask for the same there when they are made.
    #[cfg(target_vendor = "apple")]
    let flags = SendFlags::empty();
    loop {
        let parts = [IoSlice::new(first), IoSlice::new(second)];
        match sendmsg(socket, &parts, &mut SendAncillaryBuffer::default(), flags) {
            Err(Errno::INTR) => {}
            sent => return Ok(sent?),
        }
    }
}

/// Why a worker was lost of which nothing is known but how its process ended.
pub(crate) fn loss_of(ended: Ended, had_handler: bool) -> Loss {
    let Ended::Status(status) = ended else {
        return Loss::Gone;
    };
    match (status.code(), status.signal()) {
        (_, Some(signal)) => Loss::Killed {
            signal,
            core_dumped: status.core_dumped(),
        },
        (code, None) if had_handler => Loss::Exited(code.unwrap_or(-1)),
        (code, None) => Loss::EndedEarly(code.unwrap_or(-1)),
    }
}
