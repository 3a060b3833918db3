//! Graphs: nodes with the order between them, and what becomes of them when they are launched.
//!
//! A launch is expanded into ordinary operations of streams, so that order, schedules, delays,
//! faults and strict mode know nothing of graphs: a chain runs in the stream of the launch, other
//! branches in streams of the executable's own, and an edge between two streams is a record and a
//! wait. Conditional nodes put their work into the stream when it gets there.

mod capture;
mod condition;
mod exec;
mod graph;
mod launch;
mod memory;
mod node;
mod picture;
mod plan;
mod registry;
mod update;
mod user_object;

pub(super) use capture::{Capture, CaptureSlot, GLOBAL, RELAXED};
pub(super) use condition::{Choice, Condition, ConditionalNode};
pub(super) use exec::Exec;
pub(super) use graph::{Graph, Owner};
pub(super) use launch::launch;
pub(super) use node::{CopyNode, FillNode, HostNode, KernelNode, NodeKind, ValuesNode};
pub(super) use picture::picture;
pub(super) use plan::BadGraph;
pub(super) use registry::Graphs;
pub(super) use update::Unlike;
pub(super) use user_object::UserObject;
