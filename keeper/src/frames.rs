//! Frames over a socket.

use std::io::ErrorKind;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use cupola_sharing::{SharingError, wire};

use crate::error::{KeeperError, Result};
use crate::protocol::{HEADER, Header, ProtocolError, Reply, Request};

/// A frame whose body is not read yet.
struct Raw {
    kind: u16,
    body: Vec<u8>,
    file: Option<OwnedFd>,
}

/// Waits for a frame. What came with it is closed when this fails.
fn receive(socket: &UnixStream, has_file: impl Fn(u16) -> bool) -> Result<Raw> {
    let mut header = [0; HEADER];
    let file = wire::receive(socket, &mut header).map_err(ended)?;
    let Header { kind, body } = Header::decode(&header)?;
    let mut body = vec![0; body];
    let late = wire::receive(socket, &mut body)?;
    let came = file.is_some();
    if late.is_some() || came != has_file(kind) {
        let came = came || late.is_some();
        return Err(ProtocolError::Descriptor { kind, came }.into());
    }
    Ok(Raw { kind, body, file })
}

pub(crate) fn request(socket: &UnixStream) -> Result<(Request, Option<OwnedFd>)> {
    let raw = receive(socket, Request::has_file)?;
    Ok((Request::decode(raw.kind, &raw.body)?, raw.file))
}

pub(crate) fn reply(socket: &UnixStream) -> Result<(Reply, Option<OwnedFd>)> {
    let raw = receive(socket, Reply::has_file)?;
    Ok((Reply::decode(raw.kind, &raw.body)?, raw.file))
}

pub(crate) fn send(socket: &UnixStream, frame: &[u8], file: Option<BorrowedFd<'_>>) -> Result<()> {
    wire::send(socket, frame, file).map_err(ended)
}

/// The other side's end is no failure of the socket.
fn ended(error: SharingError) -> KeeperError {
    match error {
        SharingError::Closed { received: 0 } => KeeperError::Disconnected,
        SharingError::Socket { ref source, .. }
            if matches!(
                source.kind(),
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
            ) =>
        {
            KeeperError::Disconnected
        }
        other => other.into(),
    }
}
