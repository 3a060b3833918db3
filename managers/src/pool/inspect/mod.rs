//! Views of a pool: figures, history, layout, and the hooks of a driver that checks programs.

pub(crate) mod counters;
pub(crate) mod gauges;
pub mod history;
pub mod layout;
pub(crate) mod observer;
pub(crate) mod peak;
pub(crate) mod recorder;
pub(crate) mod region_hooks;
pub(crate) mod usage;
