//! `Shared`: what the threads of a keeper share, and what guests and the supervisor ask of it.

mod sleep;

use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cupola_managers::Error;
use cupola_sharing::Ledger;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::config::KeeperConfig;
use crate::connection::{Connection, Given};
use crate::entry::KeeperMetrics;
use crate::memory::{Failure, Maker, Pieces};
use crate::object::{Object, State};
use crate::process::Process;
use crate::protocol::{Opening, Refusal, Reply, Rights};
use crate::table::{Garbage, New, Table};
pub use sleep::SleepMode;
pub(crate) use sleep::StillMapped;

#[derive(Debug)]
pub(crate) struct Shared {
    table: Mutex<Table>,
    /// An object's state or its holdings have changed.
    changed: Condvar,
    /// Held while memory is made.
    making: Mutex<()>,
    maker: Maker,
    ledger: Ledger,
    config: KeeperConfig,
    device: [u8; 16],
    /// The last error of the driver that a guest was told of as a number.
    last_error: Mutex<Option<Arc<Error>>>,
    /// Can be read from when the keeper ends on.
    stop: OwnedFd,
}

impl Shared {
    pub(crate) fn new(
        maker: Maker,
        ledger: Ledger,
        config: KeeperConfig,
        device: [u8; 16],
        stop: OwnedFd,
    ) -> Self {
        Self {
            table: Mutex::default(),
            changed: Condvar::new(),
            making: Mutex::new(()),
            maker,
            ledger,
            config,
            device,
            last_error: Mutex::default(),
            stop,
        }
    }

    /// Nothing in here panics while it holds the lock, so a poisoned one is as good.
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stop(&self) -> &OwnedFd {
        &self.stop
    }

