//! `Connection`: a guest, as its keeper knows it.

use std::collections::BTreeSet;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::error::{KeeperError, Result};
use crate::frames;
use crate::memory::Pieces;
use crate::process::Process;
use crate::protocol::{Reply, Rights};

/// A guest, as its keeper knows it.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: UnixStream,
    /// Held while a frame and its pieces are sent: notices come from other threads, which do not wait for it.
    sending: Mutex<()>,
    /// Objects that it is to let go, and was not told of yet: they wait for room in the socket.
    notices: Mutex<BTreeSet<u64>>,
    /// Can be read from when there are notices that the thread has not seen.
    bell: OwnedFd,
    process: OnceLock<Process>,
}

impl Connection {
    pub(crate) fn new(socket: UnixStream) -> Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self {
            socket,
            sending: Mutex::new(()),
            notices: Mutex::default(),
            bell: bell.map_err(|errno| KeeperError::system("eventfd", errno))?,
            process: OnceLock::new(),
        })
    }

    pub(crate) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    pub(crate) fn set_process(&self, process: Process) {
        // Each connection is greeted once.
        let _ = self.process.set(process);
    }

    /// Once it has said which it is.
    pub(crate) fn process(&self) -> Option<&Process> {
        self.process.get()
    }

    /// A frame without a descriptor.
    pub(crate) fn send(&self, reply: &Reply) -> Result<()> {
        self.send_with(reply, None)
    }

    pub(crate) fn send_with(&self, reply: &Reply, file: Option<BorrowedFd<'_>>) -> Result<()> {
        let _sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        frames::send(&self.socket, &reply.encode(), file)
    }

    pub(crate) fn send_memory(&self, given: &Given) -> Result<()> {
        let _sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let files = given.memory.files();
        let reply = Reply::Memory {
            object: given.object,
            bytes: given.bytes,
            rights: given.rights,
            // No object has as many: each is a page at the least.
            pieces: files.len() as u32,
            description: given.description.clone(),
        };
        frames::send(&self.socket, &reply.encode(), None)?;
        for &(bytes, ref file) in files {
            let piece = Reply::Piece { bytes }.encode();
            frames::send(&self.socket, &piece, Some(file.as_fd()))?;
        }
        Ok(())
    }

    /// Has the guest asked to let an object go: now, or by its thread as soon as it has room for that. A guest that
    /// does not read holds no thread up but its own.
    pub(crate) fn notify(&self, object: u64) {
        self.notices().insert(object);
        if let Ok(_sending) = self.sending.try_lock() {
            // What is wrong with the socket its thread finds.
            let _ = self.send_notices();
        }
        if self.has_notices() {
            // It fails only beyond 2^64 - 2, when it can be read from.
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }

    pub(crate) fn bell(&self) -> &OwnedFd {
        &self.bell
    }

    /// The thread has seen that there are notices.
    pub(crate) fn silence_bell(&self) {
        // Another number of them is no other news.
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
    }

    pub(crate) fn has_notices(&self) -> bool {
        !self.notices().is_empty()
    }

    /// Sends what the socket has room for.
    pub(crate) fn send_waiting_notices(&self) -> Result<()> {
        let _sending = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        self.send_notices()
    }

    /// The same, with `sending` held: so a socket that has room keeps it.
    fn send_notices(&self) -> Result<()> {
        while self.has_room()
            && let Some(object) = self.notices().pop_first()
        {
            frames::send(&self.socket, &Reply::Sleep { object }.encode(), None)?;
        }
        Ok(())
    }

    /// Whether a notice can be sent without waiting. A socket says so while most of its room is left.
    fn has_room(&self) -> bool {
        let mut files = [PollFd::new(&self.socket, PollFlags::OUT)];
        poll(&mut files, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    fn notices(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it: its thread finds the socket closed.
    pub(crate) fn cut_off(&self) {
        // It fails only where the other side has done so before.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// Memory that a guest gets.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) object: u64,
    pub(crate) bytes: u64,
    pub(crate) rights: Rights,
    pub(crate) description: Vec<u8>,
    pub(crate) memory: Arc<Pieces>,
}
