//! A message and a descriptor over a Unix socket (`SCM_RIGHTS`).
//!
//! A stream has no borders between messages, so exactly [`LEN`] bytes are read: what comes behind them
//! is the next reader's. The kernel hands descriptors out with the first byte that they were sent with,
//! and never those of a byte that was not asked for.

use std::io::{IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::cmsg_space;
use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::error::SharingError;
use crate::message::{LEN, Message};

/// Room for as many descriptors: more than the one there should be, so that others are seen.
const ROOM: usize = 4;

/// Sends both. The descriptor goes with the first byte.
pub(crate) fn send(
    socket: &UnixStream,
    message: Message,
    file: BorrowedFd<'_>,
) -> Result<(), SharingError> {
    let raw = message.encode();
    let files = [file];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    // The room is of one descriptor: it always fits.
    control.push(SendAncillaryMessage::ScmRights(&files));
    // A side that has gone is an error, and no signal.
    let sent = retry_on_intr(|| {
        let parts = [IoSlice::new(&raw)];
        sendmsg(socket, &parts, &mut control, SendFlags::NOSIGNAL)
    });
    let sent = sent.map_err(|errno| SharingError::socket("sendmsg", errno.into()))?;
    // Where the socket had less room: without the descriptor, which has gone.
    let mut socket = socket;
    let rest = socket.write_all(&raw[sent..]);
    rest.map_err(|error| SharingError::socket("send", error))
}

/// Receives both. Descriptors that came are closed when this fails.
pub(crate) fn receive(socket: &UnixStream) -> Result<(Message, OwnedFd), SharingError> {
    let mut raw = [0; LEN];
    let mut have = 0;
    let mut file = None;
    while have < LEN {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(ROOM))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = retry_on_intr(|| {
            let mut parts = [IoSliceMut::new(&mut raw[have..])];
            recvmsg(socket, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)
        });
        let received = received.map_err(|errno| SharingError::socket("recvmsg", errno.into()))?;
        // Before anything is refused, so that each descriptor has an owner that closes it.
        let files = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        let files: Vec<_> = file.take().into_iter().chain(files.flatten()).collect();
        if received.flags.contains(ReturnFlags::CTRUNC) {
            return Err(SharingError::Truncated);
        }
        let count = files.len();
        if count > 1 {
            return Err(SharingError::Descriptors { count });
        }
        file = files.into_iter().next();
        if received.bytes == 0 {
            return Err(SharingError::Closed { received: have });
        }
        have += received.bytes;
    }
    let message = Message::decode(&raw)?;
    let file = file.ok_or(SharingError::NoDescriptor)?;
    Ok((message, file))
}

#[cfg(test)]
mod tests;
