//! A trace dealt to threads: what each does, in its order.

use cupola_cli::trace::{Operation, Trace};

/// What one thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The position in the trace.
    pub(super) operation: usize,
    pub(super) kind: Kind,
    /// The block's number in the trace, with which it is stamped.
    pub(super) block: usize,
    pub(super) stream: u32,
    pub(super) slot: Slot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Allocate { bytes: u64 },
    Free,
}

/// Where a block is kept between its allocation and its free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// With the thread, which does both.
    Own(u32),
    /// Where another thread finds it.
    Handed(u32),
}

/// The steps of all threads. Those of one stream are one thread's, in the trace's order; there
/// is no order between threads but that a block is freed after it was allocated.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) threads: Vec<Vec<Step>>,
    /// How many blocks each thread keeps.
    pub(super) own: Vec<u32>,
    /// How many blocks change threads.
    pub(super) handed: u32,
}

impl Plan {
    pub(super) fn new(trace: &Trace, threads: usize) -> Self {
        let threads = threads.max(1);
        let deal = |stream: u32| stream as usize % threads;
        // The thread that allocates each block, and whether another one frees it.
        let mut owner = vec![0; trace.blocks()];
        let mut leaves = vec![false; trace.blocks()];
        for operation in trace.operations() {
            match *operation {
                Operation::Allocate { block, stream, .. } => owner[block] = deal(stream),
                Operation::Free { block, stream } => leaves[block] = owner[block] != deal(stream),
            }
        }
        let mut plan = Self {
            threads: vec![Vec::new(); threads],
            own: vec![0; threads],
            handed: 0,
        };
        let mut slots = vec![Slot::Own(0); trace.blocks()];
        for (index, operation) in trace.operations().iter().enumerate() {
            let (kind, block, stream) = match *operation {
                Operation::Allocate {
                    block,
                    bytes,
                    stream,
                } => {
                    let next = |count: &mut u32| {
                        *count += 1;
                        *count - 1
                    };
                    slots[block] = if leaves[block] {
                        Slot::Handed(next(&mut plan.handed))
                    } else {
                        Slot::Own(next(&mut plan.own[owner[block]]))
                    };
                    (Kind::Allocate { bytes }, block, stream)
                }
                Operation::Free { block, stream } => (Kind::Free, block, stream),
            };
            plan.threads[deal(stream)].push(Step {
                operation: index,
                kind,
                block,
                stream,
                slot: slots[block],
            });
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it an operation could be lost, done twice or out of its stream's order, or a
    /// block be looked for where it is not.
    #[test]
    fn every_operation_is_dealt_once_and_blocks_meet() {
        let text = "a 1 10 0\na 2 20 1\nf 1 1\na 3 30 2\nf 2\na 4 40 0\nf 3 0\n";
        let trace = Trace::read(text.as_bytes()).unwrap();
        let plan = Plan::new(&trace, 2);
        let order = |thread: usize| {
            let steps = plan.threads[thread].iter();
            steps.map(|step| step.operation).collect::<Vec<_>>()
        };
        assert_eq!((order(0), order(1)), (vec![0, 3, 5, 6], vec![1, 2, 4]));
        // Block 0 goes from the first thread to the second; stream 2 is the first one's too.
        assert_eq!((&plan.own[..], plan.handed), (&[2, 1][..], 1));
        let slot = |thread: usize, step: usize| plan.threads[thread][step].slot;
        assert_eq!(slot(0, 0), Slot::Handed(0));
        assert_eq!(slot(1, 1), Slot::Handed(0));
        assert_eq!(slot(0, 1), slot(0, 3));
        assert_eq!(plan.threads[0][2].kind, Kind::Allocate { bytes: 40 });

        let alone = Plan::new(&trace, 1);
        assert_eq!(alone.threads[0].len(), trace.operations().len());
        assert_eq!((&alone.own[..], alone.handed), (&[4][..], 0));
    }
}
