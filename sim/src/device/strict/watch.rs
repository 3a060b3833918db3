//! What kernels do with memory that was never written, with blocks of an allocator, and races
//! in shared memory.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use crate::device::memory::{Place, Shadow, Space};
use crate::device::strict::Monitor;
use crate::device::strict::blocks::bounds::Bounds;
use crate::device::strict::blocks::extent::Extent;
use crate::device::strict::blocks::regions::Region;
use crate::device::strict::blocks::search::Search;
use crate::device::strict::finding::{Allocation, Finding, FindingKind, KernelSite};
use crate::device::strict::options::Strict;
use crate::device::strict::order::races::Used;
use crate::device::strict::site::Here;
use crate::device::sync::lock;
use crate::exec::{Checks, FaultSpace, Observation, Observed, Touch, Watch};

/// Watches one launch.
pub(in crate::device) struct Watcher<'a> {
    monitor: &'a Monitor,
    space: &'a Space,
    kernel: &'a str,
    here: Here,
    bounds: Option<Bounds<'a>>,
    /// What the launch has done with blocks, by their ids, if that is followed.
    touched: Mutex<BTreeMap<u64, Arc<Touched>>>,
    /// Functions and lines with an access that left its block: each is reported once.
    told: Mutex<HashSet<(String, u32)>>,
}

/// What is known of a launch between two of its slices.
#[derive(Debug, Default)]
pub(in crate::device) struct Watched {
    touched: BTreeMap<u64, Arc<Touched>>,
    told: HashSet<(String, u32)>,
    search: Search,
}

/// The bytes of a block that a launch has used.
#[derive(Debug)]
struct Touched {
    region: Arc<Region>,
    reads: Marks,
    writes: Marks,
}

/// Bits that are made for the first byte, if the host has memory for them.
#[derive(Debug, Default)]
struct Marks {
    weak: OnceLock<Option<Shadow>>,
    strong: OnceLock<Option<Shadow>>,
}

impl Marks {
    fn into_used(self) -> Used {
        let extent = |marks: OnceLock<Option<Shadow>>| {
            let marks = marks.into_inner().flatten();
            marks.map_or_else(Extent::default, Extent::Bytes)
        };
        Used {
            weak: extent(self.weak),
            strong: extent(self.strong),
        }
    }
}

impl Monitor {
    /// Whether kernels are to be decoded with checks.
    pub(in crate::device) fn watches_kernels(&self) -> bool {
        self.wants(Strict::UNINITIALISED | Strict::SHARED_RACES | Strict::STREAM_RACES)
    }

    /// Whether it is kept which bytes are written.
    pub(in crate::device) fn keeps_shadows(&self) -> bool {
        self.wants(Strict::UNINITIALISED)
    }

    /// Watches the launch that this thread works for, or goes on with it, if anything is to be
    /// watched. `is_free`: the kernel may have pointers that are not to be found in memory.
    pub(in crate::device) fn watcher<'a>(
        &'a self,
        space: &'a Space,
        kernel: &'a str,
        params: &[u8],
        is_free: bool,
        watched: Watched,
    ) -> Option<Watcher<'a>> {
        let bounds = Bounds::of_kernel(self, space, params, is_free, watched.search);
        (self.watches_kernels() || bounds.is_some()).then(|| Watcher {
            monitor: self,
            space,
            kernel,
            here: Here::now(),
            bounds,
            touched: Mutex::new(watched.touched),
            told: Mutex::new(watched.told),
        })
    }
}

impl<'a> Watcher<'a> {
    /// The blocks that the launch may touch, if accesses are looked at.
    pub(in crate::device) fn bounds(&self) -> Option<&Bounds<'a>> {
        let looks = self.monitor.wants(Strict::ACCESSES);
        self.bounds.as_ref().filter(|_| looks)
    }

    fn region(&self, address: u64) -> Option<&Arc<Region>> {
        self.bounds.as_ref()?.region(address)
    }

    /// Whether an access of what is no block of its own leaves its block, which is told, and is all
    /// that is told of it.
    fn is_astray(&self, address: u64) -> bool {
        let bounds = self.bounds.as_ref();
        bounds.is_some_and(|bounds| bounds.moment.map.in_heap(address))
    }

    /// The launch reads or writes these bytes of device memory.
    fn touch(&self, touch: Touch, write: bool) {
        if !self.monitor.wants(Strict::STREAM_RACES) {
            return;
        }
        let Some(region) = self.region(touch.address) else {
            return;
        };
        let touched = {
            let mut all = lock(&self.touched);
            let touched = all.entry(region.id).or_insert_with(|| {
                Arc::new(Touched {
                    region: Arc::clone(region),
                    reads: Marks::default(),
                    writes: Marks::default(),
                })
            });
            Arc::clone(touched)
        };
        let marks = if write {
            &touched.writes
        } else {
            &touched.reads
        };
        let marks = if touch.strong {
            &marks.strong
        } else {
            &marks.weak
        };
        if let Some(marks) = marks.get_or_init(|| Shadow::new(region.len)) {
            marks.wrote(touch.address - region.base, touch.bytes);
        }
    }

    /// What the finding says of an access of device memory that leaves its block.
    fn strayed(&self, seen: &Observation) -> Option<(FindingKind, String, Option<Allocation>)> {
        let (at, bytes) = (seen.access.offset, seen.access.bytes);
        let (kind, how, allocation) = self.bounds.as_ref()?.explain(at, bytes);
        let verb = if seen.access.write { "write" } else { "read" };
        let what = format!("{verb} of {bytes} bytes at 0x{at:x}: {how}");
        Some((kind, what, allocation))
    }

    /// The launch goes on in another slice.
    pub(in crate::device) fn pause(self) -> Watched {
        Watched {
            touched: std::mem::take(&mut lock(&self.touched)),
            told: std::mem::take(&mut lock(&self.told)),
            search: self.bounds.map(Bounds::into_search).unwrap_or_default(),
        }
    }

    /// The launch has ended. What it has done is compared now, as a whole: what its blocks do to a
    /// byte counts together, however many slices it was.
    pub(in crate::device) fn end(self) {
        let touched = std::mem::take(&mut *lock(&self.touched));
        let Some(bounds) = self.bounds.filter(|_| !touched.is_empty()) else {
            return;
        };
        let touched = touched.into_values().filter_map(Arc::into_inner);
        let touched = touched.map(|touched| {
            let (reads, writes) = (touched.reads.into_used(), touched.writes.into_used());
            (touched.region, reads, writes)
        });
        let by = (self.here, self.kernel);
        self.monitor.kernel_touched(&bounds.moment, by, touched);
    }
}

