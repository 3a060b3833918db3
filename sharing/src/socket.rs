//! A message about memory and its descriptor over a Unix socket.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use crate::error::SharingError;
use crate::message::{LEN, Message};
use crate::wire;

/// Sends both.
pub(crate) fn send(
    socket: &UnixStream,
    message: Message,
    file: BorrowedFd<'_>,
) -> Result<(), SharingError> {
    wire::send(socket, &message.encode(), Some(file))
}

/// Receives both. Descriptors that came are closed when this fails.
pub(crate) fn receive(socket: &UnixStream) -> Result<(Message, OwnedFd), SharingError> {
    let mut raw = [0; LEN];
    let file = wire::receive(socket, &mut raw)?;
    let message = Message::decode(&raw)?;
    let file = file.ok_or(SharingError::NoDescriptor)?;
    Ok((message, file))
}

#[cfg(test)]
mod tests;
