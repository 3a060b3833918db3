//! `Keeper`: the owner of kept memory.

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use cupola_managers::{Context, Error};
use cupola_sharing::Ledger;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::config::KeeperConfig;
use crate::connection::Connection;
use crate::entry::{Entry, GuestEntry, KeeperMetrics};
use crate::error::{KeeperError, Result};
use crate::memory::{Failure, Maker};
use crate::process::Process;
use crate::protocol::Refusal;
use crate::serve::serve;
use crate::shared::{Shared, SleepMode, StillMapped};

/// How long a listener rests that the system gives no connection.
const REST: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// The owner of named device memory, in a process that does no work on the device: a supervisor's.
///
/// Workers are its [guests](crate::Guest). A worker that ends, killed or lost to a fault of its own, leaves
/// the objects that were sealed, and its successor maps the same memory. Dropping the keeper ends its
/// threads; memory that guests have mapped then lives until they have gone.
///
/// A forked child has no part in it: what returns a `Result` is [`Error::Forked`] there, what tells of objects and
/// guests tells of none, and dropping it there leaves the parent's alone. Until the child has ended or called `exec`
/// it keeps the files open that the parent had: those of memory, and sockets, whose other ends do not see the
/// parent's death by them.
pub struct Keeper {
    shared: Arc<Shared>,
    context: Context,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Of listeners, removed at the end.
    paths: Mutex<Vec<PathBuf>>,
}

impl Keeper {
    /// A keeper of nothing yet, on the device of this context.
    ///
    /// # Errors
    /// [`KeeperError::Device`] when the device has no virtual memory or refuses; [`KeeperError::Ledger`],
    /// [`KeeperError::System`] when the system lacks what it takes (Linux 5.3), or refuses.
    #[track_caller]
    pub fn new(context: &Context, config: KeeperConfig) -> Result<Self> {
        let ledger = Ledger::create(config.limit)?;
        // What bounds the keeper is the ledger, whose limit may change.
        let limit = ledger.join()?.device_limit_of(u64::MAX);
        let maker = Maker::new(context, &config, &limit)?;
        let device = maker.device_uuid()?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let stop = stop.map_err(|errno| KeeperError::system("eventfd", errno))?;
        Ok(Self {
            shared: Arc::new(Shared::new(maker, ledger, config, device, stop)),
            context: context.clone(),
            threads: Mutex::default(),
            paths: Mutex::default(),
        })
    }

    /// Serves the guest at the other end of the socket, on a thread of its own.
    ///
    /// # Errors
    /// [`KeeperError::Full`] when there are as many guests as there may be; [`KeeperError::System`].
    pub fn serve(&self, socket: UnixStream) -> Result<()> {
        self.context.not_forked()?;
        let thread = start(&self.shared, socket)?;
        let mut threads = self.threads();
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
        Ok(())
    }

    /// Serves each guest that connects to a socket of this path, which the keeper makes now and removes at
    /// its end. Who may connect is who may write to the file: put it into a folder of the right users.
    ///
    /// # Errors
    /// [`KeeperError::System`] when there is a file of this name, or the system refuses.
    pub fn listen(&self, path: impl AsRef<Path>) -> Result<()> {
        self.context.not_forked()?;
        let path = path.as_ref().to_owned();
        let listener = UnixListener::bind(&path);
        let listener = listener.map_err(|error| KeeperError::system("bind", error))?;
        lock(&self.paths).push(path);
        let set = listener.set_nonblocking(true);
        set.map_err(|error| KeeperError::system("fcntl", error))?;
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name("cupola-keeper".to_owned());
        let thread = thread.spawn(move || accept(&shared, &listener));
        self.threads()
            .push(thread.map_err(|error| KeeperError::system("clone", error))?);
        Ok(())
    }

