//! How a request is served, and how a block is freed: the rooms of components, composed.

pub(crate) mod allocate;
pub(crate) mod arenas;
mod caches;
pub(crate) mod free;
pub(crate) mod free_behind;
pub(crate) mod hopeless;
pub(crate) mod neighbours;
pub(crate) mod patience;
pub(crate) mod poll;
pub(crate) mod progress;
pub(crate) mod reclaim_step;
pub(crate) mod slow_path;
pub(crate) mod wait;
