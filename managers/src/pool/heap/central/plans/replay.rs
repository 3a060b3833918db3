//! Any history of a page heap and a driver that refuses whichever call it likes, against lists of
//! pages, blocks and work. The fuzz target `page_heap` runs this too.

use std::collections::{BTreeMap, BTreeSet};

use cupola_core::tlsf::Block;

use super::{Placed, Planned, Room};
use crate::pool::heap::central::{Central, HeapRequest};
use crate::pool::pages::handle_cache::PhysicalHandle;
use crate::pool::pages::handle_size::{Device, HandleSizes};
use crate::pool::pages::map_plan::MapPlan;
use crate::pool::pages::mapper::{Found, From};
use crate::pool::pages::page_table::{PageState, PageTable};
use crate::pool::pages::vmm::LEAST_PAGE as PAGE;
use crate::pool::streams::free_stamp::{Stamp, StreamIndex};

const BASE: u64 = 64 * PAGE;
const PAGES: u64 = 32;
/// Fewer than there are addresses, so that pages have to move.
const LIMIT: u64 = 12;

/// Work on a stream that uses these addresses up to a ticket.
struct Work {
    from: u64,
    to: u64,
    stream: StreamIndex,
    ticket: u64,
}

/// The page heap, and all that it should know.
struct World {
    central: Central,
    /// By page: the memory that is mapped there.
    mapped: BTreeMap<u64, u64>,
    /// Pages that the device may access.
    open: BTreeSet<u64>,
    /// Memory that is mapped nowhere.
    cached: Vec<PhysicalHandle>,
    created: u64,
    /// Pages in all.
    used: u64,
    blocks: Vec<(Block, StreamIndex)>,
    work: Vec<Work>,
    /// By stream, from 1: the open ticket, and up to which all is complete.
    streams: [(u64, u64); 2],
}

fn pages(from: u64, bytes: u64) -> impl Iterator<Item = u64> {
    (from / PAGE..(from + bytes).div_ceil(PAGE)).map(|page| page * PAGE)
}

impl World {
    fn new() -> Self {
        let mut central = Central::new();
        central
            .add_region(PageTable::new(BASE, PAGES * PAGE, PAGE))
            .unwrap();
        central.add_stream(1, 1);
        central.add_stream(2, 2);
        Self {
            central,
            mapped: BTreeMap::new(),
            open: BTreeSet::new(),
            cached: Vec::new(),
            created: 0,
            used: 0,
            blocks: Vec::new(),
            work: Vec::new(),
            streams: [(1, 0); 2],
        }
    }

    /// Whether work that `but` does not order itself behind still uses these addresses.
    fn is_used(&self, from: u64, to: u64, but: StreamIndex) -> bool {
        self.work.iter().any(|work| {
            let (_, done) = self.streams[usize::from(work.stream) - 1];
            work.stream != but && work.ticket > done && work.from < to && from < work.to
        })
    }

    fn hand_out(&mut self, (block, was): Found, stream: StreamIndex) {
        let (from, to) = (block.offset(), block.offset() + block.size());
        for page in pages(from, block.size()) {
            assert!(self.open.contains(&page), "a block without memory");
        }
        let meets = |(other, _): &(Block, _)| {
            let other: &Block = other;
            other.offset() < to && from < other.offset() + other.size()
        };
        assert!(!self.blocks.iter().any(meets), "a block is out twice");
        assert!(!self.is_used(from, to, stream), "a block under work");
        let done = was.is_ready() || was.stream() == stream || self.central.rules().is_done(was);
        assert!(done, "a block of another stream's stamp");
        self.blocks.push((block, stream));
    }

    /// Memory for so many pages, as the mapper gets it.
    fn memory(&mut self, most: u32, size: &mut u32) -> Option<PhysicalHandle> {
        loop {
            let fits = if *size == 1 { 1 } else { most };
            let found = self.cached.iter().position(|memory| memory.pages <= fits);
            if let Some(at) = found {
                return Some(self.cached.swap_remove(at));
            }
            let pages = most.min(*size);
            if self.used + u64::from(pages) <= LIMIT {
                self.used += u64::from(pages);
                self.created += 1;
                let handle = self.created << 8;
                return Some(PhysicalHandle { handle, pages });
            }
            if *size == 1 {
                return None;
            }
            *size = 1;
        }
    }

    /// Makes the calls of a plan, `calls` of them at most. Whether all were made.
    fn execute(&mut self, plan: &mut MapPlan, mut calls: u8) -> bool {
        let mut may_call = || {
            calls = calls.saturating_sub(1);
            calls > 0
        };
        while let Some((from, bytes)) = plan.next_idle() {
            if !may_call() {
                return false;
            }
            assert!(!self.is_used(from, from + bytes, 0), "unmapped under work");
            let mut handles: Vec<_> = pages(from, bytes)
                .map(|page| {
                    self.open.remove(&page);
                    self.mapped.remove(&page).unwrap()
                })
                .collect();
            handles.dedup();
            let memory = plan.note_unmapped().unwrap();
            assert_eq!(handles, [memory.handle], "unmapped in part, or another's");
            assert_eq!(u64::from(memory.pages) * PAGE, bytes);
            self.cached.push(memory);
        }
        while let Some(missing) = plan.next_missing() {
            let mut size = missing.size();
            let Some(memory) = self.memory(missing.most(), &mut size) else {
                return false;
            };
            if size < missing.size() {
                plan.use_single_pages();
            }
            if !may_call() {
                self.cached.push(memory);
                return false;
            }
            for page in pages(missing.address(), u64::from(memory.pages) * PAGE) {
                let before = self.mapped.insert(page, memory.handle);
                assert_eq!(before, None, "mapped twice");
            }
            plan.note_mapped(memory);
        }
        while let Some((from, bytes)) = plan.next_sealed() {
            if !may_call() {
                return false;
            }
            for page in pages(from, bytes) {
                assert!(self.mapped.contains_key(&page), "opened without memory");
                self.open.insert(page);
            }
            plan.note_opened();
        }
        true
    }

