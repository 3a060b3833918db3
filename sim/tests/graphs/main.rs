//! Graphs, as a program uses them: what they compute is what the same calls compute in a stream.

#[path = "../support/mod.rs"]
mod support;

mod build;
mod capture;
mod capture_rules;
mod conditional;
mod edges;
mod launch;
mod memory;
mod nodes;
mod objects;
mod raw;
mod update;
