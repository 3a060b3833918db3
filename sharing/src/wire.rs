//! Bytes over a Unix socket, and a file descriptor with them (`SCM_RIGHTS`): what [`send`](crate::send) and
//! [`receive`](crate::receive) stand on, for other protocols.
//!
//! A stream has no borders between messages, so exactly as many bytes are read as were asked for: what comes
//! behind them is the next reader's. The kernel hands descriptors out with the first byte that they were
//! sent with, and never those of a byte that was not asked for.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use rustix::cmsg_space;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::error::SharingError;

/// Room for as many descriptors: more than the one there should be, so that others are seen.
const ROOM: usize = 4;

/// Sends bytes, and a descriptor with the first of them: no bytes carry none.
///
/// # Errors
/// [`SharingError::Socket`], after which part of the bytes may have gone. A side that has closed the socket
/// is one, and no signal.
#[doc(alias = "SCM_RIGHTS")]
pub fn send(
    socket: &UnixStream,
    bytes: &[u8],
    file: Option<BorrowedFd<'_>>,
) -> Result<(), SharingError> {
    let mut sent = 0;
    if let Some(file) = file {
        let files = [file];
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        // The room is of one descriptor: it always fits.
        control.push(SendAncillaryMessage::ScmRights(&files));
        let first = retry_on_intr(|| {
            let parts = [IoSlice::new(bytes)];
            sendmsg(socket, &parts, &mut control, SendFlags::NOSIGNAL)
        });
        sent = first.map_err(|errno| SharingError::socket("sendmsg", errno.into()))?;
    }
    // The rest goes without the descriptor, which has gone.
    while sent < bytes.len() {
        let more = retry_on_intr(|| rustix::net::send(socket, &bytes[sent..], SendFlags::NOSIGNAL));
        sent += more.map_err(|errno| SharingError::socket("send", errno.into()))?;
    }
    Ok(())
}

/// Fills `into` with what comes, and returns the descriptor that came with it, if one did: at most one may.
/// Descriptors that came are closed when this fails.
///
/// # Errors
/// [`SharingError::Closed`], [`SharingError::Descriptors`], [`SharingError::Truncated`],
/// [`SharingError::Socket`]: `WouldBlock` where the socket has a timeout. After any of them the place in the
/// stream is not known.
#[doc(alias = "SCM_RIGHTS")]
pub fn receive(socket: &UnixStream, into: &mut [u8]) -> Result<Option<OwnedFd>, SharingError> {
    receive_with(socket, into, RecvFlags::empty(), None)
}

/// As [`receive`], until a point in time for all of the bytes: a timeout of the socket is one for each part of them,
/// and begins again with every byte. Timeouts, and whether the socket blocks, do not matter.
///
/// # Errors
/// As [`receive`]; [`SharingError::Socket`] with `TimedOut` when not all bytes have come by then.
pub fn receive_until(
    socket: &UnixStream,
    into: &mut [u8],
    until: Instant,
) -> Result<Option<OwnedFd>, SharingError> {
    receive_with(socket, into, RecvFlags::DONTWAIT, Some(until))
}

fn receive_with(
    socket: &UnixStream,
    into: &mut [u8],
    flags: RecvFlags,
    until: Option<Instant>,
) -> Result<Option<OwnedFd>, SharingError> {
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let mut have = 0;
    let mut file = None;
    while have < into.len() {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(ROOM))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = retry_on_intr(|| {
            let mut parts = [IoSliceMut::new(&mut into[have..])];
            recvmsg(socket, &mut parts, &mut control, flags)
        });
        let received = match (received, until) {
            (Err(Errno::AGAIN), Some(until)) => {
                wait_for_more(socket, until)?;
                continue;
            }
            (received, _) => received,
        };
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
    Ok(file)
}

/// Waits for bytes, or the end of the socket.
fn wait_for_more(socket: &UnixStream, until: Instant) -> Result<(), SharingError> {
    let failed = |errno: Errno| SharingError::socket("poll", errno.into());
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(failed(Errno::TIMEDOUT));
    }
    // One that the system has no number for is longer than any process lives.
    let left = Timespec::try_from(left).ok();
    let mut files = [PollFd::new(socket, PollFlags::IN)];
    match poll(&mut files, left.as_ref()) {
        // The time that is left is looked at again when nothing has come.
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(failed(errno)),
    }
}
