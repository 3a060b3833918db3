//! What operations do with a block, and which of it two streams do without an order.

use std::sync::Arc;

use super::super::memory::Shadow;
use super::super::sync::lock;
use super::clock::{Clock, Stamp};
use super::finding::{Finding, FindingKind};
use super::order::Order;
use super::regions::{Moment, Region};
use super::site::Here;

/// Most accesses of one block that are kept; the oldest go first.
const KEPT: usize = 256;

/// Bytes of a block, counted from its beginning.
#[derive(Debug)]
pub(super) enum Extent {
    /// From the first to the one after the last, ascending.
    Rows(Vec<(u64, u64)>),
    Bytes(Shadow),
}

impl Extent {
    pub(super) fn nothing() -> Self {
        Self::Rows(Vec::new())
    }

    /// The first byte that both have.
    fn common(&self, other: &Self) -> Option<u64> {
        match (self, other) {
            (Self::Bytes(one), Self::Bytes(other)) => one.common(other),
            (Self::Bytes(bytes), Self::Rows(rows)) | (Self::Rows(rows), Self::Bytes(bytes)) => rows
                .iter()
                .find_map(|(first, end)| bytes.written(*first, end - first)),
            (Self::Rows(one), Self::Rows(other)) => one.iter().find_map(|(first, end)| {
                let over = other.iter().find(|(low, high)| low < end && first < high);
                over.map(|(low, _)| *low.max(first))
            }),
        }
    }

    /// Takes those of a later part of the same operation in.
    fn add(&mut self, more: Self) {
        match (self, more) {
            (Self::Rows(rows), Self::Rows(more)) => rows.extend(more),
            (Self::Bytes(bytes), Self::Bytes(more)) => bytes.add(&more),
            (Self::Bytes(bytes), Self::Rows(rows)) => {
                let each = rows.iter();
                each.for_each(|(first, end)| bytes.wrote(*first, end - first));
            }
            (this, more) => *this = more,
        }
    }
}

/// What one operation did with a block.
#[derive(Debug)]
pub(super) struct Access {
    stamp: Stamp,
    clock: Arc<Clock>,
    here: Here,
    /// The kernel, if it is one.
    kernel: Option<String>,
    reads: Extent,
    writes: Extent,
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
        let same = |one: &Extent, other: &Extent| one.common(other);
        same(&self.writes, &other.writes)
            .map(|at| (at, "writes what is written"))
            .or_else(|| same(&self.writes, &other.reads).map(|at| (at, "writes what is read")))
            .or_else(|| same(&self.reads, &other.writes).map(|at| (at, "reads what is written")))
    }
}

impl Region {
    /// An operation reads and writes these bytes of the block. Gives what it races with. Called with
    /// the lock of the order.
    pub(super) fn note_access(
        &self,
        order: &Order,
        (moment, here, kernel): (&Moment, Here, Option<&str>),
        reads: Extent,
        writes: Extent,
    ) -> Option<Finding> {
        let mut accesses = lock(&self.accesses);
        if let Some(known) = accesses.iter_mut().find(|one| one.stamp == moment.stamp) {
            known.reads.add(reads);
            known.writes.add(writes);
            return None;
        }
        let new = Access {
            stamp: moment.stamp,
            clock: Arc::clone(&moment.clock),
            here,
            kernel: kernel.map(ToOwned::to_owned),
            reads,
            writes,
        };
        // The latest says it: who is in order with that one is with those before.
        let race = accesses.iter().rev().find_map(|old| {
            if order.in_order((old.stamp, &old.clock), (new.stamp, &new.clock)) {
                return None;
            }
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
        if accesses.len() >= KEPT {
            // What is queued from now on comes after these.
            accesses.retain(|old| !order.is_known(old.stamp));
            let over = (accesses.len() + 1).saturating_sub(KEPT);
            accesses.drain(..over);
        }
        accesses.push(new);
        race
    }
}
