//! `Guest`: a process that maps kept memory.

mod kept;
mod link;
mod opening;

use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cupola_managers::Context;
use cupola_managers::pool::DeviceLimit;

use crate::entry::Entry;
use crate::error::{KeeperError, Result};
use crate::protocol::{MAX_NAME, Request, Rights};
pub use kept::{Filling, Kept};
use link::Link;
use opening::Opening;

/// The longest wait for a notice.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// This process's connection to a keeper. Clones are the same, and what was opened keeps it alive.
///
/// When the keeper has ended, what is mapped stays mapped, and calls return [`KeeperError::Disconnected`].
///
/// A forked child is no guest: calls return [`Error::Forked`](cupola_managers::Error::Forked) there, and what it
/// drops stays the parent's. It connects by itself, when it has a context of its own.
#[derive(Clone)]
pub struct Guest(Arc<Link>);

impl Guest {
    /// Becomes a guest of the keeper that [serves](crate::Keeper::serve) the other end of the socket.
    ///
    /// # Errors
    /// [`KeeperError::OtherDevice`] when the context is of another device than the keeper's;
    /// [`KeeperError::Disconnected`] when the keeper has as many guests as it may have, or has ended;
    /// [`KeeperError::Device`], [`KeeperError::Socket`], [`KeeperError::Protocol`],
    /// [`KeeperError::System`].
    #[track_caller]
    pub fn connect(socket: UnixStream, context: &Context) -> Result<Self> {
        // Nothing is charged to it: what is imported counts for the keeper.
        let memory = context.virtual_memory(&DeviceLimit::new(0))?;
        Ok(Self(Arc::new(Link::greet(socket, context, memory)?)))
    }

    /// Becomes a guest of the keeper that [listens](crate::Keeper::listen) at this path.
    ///
    /// # Errors
    /// As [`connect`](Self::connect); [`KeeperError::System`] when there is no keeper.
    #[track_caller]
    pub fn connect_to(path: impl AsRef<Path>, context: &Context) -> Result<Self> {
        let socket = UnixStream::connect(path);
        Self::connect(
            socket.map_err(|error| KeeperError::system("connect", error))?,
            context,
        )
    }

    /// The limit that this process has with the keeper and all other guests: for its own pools and residencies,
    /// so that all of it together never is more. Each call returns the same.
    ///
    /// # Errors
    /// [`KeeperError::Ledger`]: when this process is in another process namespace than the keeper, or there
    /// are too many processes; [`KeeperError::System`].
    pub fn limit(&self) -> Result<DeviceLimit> {
        self.0.limit()
    }

    /// A new object of this many bytes, mapped to be filled. Others open it when it is [sealed](Filling::seal);
    /// if that never happens, because it is dropped or this process ends, there is no object.
    ///
    /// # Errors
    /// [`KeeperError::Exists`], [`KeeperError::OverLimit`], [`KeeperError::OutOfMemory`],
    /// [`KeeperError::Full`], [`KeeperError::Invalid`] for a name of no bytes or more than 255, or for
    /// no bytes; [`KeeperError::KeeperDriver`], [`KeeperError::Device`]; those of the connection.
    #[track_caller]
    pub fn create(&self, name: &str, bytes: u64, rights: Rights) -> Result<Filling> {
        let name = checked(name)?;
        let request = Request::Create {
            bytes,
            rights,
            name: name.clone(),
        };
        let opening = self.open_new(name, Rights::ReadWrite, &request)?;
        Ok(Filling::new(opening))
    }

    /// Memory again for an object that was [discarded](crate::SleepMode::Discard), to be filled and sealed as
    /// a new one. What was open stays open, and [wakes](Kept::wake) after that.
    ///
    /// # Errors
    /// [`KeeperError::NotDiscarded`], [`KeeperError::NotFound`], [`KeeperError::Filling`]; else as
    /// [`create`](Self::create).
    #[track_caller]
    pub fn refill(&self, name: &str) -> Result<Filling> {
        let name = checked(name)?;
        let request = Request::Refill { name: name.clone() };
        let opening = self.open_new(name, Rights::ReadWrite, &request)?;
        Ok(Filling::new(opening))
    }

