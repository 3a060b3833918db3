//! `Object`: what a keeper knows of one object.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::memory::{HostCopy, Pieces};
use crate::protocol::{ObjectState, Rights};

/// Where the bytes of an object are.
#[derive(Debug)]
pub(crate) enum State {
    /// A thread of the keeper makes memory for its creator, again where it was discarded.
    Making {
        creator: u64,
        again: bool,
    },
    /// Its creator has it mapped, and no other guest. One that is filled again was discarded.
    Filling {
        creator: u64,
        again: bool,
        memory: Arc<Pieces>,
    },
    Awake(Arc<Pieces>),
    /// Guests that have it mapped were asked to let it go.
    FallingAsleep(Arc<Pieces>),
    /// A thread of the keeper copies it down or up, and has what there is of it.
    Moving,
    Asleep(Arc<HostCopy>),
    Discarded,
}

impl State {
    /// Whether a thread of the keeper has it, and will put another one here.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Making { .. } | Self::FallingAsleep(_) | Self::Moving
        )
    }
}

/// What one guest has of one object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Holding {
    /// Openings that are mapped.
    pub(crate) mapped: u32,
    /// Openings whose memory was let go, and whose addresses were not.
    pub(crate) sleeping: u32,
}

impl Holding {
    pub(crate) fn is_empty(&self) -> bool {
        self.mapped == 0 && self.sleeping == 0
    }
}

#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) rights: Rights,
    pub(crate) description: Vec<u8>,
    pub(crate) state: State,
    /// The bytes of one that is awake, and that no guest may write, from when it slept last.
    pub(crate) backup: Option<Arc<HostCopy>>,
    /// By guest.
    pub(crate) holdings: BTreeMap<u64, Holding>,
    /// Its name is free, and no guest gets it any more.
    pub(crate) removed: bool,
}

impl Object {
    pub(crate) fn mapped(&self) -> u32 {
        self.holdings.values().map(|holding| holding.mapped).sum()
    }

    /// The host copy of one that was read only and will sleep again.
    pub(crate) fn keep_backup(&mut self, copy: Arc<HostCopy>) {
        if self.rights == Rights::Read {
            self.backup = Some(copy);
        }
    }

    pub(crate) fn public_state(&self) -> ObjectState {
        match self.state {
            State::Making { .. } | State::Filling { .. } => ObjectState::Filling,
            State::Awake(_) | State::FallingAsleep(_) => ObjectState::Awake,
            State::Moving | State::Asleep(_) => ObjectState::Asleep,
            State::Discarded => ObjectState::Discarded,
        }
    }
}
