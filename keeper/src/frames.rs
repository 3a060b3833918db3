//! Frames over a socket.

use std::io::ErrorKind;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use cupola_sharing::{SharingError, wire};

use crate::error::{KeeperError, Result};
use crate::protocol::{HEADER, Header, ProtocolError, Reply, Request};

/// A frame whose body is not read yet.
struct Raw {
    kind: u16,
    body: Vec<u8>,
    file: Option<OwnedFd>,
}

/// The longest wait, for one that no clock can measure.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Waits so long for all of a frame. What came with it is closed when this fails.
fn receive(socket: &UnixStream, patience: Duration, has_file: impl Fn(u16) -> bool) -> Result<Raw> {
    let until = Instant::now() + patience.min(LONGEST);
    let mut header = [0; HEADER];
    let file = wire::receive_until(socket, &mut header, until).map_err(ended)?;
    let Header { kind, body } = Header::decode(&header)?;
    let mut body = vec![0; body];
    let late = wire::receive_until(socket, &mut body, until)?;
    let came = file.is_some();
    if late.is_some() || came != has_file(kind) {
        let came = came || late.is_some();
        return Err(ProtocolError::Descriptor { kind, came }.into());
    }
    Ok(Raw { kind, body, file })
}

pub(crate) fn request(
    socket: &UnixStream,
    patience: Duration,
) -> Result<(Request, Option<OwnedFd>)> {
    let raw = receive(socket, patience, Request::has_file)?;
    Ok((Request::decode(raw.kind, &raw.body)?, raw.file))
}

pub(crate) fn reply(socket: &UnixStream, patience: Duration) -> Result<(Reply, Option<OwnedFd>)> {
    let raw = receive(socket, patience, Reply::has_file)?;
    Ok((Reply::decode(raw.kind, &raw.body)?, raw.file))
}

/// A frame takes the socket's room at once, so the socket's timeout is one for all of it.
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
