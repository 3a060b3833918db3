//! `Link`: the connection of a guest, which its openings share.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use cupola_managers::Context;
use cupola_managers::pool::DeviceLimit;
use cupola_managers::vmm::VirtualMemory;
use cupola_sharing::Ledger;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::opening::Opening;
use crate::entry::Entry;
use crate::error::{KeeperError, Result};
use crate::frames;
use crate::process;
use crate::protocol::{ProtocolError, Reply, Request};

/// How long a keeper may leave a frame unfinished: it may be copying an object up before it answers.
const PATIENCE: Duration = Duration::from_secs(120);

/// The limit of all processes.
enum Limit {
    /// It was not asked for: a guest that has no memory of its own needs no row.
    File(OwnedFd),
    Joined(DeviceLimit),
}

pub(crate) struct Link {
    context: Context,
    limit: Mutex<Limit>,
    memory: VirtualMemory,
    talk: Mutex<Talk>,
    openings: Mutex<Openings>,
    /// There are fewer that are being mapped.
    mapped: Condvar,
}

#[derive(Default)]
struct Openings {
    alive: Vec<Weak<Opening>>,
    /// As many the keeper has given memory for which are not among them yet.
    coming: usize,
}

/// Memory that is being mapped. Dropped when it is among the openings, or will not be.
pub(crate) struct Coming<'l>(&'l Link);

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        lock(&self.0.openings).coming -= 1;
        self.0.mapped.notify_all();
    }
}

struct Talk {
    /// Shared with those that wait for a notice, without another descriptor.
    socket: Arc<UnixStream>,
    /// Objects that the keeper wants to put to sleep.
    asked: BTreeSet<u64>,
    is_broken: bool,
}

/// Memory as the keeper has sent it.
pub(crate) struct Given {
    pub(crate) object: u64,
    pub(crate) bytes: u64,
    pub(crate) description: Vec<u8>,
    pub(crate) pieces: Vec<(u64, OwnedFd)>,
}

impl Link {
    /// Says to the keeper which process and device this is.
    pub(crate) fn greet(
        socket: UnixStream,
        context: &Context,
        memory: VirtualMemory,
    ) -> Result<Self> {
        let set = socket.set_nonblocking(false);
        let set = set.and_then(|()| socket.set_write_timeout(Some(PATIENCE)));
        set.map_err(|error| KeeperError::system("setsockopt", error))?;
        let device = memory.device_uuid()?;
        let talk = Talk {
            socket: Arc::new(socket),
            asked: BTreeSet::new(),
            is_broken: false,
        };
        if talk.hear()?.0 != Reply::Greeting {
            return Err(out_of_turn());
        }
        let own = process::own()?;
        let hello = Request::Hello { device }.encode();
        frames::send(&talk.socket, &hello, Some(own.as_fd()))?;
        let ledger = match talk.hear()? {
            (Reply::Welcome, Some(file)) => file,
            (Reply::Refused(refusal), _) => return Err(KeeperError::refused(refusal, "")),
            _ => return Err(out_of_turn()),
        };
        Ok(Self {
            context: context.clone(),
            limit: Mutex::new(Limit::File(ledger)),
            memory,
            talk: Mutex::new(talk),
            openings: Mutex::default(),
            mapped: Condvar::new(),
        })
    }

    /// In a forked child the socket is the parent's, and threads that do not exist may have left locks taken.
    pub(crate) fn not_forked(&self) -> Result<()> {
        Ok(self.context.not_forked()?)
    }

    pub(crate) fn limit(&self) -> Result<DeviceLimit> {
        self.not_forked()?;
        let mut limit = lock(&self.limit);
        match &*limit {
            Limit::Joined(joined) => Ok(joined.clone()),
            Limit::File(file) => {
                let file = file.try_clone();
                let file = file.map_err(|error| KeeperError::system("fcntl", error))?;
                // What bounds it is the ledger, whose limit may change.
                let joined = Ledger::open(file)?.join()?.device_limit_of(u64::MAX);
                *limit = Limit::Joined(joined.clone());
                Ok(joined)
            }
        }
    }

    pub(crate) fn register(&self, opening: &Arc<Opening>) {
        let alive = &mut lock(&self.openings).alive;
        alive.retain(|opening| opening.strong_count() > 0);
        alive.push(Arc::downgrade(opening));
    }

    /// All that are alive. Those that other threads are mapping are waited for: the keeper has them down, and asks once
    /// to let an object go.
    pub(crate) fn openings(&self) -> Vec<Arc<Opening>> {
        let openings = lock(&self.openings);
        let openings = self.mapped.wait_while(openings, |it| it.coming > 0);
        let openings = openings.unwrap_or_else(PoisonError::into_inner);
        openings.alive.iter().filter_map(Weak::upgrade).collect()
    }

    /// Memory for a new opening. It is coming from then on when the keeper has it down, before a notice about it is heard.
    pub(crate) fn ask_new(&self, request: &Request, name: &str) -> Result<(Given, Coming<'_>)> {
        self.with_talk(|talk| {
            let given = talk.ask_memory(request, name)?;
            lock(&self.openings).coming += 1;
            Ok((given, Coming(self)))
        })
    }

