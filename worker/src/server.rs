//! The worker's side: takes items from its supervisor until there are no more.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};

use crate::failure::Failure;
use crate::frame::{Decoder, FrameError, Hello, Message, done_head};
use crate::link::send;
use crate::{Item, VARIABLE};

/// The connection of this process, once it is a worker.
static LINE: OnceLock<UnixStream> = OnceLock::new();

/// How a worker ends; only for who looks at the process from outside, the supervisor has
/// been told.
#[derive(Clone, Copy)]
enum End {
    NoMoreItems = 0,
    Lost = 3,
    NotOpened = 4,
    Connection = 5,
}

pub(super) fn serve<H, E>(job: &str, open: impl FnOnce() -> Result<H, E>)
where
    H: FnMut(Item<'_>) -> Result<Vec<u8>, E>,
    E: Into<Failure>,
{
    let Some((asked, socket)) = asked() else {
        return;
    };
    if asked != job {
        return;
    }
    let end = Server::new(socket).and_then(|mut server| server.run(job, open));
    let end = end.unwrap_or_else(|error| {
        // The supervisor is gone, as a rule.
        tracing::debug!(%error, job, "the worker's connection failed");
        End::Connection
    });
    // Not a return: what comes after the call is for processes that are no workers.
    std::process::exit(end as i32)
}

/// The job that this process was started for and the connection, unless it was taken already.
///
/// The variable alone says nothing: programs that a worker starts inherit it. Their standard
/// input is no Unix socket.
fn asked() -> Option<(String, UnixStream)> {
    let job = std::env::var(VARIABLE).ok()?;
    let input = io::stdin().as_fd().try_clone_to_owned().ok()?;
    let socket = UnixStream::from(input);
    socket.local_addr().ok()?;
    Some((job, socket))
}

/// The job that this process was started for, if it has not been served.
pub(super) fn unserved() -> Option<String> {
    asked().map(|(job, _)| job)
}

pub(super) fn end_with_supervisor() {
    let Some(socket) = LINE.get() else {
        return;
    };
    loop {
        // Asked for nothing, the call returns when both directions are closed. A supervisor
        // that has no more items closes one.
        let mut sockets = [PollFd::new(socket, PollFlags::empty())];
        match poll(&mut sockets, None) {
            Err(Errno::INTR) => {}
            Err(_) => return,
            Ok(_) if sockets[0].revents().is_empty() => {}
            // Not an orderly exit: handlers of it may wait for the work that is stuck.
            Ok(_) => {
                let _ = kill_process(getpid(), Signal::KILL);
            }
        }
    }
}

struct Server {
    socket: UnixStream,
    decoder: Decoder,
    inbox: Vec<u8>,
    /// What of the inbox was read and not decoded.
    ready: core::ops::Range<usize>,
}

impl Server {
    fn new(socket: UnixStream) -> io::Result<Self> {
        // Nothing else may read items, and no process started from here keep the connection.
        rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
        let _ = LINE.set(socket.try_clone()?);
        Ok(Self {
            socket,
            // Items are as long as the supervisor says, once it has said it.
            decoder: Decoder::new(0),
            inbox: vec![0; 64 << 10],
            ready: 0..0,
        })
    }

    fn run<H, E>(&mut self, job: &str, open: impl FnOnce() -> Result<H, E>) -> io::Result<End>
    where
        H: FnMut(Item<'_>) -> Result<Vec<u8>, E>,
        E: Into<Failure>,
    {
        let Some(Message::Hello(hello)) = self.next()? else {
            return Err(refused(FrameError::NotAWorker));
        };
        self.decoder.set_limit(hello.limit);
        self.say(&Message::Hello(Hello {
            process: std::process::id(),
            job: job.to_owned(),
            ..hello
        }))?;
        let opened = catch_unwind(AssertUnwindSafe(|| open().map_err(Into::into)));
        let mut handler = match outcome(opened) {
            Ok(handler) => handler,
            Err((failure, panicked)) => {
                let trouble = failure.into_trouble(panicked);
                self.say(&Message::NotOpened(trouble))?;
                return Ok(End::NotOpened);
            }
        };
        self.say(&Message::Ready)?;
        while let Some(message) = self.next()? {
            let Message::Item {
                sequence,
                attempt,
                bytes,
            } = message
            else {
                return Err(refused(FrameError::Unexpected(
                    "something else than an item",
                )));
            };
            let item = Item {
                bytes: &bytes,
                sequence,
                attempt,
            };
            let handled = catch_unwind(AssertUnwindSafe(|| handler(item).map_err(Into::into)));
            let (failure, panicked) = match outcome(handled) {
                Ok(result) if result.len() <= hello.limit as usize => {
                    self.say_parts([&done_head(sequence, result.len() as u32), &result])?;
                    continue;
                }
                Ok(result) => (too_long(result.len(), hello.limit), false),
                Err(failed) => failed,
            };
            let lost = failure.is_sticky() || panicked;
            let trouble = failure.into_trouble(panicked);
            self.say(&Message::Failed { sequence, trouble })?;
            if lost {
                // The handler is not dropped: on a lost device that may never return.
                std::process::exit(End::Lost as i32);
            }
        }
        // A destructor that panics can tell only the panic hook.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handler)));
        Ok(End::NoMoreItems)
    }

    /// The next message; `None` if there are no more.
    fn next(&mut self) -> io::Result<Option<Message>> {
        loop {
            let mut input = &self.inbox[self.ready.clone()];
            let message = self.decoder.take(&mut input).map_err(refused)?;
            self.ready.start = self.ready.end - input.len();
            if message.is_some() {
                return Ok(message);
            }
            let bytes = match (&self.socket).read(&mut self.inbox) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                bytes => bytes?,
            };
            if bytes == 0 {
                // An end inside of a frame is not what a supervisor says that has no more.
                return match self.decoder.kept() {
                    0 => Ok(None),
                    _ => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
            self.ready = 0..bytes;
        }
    }

    fn say(&self, message: &Message) -> io::Result<()> {
        self.say_parts([&message.encode(), &[]])
    }

    fn say_parts(&self, parts: [&[u8]; 2]) -> io::Result<()> {
        let (mut sent, total) = (0, parts[0].len() + parts[1].len());
        while sent < total {
            sent += send(&self.socket, parts, sent)?;
        }
        Ok(())
    }
}

fn refused(error: FrameError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// What came of user code: its value, or its failure and whether that is a panic.
fn outcome<T>(caught: std::thread::Result<Result<T, Failure>>) -> Result<T, (Failure, bool)> {
    match caught {
        Ok(result) => result.map_err(|failure| (failure, false)),
        Err(panic) => {
            let text = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied());
            let failure = Failure::new(text.unwrap_or("with a value that is no text"));
            // Its destructor is the user's and may panic again; the process ends anyway.
            let _ = std::mem::ManuallyDrop::new(panic);
            Err((failure, true))
        }
    }
}

fn too_long(bytes: usize, limit: u32) -> Failure {
    Failure::new(format!(
        "the result has {bytes} bytes, over WorkerConfig::item_limit, {limit}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::Shutdown;

    // Without it a worker whose supervisor died in mid-sentence would report an orderly end.
    #[test]
    fn an_end_inside_of_a_frame_is_a_broken_connection() {
        let hello = Message::Hello(Hello {
            limit: 8,
            process: 1,
            job: "job".into(),
        });
        let frame = hello.encode();
        for cut in 0..=frame.len() {
            let (mut ours, socket) = UnixStream::pair().expect("a pair of sockets");
            let mut server = Server {
                socket,
                decoder: Decoder::new(0),
                inbox: vec![0; 64],
                ready: 0..0,
            };
            ours.write_all(&frame[..cut]).expect("there is room");
            ours.shutdown(Shutdown::Write).expect("it is open");
            if cut == frame.len() {
                assert_eq!(server.next().expect("a frame"), Some(hello.clone()));
            }
            match server.next() {
                Ok(None) => assert!(cut == 0 || cut == frame.len(), "{cut}"),
                Err(error) => {
                    assert!(0 < cut && cut < frame.len(), "{cut}");
                    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
                }
                Ok(other) => panic!("{other:?}"),
            }
        }
    }
}