    /// Bytes of device memory that count for the limit: those of objects, removed ones also as long as a
    /// guest has them, and those that guests have under [`Guest::limit`](crate::Guest::limit).
    #[must_use]
    pub fn used(&self) -> u64 {
        if !self.is_elsewhere() {
            self.shared.reap();
            let _: u64 = self.shared.ledger().reclaim();
        }
        self.shared.ledger().used()
    }

    /// The one limit: who has how much of it, and how it is changed. The keeper's own row has the bytes of all
    /// objects.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        self.shared.ledger()
    }

    /// All objects that have a name, by name.
    #[must_use]
    pub fn objects(&self) -> Vec<Entry> {
        if self.is_elsewhere() {
            return Vec::new();
        }
        self.shared.reap();
        self.shared.table().named().map(Entry::of).collect()
    }

    /// All guests that are connected, or whose processes have memory of this keeper.
    #[must_use]
    pub fn guests(&self) -> Vec<GuestEntry> {
        if self.is_elsewhere() {
            return Vec::new();
        }
        self.shared.reap();
        let table = self.shared.table();
        let guests = table.guests().iter();
        let guests = guests.map(|(&guest, connection)| GuestEntry {
            process: connection.process().map_or(0, Process::number),
            has_memory: table.has_mapped(guest),
        });
        guests.collect()
    }

    /// What sleeps and wakes have cost.
    #[must_use]
    pub fn metrics(&self) -> KeeperMetrics {
        self.shared.metrics()
    }

    /// Gives the host copies up that objects have which are awake: they are copied again when they sleep next.
    pub fn trim(&self) {
        if !self.is_elsewhere() {
            self.shared.give_up_backups();
        }
    }

    /// The last error of this process's driver that kept a guest from what it had asked for. The guest was told its
    /// code alone ([`KeeperError::KeeperDriver`]).
    #[must_use]
    pub fn last_error(&self) -> Option<Arc<Error>> {
        if self.is_elsewhere() {
            return None;
        }
        self.shared.last_error()
    }

    /// Takes an object away: no guest opens it any more, and its name is free. Its bytes count until the last
    /// guest that has it mapped has let it go, or has ended.
    ///
    /// # Errors
    /// [`KeeperError::NotFound`], [`KeeperError::Filling`].
    pub fn remove(&self, name: &str) -> Result<()> {
        self.context.not_forked()?;
        let removed = self.shared.remove(name);
        removed.map_err(|refusal| KeeperError::refused(refusal, name))
    }

    /// Puts an object to sleep: the device has none of its bytes then. Guests that have it mapped are asked to
    /// let it go, which they do when they [attend](crate::Guest::attend), and are waited for, no longer than
    /// `most`. Their addresses stay theirs.
    ///
    /// An object of [`Rights::Read`](crate::Rights::Read) that has slept before is not copied again: it has kept its
    /// host copy, as far as host memory was not short, or [trimmed](Self::trim).
    ///
    /// # Errors
    /// [`KeeperError::InUse`] with the guests that did not let it go; [`KeeperError::HostLimit`],
    /// [`KeeperError::Device`]: the object is awake then, and guests that have let it go
    /// [wake](crate::Kept::wake) it. [`KeeperError::NotFound`], [`KeeperError::Filling`],
    /// [`KeeperError::Asleep`], [`KeeperError::Discarded`].
    pub fn sleep(&self, name: &str, mode: SleepMode, most: Duration) -> Result<()> {
        let id = self.id(name)?;
        let slept = self.shared.sleep(id, mode, most);
        match slept.map_err(|failure| failed(failure, name))? {
            Ok(()) => Ok(()),
            Err(StillMapped(guests)) => Err(KeeperError::InUse {
                name: name.to_owned(),
                guests,
                waited: most,
            }),
        }
    }

    /// Has an object that sleeps on the device again. Guests that had it mapped wake their openings
    /// themselves ([`Kept::wake`](crate::Kept::wake)). Nothing happens to one that is awake.
    ///
    /// # Errors
    /// [`KeeperError::OverLimit`], [`KeeperError::Device`]: it sleeps on then. [`KeeperError::NotFound`],
    /// [`KeeperError::Filling`], [`KeeperError::Discarded`].
    pub fn wake(&self, name: &str) -> Result<()> {
        let id = self.id(name)?;
        self.shared
            .wake(id)
            .map_err(|failure| failed(failure, name))
    }

    /// Whether this process is another one than made it: a fork, where threads that do not exist may have left
    /// locks taken.
    fn is_elsewhere(&self) -> bool {
        self.context.not_forked().is_err()
    }

    fn id(&self, name: &str) -> Result<u64> {
        self.context.not_forked()?;
        let id = self.shared.table().id(name);
        id.map_err(|refusal| KeeperError::refused(refusal, name))
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        lock(&self.threads)
    }
}

