//! Graphs that were instantiated.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::contexts::context::Context;
use crate::device::graphs::graph::Graph;
use crate::device::graphs::plan::{BadGraph, Step, plan};
use crate::device::graphs::user_object::UserObject;
use crate::device::streams::event::Record;
use crate::device::streams::stream::Stream;
use crate::device::strict::Origin;
use crate::device::sync::lock;

/// The stream of some branches: the executable's own, unless it is the stream of the launch.
#[derive(Debug)]
pub(super) struct Lane {
    /// Of all its steps, if they are of a certain one.
    pub(super) context: Option<u64>,
    /// Made at the first launch that needs it.
    pub(super) stream: Option<(Arc<Context>, Arc<Stream>)>,
}

/// What launches and updates change.
#[derive(Debug)]
pub(in crate::device) struct State {
    pub(super) steps: Vec<Step>,
    /// The step of each node.
    pub(super) index: HashMap<u64, usize>,
    pub(super) lanes: Vec<Lane>,
    /// Where the last launch ended.
    pub(super) last: Option<Arc<Record>>,
}

impl State {
    pub(in crate::device) fn step(&mut self, node: u64) -> Reply<&mut Step> {
        let index = self.index.get(&node).copied();
        let step = index.and_then(|index| self.steps.get_mut(index));
        step.ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)
    }
}

/// What a `CUgraphExec` names: independent of the graph that it was made from.
#[derive(Debug)]
pub(in crate::device) struct Exec {
    pub(in crate::device) handle: u64,
    pub(in crate::device) flags: u64,
    pub(in crate::device) made: Origin,
    /// What it keeps alive, until its last launch has ended.
    pub(in crate::device) objects: Vec<Arc<UserObject>>,
    /// Locked over a launch: two threads' launches do not mix.
    pub(in crate::device) state: Mutex<State>,
}

impl Exec {
    /// # Errors
    /// The graph has a circle.
    pub(in crate::device) fn plan(graph: &Graph) -> Result<State, BadGraph> {
        let (steps, lanes) = plan(graph)?;
        let nodes = steps.iter().enumerate();
        let index = nodes.map(|(index, step)| (step.node, index)).collect();
        let lane = |context| Lane {
            context,
            stream: None,
        };
        Ok(State {
            steps,
            index,
            lanes: lanes.into_iter().map(lane).collect(),
            last: None,
        })
    }

    /// Ends its streams after their work.
    pub(in crate::device) fn close(&self) {
        for lane in &lock(&self.state).lanes {
            if let Some((context, _)) = &lane.stream {
                context.remove_lanes(self.handle);
            }
        }
    }
}
