//! Objects that are put to sleep, and wake.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Shared;
use crate::connection::Connection;
use cupola_managers::Error;

use crate::memory::{Failure, HostCopy, Pieces};
use crate::object::State;
use crate::process::Process;
use crate::protocol::Refusal;

/// What becomes of the bytes of an object that is put to sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SleepMode {
    /// They are copied to page-locked host memory, and back when the object wakes.
    HostCopy,
    /// They are lost: a guest fills the object again ([`Guest::refill`](crate::Guest::refill)).
    Discard,
}

/// Guests that did not let an object go in time.
#[derive(Debug)]
pub(crate) struct StillMapped(pub(crate) Vec<u32>);

impl Shared {
    /// Puts an object to sleep, when the guests that have it mapped have let it go.
    pub(crate) fn sleep(
        &self,
        id: u64,
        mode: SleepMode,
        most: Duration,
    ) -> Result<Result<(), StillMapped>, Failure> {
        let guests = self.ask_to_let_go(id)?;
        for guest in guests {
            guest.notify(id);
        }
        let memory = match self.wait_until_let_go(id, most)? {
            Ok(memory) => memory,
            Err(still) => return Ok(Err(still)),
        };
        let moved = match (mode, self.take_backup(id)) {
            (SleepMode::HostCopy, Some(backup)) => Ok(State::Asleep(backup)),
            (SleepMode::HostCopy, None) => self.copy_down(&memory),
            (SleepMode::Discard, backup) => {
                self.give_up(backup);
                Ok(State::Discarded)
            }
        };
        match moved {
            Ok(state) => {
                // Before it is said to be asleep.
                drop(memory);
                self.arrive(id, state);
                Ok(Ok(()))
            }
            Err(error) => {
                self.arrive(id, State::Awake(memory));
                Err(error.into())
            }
        }
    }

    fn take_backup(&self, id: u64) -> Option<Arc<HostCopy>> {
        self.table().get_mut(id)?.backup.take()
    }

    /// Gives host copies up, and their pages.
    fn give_up(&self, copies: impl IntoIterator<Item = Arc<HostCopy>>) {
        if copies.into_iter().map(drop).count() > 0 {
            self.maker.trim();
        }
    }

    /// Gives the host copies of all objects that are awake up.
    pub(crate) fn give_up_backups(&self) {
        let backups = self.table().take_backups();
        self.give_up(backups);
    }

    /// Copies to host memory, for which those give theirs up that are awake if it is short.
    fn copy_down(&self, memory: &Pieces) -> Result<State, Error> {
        let mut copied = self.maker.copy_down(memory);
        if matches!(copied, Err(Error::Host(_))) {
            self.give_up_backups();
            copied = self.maker.copy_down(memory);
        }
        if copied.is_err() {
            // What there was of the copy is no use to any other.
            self.maker.trim();
        }
        Ok(State::Asleep(Arc::new(copied?)))
    }

    fn ask_to_let_go(&self, id: u64) -> Result<Vec<Arc<Connection>>, Refusal> {
        self.reap();
        let mut table = self.table();
        let object = table.get_mut(id).ok_or(Refusal::NotFound)?;
        match &object.state {
            State::Awake(memory) => object.state = State::FallingAsleep(Arc::clone(memory)),
            State::Making { .. } | State::Filling { .. } => return Err(Refusal::Filling),
            State::Discarded => return Err(Refusal::Discarded),
            State::FallingAsleep(_) | State::Moving | State::Asleep(_) => {
                return Err(Refusal::Asleep);
            }
        }
        let holders = object
            .holdings
            .iter()
            .filter(|(_, holding)| holding.mapped > 0);
        let holders: Vec<_> = holders.map(|(&guest, _)| guest).collect();
        let guests = holders.iter().filter_map(|guest| table.guests().get(guest));
        Ok(guests.cloned().collect())
    }

    fn wait_until_let_go(
        &self,
        id: u64,
        most: Duration,
    ) -> Result<Result<Arc<Pieces>, StillMapped>, Refusal> {
        let begin = Instant::now();
        let mut table = self.table();
        loop {
            let object = table.get_mut(id).ok_or(Refusal::NotFound)?;
            if object.mapped() == 0 {
                return match std::mem::replace(&mut object.state, State::Moving) {
                    State::FallingAsleep(memory) => Ok(Ok(memory)),
                    // No other thread changes it while it falls asleep.
                    other => {
                        object.state = other;
                        Err(Refusal::Ended)
                    }
                };
            }
            let left = most.saturating_sub(begin.elapsed());
            if left.is_zero() {
                break;
            }
            table = self.wait(table, Some(left));
        }
        let object = table.get_mut(id).ok_or(Refusal::NotFound)?;
        if let State::FallingAsleep(memory) = &object.state {
            object.state = State::Awake(Arc::clone(memory));
        }
        let still = object
            .holdings
            .iter()
            .filter(|(_, holding)| holding.mapped > 0);
        let still: Vec<_> = still.map(|(&guest, _)| guest).collect();
        let still = still
            .iter()
            .filter_map(|guest| table.guests().get(guest)?.process());
        let still = StillMapped(still.map(Process::number).collect());
        let garbage = table.settle(id);
        drop(table);
        self.drop_now(garbage);
        Ok(Err(still))
    }

    /// Has an object on the device again.
    pub(crate) fn wake(&self, id: u64) -> Result<(), Failure> {
        let copy: Arc<HostCopy> = {
            let mut table = self.table();
            loop {
                let object = table.get_mut(id).ok_or(Refusal::NotFound)?;
                match &object.state {
                    State::Awake(_) => return Ok(()),
                    State::Making { .. } | State::Filling { .. } => {
                        return Err(Refusal::Filling.into());
                    }
                    State::Discarded => return Err(Refusal::Discarded.into()),
                    State::FallingAsleep(_) | State::Moving => table = self.wait(table, None),
                    State::Asleep(copy) => {
                        let copy = Arc::clone(copy);
                        object.state = State::Moving;
                        break copy;
                    }
                }
            }
        };
        match self.copy_up(&copy) {
            Ok(memory) => {
                if let Some(object) = self.table().get_mut(id) {
                    object.keep_backup(Arc::clone(&copy));
                }
                if Arc::into_inner(copy).is_some() {
                    // No backup: the pages go.
                    self.maker.trim();
                }
                self.arrive(id, State::Awake(Arc::new(memory)));
                Ok(())
            }
            Err(error) => {
                self.arrive(id, State::Asleep(copy));
                Err(error)
            }
        }
    }

    fn copy_up(&self, copy: &HostCopy) -> Result<Pieces, Failure> {
        let pieces = self.make(copy.bytes())?;
        self.maker.copy_up(copy, &pieces)?;
        Ok(pieces)
    }

    /// An object that was moving is there.
    fn arrive(&self, id: u64, state: State) {
        let garbage = {
            let mut table = self.table();
            if let Some(object) = table.get_mut(id) {
                object.state = state;
            }
            table.settle(id)
        };
        self.drop_now(garbage);
    }
}
