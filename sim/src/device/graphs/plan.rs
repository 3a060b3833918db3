//! What a launch of a graph does, step by step, and in which streams.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::device::graphs::condition::unfit;
use crate::device::graphs::graph::{Dag, Graph};
use crate::device::graphs::node::NodeKind;
use crate::device::strict::Map;
use crate::device::sync::lock;

/// Most streams of its own that an executable has for a context. More branches share them, in an
/// order that the graph permits.
const MOST_LANES: usize = 7;

/// One node of a graph that is launched. Steps are in an order that the graph permits.
#[derive(Clone, Debug)]
pub(in crate::device) struct Step {
    /// The node, or 0 where a child graph ends.
    pub(in crate::device) node: u64,
    pub(in crate::device) kind: NodeKind,
    /// The blocks of allocators when it was captured, if there were any.
    pub(in crate::device) blocks: Option<Arc<Map>>,
    /// How many of the next steps are of its child graph, or of its bodies.
    pub(super) inner: usize,
    /// Of a conditional node: how many of them are of each body.
    pub(super) bodies: Vec<usize>,
    /// Steps that come first, which are earlier ones.
    pub(in crate::device) before: Vec<usize>,
    /// By number: 0 is the stream of the launch, if that is of the right context.
    pub(super) lane: usize,
    /// Steps in other lanes that are waited for.
    pub(super) waits: Vec<usize>,
    /// Another lane waits for it.
    pub(super) records: bool,
    /// Whether it does anything.
    pub(in crate::device) enabled: bool,
}

/// Nodes come after each other in a circle, or a body has one that it must not have; one of them.
#[derive(Clone, Copy, Debug)]
pub(in crate::device) struct BadGraph(pub(in crate::device) u64);

/// The steps of a graph, with those of its child graphs, and the context of each lane.
pub(super) fn plan(graph: &Graph) -> Result<(Vec<Step>, Vec<Option<u64>>), BadGraph> {
    let mut steps = Vec::new();
    flatten(graph, &[], &mut steps)?;
    let lanes = assign(&mut steps);
    Ok((steps, lanes))
}

/// The steps of a graph alone, as they come after the `first` steps of another plan.
pub(super) fn steps(graph: &Graph, first: Vec<Step>) -> Result<Vec<Step>, BadGraph> {
    let mut steps = first;
    let before: Vec<_> = steps.len().checked_sub(1).into_iter().collect();
    flatten(graph, &before, &mut steps)?;
    Ok(steps)
}

/// Adds the steps of a graph that come after some others; gives those that nothing comes after.
fn flatten(graph: &Graph, first: &[usize], steps: &mut Vec<Step>) -> Result<Vec<usize>, BadGraph> {
    let dag = lock(&graph.dag);
    let order = sort(&dag)?;
    let mut ends: HashMap<u64, usize> = HashMap::new();
    let mut leaves = Vec::new();
    for handle in order {
        let Ok(node) = dag.node(handle) else { continue };
        let mut before: Vec<_> = node
            .before
            .iter()
            .filter_map(|from| ends.get(from))
            .copied()
            .collect();
        if before.is_empty() {
            before = first.to_vec();
        }
        let step = |node, kind, before| Step {
            node,
            kind,
            blocks: None,
            inner: 0,
            bodies: Vec::new(),
            before,
            lane: 0,
            waits: Vec::new(),
            records: false,
            enabled: true,
        };
        let mut end = steps.len();
        steps.push(Step {
            blocks: node.blocks.clone(),
            ..step(handle, node.kind.clone(), before)
        });
        if let NodeKind::Child(child) = &node.kind {
            let begin = end;
            let before = flatten(child, &[begin], steps)?;
            steps[begin].inner = steps.len() - begin - 1;
            // An empty child ends where it begins.
            if before != [begin] {
                end = steps.len();
                steps.push(step(0, NodeKind::Empty, before));
            }
        }
        for body in match &node.kind {
            NodeKind::Conditional(node) => &node.bodies[..],
            _ => &[],
        } {
            let first = steps.len();
            if let Some(node) = unfit(body) {
                return Err(BadGraph(node));
            }
            flatten(body, &[end], steps)?;
            let (len, step) = (steps.len(), &mut steps[end]);
            step.bodies.push(len - first);
            step.inner = len - end - 1;
        }
        ends.insert(handle, end);
        if node.after.is_empty() {
            leaves.push(end);
        }
    }
    Ok(match leaves.is_empty() {
        true => first.to_vec(),
        false => leaves,
    })
}

