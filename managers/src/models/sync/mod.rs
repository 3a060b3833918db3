//! Locks, gates and counts, each alone.

mod biased_lock;
mod event_count;
mod lazy_box;
mod rundown;
mod shutdown_gate;
mod spin_lock;
mod thread_exit;
