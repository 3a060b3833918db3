//! Launches: a graph's steps as operations of streams.

use std::sync::Arc;

use cupola_sys::driver::CUgraphInstantiate_flags;

use crate::device::api::check_fill;
use crate::device::calls::args::Reply;
use crate::device::calls::call::Call;
use crate::device::contexts::context::Context;
use crate::device::graphs::condition::Condition;
use crate::device::graphs::exec::{Exec, Lane, State};
use crate::device::graphs::memory;
use crate::device::graphs::node::NodeKind;
use crate::device::graphs::plan::Step;
use crate::device::machine::OwnedStream;
use crate::device::operations::branch::{Branch, Task};
use crate::device::operations::op::Op;
use crate::device::streams::event::{Event, Record};
use crate::device::strict::with_captured;
use crate::device::sync::lock;

/// What a step puts into its stream.
enum Work {
    Nothing,
    Ops(Vec<Op>),
    /// A new record of the event.
    Record(Arc<Event>),
    /// The latest record of the event then.
    Wait(Arc<Event>),
}

/// Queues the work of a graph. Everything is looked at before any of it is queued: a launch that
/// is refused has done nothing.
pub(in crate::device) fn launch(call: &Call<'_>, exec: &Exec, target: &OwnedStream) -> Reply {
    let mut state = lock(&exec.state);
    let state = &mut *state;
    let works = state.steps.iter();
    let works = works.map(|step| prepare(call, exec, step, &target.0));
    let works: Vec<_> = works.collect::<Reply<_>>()?;
    let streams = lanes(call, exec, &mut state.lanes, target)?;
    // Last of all that can be refused, because it settles accounts.
    let memory = memory::plan(call, exec, &state.steps)?;
    let mut works = works;
    for (index, op) in memory.steps {
        works[index] = Work::Ops(vec![op]);
    }
    submit(state, (memory.first, works), &streams, target)?;
    match exec.objects.is_empty() {
        true => Ok(()),
        false => target
            .0
            .enqueue(&target.1, Op::Release(exec.objects.clone())),
    }
}

/// Finds what a step needs. Its operation does not depend on those before it.
fn prepare(call: &Call<'_>, exec: &Exec, step: &Step, launched: &Arc<Context>) -> Reply<Work> {
    let context = || match step.kind.context() {
        Some(handle) if handle == launched.handle => Ok(Arc::clone(launched)),
        Some(handle) => call.context_or_current(handle),
        None => Ok(Arc::clone(launched)),
    };
    let context = context()?;
    if !step.enabled {
        return Ok(Work::Nothing);
    }
    let op = match &step.kind {
        // A conditional node's work is what its graphs' steps are.
        NodeKind::Empty
        | NodeKind::Child(_)
        | NodeKind::Alloc(_)
        | NodeKind::Free(_)
        | NodeKind::Conditional(_) => return Ok(Work::Nothing),
        NodeKind::Kernel(node) => {
            // A function whose module is gone is none.
            call.machine.modules.function(node.launch.function.handle)?;
            let mut launch = node.launch.clone();
            let own = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
            if exec.flags & u64::from(own.0) == 0 {
                launch.priority = None;
            }
            Op::Launch(Box::new(launch))
        }
        NodeKind::Copy(node) => match node.plan {
            Some(plan) => Op::Copy(Box::new(plan.transfer(call, &context)?)),
            None => return Ok(Work::Nothing),
        },
        NodeKind::Fill(node) => match &node.fill {
            Some(fill) => {
                check_fill(call, &context, fill)?;
                Op::Fill(fill.clone())
            }
            None => return Ok(Work::Nothing),
        },
        NodeKind::Host(node) => Op::Host(node.function, node.data),
        NodeKind::Record(event) => return Ok(Work::Record(call.machine.event(*event)?)),
        NodeKind::Wait(event) => {
            let event = call.machine.event(*event)?;
            event.check_uncaptured()?;
            return Ok(Work::Wait(event));
        }
        NodeKind::Values(node) => {
            let ops = node.steps.iter().map(|step| Op::Value(*step));
            return Ok(Work::Ops(ops.collect()));
        }
    };
    Ok(Work::Ops(vec![op]))
}

/// The stream of each lane; makes those that are not there yet.
fn lanes(
    call: &Call<'_>,
    exec: &Exec,
    lanes: &mut [Lane],
    target: &OwnedStream,
) -> Reply<Vec<OwnedStream>> {
    let mut streams = Vec::with_capacity(lanes.len());
    for (index, lane) in lanes.iter_mut().enumerate() {
        let wanted = lane.context.unwrap_or(target.0.handle);
        if index == 0 && wanted == target.0.handle {
            streams.push(target.clone());
            continue;
        }
        let kept = lane.stream.clone();
        // One without a context of its own takes that of the launch.
        let kept = kept.filter(|(context, _)| context.handle == wanted && !context.is_closed());
        let (context, stream) = match kept {
            Some(kept) => kept,
            None => {
                let context = match wanted == target.0.handle {
                    true => Arc::clone(&target.0),
                    false => call.context_or_current(wanted)?,
                };
                let stream = context.add_lane(exec.handle, call.machine.new_ids())?;
                lane.stream.insert((context, stream)).clone()
            }
        };
        stream.set_priority(target.1.priority());
        streams.push((context, stream));
    }
    Ok(streams)
}