    /// Whether the keeper ends.
    pub(crate) fn is_stopping(&self) -> bool {
        let mut files = [PollFd::new(&self.stop, PollFlags::IN)];
        poll(&mut files, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    pub(crate) fn device(&self) -> [u8; 16] {
        self.device
    }

    pub(crate) fn config(&self) -> &KeeperConfig {
        &self.config
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn metrics(&self) -> KeeperMetrics {
        let (copied_down, copied_up) = self.maker.copied();
        KeeperMetrics {
            copied_down,
            copied_up,
            host_bytes: self.maker.host_bytes(),
        }
    }

    pub(crate) fn last_error(&self) -> Option<Arc<Error>> {
        let last = self.last_error.lock();
        last.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a guest is told.
    fn refuse(&self, failure: Failure) -> Refusal {
        let refusal = failure.refusal();
        if let Failure::Device(error) = failure {
            let mut last = self
                .last_error
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *last = Some(Arc::new(error));
        }
        refusal
    }

    /// Gives back, and has those look again that wait for a change.
    fn drop_now(&self, garbage: Garbage) {
        let (count, has_copies) = (garbage.len(), garbage.has_copies());
        drop(garbage);
        if has_copies {
            self.maker.trim();
        }
        if count > 0 {
            self.table().has_left(count);
        }
        self.changed.notify_all();
    }

    pub(crate) fn cut_off(&self, guest: u64) {
        let garbage = self.table().cut_off(guest);
        self.drop_now(garbage);
    }

    pub(crate) fn end(&self, guest: u64) {
        let garbage = self.table().end(guest);
        self.drop_now(garbage);
    }

    /// Ends guests whose processes have, before their own threads see it: who asks next finds their names
    /// free and their memory given back.
    pub(crate) fn reap(&self) {
        let has_ended = |guest: &Arc<Connection>| guest.process().is_some_and(Process::has_ended);
        let ended: Vec<_> = {
            let table = self.table();
            let guests = table.guests().iter();
            guests
                .filter(|(_, guest)| has_ended(guest))
                .map(|(&id, guest)| (id, Arc::clone(guest)))
                .collect()
        };
        for (guest, connection) in ended {
            // Another process may have its socket, and not read what its thread sends.
            connection.cut_off();
            self.end(guest);
        }
        let mut table = self.table();
        while table.is_behind() {
            table = self.wait(table, None);
        }
    }

    pub(crate) fn create(
        &self,
        guest: u64,
        name: String,
        bytes: u64,
        rights: Rights,
    ) -> Result<Given, Refusal> {
        self.reap();
        let pages = self.maker.pages(bytes).ok_or(Refusal::Bytes)?;
        let new = New {
            name,
            bytes,
            rights,
        };
        let object = self.table().insert(guest, new, self.config.objects)?;
        self.make_for(guest, object, pages, false)
    }

    pub(crate) fn refill(&self, guest: u64, name: &str) -> Result<Given, Refusal> {
        self.reap();
        let (id, pages) = {
            let mut table = self.table();
            table.check(guest)?;
            let id = table.id(name)?;
            let object = table.get_mut(id).ok_or(Refusal::NotFound)?;
            match object.state {
                State::Discarded => {}
                State::Making { .. } | State::Filling { .. } => return Err(Refusal::Filling),
                _ => return Err(Refusal::NotDiscarded),
            }
            object.state = State::Making {
                creator: guest,
                again: true,
            };
            object.holdings.entry(guest).or_default().mapped += 1;
            (id, self.maker.pages(object.bytes).ok_or(Refusal::Bytes)?)
        };
        self.make_for(guest, id, pages, true)
    }

    /// Memory for an object whose state is `Making`.
    fn make_for(&self, guest: u64, id: u64, pages: u64, again: bool) -> Result<Given, Refusal> {
        let made = self.make(pages);
        let mut table = self.table();
        // The process of its creator may have ended meanwhile.
        let object = table.get_mut(id);
        let object = object.filter(|object| object.holdings.contains_key(&guest));
        let (unused, refused) = match (object, made) {
            (Some(object), Ok(memory)) => {
                let memory = Arc::new(memory);
                object.state = State::Filling {
                    creator: guest,
                    again,
                    memory: Arc::clone(&memory),
                };
                let given = given(id, object, Rights::ReadWrite, memory);
                table.begin_giving(guest);
                return Ok(given);
            }
            (_, Ok(memory)) => (Some(memory), Refusal::Ended),
            (_, Err(failure)) => (None, self.refuse(failure)),
        };
        let garbage = table.unmade(guest, id, again, unused);
        drop(table);
        self.drop_now(garbage);
        Err(refused)
    }

    /// Memory for an object that has some again, or for the first time. One at a time: two that are made piece by piece
    /// could each have a part, and both fail, where one of them fits.
    fn make(&self, pages: u64) -> Result<Pieces, Failure> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        // What cannot fit is not made in part, while others are refused.
        if pages > self.ledger.limit().saturating_sub(self.ledger.used()) {
            let _: u64 = self.ledger.reclaim();
            let (used, limit) = (self.ledger.used(), self.ledger.limit());
            if pages > limit.saturating_sub(used) {
                return Err(Refusal::OverLimit {
                    bytes: pages,
                    used,
                    limit,
                }
                .into());
            }
        }
        Ok(self.maker.make(pages)?)
    }

    pub(crate) fn seal(&self, guest: u64, id: u64, description: Vec<u8>) -> Result<(), Refusal> {
        let mut table = self.table();
        let object = table.get_mut(id).ok_or(Refusal::NotHeld)?;
        match &object.state {
            State::Filling {
                creator, memory, ..
            } if *creator == guest => {
                object.state = State::Awake(Arc::clone(memory));
                object.description = description;
                Ok(())
            }
            _ => Err(Refusal::NotHeld),
        }
    }

    pub(crate) fn open(&self, guest: u64, name: &str, rights: Rights) -> Result<Given, Refusal> {
        self.reap();
        let id = self.table().id(name)?;
        self.give(guest, id, rights, Opening::Mapped)
    }

    /// Memory again for an opening that has let it go.
    pub(crate) fn wake_opening(&self, guest: u64, id: u64) -> Result<Given, Refusal> {
        {
            let table = self.table();
            let object = table.get(id).ok_or(Refusal::NotHeld)?;
            let held = object.holdings.get(&guest);
            if held.is_none_or(|holding| holding.sleeping == 0) {
                return Err(Refusal::NotHeld);
            }
        }
        // The guest knows what it had asked for, and no guest has more than the object allows.
        self.give(guest, id, Rights::Read, Opening::Sleeping)
    }

    /// Memory of an object, which is woken for it, for an opening that is new, or that has slept.
    fn give(&self, guest: u64, id: u64, rights: Rights, from: Opening) -> Result<Given, Refusal> {
        let mut table = self.table();
        loop {
            table.check(guest)?;
            let object = table.get_mut(id).ok_or(Refusal::NotFound)?;
            if object.removed {
                return Err(Refusal::NotFound);
            }
            if rights == Rights::ReadWrite && object.rights == Rights::Read {
                return Err(Refusal::ReadOnly);
            }
            match &object.state {
                State::Making { .. } | State::Filling { .. } => return Err(Refusal::Filling),
                State::Discarded => return Err(Refusal::Discarded),
                State::Awake(memory) => {
                    let memory = Arc::clone(memory);
                    let holding = object.holdings.entry(guest).or_default();
                    if from == Opening::Sleeping {
                        holding.sleeping = holding.sleeping.saturating_sub(1);
                    }
                    holding.mapped += 1;
                    let given = given(id, object, rights, memory);
                    table.begin_giving(guest);
                    return Ok(given);
                }
                State::FallingAsleep(_) => {
                    let held = object.holdings.get(&guest);
                    if held.is_some_and(|holding| holding.mapped > 0) {
                        // It would wait for itself.
                        return Err(Refusal::Attend);
                    }
                    table = self.wait(table, None);
                }
                State::Moving => table = self.wait(table, None),
                State::Asleep(_) => {
                    drop(table);
                    self.wake(id).map_err(|failure| self.refuse(failure))?;
                    table = self.table();
                }
            }
        }
    }

    /// What the guest was given is sent, and dropped here: it does not keep the memory any more.
    pub(crate) fn has_given(&self, guest: u64) {
        self.table().has_given(guest);
        self.changed.notify_all();
    }

    fn wait<'t>(
        &self,
        table: MutexGuard<'t, Table>,
        most: Option<Duration>,
    ) -> MutexGuard<'t, Table> {
        match most {
            Some(most) => {
                let waited = self.changed.wait_timeout(table, most);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
            None => self
                .changed
                .wait(table)
                .unwrap_or_else(PoisonError::into_inner),
        }
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), Refusal> {
        self.reap();
        let garbage = self.table().remove(name)?;
        self.drop_now(garbage);
        Ok(())
    }

    pub(crate) fn let_go(&self, guest: u64, id: u64, opening: Opening) -> Result<(), Refusal> {
        let garbage = self.table().let_go(guest, id, opening)?;
        self.drop_now(garbage);
        Ok(())
    }

    pub(crate) fn slept(&self, guest: u64, id: u64) -> Result<(), Refusal> {
        let garbage = {
            let mut table = self.table();
            table.slept(guest, id)?;
            table.settle(id)
        };
        self.drop_now(garbage);
        Ok(())
    }

    /// What a guest is told of each object.
    pub(crate) fn entries(&self) -> Vec<Reply> {
        self.reap();
        let table = self.table();
        let entries = table.named().map(|object| Reply::Entry {
            bytes: object.bytes,
            guests: object.holdings.len() as u32,
            rights: object.rights,
            state: object.public_state(),
            description: object.description.clone(),
            name: object.name.clone(),
        });
        entries.collect()
    }
}

fn given(id: u64, object: &Object, rights: Rights, memory: Arc<Pieces>) -> Given {
    Given {
        object: id,
        bytes: object.bytes,
        rights,
        description: object.description.clone(),
        memory,
    }
}
