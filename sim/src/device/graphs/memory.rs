//! The memory of graphs: what a launch allocates and frees.

use std::collections::HashMap;
use std::sync::Arc;

use cupola_sys::driver::{CUgraphInstantiate_flags, CUresult};

use crate::device::calls::args::Reply;
use crate::device::calls::call::Call;
use crate::device::graphs::exec::Exec;
use crate::device::graphs::graph::{Dag, Graph};
use crate::device::graphs::node::NodeKind;
use crate::device::graphs::plan::Step;
use crate::device::memory::{Block, Seat, settle};
use crate::device::operations::op::Op;
use crate::device::sync::lock;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

impl Dag {
    /// Whether a node allocates or frees memory: then nothing may be taken out of the graph, nor
    /// the graph copied.
    pub(in crate::device) fn has_memory(&self) -> bool {
        self.nodes().any(|(_, node)| node.kind.is_memory())
    }

    /// Whether a node may free what is at an address: a graph's allocation that no node of this
    /// graph frees.
    pub(in crate::device) fn check_free(&self, call: &Call<'_>, address: u64) -> Reply {
        let freed = |kind: &NodeKind| matches!(kind, NodeKind::Free(other) if *other == address);
        let seat = call.machine.space.seat(address);
        match seat.is_some() && !self.nodes().any(|(_, node)| freed(&node.kind)) {
            true => Ok(()),
            false => Err(INVALID),
        }
    }
}

impl Graph {
    pub(in crate::device) fn has_memory(&self) -> bool {
        lock(&self.dag).has_memory()
    }
}

/// What a launch does with memory: what it frees first, and the operation of each step that is one
/// of memory.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) first: Vec<Op>,
    pub(super) steps: HashMap<usize, Op>,
}

/// Settles the accounts for a launch's allocations and frees, as calls would. Those of a launch that
/// is refused are as before.
///
/// # Errors
/// Memory of the last launch is there still, or what is to be freed is not; or there is no room.
pub(super) fn plan(call: &Call<'_>, exec: &Exec, steps: &[Step]) -> Reply<Plan> {
    let mut plan = Plan::default();
    if !steps.iter().any(|step| step.kind.is_memory()) {
        return Ok(plan);
    }
    let left = check(call, exec, steps)?;
    let device = |block: &Block| &call.machine.devices[block.device];
    let mut made: Vec<(&Seat, Arc<Block>)> = Vec::new();
    let undo = |made: &[(&Seat, Arc<Block>)], code| {
        for (_, block) in made {
            settle(device(block), block);
        }
        code
    };
    for (index, step) in steps.iter().enumerate() {
        if let NodeKind::Alloc(seat) = &step.kind {
            let account = &call.machine.devices[seat.device].account;
            let bytes = seat.extent();
            account
                .take_graph(bytes)
                .map_err(|code| undo(&made, code))?;
            let block = call.machine.space.occupy(seat);
            let block = block.map_err(|code| {
                account.give_graph(bytes);
                undo(&made, code)
            })?;
            plan.steps.insert(index, Op::Alloc(Arc::clone(&block)));
            made.push((seat, block));
        }
    }
    made.iter().for_each(|(seat, block)| seat.set_live(block));
    for block in left.iter().filter(|block| block.doom()) {
        settle(device(block), block);
        plan.first.push(Op::Free(Arc::clone(block)));
    }
    for (index, step) in steps.iter().enumerate() {
        if let NodeKind::Free(address) = step.kind {
            let seat = call.machine.space.seat(address);
            // Another thread may have freed it meanwhile: then nothing is left to do.
            let block = seat
                .and_then(|seat| seat.live())
                .filter(|block| block.doom());
            if let Some(block) = block {
                settle(device(&block), &block);
                plan.steps.insert(index, Op::Free(block));
            }
        }
    }
    Ok(plan)
}

/// Looks at all steps without doing anything; gives what the launch before has left, for an
/// executable that frees it.
fn check(call: &Call<'_>, exec: &Exec, steps: &[Step]) -> Reply<Vec<Arc<Block>>> {
    let auto = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let frees = exec.flags & u64::from(auto.0) != 0;
    let mut left = Vec::new();
    let mut own: HashMap<u64, bool> = HashMap::new();
    for step in steps {
        match &step.kind {
            NodeKind::Alloc(seat) => {
                if let Some(block) = seat.live() {
                    if !frees {
                        return Err(INVALID);
                    }
                    left.push(block);
                }
                own.insert(seat.address, true);
            }
            NodeKind::Free(address) => {
                let there = || {
                    let seat = call.machine.space.seat(*address);
                    seat.is_some_and(|seat| seat.live().is_some())
                };
                let live = own.get(address).copied().unwrap_or_else(there);
                if !live {
                    return Err(INVALID);
                }
                own.insert(*address, false);
            }
            _ => {}
        }
    }
    Ok(left)
}
