//! Machines as their driver's functions show them: contexts, streams, versions, logs.

#[path = "../support/mod.rs"]
mod support;

mod contexts;
mod driver;
mod green;
mod logs;
mod streams;
