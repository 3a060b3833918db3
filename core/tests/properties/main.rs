//! Properties, each against the plainest account of the same thing, and a run with
//! threads that checks the stores at full size (64 slots a group, which loom does not
//! see).
#![cfg(not(loom))]

mod boxes;
mod budget;
mod ensure;
mod handle;
mod ledger;
mod lru;
mod stage_ring;
mod stores;
mod threads;
mod tlsf;
