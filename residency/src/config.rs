//! What a residency and its slots are made with.

use std::time::Duration;

use cupola_managers::pool::DeviceLimit;

use crate::policy::{Adaptive, EvictionPolicy};

/// What a [`Residency`](crate::Residency) is made with.
#[derive(Debug)]
pub struct ResidencyConfig {
    /// The limit of device memory: the memory of slots, mapped or kept for the next one, is charged to it
    /// before the driver is asked for it. [Pools](cupola_managers::PoolConfig::within) may share it.
    pub limit: DeviceLimit,
    /// How many slots there may be. 13 unless it is set.
    pub slots: usize,
    /// Bytes of pinned host memory that host copies and staging memory may take, each in whole pages of up to 2
    /// MiB. No limit unless it is set.
    pub host_limit: u64,
    /// Bytes of the pieces in which slots get memory and give it up: a power of two times the device's
    /// granularity of 2 MiB. 128 MiB unless it is set: mapping, giving access to and unmapping a piece take the
    /// driver 40 to 90 us whatever its size, which on some machines the copy of weights waits for; and a slot gives up
    /// half a piece more than is lacking. A smaller slot is cut into powers of two of pages.
    pub piece: u64,
    /// Bytes that are mapped at once, at most: a multiple of [`piece`](Self::piece). While one chunk is copied
    /// the next is mapped. 256 MiB unless it is set.
    pub chunk: u64,
    /// How long a request waits for memory at most: for leases of other slots to end, for requests that came
    /// before, and for work on the device that uses a slot which must give memory up. 10 s unless it is set.
    pub wait: Duration,
    /// How many leases of slots that are there may pass the request that waits first. Those that come then wait
    /// behind it: leases that overlap would keep the memory that it waits for otherwise. 64 unless it is set.
    pub passes: u32,
    /// How many of the requests that are [announced](crate::Residency::announce) next are
    /// [loaded ahead](crate::Residency::load_ahead). 4 unless it is set; 0: none.
    pub load_ahead: usize,
    /// How long the slot that the policy would take is waited for before another one is taken that no work
    /// uses, for each GiB that is lacking. 20 ms unless it is set, as long as loading the GiB takes: to take
    /// another slot costs that time again when it is used.
    pub patience: Duration,
    /// Which slots give memory up first. [`Adaptive`] unless it is set.
    pub policy: Box<dyn EvictionPolicy>,
}

impl ResidencyConfig {
    /// With a limit of `bytes` of device memory of its own.
    #[must_use]
    pub fn limit(bytes: u64) -> Self {
        Self::within(&DeviceLimit::new(bytes))
    }

    /// With a limit that others share.
    #[must_use]
    pub fn within(limit: &DeviceLimit) -> Self {
        Self {
            limit: limit.clone(),
            slots: 13,
            host_limit: u64::MAX,
            piece: 128 << 20,
            chunk: 256 << 20,
            wait: Duration::from_secs(10),
            passes: 64,
            load_ahead: 4,
            patience: Duration::from_millis(20),
            policy: Box::new(Adaptive::default()),
        }
    }

    /// The same with another policy.
    #[must_use]
    pub fn policy(self, policy: impl EvictionPolicy + 'static) -> Self {
        Self {
            policy: Box::new(policy),
            ..self
        }
    }
}

/// What a slot is registered with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotConfig {
    /// Its name, for errors and figures.
    pub name: String,
    /// Slots of a lower priority give memory up first. 0 unless it is set.
    pub priority: u8,
    /// Whether it gives no memory up. It may, unless this is set.
    pub pinned: bool,
    /// Whether its bytes are kept in pinned host memory too, from which they are loaded again at the
    /// full speed of the bus. They are, unless this is set to false: then the loader is asked each time.
    pub host_copy: bool,
}

impl SlotConfig {
    /// A slot of this name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            priority: 0,
            pinned: false,
            host_copy: true,
        }
    }

    /// The same with another priority.
    #[must_use]
    pub fn priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    /// The same, pinned.
    #[must_use]
    pub fn pinned(self) -> Self {
        Self {
            pinned: true,
            ..self
        }
    }

    /// The same without a copy in host memory.
    #[must_use]
    pub fn without_host_copy(self) -> Self {
        Self {
            host_copy: false,
            ..self
        }
    }
}
