//! Machines as their driver's functions show them: contexts, streams, versions, logs.

#[path = "../support/mod.rs"]
mod support;

mod calls;
mod context_faults;
mod contexts;
mod copy_engines;
mod driver;
mod events;
mod green;
mod host_functions;
mod logs;
mod machines;
mod profiles;
mod streams;
mod tensor_maps;