/// The nodes in an order that the edges permit; otherwise in that of their making.
fn sort(dag: &Dag) -> Result<Vec<u64>, BadGraph> {
    let mut open: HashMap<_, _> = dag
        .nodes()
        .map(|(handle, node)| (handle, node.before.len()))
        .collect();
    let ready = |(handle, count): (&u64, &usize)| (*count == 0).then_some(*handle);
    let mut ready: BTreeSet<_> = open.iter().filter_map(ready).collect();
    let mut order = Vec::with_capacity(open.len());
    while let Some(handle) = ready.pop_first() {
        open.remove(&handle);
        order.push(handle);
        let after = dag.node(handle).map_or(&[][..], |node| &node.after);
        for to in after {
            if let Some(count) = open.get_mut(to) {
                *count -= 1;
                if *count == 0 {
                    ready.insert(*to);
                }
            }
        }
    }
    match open.keys().min() {
        Some(left) => Err(BadGraph(*left)),
        None => Ok(order),
    }
}

/// Gives each step a lane: that of a step before it which nothing has followed yet, or another.
fn assign(steps: &mut [Step]) -> Vec<Option<u64>> {
    let main = steps.iter().find_map(|step| step.kind.context());
    let mut lanes = vec![main];
    let mut tails: Vec<Option<usize>> = vec![None];
    let mut next = 0;
    while next < steps.len() {
        let index = next;
        // What a conditional node runs is in the lane of the node, and no lane's own.
        next += 1 + steps[index].bodies.iter().sum::<usize>();
        let context = steps[index].kind.context().or(main);
        let fits = |lane: &usize| lanes[*lane] == context;
        let before = steps[index].before.iter();
        let free = before.map(|from| (steps[*from].lane, *from));
        let free = free.filter(|(lane, from)| tails[*lane] == Some(*from));
        let follow = free.map(|(lane, _)| lane).filter(fits).min();
        let unused = (0..lanes.len())
            .filter(fits)
            .find(|lane| tails[*lane].is_none());
        let own = (1..lanes.len()).filter(fits);
        // The one whose last step is the earliest.
        let shared = own.clone().min_by_key(|lane| tails[*lane]);
        let shared = shared.filter(|_| own.count() >= MOST_LANES);
        let lane = follow.or(unused).or(shared).unwrap_or_else(|| {
            lanes.push(context);
            tails.push(None);
            lanes.len() - 1
        });
        let others = steps[index].before.iter().copied();
        let waits: Vec<_> = others.filter(|from| steps[*from].lane != lane).collect();
        waits.iter().for_each(|from| steps[*from].records = true);
        let step = &mut steps[index];
        (step.lane, step.waits) = (lane, waits);
        tails[lane] = Some(index);
    }
    // The launch ends when every lane has ended.
    for tail in tails.into_iter().skip(1).flatten() {
        steps[tail].records = true;
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(before: &[usize]) -> Step {
        Step {
            node: 1,
            kind: NodeKind::Empty,
            blocks: None,
            inner: 0,
            bodies: Vec::new(),
            before: before.to_vec(),
            lane: 0,
            waits: Vec::new(),
            records: false,
            enabled: true,
        }
    }

    /// Without it, a straight graph could need more than the stream of its launch, or a wide one
    /// as many threads as it has nodes.
    #[test]
    fn a_chain_has_one_lane_and_many_branches_share_a_few() {
        let mut chain: Vec<_> = (0..50usize)
            .map(|index| step(&index.checked_sub(1).into_iter().collect::<Vec<_>>()))
            .collect();
        assert_eq!(assign(&mut chain).len(), 1);
        assert!(
            chain
                .iter()
                .all(|step| step.waits.is_empty() && !step.records)
        );

        let mut wide: Vec<_> = (0..50)
            .map(|index| step(if index == 0 { &[] } else { &[0] }))
            .collect();
        let all: Vec<_> = (0..50).collect();
        wide.push(step(&all));
        assert_eq!(assign(&mut wide).len(), MOST_LANES + 1);
        for (index, step) in wide.iter().enumerate() {
            for from in &step.before {
                let lane = wide[*from].lane;
                assert!(
                    lane == step.lane || step.waits.contains(from),
                    "{index}: {from}"
                );
                assert!(lane == step.lane || wide[*from].records);
            }
        }
    }
}
