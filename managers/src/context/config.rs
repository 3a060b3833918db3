//! How contexts, and the managers in them, are set up.

use crate::buffer::BuffersConfig;
use crate::error::Result;
use crate::event::EventsConfig;
use crate::limits::check_capacity;
use crate::module::ModulesConfig;
use crate::peer::PeerCheck;
use crate::stream::StreamsConfig;

/// How a [`ContextManager`](super::ContextManager) is set up, and the managers of each
/// context that it makes from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextsConfig {
    /// The most contexts of a device that may exist at a time.
    pub capacity: usize,
    /// The streams of each context.
    pub streams: StreamsConfig,
    /// The events of each context.
    pub events: EventsConfig,
    /// The modules of each context.
    pub modules: ModulesConfig,
    /// The buffers of each context.
    pub buffers: BuffersConfig,
    /// Whether contexts start in [checked mode](super::Context::set_checked).
    pub checked: bool,
    /// Whether the way to another device is checked before it is used.
    pub peers: PeerCheck,
}

impl ContextsConfig {
    /// Refuses a value that cannot be, naming the field.
    pub(crate) fn check(self) -> Result<Self> {
        check_capacity("contexts.capacity", self.capacity)?;
        check_capacity("contexts.streams.capacity", self.streams.capacity)?;
        check_capacity("contexts.events.capacity", self.events.capacity)?;
        check_capacity("contexts.modules.capacity", self.modules.capacity)?;
        check_capacity("contexts.modules.functions", self.modules.functions)?;
        check_capacity("contexts.buffers.capacity", self.buffers.capacity)?;
        Ok(self)
    }
}

impl Default for ContextsConfig {
    fn default() -> Self {
        Self {
            capacity: StreamsConfig::MOST,
            streams: StreamsConfig::default(),
            events: EventsConfig::default(),
            modules: ModulesConfig::default(),
            buffers: BuffersConfig::default(),
            checked: false,
            peers: PeerCheck::default(),
        }
    }
}