    /// Maps a sealed object, at an address of this process. One that sleeps is woken first.
    ///
    /// # Errors
    /// [`KeeperError::NotFound`], [`KeeperError::Filling`], [`KeeperError::ReadOnly`],
    /// [`KeeperError::Discarded`], [`KeeperError::OverLimit`] when it slept and there is no room for it,
    /// [`KeeperError::Attend`]; [`KeeperError::KeeperDriver`], [`KeeperError::Device`]; those of the
    /// connection.
    #[track_caller]
    pub fn open(&self, name: &str, rights: Rights) -> Result<Kept> {
        let name = checked(name)?;
        let request = Request::Open {
            rights,
            name: name.clone(),
        };
        Ok(Kept::new(self.open_new(name, rights, &request)?, rights))
    }

    #[track_caller]
    fn open_new(&self, name: String, rights: Rights, request: &Request) -> Result<Arc<Opening>> {
        // To the end.
        let (given, _coming) = self.0.ask_new(request, &name)?;
        let opening = Arc::new(Opening::map(&self.0, name, rights, given)?);
        self.0.register(&opening);
        Ok(opening)
    }

    /// Takes an object away: no guest opens it any more, and its name is free. Where it is open it stays.
    ///
    /// # Errors
    /// [`KeeperError::NotFound`], [`KeeperError::Filling`]; those of the connection.
    pub fn remove(&self, name: &str) -> Result<()> {
        let name = checked(name)?;
        self.0.ask(&Request::Remove { name: name.clone() }, &name)
    }

    /// All objects that have a name, by name.
    ///
    /// # Errors
    /// Those of the connection: [`KeeperError::Disconnected`], [`KeeperError::Socket`],
    /// [`KeeperError::Protocol`].
    pub fn list(&self) -> Result<Vec<Entry>> {
        self.0.list()
    }

    /// Lets go of the objects that the keeper wants to put to sleep, and returns how many openings that were;
    /// as a rule none, for one call of the system. A worker calls it between two requests: no work that uses
    /// kept memory may run then, or come before the openings [wake](Kept::wake).
    ///
    /// # Errors
    /// [`KeeperError::Device`] when the driver does not unmap: the opening stays mapped; those of the connection.
    #[doc(alias = "cuMemUnmap")]
    #[track_caller]
    pub fn attend(&self) -> Result<usize> {
        self.attend_for(Duration::ZERO)
    }

    /// As [`attend`](Self::attend), and waits this long for the keeper to ask.
    ///
    /// # Errors
    /// As [`attend`](Self::attend).
    #[track_caller]
    pub fn attend_for(&self, most: Duration) -> Result<usize> {
        let most = most.min(LONGEST);
        let until = Instant::now().checked_add(most);
        loop {
            if let Some(until) = until {
                let left = until.saturating_duration_since(Instant::now());
                self.0.wait_for_notice(left)?;
            }
            let asked = self.0.take_asked()?;
            let let_go = self.let_go(&asked)?;
            let is_late = until.is_some_and(|until| Instant::now() >= until);
            if let_go > 0 || is_late {
                return Ok(let_go);
            }
        }
    }

    /// Lets all openings of these objects go, and returns how many had memory.
    #[track_caller]
    fn let_go(&self, asked: &BTreeSet<u64>) -> Result<usize> {
        if asked.is_empty() {
            return Ok(0);
        }
        let openings = self.0.openings();
        let mut let_go = Ok(0);
        for opening in openings
            .iter()
            .filter(|opening| asked.contains(&opening.object()))
        {
            match opening.sleep() {
                Ok(had_memory) => let_go = let_go.map(|count| count + usize::from(had_memory)),
                // The others are let go all the same.
                Err(error) => let_go = Err(error),
            }
        }
        let_go
    }
}

fn checked(name: &str) -> Result<String> {
    if name.is_empty() || name.len() > MAX_NAME {
        let problem = format!("{} bytes, not 1 to {MAX_NAME}", name.len());
        return Err(KeeperError::Invalid {
            field: "name",
            problem,
        });
    }
    Ok(name.to_owned())
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest").finish_non_exhaustive()
    }
}
