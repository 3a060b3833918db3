//! `Connection`: a guest, as its keeper knows it.

use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::error::Result;
use crate::frames;
use crate::memory::Pieces;
use crate::process::Process;
use crate::protocol::{Reply, Rights};

/// A guest, as its keeper knows it.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: UnixStream,
    /// Held while a frame and its pieces are sent: notices come from other threads.
    sending: Mutex<()>,
    process: OnceLock<Process>,
}

impl Connection {
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            sending: Mutex::new(()),
            process: OnceLock::new(),
        }
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