    fn allocate(&mut self, want: HeapRequest, from: From, calls: u8) {
        let (place, below) = match self.central.place(want, from) {
            Placed::Ready(found) => return self.hand_out(found, want.stream),
            Placed::Nowhere => return,
            Placed::Bare(place) => (place, place.missing()),
        };
        let there: u64 = self.cached.iter().map(|it| u64::from(it.pages)).sum();
        let room = Room::new(LIMIT - self.used + there, from);
        let device = Device {
            free: 1 << 20,
            total: 1 << 20,
        };
        let handles = |pages| HandleSizes::new(pages, PAGE, 1 << 20, device, &[]);
        let mut planned = self.central.begin_mapping(want, place, room, PAGE, handles);
        if matches!(planned, Planned::Short)
            && let Some(cheaper) = self.central.cheapest_place(want, below)
        {
            assert!(cheaper.missing() < below);
            planned = self
                .central
                .begin_mapping(want, cheaper, room, PAGE, handles);
        }
        let mut mapping = match planned {
            Planned::Mapping(mapping) => mapping,
            Planned::Lost => panic!("no other thread is there"),
            Planned::Short => return,
        };
        // Another thread meanwhile: pages that change are no other's.
        let other = HeapRequest {
            bytes: PAGE,
            stream: 3 - want.stream,
            ..want
        };
        let found = self.central.ready(other);
        let done = self.execute(mapping.plan(), calls);
        // From three quarters of the limit on places are chosen otherwise.
        self.central.note_mapped(self.used * PAGE, LIMIT * PAGE);
        let mapped = self.central.finish_mapping(&mapping, done);
        assert_eq!(mapped.is_some(), done);
        if let Some(found) = found {
            self.hand_out(found, other.stream);
        }
        if let Some(found) = mapped {
            self.hand_out(found, want.stream);
        }
    }

    fn step(&mut self, [what, pick, size]: [u8; 3]) {
        let stream = 1 + StreamIndex::from(pick % 2);
        let clock = usize::from(stream) - 1;
        let want = HeapRequest {
            bytes: (1 + u64::from(size) % 40) * (PAGE / 4),
            align: 256,
            stream,
        };
        match what % 8 {
            0 => self.allocate(want, From::Limit, pick / 2),
            1 | 2 => self.allocate(want, From::Idle, if size < 128 { 99 } else { pick / 8 }),
            3 | 4 if !self.blocks.is_empty() => {
                let at = usize::from(pick) % self.blocks.len();
                let (block, stream) = self.blocks.swap_remove(at);
                let (ticket, _) = self.streams[usize::from(stream) - 1];
                let stamp = Stamp::new(stream, ticket);
                let (from, to) = (block.offset(), block.offset() + block.size());
                self.work.push(Work {
                    from,
                    to,
                    stream,
                    ticket,
                });
                self.central.heap.rules_mut().note_last(stamp);
                self.central.heap.free(block, stamp);
                if size.is_multiple_of(2) {
                    self.streams[usize::from(stream) - 1].0 += 1;
                }
            }
            5 => {
                let (open, done) = self.streams[clock];
                let now = done.max(u64::from(size) % (open + 1));
                self.streams[clock] = (open.max(now + 1), now);
                self.central.note_done([(stream, now)]);
            }
            6 => {
                let mut plan = self.central.begin_unmapping(usize::from(size) % 8, PAGE);
                self.execute(&mut plan, pick % 8);
                self.central.finish_unmapping(&plan);
            }
            _ => {
                let (missing, there) = (u64::from(size) % 16, 4);
                let plan = self.central.begin_unmapping_large(missing, there, PAGE);
                if let Some(mut plan) = plan {
                    self.execute(&mut plan, pick % 8);
                    self.central.finish_unmapping(&plan);
                }
            }
        }
        self.compare();
    }

    /// What the page heap knows of every page and block against the lists.
    fn compare(&self) {
        let region = &self.central.rules().regions()[0];
        for page in 0..PAGES as u32 {
            let at = region.address(page);
            let expected = match (self.mapped.contains_key(&at), self.open.contains(&at)) {
                (true, true) => PageState::Mapped,
                (true, false) => PageState::Sealed,
                (false, open) => {
                    assert!(!open);
                    PageState::Bare
                }
            };
            assert_eq!(region.state(page), expected, "page {page}");
        }
        let cached: u64 = self.cached.iter().map(|it| u64::from(it.pages)).sum();
        assert_eq!(self.mapped.len() as u64 + cached, self.used);
        assert!(self.used <= LIMIT);
        let held: u64 = self.blocks.iter().map(|(block, _)| block.size()).sum();
        assert_eq!(self.central.held(), held, "bytes are lost");
        assert!(self.central.peak_held() >= held);
    }
}

/// The history that these steps make.
///
/// # Panics
/// The page heap is wrong.
pub(crate) fn replay(steps: impl IntoIterator<Item = [u8; 3]>) {
    let mut world = World::new();
    steps.into_iter().for_each(|step| world.step(step));
}
