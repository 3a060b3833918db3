//! Pairs of threads that free each other's blocks. Each thread allocates a batch on its own
//! stream, sends it to its partner, and frees the batches that come from there. Batches come
//! back the other way with new blocks in them, so nothing is allocated on the host.

use std::sync::Arc;

use super::allocator::{Allocator, Nothing};
use super::{Error, names};
use crate::bench::clock::{Turn, together};
use crate::bench::ring::Ring;
use crate::bench::rounds::Case;

/// Blocks that are sent at a time.
const BATCH: usize = 32;

/// Batches that each thread sends before it waits for one.
const AHEAD: usize = 4;

/// On which stream a block is freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On the one that it was allocated on.
    Home,
    /// On that of the thread that frees it. Not for the driver's allocator, whose frees must
    /// come after the allocation in stream order: that would take an event for each batch.
    There,
}

impl Place {
    pub(super) const ALL: [Self; 2] = [Self::Home, Self::There];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Home => "freed on the allocation's stream",
            Self::There => "freed on the other stream",
        }
    }
}

type Batch<A> = Vec<<A as Allocator>::Block>;

/// One thread's end.
struct Side<'s, A: Allocator> {
    allocator: &'s A,
    /// Allocates here,
    mine: &'s A::Stream,
    /// and frees here.
    frees: &'s A::Stream,
    bytes: u64,
    ok: bool,
}

impl<A: Allocator> Side<'_, A> {
    fn fill(&mut self, mut batch: Batch<A>) -> Batch<A> {
        for _ in 0..BATCH {
            let block = self.allocator.allocate(self.bytes, self.mine);
            self.ok &= block.is_some();
            batch.extend(block);
        }
        batch
    }

    fn empty(&mut self, batch: &mut Batch<A>) -> u64 {
        let blocks = batch.len() as u64;
        for block in batch.drain(..) {
            self.ok &= self.allocator.free(block, self.frees);
        }
        blocks
    }
}

/// `threads` threads, an even number. An operation is a block that was freed and another one
/// that was allocated.
pub(super) fn case<A: Allocator>(
    allocator: &Arc<A>,
    threads: usize,
    bytes: u64,
    place: Place,
) -> Result<Case, Error> {
    let work = names::exchange(threads, bytes, place.name());
    let name = names::row(&work, &allocator.name());
    of(name, Arc::clone(allocator), threads, bytes, place)
}

/// The work of [`alone`].
pub(super) const ALONE: &str = "hand-over alone, no memory";

/// The same with numbers in place of blocks.
pub(super) fn alone(threads: usize) -> Result<Case, Error> {
    let nothing = Arc::new(Nothing);
    let name = names::row(ALONE, &format!("{threads} threads"));
    of(name, nothing, threads, 1, Place::Home)
}

fn of<A: Allocator>(
    name: String,
    allocator: Arc<A>,
    threads: usize,
    bytes: u64,
    place: Place,
) -> Result<Case, Error> {
    let streams: Result<Vec<_>, _> = (0..threads).map(|_| allocator.stream()).collect();
    let streams = streams?;
    let case = Case::of_samples(name, threads, move |time| {
        let rings: Vec<Ring<Batch<A>>> = (0..threads).map(|_| Ring::new()).collect();
        together(threads, time, |turn: Turn<'_>| {
            let (me, partner) = (turn.thread, turn.thread ^ 1);
            let mut side = Side {
                allocator: &*allocator,
                mine: &streams[me],
                frees: match place {
                    Place::Home => &streams[partner],
                    Place::There => &streams[me],
                },
                bytes,
                ok: allocator.enter(),
            };
            let mut sender = rings[me].sender()?;
            let mut receiver = rings[partner].receiver()?;
            for _ in 0..AHEAD {
                let batch = side.fill(Vec::with_capacity(BATCH));
                sender.send(batch);
            }
            turn.ready();
            let lap = turn.time(|| {
                // A partner whose time is over sends no more.
                let Some(mut batch) = receiver.receive() else {
                    return 0;
                };
                let blocks = side.empty(&mut batch);
                sender.send(side.fill(batch));
                blocks
            });
            drop(sender);
            while let Some(mut batch) = receiver.receive() {
                side.empty(&mut batch);
            }
            (side.ok && allocator.settle(side.mine)).then_some(lap)
        })
    });
    Ok(case.by_clock())
}