fn failed(failure: Failure, name: &str) -> KeeperError {
    match failure.refusal() {
        Refusal::Driver { .. } | Refusal::OutOfMemory => match failure {
            Failure::Device(error) => error.into(),
            Failure::Refused(refusal) => KeeperError::refused(refusal, name),
        },
        refusal => KeeperError::refused(refusal, name),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a guest's thread.
fn start(shared: &Arc<Shared>, socket: UnixStream) -> Result<JoinHandle<()>> {
    let patience = Some(shared.config().patience);
    let set = socket.set_nonblocking(false);
    let set = set.and_then(|()| socket.set_write_timeout(patience));
    set.map_err(|error| KeeperError::system("setsockopt", error))?;
    let connection = Arc::new(Connection::new(socket)?);
    let most = shared.config().guests;
    shared.reap();
    let added = shared.table().add_guest(Arc::clone(&connection), most);
    let guest = added.map_err(|refusal| KeeperError::refused(refusal, ""))?;
    let serving = Arc::clone(shared);
    let thread = thread::Builder::new().name("cupola-guest".to_owned());
    let thread = thread.spawn(move || serve(&serving, guest, &connection));
    thread.map_err(|error| {
        shared.end(guest);
        KeeperError::system("clone", error)
    })
}

/// Takes connections until the keeper ends, and its guests' threads with it.
fn accept(shared: &Arc<Shared>, listener: &UnixListener) {
    let mut threads = Vec::<JoinHandle<()>>::new();
    loop {
        let mut files = [
            PollFd::new(listener, PollFlags::IN),
            PollFd::new(shared.stop(), PollFlags::IN),
        ];
        // An interruption is no event.
        let _ = poll(&mut files, None);
        if !files[1].revents().is_empty() {
            break;
        }
        threads.retain(|thread| !thread.is_finished());
        match listener.accept() {
            // One too many finds the socket closed.
            Ok((socket, _)) => threads.extend(start(shared, socket)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // The process may have no more files: the connection stays there meanwhile.
            Err(_) => {
                let mut files = [PollFd::new(shared.stop(), PollFlags::IN)];
                let _ = poll(&mut files, Some(&REST));
            }
        }
    }
    for thread in threads {
        // A panic of it was told by the hook.
        let _ = thread.join();
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if self.is_elsewhere() {
            // The counter, the sockets and the paths are the parent's as well, and the threads are its alone.
            let threads = self.threads.get_mut();
            let threads = threads.unwrap_or_else(PoisonError::into_inner);
            threads.drain(..).for_each(std::mem::forget);
            return;
        }
        let stop: &OwnedFd = self.shared.stop();
        // It fails only beyond 2^64 - 2.
        let _ = rustix::io::write(stop.as_fd(), &1u64.to_ne_bytes());
        let guests: Vec<_> = self.shared.table().guests().values().cloned().collect();
        for guest in guests {
            guest.cut_off();
        }
        for thread in self.threads().drain(..) {
            // A panic of it was told by the hook.
            let _ = thread.join();
        }
        for path in lock(&self.paths).drain(..) {
            // Another program may have removed it.
            let _ = fs::remove_file(path);
        }
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper")
            .field("ledger", self.shared.ledger())
            .finish_non_exhaustive()
    }
}
