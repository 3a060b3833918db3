//! What operations do with a block, and which of it two streams do without an order.

use std::sync::Arc;

use crate::device::strict::blocks::extent::Extent;
use crate::device::strict::blocks::regions::{Moment, Region};
use crate::device::strict::finding::{Finding, FindingKind};
use crate::device::strict::order::Order;
use crate::device::strict::order::clock::{Clock, Stamp};
use crate::device::strict::site::Here;
use crate::device::sync::lock;

/// Most accesses of one block that are kept; the oldest go first.
const KEPT: usize = 256;

/// The bytes that one operation reads, or those that it writes.
#[derive(Debug, Default)]
pub(in crate::device::strict) struct Used {
    pub(in crate::device::strict) weak: Extent,
    /// By atomic operations, and by accesses that others may make at the same time.
    pub(in crate::device::strict) strong: Extent,
}

impl Used {
    pub(in crate::device::strict) fn weak(weak: Extent) -> Self {
        Self {
            weak,
            ..Self::default()
        }
    }

    /// The first byte that both use, unless both mean to.
    fn clash(&self, other: &Self) -> Option<u64> {
        let weak = self.weak.common(&other.weak);
        weak.or_else(|| self.weak.common(&other.strong))
            .or_else(|| self.strong.common(&other.weak))
    }

    fn add(&mut self, more: Self) {
        self.weak.add(more.weak);
        self.strong.add(more.strong);
    }
}

/// What one operation did with a block.
#[derive(Debug)]
pub(in crate::device::strict) struct Access {
    stamp: Stamp,
    clock: Arc<Clock>,
    here: Here,
    /// The kernel, if it is one.
    kernel: Option<String>,
    reads: Used,
    writes: Used,
}

impl Access {
    fn name(&self) -> String {
        let stream = self.here.stream;
        match &self.kernel {
            Some(kernel) => format!("kernel {kernel} in stream {stream}"),
            None => format!("{} in stream {stream}", self.here.function),
        }
    }

    /// What both do to one byte, one of them to write it.
    fn conflict(&self, other: &Self) -> Option<(u64, &'static str)> {
        let same = Used::clash;
        same(&self.writes, &other.writes)
            .map(|at| (at, "writes what is written"))
            .or_else(|| same(&self.writes, &other.reads).map(|at| (at, "writes what is read")))
            .or_else(|| same(&self.reads, &other.writes).map(|at| (at, "reads what is written")))
    }
}

impl Region {
    /// An operation reads and writes these bytes of the block, and perhaps others that it has told
    /// of before. Gives what it races with. Called with the lock of the order.
    pub(super) fn note_access(
        &self,
        order: &Order,
        (moment, here, kernel): (&Moment, Here, Option<&str>),
        reads: Used,
        writes: Used,
    ) -> Option<Finding> {
        let mut accesses = lock(&self.accesses);
        let new = Access {
            stamp: moment.stamp,
            clock: Arc::clone(&moment.clock),
            here,
            kernel: kernel.map(ToOwned::to_owned),
            reads,
            writes,
        };
        let ordered = |old: &Access| {
            old.stamp == new.stamp
                || order.in_order((old.stamp, &old.clock), (new.stamp, &new.clock))
        };
        // Latest first, so that the finding names the nearest of those that it races with.
        let mut others = accesses.iter().rev().filter(|old| !ordered(old));
        let race = others.find_map(|old| {
            let (at, how) = new.conflict(old)?;
            let what = format!(
                "{} {how} by {}, and neither comes after the other: byte {at} of the block",
                new.name(),
                old.name()
            );
            Some(Finding {
                address: Some(self.base + at),
                allocation: Some(self.allocation()),
                call: Some(here.site()),
                other: Some(old.here.site()),
                ..Finding::new(FindingKind::StreamRace, what)
            })
        });
        accesses.retain(|old| !order.is_behind_all(old.stamp));
        match accesses.iter_mut().find(|old| old.stamp == new.stamp) {
            Some(known) => {
                known.reads.add(new.reads);
                known.writes.add(new.writes);
            }
            None => {
                let over = (accesses.len() + 1).saturating_sub(KEPT);
                accesses.drain(..over);
                accesses.push(new);
            }
        }
        race
    }
}
