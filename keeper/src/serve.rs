//! A thread for each guest, which hears what it asks for, and sees its end.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::connection::{Connection, Given};
use crate::error::{KeeperError, Result};
use crate::frames;
use crate::process::Process;
use crate::protocol::{ProtocolError, Refusal, Reply, Request};
use crate::shared::Shared;

/// Serves a guest until it has ended, or the keeper has.
pub(crate) fn serve(shared: &Shared, guest: u64, connection: &Connection) {
    // One that has come while the keeper ends is not among those that it cuts off.
    if !shared.is_stopping() && greet(shared, connection).is_ok() {
        // The reason is the guest's to see: it finds the socket closed.
        let _ = listen(shared, guest, connection);
    }
    // A guest that finds the socket closed finds the names free.
    shared.cut_off(guest);
    connection.cut_off();
    let has_mapped = shared.table().has_mapped(guest);
    if let Some(process) = connection.process()
        && has_mapped
    {
        // Its mappings are there as long as it is, though it says nothing more.
        let mut files = [
            PollFd::new(process, PollFlags::IN),
            PollFd::new(shared.stop(), PollFlags::IN),
        ];
        wait(&mut files);
        if !process.has_ended() {
            // The keeper ends.
            return;
        }
    }
    shared.end(guest);
}

/// Waits until one of them has something.
fn wait(files: &mut [PollFd<'_>]) {
    while poll(files, None) == Err(Errno::INTR) {}
}

fn greet(shared: &Shared, connection: &Connection) -> Result<()> {
    connection.send(&Reply::Greeting)?;
    let patience = shared.config().patience;
    let (request, file) = frames::request(connection.socket(), patience)?;
    let (Request::Hello { device }, Some(file)) = (request, file) else {
        return Err(ProtocolError::Malformed("a guest that does not say who it is").into());
    };
    let process = Process::of(file)?;
    if device != shared.device() {
        connection.send(&Reply::Refused(Refusal::Device))?;
        return Err(KeeperError::OtherDevice);
    }
    connection.set_process(process);
    connection.send_with(&Reply::Welcome, Some(shared.ledger().file()))
}

fn listen(shared: &Shared, guest: u64, connection: &Connection) -> Result<()> {
    let Some(process) = connection.process() else {
        return Ok(());
    };
    loop {
        let socket = match connection.has_notices() {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let mut files = [
            PollFd::new(connection.socket(), socket),
            PollFd::new(process, PollFlags::IN),
            PollFd::new(shared.stop(), PollFlags::IN),
            PollFd::new(connection.bell(), PollFlags::IN),
        ];
        wait(&mut files);
        let [socket, process, stop, bell] = files.map(|file| file.revents());
        if !stop.is_empty() {
            return Ok(());
        }
        if !bell.is_empty() {
            connection.silence_bell();
        }
        // What it has said comes before its end.
        if !(socket - PollFlags::OUT).is_empty() {
            let patience = shared.config().patience;
            let (request, _) = frames::request(connection.socket(), patience)?;
            answer(shared, guest, connection, request)?;
        } else if !process.is_empty() {
            return Ok(());
        } else if !socket.is_empty() {
            connection.send_waiting_notices()?;
        } else if bell.is_empty() {
            // The system refuses to wait.
            return Ok(());
        }
    }
}

fn answer(shared: &Shared, guest: u64, connection: &Connection, request: Request) -> Result<()> {
    let done = |outcome: Result<(), Refusal>| match outcome {
        Ok(()) => connection.send(&Reply::Done),
        Err(refusal) => connection.send(&Reply::Refused(refusal)),
    };
    let memory = |outcome: Result<Given, Refusal>| match outcome {
        Ok(given) => {
            let sent = connection.send_memory(&given);
            drop(given);
            shared.has_given(guest);
            sent
        }
        Err(refusal) => connection.send(&Reply::Refused(refusal)),
    };
    match request {
        Request::Hello { .. } => {
            Err(ProtocolError::Malformed("a guest that says twice who it is").into())
        }
        Request::Create {
            bytes,
            rights,
            name,
        } => memory(shared.create(guest, name, bytes, rights)),
        Request::Refill { name } => memory(shared.refill(guest, &name)),
        Request::Seal {
            object,
            description,
        } => done(shared.seal(guest, object, description)),
        Request::Open { rights, name } => memory(shared.open(guest, &name, rights)),
        Request::Wake { object } => memory(shared.wake_opening(guest, object)),
        Request::Remove { name } => done(shared.remove(&name)),
        Request::List => {
            for entry in shared.entries() {
                connection.send(&entry)?;
            }
            connection.send(&Reply::Done)
        }
        // A guest that lets go of what it does not have has lost count, and what it says is worth nothing.
        Request::LetGo { object, opening } => {
            let outcome = shared.let_go(guest, object, opening);
            outcome
                .map_err(|_| ProtocolError::Malformed("a guest lets go of what it has not").into())
        }
        Request::Slept { object } => {
            let outcome = shared.slept(guest, object);
            outcome
                .map_err(|_| ProtocolError::Malformed("a guest lets go of what it has not").into())
        }
    }
}