impl Watch for Watcher<'_> {
    fn checks(&self) -> Checks {
        Checks {
            uninitialised: self.monitor.wants(Strict::UNINITIALISED),
            races: self.monitor.wants(Strict::SHARED_RACES),
            streams: self.monitor.wants(Strict::STREAM_RACES) && self.bounds.is_some(),
        }
    }

    fn read(&self, touch: Touch) -> Option<u64> {
        self.touch(touch, false);
        let Touch { address, bytes, .. } = touch;
        if let Some(region) = self.region(address) {
            let (shadow, offset) = region.shadow(address)?;
            return shadow.unwritten(offset, bytes).map(|at| region.base + at);
        }
        if self.is_astray(address) {
            return None;
        }
        match self.space.find(address)? {
            Place::Device(block) => block.unwritten(address, bytes),
            _ => None,
        }
    }

    fn wrote(&self, touch: Touch) {
        self.touch(touch, true);
        let Touch { address, bytes, .. } = touch;
        if let Some(region) = self.region(address) {
            if let Some((shadow, offset)) = region.shadow(address) {
                shadow.wrote(offset, bytes);
            }
        } else if !self.is_astray(address)
            && let Some(Place::Device(block)) = self.space.find(address)
        {
            block.wrote(address, bytes);
        }
    }

    fn observe(&self, seen: Observation) {
        let line = || (seen.function.clone(), seen.line);
        if seen.observed == Observed::Stray && !lock(&self.told).insert(line()) {
            return;
        }
        let shared = matches!(seen.access.space, FaultSpace::Shared { .. });
        let bytes = seen.access.bytes;
        let access = if shared {
            format!(
                "{bytes} bytes at byte {} of shared memory",
                seen.access.offset
            )
        } else {
            format!("{bytes} bytes at 0x{:x}", seen.access.offset)
        };
        let verb = if seen.access.write { "write" } else { "read" };
        let against = match seen.observed {
            Observed::Unwritten { .. } | Observed::Stray => None,
            Observed::Race { line, thread, .. } => Some(KernelSite {
                kernel: self.kernel.to_owned(),
                function: String::new(),
                line,
                block: seen.block,
                thread,
            }),
        };
        let place = |address| match self.region(address) {
            Some(region) => Some(region.allocation()),
            None => self.space.find(address).map(|place| place.allocation()),
        };
        let around = || place(seen.access.offset).filter(|_| !shared);
        let (kind, what, allocation) = match seen.observed {
            Observed::Stray => match self.strayed(&seen) {
                Some(strayed) => strayed,
                None => return,
            },
            Observed::Unwritten { at } if shared => (
                FindingKind::UninitialisedRead,
                format!("read of {access}: the block has not written byte {at}"),
                None,
            ),
            Observed::Unwritten { at } => (
                FindingKind::UninitialisedRead,
                format!("read of {access}: 0x{at:x} was never written"),
                around(),
            ),
            Observed::Race {
                line,
                thread: [x, y, z],
                write,
            } => {
                let other = if write { "writes" } else { "reads" };
                let what = format!(
                    "{verb} of {access}, which thread ({x},{y},{z}) {other} at PTX line {line} \
                     without a barrier between"
                );
                (FindingKind::SharedMemoryRace, what, around())
            }
        };
        // Workers of the launch find it: they are in no call themselves.
        self.monitor.report(Finding {
            address: Some(seen.access.offset),
            bytes: Some(bytes),
            against,
            allocation,
            kernel: Some(KernelSite {
                kernel: self.kernel.to_owned(),
                function: seen.function,
                line: seen.line,
                block: seen.block,
                thread: seen.thread,
            }),
            call: Some(self.here.site()),
            ..Finding::new(kind, what)
        });
    }
}
