//! Sockets whose other end keeps to no protocol. No device is needed.

use std::io::{IoSlice, PipeReader, Read, Write, pipe};
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::time::Duration;

use cupola_random::Random;
use rustix::cmsg_space;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::*;
use crate::message::MessageError;

const GOOD: Message = Message {
    bytes: 4 << 20,
    device: [9; 16],
};

/// Sends bytes with as many descriptors, in one call: the writing ends of pipes whose reading ends are
/// returned.
fn send_with(socket: &UnixStream, bytes: &[u8], count: usize) -> Vec<PipeReader> {
    let (readers, writers): (Vec<_>, Vec<_>) = (0..count).map(|_| pipe().unwrap()).unzip();
    let files: Vec<_> = writers.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(16))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(count == 0 || control.push(SendAncillaryMessage::ScmRights(&files)));
    let parts = [IoSlice::new(bytes)];
    let sent = sendmsg(socket, &parts, &mut control, SendFlags::NOSIGNAL);
    assert_eq!(sent.unwrap(), bytes.len());
    readers
}

/// Whether all writing ends of these pipes are closed.
fn all_closed(readers: Vec<PipeReader>) -> bool {
    readers.into_iter().all(|mut reader| {
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        reader.read(&mut [0]).is_ok_and(|bytes| bytes == 0)
    })
}

/// A message of any cut, with descriptors at any places, with bytes behind it or too few: what comes of it
/// depends on how many descriptors there are within, and all that is refused is closed.
fn any_stream(seed: u64) {
    let mut random = Random::new(seed);
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut raw = GOOD.encode().to_vec();
    let is_changed = random.below(4) == 0;
    if is_changed {
        let at = random.below(24) as usize;
        raw[at] ^= 1 << random.below(8);
    }
    let is_good = Message::decode(&raw[..].try_into().unwrap()).is_ok();
    raw.extend_from_slice(&[0xee; 20]);
    raw.truncate(LEN + 20 - random.below(40) as usize);
    let (mut at, mut within, mut behind) = (0, Vec::new(), Vec::new());
    while at < raw.len() {
        let end = (at + 1 + random.below(LEN as u64) as usize).min(raw.len());
        let count = [0, 0, 0, 1, 1, 2, 9][random.below(7) as usize];
        let readers = send_with(&theirs, &raw[at..end], count);
        let place = if at < LEN { &mut within } else { &mut behind };
        place.extend(readers);
        at = end;
    }
    drop(theirs);
    let count = within.len();
    let what = format!("seed {seed}: {count} descriptors, {} bytes", raw.len());
    match receive(&ours) {
        Ok((message, file)) => {
            assert!(raw.len() >= LEN && count == 1, "{what}");
            assert!(is_good, "{what}");
            assert_eq!(message.encode(), raw[..LEN], "{what}");
            std::fs::File::from(file).write_all(b"!").unwrap();
            let mut came = [0; 1];
            within.remove(0).read_exact(&mut came).unwrap();
            assert_eq!(&came, b"!", "{what}");
        }
        Err(SharingError::Descriptors { .. } | SharingError::Truncated) => {
            assert!(count > 1, "{what}");
        }
        Err(SharingError::Closed { received }) => {
            assert!(
                count < 2 && received == raw.len() && received < LEN,
                "{what}"
            );
        }
        Err(SharingError::NoDescriptor) => assert!(is_good && count == 0, "{what}"),
        Err(SharingError::Message(_)) => assert!(!is_good && count < 2, "{what}"),
        Err(other) => panic!("{what}: {other}"),
    }
    drop(ours);
    assert!(
        all_closed(within) && all_closed(behind),
        "{what}: a descriptor is open"
    );
}

// Without it a peer could have this process keep descriptors, and so memory, that nothing closes, or have one
// taken for another.
#[test]
fn whatever_comes_is_refused_by_its_kind_and_closed() {
    for seed in 0..2000 {
        any_stream(seed);
    }
}

// Without it two pieces of memory could be mixed up where the messages come at once.
#[test]
fn messages_keep_apart_and_in_order() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut readers = Vec::new();
    for bytes in 1..=3 {
        let (reader, writer) = pipe().unwrap();
        let message = Message { bytes, ..GOOD };
        send(&theirs, message, writer.as_fd()).unwrap();
        readers.push(reader);
    }
    for (bytes, mut reader) in (1..=3).zip(readers) {
        let (message, file) = receive(&ours).unwrap();
        assert_eq!(message.bytes, bytes);
        std::fs::File::from(file).write_all(&[bytes as u8]).unwrap();
        let mut came = Vec::new();
        reader.read_to_end(&mut came).unwrap();
        assert_eq!(came, [bytes as u8]);
    }
}

// Without it a receiver could wait for ever where its caller has said how long, or a sender be ended by a
// signal.
#[test]
fn a_silent_side_and_a_closed_one_are_errors() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(Duration::from_millis(1)))
        .unwrap();
    let Err(SharingError::Socket { call, source }) = receive(&ours) else {
        panic!("nothing was sent");
    };
    assert_eq!(
        (call, source.kind()),
        ("recvmsg", std::io::ErrorKind::WouldBlock)
    );
    drop(theirs);
    let refused = receive(&ours).unwrap_err();
    assert!(
        matches!(refused, SharingError::Closed { received: 0 }),
        "{refused}"
    );
    assert!(
        refused.to_string().contains("between two messages"),
        "{refused}"
    );
    let (_reader, writer) = pipe().unwrap();
    let refused = send(&ours, GOOD, writer.as_fd()).unwrap_err();
    let SharingError::Socket { source, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!(source.kind(), std::io::ErrorKind::BrokenPipe);
}

// Without it the reason of a refusal could be one of a later check.
#[test]
fn another_protocol_is_named() {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.write_all(&[b'x'; LEN]).unwrap();
    let refused = receive(&ours).unwrap_err();
    let not = SharingError::Message(MessageError::NotAMessage);
    assert_eq!(refused.to_string(), not.to_string());
}
