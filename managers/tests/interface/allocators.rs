//! Allocators in front of a pool, and in its place.

use std::cell::{Cell, RefCell};

use cupola_managers::pool::{Allocation, Allocator, DriverAllocator};
use cupola_managers::{Error, FreeError, MemoryPool, Result, Stream, ops};
use cupola_sys::driver::{CUresult, id};

use super::bench;

/// Counts what another allocator has out.
struct Counted<A> {
    behind: A,
    out: Cell<i64>,
}

// SAFETY: what the other one promises.
unsafe impl<A: Allocator> Allocator for Counted<A> {
    type Block = (A::Block, u64);

    fn allocate_block(&self, bytes: u64, align: u64, stream: &Stream) -> Result<Self::Block> {
        let block = self.behind.allocate_block(bytes, align, stream)?;
        self.out.set(self.out.get() + bytes as i64);
        Ok((block, bytes))
    }

    fn block_address(&self, (block, _): &Self::Block) -> u64 {
        self.behind.block_address(block)
    }

    unsafe fn free_block(
        &self,
        (block, bytes): Self::Block,
        stream: &Stream,
    ) -> Result<(), FreeError<Self::Block>> {
        // SAFETY: the caller's promise.
        let freed = unsafe { self.behind.free_block(block, stream) };
        freed.map_err(|refused| {
            let (block, error) = refused.into_parts();
            FreeError::new((block, bytes), error)
        })?;
        self.out.set(self.out.get() - bytes as i64);
        Ok(())
    }
}

/// Cuts one block of a pool up, for one stream, and takes nothing back.
struct Arena {
    whole: Allocation<MemoryPool>,
    used: RefCell<u64>,
}

// SAFETY: each part is handed out once, and lies in the block, which is of the one stream's context.
unsafe impl Allocator for Arena {
    type Block = u64;

    fn allocate_block(&self, bytes: u64, align: u64, stream: &Stream) -> Result<u64> {
        assert_eq!(stream.serial(), self.whole.stream().serial());
        let mut used = self.used.borrow_mut();
        let start = used.next_multiple_of(align);
        if start + bytes > self.whole.bytes() {
            return Err(Error::Full { kind: "Arena" });
        }
        *used = start + bytes;
        Ok(self.whole.as_raw() + start)
    }

    fn block_address(&self, block: &u64) -> u64 {
        *block
    }

    unsafe fn free_block(&self, _: u64, _: &Stream) -> Result<(), FreeError<u64>> {
        Ok(())
    }
}

/// What any allocator is good for.
fn use_it(allocator: impl Allocator, stream: &Stream) -> Result<()> {
    let mut one = Allocation::new(&allocator, 400, 16, stream)?;
    let mut two = Allocation::new(&allocator, 400, 256, stream)?;
    assert_eq!((one.bytes(), two.as_raw() % 256), (400, 0));
    // SAFETY: all of it is on their stream, here and below.
    ops::fill(unsafe { one.view_mut::<u32>() }?, 1, stream)?;
    // SAFETY: as above.
    ops::fill(unsafe { two.view_mut::<u32>() }?, 2, stream)?;
    // SAFETY: as above.
    let (one_is, two_is) = unsafe { (one.view::<u32>()?, two.view::<u32>()?) };
    assert_eq!(one_is.to_vec(stream)?, [1; 100]);
    assert_eq!(two_is.to_vec(stream)?, [2; 100]);
    two.free()?;
    Ok(())
}

// Without it code that takes any allocator could get memory that is another's, leak it, or be told
// of no error.
#[test]
fn any_allocator_will_do() {
    let bench = bench();
    let stream = &bench.stream;
    use_it(&bench.pool, stream).unwrap();
    let counted = Counted {
        behind: bench.pool.clone(),
        out: Cell::new(0),
    };
    use_it(&counted, stream).unwrap();
    assert_eq!(counted.out.get(), 0);
    let held = Allocation::new(&counted, 1000, 8, stream).unwrap();
    assert_eq!(
        (counted.out.get(), bench.pool.usage().unwrap().live),
        (1000, 1000)
    );
    drop(held);
    drop(counted);
    let arena = Arena {
        whole: Allocation::new(bench.pool.clone(), 1000, 256, stream).unwrap(),
        used: RefCell::default(),
    };
    use_it(&arena, stream).unwrap();
    assert!(matches!(use_it(&arena, stream), Err(Error::Full { .. })));
    drop(arena);
    assert_eq!(bench.pool.usage().unwrap().live, 0);

    let own = DriverAllocator::new(&bench.base.context);
    use_it(std::sync::Arc::new(own.clone()), stream).unwrap();
    assert_eq!(bench.base.faults.count(id::cuMemAllocAsync), 2);
    assert_eq!(bench.base.faults.count(id::cuMemFreeAsync), 2);
    let none = Allocation::new(&own, 0, 1, stream).unwrap();
    assert_eq!(none.as_raw(), 0);
    drop(none);
    for align in [0, 3, 512] {
        let refused = Allocation::new(&own, 8, align, stream).unwrap_err();
        assert!(matches!(refused, Error::Invalid { .. }), "{align}");
    }
    assert!(Allocation::new(&own, u64::MAX, 1, stream).is_err());
    drop(own);
    bench.finish();
}

// Without it a free that fails could lose the memory, or free it twice.
#[test]
fn a_free_that_fails_gives_the_block_back() {
    let bench = bench();
    let own = DriverAllocator::new(&bench.base.context);
    let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
    bench.base.faults.fail(id::cuMemAllocAsync, 1, code);
    let refused = Allocation::new(&own, 8, 8, &bench.stream).unwrap_err();
    assert_eq!(refused.status(), Some(code));
    // With a stream that will not do nothing has happened.
    let block = own.allocate_block(8, 8, &bench.stream).unwrap();
    let address = own.block_address(&block);
    let device = bench.base.execution.devices().get(0).unwrap();
    let created = device.contexts().create(Default::default()).unwrap();
    let foreign = created.streams().create(Default::default()).unwrap();
    // SAFETY: nothing uses the block.
    let refused = unsafe { own.free_block(block, &foreign) }.unwrap_err();
    assert!(matches!(refused.error(), Error::WrongContext { .. }));
    let block = refused.into_inner();
    assert_eq!(own.block_address(&block), address);
    // SAFETY: as above.
    unsafe { own.free_block(block, &bench.stream) }.unwrap();
    drop((foreign, created, device));
    assert_eq!(bench.base.faults.count(id::cuMemFreeAsync), 1);

    // A wait that fails in checked mode loses no memory: there is none.
    bench.base.context.set_checked(true);
    bench.base.faults.reset();
    bench
        .base
        .faults
        .fail_from(id::cuStreamSynchronize, 1, code);
    let block = Allocation::new(&own, 8, 8, &bench.stream).unwrap();
    bench.base.faults.reset();
    bench.base.context.set_checked(false);
    block.free().unwrap();

    // What the driver has refused may be free, and is not freed again.
    let block = Allocation::new(&own, 8, 8, &bench.stream).unwrap();
    bench.base.faults.reset();
    bench.base.faults.fail(id::cuMemFreeAsync, 1, code);
    let refused = block.free().unwrap_err();
    assert_eq!(refused.error().status(), Some(code));
    let block = refused.into_inner();
    assert_eq!(block.as_raw(), 0);
    drop(block);
    assert_eq!(bench.base.faults.count(id::cuMemFreeAsync), 1);
    assert_eq!(bench.base.execution.live().abandoned, 1);
}