fn submit(
    state: &mut State,
    (first, works): (Vec<Op>, Vec<Work>),
    streams: &[OwnedStream],
    target: &OwnedStream,
) -> Reply {
    let put = |(context, stream): &OwnedStream, op| context.enqueue(stream, op);
    let record = |place: &OwnedStream| {
        let record = Record::new();
        put(place, Op::Record(Arc::clone(&record))).map(|()| record)
    };
    // Launches of one executable come after each other, whichever streams they are in.
    if let Some(last) = state.last.take() {
        put(target, Op::Wait(last))?;
    }
    first.into_iter().try_for_each(|op| put(target, op))?;
    let conditions: Vec<_> = conditions(&state.steps);
    if !conditions.is_empty() {
        put(target, Op::Reset(conditions))?;
    }
    let is_own = |lane: usize| !Arc::ptr_eq(&streams[lane].1, &target.1);
    let mut begun = vec![false; streams.len()];
    let mut start = None;
    let mut records: Vec<Option<Arc<Record>>> = vec![None; state.steps.len()];
    let mut ends: Vec<Option<usize>> = vec![None; streams.len()];
    if (0..streams.len()).any(is_own) {
        start = Some(record(target)?);
    }
    let mut works = works;
    let mut next = 0;
    while let (index, Some(step)) = (next, state.steps.get(next)) {
        next += 1 + step.bodies.iter().sum::<usize>();
        let work = match &step.kind {
            NodeKind::Conditional(_) => {
                let place = &streams[step.lane];
                let range = index..next;
                let branch = branch(place, &state.steps[range.clone()], &mut works[range]);
                branch.map_or(Work::Nothing, |branch| Work::Ops(vec![branch]))
            }
            _ => std::mem::replace(&mut works[index], Work::Nothing),
        };
        let place = &streams[step.lane];
        if is_own(step.lane) && !std::mem::replace(&mut begun[step.lane], true) {
            let start = start.clone();
            start.map_or(Ok(()), |start| put(place, Op::Wait(start)))?;
        }
        for from in &step.waits {
            // A step that another lane waits for was recorded.
            let from = records[*from].clone();
            from.map_or(Ok(()), |from| put(place, Op::Wait(from)))?;
        }
        match work {
            Work::Nothing => {}
            Work::Ops(ops) => with_captured(step.blocks.as_ref(), || {
                ops.into_iter().try_for_each(|op| put(place, op))
            })?,
            Work::Record(event) => place.0.enqueue_record(&place.1, &event)?,
            Work::Wait(event) => {
                let latest = event.latest();
                latest.map_or(Ok(()), |record| put(place, Op::Wait(record)))?;
            }
        }
        if step.records || is_own(step.lane) && step.lane == 0 {
            records[index] = Some(record(place)?);
        }
        ends[step.lane] = Some(index);
    }
    for (lane, end) in ends.into_iter().enumerate() {
        let end = end.filter(|_| is_own(lane));
        if let Some(end) = end.and_then(|end| records[end].clone()) {
            put(target, Op::Wait(end))?;
        }
    }
    state.last = Some(record(target)?);
    Ok(())
}

/// The values of all conditional nodes.
fn conditions(steps: &[Step]) -> Vec<Arc<Condition>> {
    let condition = |step: &Step| match &step.kind {
        NodeKind::Conditional(node) => Some(Arc::clone(&node.condition)),
        _ => None,
    };
    steps.iter().filter_map(condition).collect()
}

/// The operation of a conditional node, whose step is the first of these; the others are those of
/// its graphs. The stream does them one after the other.
fn branch(place: &OwnedStream, steps: &[Step], works: &mut [Work]) -> Option<Op> {
    let (step, inner) = steps.split_first()?;
    let NodeKind::Conditional(node) = &step.kind else {
        return None;
    };
    let (_, works) = works.split_first_mut()?;
    let mut bodies = Vec::with_capacity(step.bodies.len());
    let mut end = 0;
    for len in &step.bodies {
        let body = end..end + len;
        end = body.end;
        bodies.push(tasks(place, &inner[body.clone()], &mut works[body]));
    }
    Some(Op::Branch(Arc::new(Branch {
        condition: Arc::clone(&node.condition),
        choice: node.choice,
        bodies,
    })))
}

/// The operations of the steps of a conditional node's graph.
fn tasks((context, stream): &OwnedStream, steps: &[Step], works: &mut [Work]) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut next = 0;
    while let (index, Some(step)) = (next, steps.get(next)) {
        next += 1 + step.bodies.iter().sum::<usize>();
        let place = (Arc::clone(context), Arc::clone(stream));
        let inner = branch(&place, &steps[index..next], &mut works[index..next]);
        // No other kind of work is let into such a graph.
        let ops = match std::mem::replace(&mut works[index], Work::Nothing) {
            Work::Ops(ops) => ops,
            Work::Nothing | Work::Record(_) | Work::Wait(_) => Vec::new(),
        };
        with_captured(step.blocks.as_ref(), || {
            tasks.extend(ops.into_iter().chain(inner).map(|op| Task {
                trace: context.foresee(stream, &op),
                op,
            }));
        });
    }
    tasks
}