    /// Takes what the keeper has asked to let go, without waiting for it.
    pub(crate) fn take_asked(&self) -> Result<BTreeSet<u64>> {
        self.with_talk(|talk| {
            while talk.has_come()? {
                match talk.hear()?.0 {
                    Reply::Sleep { object } => talk.asked.insert(object),
                    _ => return Err(out_of_turn()),
                };
            }
            Ok(std::mem::take(&mut talk.asked))
        })
    }

    /// Waits for the keeper to say something, without the lock, so that other threads may ask meanwhile.
    pub(crate) fn wait_for_notice(&self, most: Duration) -> Result<()> {
        if most.is_zero() {
            return Ok(());
        }
        self.not_forked()?;
        let socket = {
            let talk = lock(&self.talk);
            if talk.is_broken {
                return Err(KeeperError::Disconnected);
            }
            if !talk.asked.is_empty() {
                return Ok(());
            }
            Arc::clone(&talk.socket)
        };
        let most = Timespec::try_from(most).unwrap_or_default();
        let mut files = [PollFd::new(&socket, PollFlags::IN)];
        match poll(&mut files, Some(&most)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(KeeperError::system("poll", errno)),
        }
    }

    pub(crate) fn list(&self) -> Result<Vec<Entry>> {
        self.with_talk(|talk| {
            talk.say(&Request::List)?;
            let mut entries = Vec::new();
            loop {
                match talk.answer()?.0 {
                    Reply::Entry {
                        bytes,
                        guests,
                        rights,
                        state,
                        description,
                        name,
                    } => entries.push(Entry {
                        name,
                        bytes,
                        rights,
                        state,
                        guests: guests as usize,
                        description,
                    }),
                    Reply::Done => return Ok(entries),
                    _ => return Err(out_of_turn()),
                }
            }
        })
    }

    pub(crate) fn memory(&self) -> &VirtualMemory {
        &self.memory
    }

    /// With the connection, which is broken when its frames cannot be told apart any more.
    fn with_talk<T>(&self, work: impl FnOnce(&mut Talk) -> Result<T>) -> Result<T> {
        self.not_forked()?;
        let mut talk = lock(&self.talk);
        if talk.is_broken {
            return Err(KeeperError::Disconnected);
        }
        let outcome = work(&mut talk);
        if outcome.as_ref().is_err_and(KeeperError::cuts_off) {
            talk.is_broken = true;
            // It fails only where the keeper has done so before.
            let _ = talk.socket.shutdown(std::net::Shutdown::Both);
        }
        outcome
    }

    /// What has no answer.
    pub(crate) fn tell(&self, request: &Request) -> Result<()> {
        self.with_talk(|talk| talk.say(request))
    }

    /// What is done or refused.
    pub(crate) fn ask(&self, request: &Request, name: &str) -> Result<()> {
        self.with_talk(|talk| {
            talk.say(request)?;
            match talk.answer()?.0 {
                Reply::Done => Ok(()),
                Reply::Refused(refusal) => Err(KeeperError::refused(refusal, name)),
                _ => Err(out_of_turn()),
            }
        })
    }

    /// What is answered with memory, for an opening that there is.
    pub(crate) fn ask_memory(&self, request: &Request, name: &str) -> Result<Given> {
        self.with_talk(|talk| talk.ask_memory(request, name))
    }
}

impl Talk {
    fn ask_memory(&mut self, request: &Request, name: &str) -> Result<Given> {
        self.say(request)?;
        let (object, bytes, pieces, description) = match self.answer()?.0 {
            Reply::Memory {
                object,
                bytes,
                pieces,
                description,
                ..
            } => (object, bytes, pieces, description),
            Reply::Refused(refusal) => {
                return Err(KeeperError::refused(refusal, name));
            }
            _ => return Err(out_of_turn()),
        };
        let mut given = Given {
            object,
            bytes,
            description,
            pieces: Vec::new(),
        };
        for _ in 0..pieces {
            // The keeper sends them with the frame before them: no notice is between.
            let (Reply::Piece { bytes }, Some(file)) = self.hear()? else {
                return Err(out_of_turn());
            };
            given.pieces.push((bytes, file));
        }
        Ok(given)
    }

    fn say(&self, request: &Request) -> Result<()> {
        frames::send(&self.socket, &request.encode(), None)
    }

    fn hear(&self) -> Result<(Reply, Option<OwnedFd>)> {
        frames::reply(&self.socket, PATIENCE)
    }

    /// The next frame that is no notice.
    fn answer(&mut self) -> Result<(Reply, Option<OwnedFd>)> {
        loop {
            match self.hear()? {
                (Reply::Sleep { object }, _) => {
                    self.asked.insert(object);
                }
                answer => return Ok(answer),
            }
        }
    }

    /// Whether a frame, or the end, is there to be read.
    fn has_come(&self) -> Result<bool> {
        let mut files = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut files, Some(&Timespec::default())) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(errno) => Err(KeeperError::system("poll", errno)),
        }
    }
}

fn out_of_turn() -> KeeperError {
    ProtocolError::Malformed("a frame that is not its turn").into()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
