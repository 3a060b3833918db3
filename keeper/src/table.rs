//! The objects and guests of a keeper, and what each guest has. Makes no call of the driver: what is to be given
//! back is returned, for the caller to drop without the lock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::connection::Connection;
use crate::memory::{HostCopy, Pieces};
use crate::object::{Holding, Object, State};
use crate::protocol::{Opening, Refusal, Rights};

/// What is to be dropped without the lock, and [told](Table::has_left) then.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Garbage(Vec<State>);

impl Garbage {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is host memory in it.
    pub(crate) fn has_copies(&self) -> bool {
        let mut states = self.0.iter();
        states.any(|state| matches!(state, State::Asleep(_)))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Table {
    objects: BTreeMap<u64, Object>,
    names: BTreeMap<String, u64>,
    guests: BTreeMap<u64, Arc<Connection>>,
    /// Garbage that threads have taken and not dropped yet: its memory still counts.
    leaving: usize,
    /// Guests whose threads hold memory that they are about to send, or have just sent.
    receiving: BTreeSet<u64>,
    last: u64,
}

impl Table {
    pub(crate) fn guests(&self) -> &BTreeMap<u64, Arc<Connection>> {
        &self.guests
    }

    pub(crate) fn add_guest(
        &mut self,
        guest: Arc<Connection>,
        most: usize,
    ) -> Result<u64, Refusal> {
        if self.guests.len() >= most {
            return Err(Refusal::Guests { most: most as u64 });
        }
        self.last += 1;
        self.guests.insert(self.last, guest);
        Ok(self.last)
    }

    /// Objects that have a name, by name.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Object> {
        self.names.values().filter_map(|id| self.objects.get(id))
    }

    pub(crate) fn id(&self, name: &str) -> Result<u64, Refusal> {
        self.names.get(name).copied().ok_or(Refusal::NotFound)
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Object> {
        self.objects.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Object> {
        self.objects.get_mut(&id)
    }

    /// A guest whose process has ended gets nothing, though a request of it is still there.
    pub(crate) fn check(&self, guest: u64) -> Result<(), Refusal> {
        if self.guests.contains_key(&guest) {
            Ok(())
        } else {
            Err(Refusal::Ended)
        }
    }

    fn leave(&mut self, states: Vec<State>) -> Garbage {
        self.leaving += states.len();
        Garbage(states)
    }

    /// So much garbage was dropped.
    pub(crate) fn has_left(&mut self, count: usize) {
        self.leaving = self.leaving.saturating_sub(count);
    }

    /// The guest's thread holds memory of an object, for the guest to be sent.
    pub(crate) fn begin_giving(&mut self, guest: u64) {
        self.receiving.insert(guest);
    }

    /// Its thread holds none any more.
    pub(crate) fn has_given(&mut self, guest: u64) {
        self.receiving.remove(&guest);
    }

    /// Whether threads hold memory for guests that have ended: made, sent to them, or about to be given back.
    pub(crate) fn is_behind(&self) -> bool {
        let mut receiving = self.receiving.iter();
        self.leaving > 0
            || receiving.any(|guest| !self.guests.contains_key(guest))
            || self.objects.values().any(|object| match object.state {
                State::Making { creator, .. } => !self.guests.contains_key(&creator),
                _ => false,
            })
    }

    /// A new object, whose memory its creator is about to have.
    pub(crate) fn insert(
        &mut self,
        creator: u64,
        object: New,
        most: usize,
    ) -> Result<u64, Refusal> {
        self.check(creator)?;
        if self.names.contains_key(&object.name) {
            return Err(Refusal::Exists);
        }
        if self.objects.len() >= most {
            return Err(Refusal::Objects { most: most as u64 });
        }
        self.last += 1;
        self.names.insert(object.name.clone(), self.last);
        let New {
            name,
            bytes,
            rights,
        } = object;
        let object = Object {
            name,
            bytes,
            rights,
            description: Vec::new(),
            state: State::Making {
                creator,
                again: false,
            },
            backup: None,
            holdings: BTreeMap::from([(
                creator,
                Holding {
                    mapped: 1,
                    sleeping: 0,
                },
            )]),
            removed: false,
        };
        self.objects.insert(self.last, object);
        Ok(self.last)
    }

    /// Gives up the host copies of objects that are awake.
    pub(crate) fn take_backups(&mut self) -> Vec<Arc<HostCopy>> {
        let objects = self.objects.values_mut();
        objects.filter_map(|object| object.backup.take()).collect()
    }

    /// Takes the name away. What guests have stays until they let it go.
    pub(crate) fn remove(&mut self, name: &str) -> Result<Garbage, Refusal> {
        let id = self.id(name)?;
        let Some(object) = self.objects.get_mut(&id) else {
            return Err(Refusal::NotFound);
        };
        if matches!(object.state, State::Making { .. } | State::Filling { .. }) {
            return Err(Refusal::Filling);
        }
        Ok(self.forget(id))
    }

    /// As [`remove`](Self::remove), of any object.
    fn forget(&mut self, id: u64) -> Garbage {
        if let Some(object) = self.objects.get_mut(&id)
            && !object.removed
        {
            object.removed = true;
            self.names.remove(&object.name);
        }
        self.settle(id)
    }

    /// A removed object that no guest has mapped, and no thread works on, is no more.
    pub(crate) fn settle(&mut self, id: u64) -> Garbage {
        let is_over = self.objects.get(&id).is_some_and(|object| {
            object.removed && object.mapped() == 0 && !object.state.is_passing()
        });
        if !is_over {
            return Garbage::default();
        }
        let mut states = Vec::new();
        if let Some(object) = self.objects.remove(&id) {
            states.push(object.state);
            states.extend(object.backup.map(State::Asleep));
        }
        self.leave(states)
    }

    /// The guest has one opening less.
    pub(crate) fn let_go(
        &mut self,
        guest: u64,
        id: u64,
        opening: Opening,
    ) -> Result<Garbage, Refusal> {
        if opening == Opening::Sleeping && !self.objects.contains_key(&id) {
            // It was removed, and ended without it.
            return Ok(Garbage::default());
        }
        let object = self.objects.get_mut(&id).ok_or(Refusal::NotHeld)?;
        let holding = object.holdings.get_mut(&guest).ok_or(Refusal::NotHeld)?;
        let count = match opening {
            Opening::Mapped => &mut holding.mapped,
            Opening::Sleeping => &mut holding.sleeping,
        };
        *count = count.checked_sub(1).ok_or(Refusal::NotHeld)?;
        if holding.is_empty() {
            object.holdings.remove(&guest);
        }
        Ok(self.unfilled(guest, id))
    }

    /// The guest has one opening that is mapped no more, and keeps its addresses.
    pub(crate) fn slept(&mut self, guest: u64, id: u64) -> Result<(), Refusal> {
        let object = self.objects.get_mut(&id).ok_or(Refusal::NotHeld)?;
        let holding = object.holdings.get_mut(&guest).ok_or(Refusal::NotHeld)?;
        let is_mapped = holding.mapped > 0 && !matches!(object.state, State::Filling { .. });
        if !is_mapped {
            return Err(Refusal::NotHeld);
        }
        holding.mapped -= 1;
        holding.sleeping += 1;
        Ok(())
    }

    /// What becomes of an object that this guest has let go: one that it did not seal is dropped, or lacks its
    /// bytes as before.
    fn unfilled(&mut self, guest: u64, id: u64) -> Garbage {
        let Some(object) = self.objects.get_mut(&id) else {
            return Garbage::default();
        };
        match object.state {
            State::Filling {
                creator,
                again: true,
                ..
            } if creator == guest
                && object
                    .holdings
                    .get(&guest)
                    .is_none_or(|holding| holding.mapped == 0) =>
            {
                let unfilled = std::mem::replace(&mut object.state, State::Discarded);
                let mut garbage = self.leave(vec![unfilled]);
                garbage.0.append(&mut self.settle(id).0);
                garbage
            }
            State::Filling {
                creator,
                again: false,
                ..
            } if creator == guest => self.forget(id),
            // What is made for it goes when it is there.
            State::Making { again: false, .. } => self.forget(id),
            _ => self.settle(id),
        }
    }

    /// No memory was made for the guest, or it has ended before that was there.
    pub(crate) fn unmade(
        &mut self,
        guest: u64,
        id: u64,
        again: bool,
        unused: Option<Pieces>,
    ) -> Garbage {
        let unused = unused.map(|memory| State::Awake(Arc::new(memory)));
        let mut garbage = self.leave(unused.into_iter().collect());
        if let Some(object) = self.objects.get_mut(&id) {
            object.state = State::Discarded;
            if let Some(holding) = object.holdings.get_mut(&guest) {
                holding.mapped = holding.mapped.saturating_sub(1);
                if holding.is_empty() {
                    object.holdings.remove(&guest);
                }
            }
        }
        let mut rest = if again {
            self.settle(id)
        } else {
            self.forget(id)
        };
        garbage.0.append(&mut rest.0);
        garbage
    }

    /// Whether the guest's process has memory of this keeper mapped, as far as it has said.
    pub(crate) fn has_mapped(&self, guest: u64) -> bool {
        let holdings = self
            .objects
            .values()
            .filter_map(|object| object.holdings.get(&guest));
        holdings.into_iter().any(|holding| holding.mapped > 0)
    }

    /// The guest is cut off: what it did not seal it never will, so others may have the names, or fill the objects
    /// again. Its process can write the memory as long as it is there, so that is no other's, and counts until then.
    pub(crate) fn cut_off(&mut self, guest: u64) -> Garbage {
        let unsealed = self
            .objects
            .iter()
            .filter_map(|(&id, object)| match object.state {
                State::Filling { creator, again, .. } if creator == guest => Some((id, again)),
                _ => None,
            });
        let unsealed: Vec<_> = unsealed.collect();
        let mut garbage = Garbage::default();
        for (id, again) in unsealed {
            let id = if again { self.split_off(id, guest) } else { id };
            garbage.0.append(&mut self.forget(id).0);
        }
        garbage
    }

    /// Has an object that the guest fills again discarded as before, and what the guest has of it in an object of its
    /// own, whose number is returned.
    fn split_off(&mut self, id: u64, guest: u64) -> u64 {
        let Some(object) = self.objects.get_mut(&id) else {
            return id;
        };
        let unsealed = std::mem::replace(&mut object.state, State::Discarded);
        let holding = object.holdings.get_mut(&guest);
        let mapped = holding.map_or(0, |holding| std::mem::take(&mut holding.mapped));
        if object.holdings.get(&guest).is_some_and(Holding::is_empty) {
            object.holdings.remove(&guest);
        }
        let holding = Holding {
            mapped,
            sleeping: 0,
        };
        let part = Object {
            name: object.name.clone(),
            bytes: object.bytes,
            rights: object.rights,
            description: Vec::new(),
            state: unsealed,
            backup: None,
            holdings: BTreeMap::from([(guest, holding)]),
            // The name stays the other's.
            removed: true,
        };
        self.last += 1;
        self.objects.insert(self.last, part);
        self.last
    }

    /// The guest has ended, and nothing is mapped there any more.
    pub(crate) fn end(&mut self, guest: u64) -> Garbage {
        self.guests.remove(&guest);
        let held = self
            .objects
            .iter_mut()
            .filter_map(|(&id, object)| object.holdings.remove(&guest).map(|_| id));
        let held: Vec<_> = held.collect();
        let mut garbage = Garbage::default();
        for id in held {
            garbage.0.append(&mut self.unfilled(guest, id).0);
        }
        garbage
    }
}

/// What a creator asks for.
#[derive(Debug)]
pub(crate) struct New {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) rights: Rights,
}
