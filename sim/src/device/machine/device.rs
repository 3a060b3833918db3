//! A device of a machine, and what its contexts share.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex};

use crate::device::calls::args::Reply;
use crate::device::contexts::context::Context;
use crate::device::graphs::Graphs;
use crate::device::machine::config::DeviceConfig;
use crate::device::machine::messages::{Messages, Output};
use crate::device::memory::{Account, PoolLimits, Space};
use crate::device::operations::engine::Engines;
use crate::device::operations::op::MachineId;
use crate::device::schedule::Schedule;
use crate::device::strict::Monitor;

/// What all devices of a machine have in common.
pub(super) struct Shared {
    pub(super) workers: usize,
    pub(super) space: Arc<Space>,
    pub(super) messages: Arc<Messages>,
    pub(super) strict: Arc<Monitor>,
    pub(super) output: Output,
    pub(super) machine: MachineId,
    pub(super) schedule: Option<Arc<Schedule>>,
    pub(super) graphs: Arc<Graphs>,
    /// Ordinals of devices between which copies lose bytes, from the first to the second.
    pub(super) corrupt: Arc<BTreeSet<(usize, usize)>>,
}

/// A device and what its contexts share.
#[derive(Debug)]
pub(in crate::device) struct Device {
    pub(in crate::device) ordinal: usize,
    /// Among all devices, also those that the process does not see.
    pub(in crate::device) number: usize,
    pub(in crate::device) config: DeviceConfig,
    pub(in crate::device) workers: usize,
    pub(in crate::device) engines: Engines,
    pub(in crate::device) account: Account,
    pub(in crate::device) space: Arc<Space>,
    pub(in crate::device) messages: Arc<Messages>,
    pub(in crate::device) strict: Arc<Monitor>,
    pub(in crate::device) output: Output,
    pub(in crate::device) machine: MachineId,
    /// Decides what runs next, unless streams have threads.
    pub(in crate::device) schedule: Option<Arc<Schedule>>,
    pub(in crate::device) graphs: Arc<Graphs>,
    /// Ordinals of devices between which copies lose bytes, from the first to the second.
    pub(in crate::device) corrupt: Arc<BTreeSet<(usize, usize)>>,
    /// The same for every life of the primary context.
    pub(in crate::device) primary_handle: u64,
    pub(in crate::device) primary: Mutex<Primary>,
    /// How often the primary context is retained. Changes under the slot's lock; apart from it
    /// so that [`Usage`](super::usage::Usage) can be asked while the slot waits for a stream's
    /// work.
    pub(in crate::device) retained: AtomicU32,
    /// How many green contexts hold the primary context, likewise.
    pub(in crate::device) greens: AtomicU32,
    /// Handle of the pool that cannot be destroyed.
    pub(in crate::device) default_pool: u64,
    /// Handle of the pool that `cuMemAllocAsync` takes.
    pub(in crate::device) current_pool: AtomicU64,
}

/// A device's primary context.
#[derive(Debug, Default)]
pub(in crate::device) struct Primary {
    pub(in crate::device) flags: u32,
    pub(in crate::device) context: Option<Arc<Context>>,
}

impl Device {
    /// Charges page-locked memory, of a device that has the host's memory.
    ///
    /// # Errors
    /// There is no room.
    pub(in crate::device) fn charge_host(&self, bytes: u64) -> Reply {
        match self.config.kind().is_integrated() {
            true => self.account.take(bytes),
            false => Ok(()),
        }
    }

    /// Ends such a charge.
    pub(in crate::device) fn settle_host(&self, bytes: u64) {
        if self.config.kind().is_integrated() {
            self.account.give(None, bytes);
        }
    }

    /// `handles` are those of the primary context and of the default pool.
    pub(super) fn new(
        ordinal: usize,
        config: DeviceConfig,
        shared: &Shared,
        handles: (u64, u64),
    ) -> Self {
        let (primary, pool) = handles;
        let account = Account::new(config.memory);
        account.add_pool(
            pool,
            PoolLimits {
                reuse: [1; 3],
                ..PoolLimits::default()
            },
        );
        Self {
            ordinal,
            number: config.number.unwrap_or(ordinal),
            engines: Engines::new(&config, shared.schedule.is_none()),
            config,
            workers: shared.workers,
            account,
            space: Arc::clone(&shared.space),
            messages: Arc::clone(&shared.messages),
            strict: Arc::clone(&shared.strict),
            output: shared.output.clone(),
            machine: shared.machine,
            schedule: shared.schedule.clone(),
            graphs: Arc::clone(&shared.graphs),
            corrupt: Arc::clone(&shared.corrupt),
            primary_handle: primary,
            primary: Mutex::default(),
            retained: AtomicU32::new(0),
            greens: AtomicU32::new(0),
            default_pool: pool,
            current_pool: AtomicU64::new(pool),
        }
    }
}
