//! Models of types that only this room sees, like those of `crate::models`: pages that get and lose
//! their memory beside threads that place blocks.

use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;

use crate::models::model;
use crate::pool::heap::best_fit::Heap;
use crate::pool::heap::requester::Requester;
use crate::pool::pages::handle_cache::PhysicalHandle;
use crate::pool::pages::handle_size::HandleSizes;
use crate::pool::pages::map_plan::MapPlan;
use crate::pool::pages::page_table::PageTable;
use crate::pool::pages::vmm::LEAST_PAGE;
use crate::pool::streams::free_stamp::Stamp;
use crate::sync::spin_lock::SpinLock;

const BASE: u64 = 64 * LEAST_PAGE;
const PAGE: u64 = LEAST_PAGE;
const STREAM: u16 = 1;

/// The device's side of a page: which memory it has, 0 for none. loom fails the model when a thread
/// uses it while the driver maps or unmaps it, or does not see that it has.
struct Frame(UnsafeCell<u64>);

// SAFETY: that the cell is not used beside a change is what the models check.
unsafe impl Sync for Frame {}
// SAFETY: the cell may move: that it is not used beside a change is what the models check.
unsafe impl Send for Frame {}

/// Two pages, of which the second has no memory at first.
struct Pool {
    central: SpinLock<Box<Heap>>,
    /// Held by a thread that changes pages.
    mapper: Mutex<()>,
    frames: [Frame; 2],
}

impl Pool {
    fn new() -> Self {
        // A model's threads have small stacks, and a heap's tables are large.
        let heap = std::thread::spawn(|| {
            let mut heap = Box::new(Heap::new());
            heap.add_region(PageTable::new(BASE, 2 * PAGE, PAGE))
                .unwrap();
            heap
        });
        let heap = heap.join().unwrap();
        let pool = Self {
            central: SpinLock::new(heap),
            mapper: Mutex::new(()),
            frames: [(), ()].map(|()| Frame(UnsafeCell::new(0))),
        };
        assert_eq!(pool.map(PAGE, 1), Some(0));
        pool
    }

    fn frame(&self, address: u64) -> usize {
        ((address - BASE) / PAGE) as usize
    }

    /// `cuMemMap` and `cuMemSetAccess`, or `cuMemUnmap`.
    fn change(&self, address: u64, memory: u64) {
        let frame = &self.frames[self.frame(address)];
        // SAFETY: that no other thread uses the frame meanwhile is what the model checks.
        frame.0.with_mut(|frame| unsafe { *frame = memory });
    }

    /// Work of a block's user: which memory it found.
    fn touch(&self, address: u64) -> u64 {
        let frame = &self.frames[self.frame(address)];
        // SAFETY: that no other thread changes the frame meanwhile is what the model checks.
        let memory = frame.0.with(|frame| unsafe { *frame });
        assert_ne!(memory, 0, "a block has no memory");
        memory
    }

    /// Maps `memory` where the best place lacks it, and gives the place back: the last page that
    /// was mapped, if any.
    fn map(&self, bytes: u64, memory: u64) -> Option<usize> {
        let mut plan = MapPlan::new(PAGE);
        let block = {
            let heap = &mut *self.central.lock();
            let place = heap.look(bytes, 1, STREAM)?;
            let block = heap.take(place, STREAM)?;
            plan.find_missing(heap, block);
            plan.begin_map(heap, HandleSizes::default());
            block
        };
        let mut mapped = None;
        while let Some(missing) = plan.next_missing() {
            let address = missing.address();
            self.change(address, memory);
            let handle = address;
            plan.note_mapped(PhysicalHandle { handle, pages: 1 });
            mapped = Some(self.frame(address));
        }
        while plan.next_sealed().is_some() {
            plan.note_opened();
        }
        let heap = &mut *self.central.lock();
        plan.write_back(heap);
        heap.free(block, Stamp::READY);
        mapped
    }

    /// Unmaps a page that nothing uses, if there is one.
    fn unmap(&self) -> bool {
        let mut plan = MapPlan::new(PAGE);
        {
            let heap = &mut *self.central.lock();
            let idle = heap.idle(1);
            plan.begin_unmap(heap, &idle);
        }
        while let Some((address, _)) = plan.next_idle() {
            self.change(address, 0);
            plan.note_unmapped();
        }
        let unmapped = plan.idle_pages() > 0;
        plan.write_back(&mut self.central.lock());
        unmapped
    }

    /// A block of a page whose memory is there, used and freed; which memory that was.
    fn use_ready(&self) -> Option<u64> {
        let requester = Requester::new(STREAM);
        let (block, _) = self.central.lock().allocate_ready(PAGE, 1, requester)?;
        let memory = self.touch(block.offset());
        self.central.lock().free(block, Stamp::READY);
        Some(memory)
    }
}

// Without it a block could be handed out on a page whose memory is on its way or already gone,
// or a page be unmapped under a block.
#[test]
fn a_block_is_ready_only_where_its_memory_is() {
    model(&["after", "before", "none"], |seen| {
        let pool = Arc::new(Pool::new());
        let mapper = thread::spawn({
            let pool = pool.clone();
            move || {
                let _held = pool.mapper.lock().unwrap();
                // A page is taken back and another one filled, as at the limit.
                if pool.unmap() {
                    pool.map(PAGE, 2);
                }
            }
        });
        seen.note(match pool.use_ready() {
            Some(1) => "before",
            Some(_) => "after",
            None => "none",
        });
        mapper.join().unwrap();
    });
}

// Without it two threads that want memory for pages could both map the same one, or one unmap a
// page that the other maps for a block of its own.
#[test]
fn pages_change_for_one_at_a_time() {
    model(&["kept", "taken first"], |seen| {
        let pool = Arc::new(Pool::new());
        let other = thread::spawn({
            let pool = pool.clone();
            move || {
                let _held = pool.mapper.lock().unwrap();
                pool.map(2 * PAGE, 2)
            }
        });
        let unmapped = {
            let _held = pool.mapper.lock().unwrap();
            pool.unmap()
        };
        // The memory that the other has mapped is free by then: one of its pages went, or the one
        // before.
        assert!(unmapped);
        assert_eq!(other.join().unwrap(), Some(1));
        seen.note(match pool.use_ready() {
            Some(1) | None => "kept",
            Some(_) => "taken first",
        });
    });
}
