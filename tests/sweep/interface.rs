//! What programs do every day: vectors up and down, fills, rows, variables, flags.

use cupola_managers::buffer::DeviceSliceMut;
use cupola_managers::context::Waiting;
use cupola_managers::ops::{self, CopyBatch, Rectangle};
use cupola_managers::pool::{Allocation, DriverAllocator, PoolConfig};
use cupola_managers::{Context, Error};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

const PTX: &str = "
.version 6.0
.target sm_60
.address_size 64
.global .align 4 .b8 table[16];
.visible .entry nothing() {
    ret;
}
";

/// One of each operation that `work` has not.
pub(crate) fn interface(stage: &Stage) -> Outcome {
    let device = stage.device()?;
    device.contexts().set_primary_waiting(Waiting::Block)?;
    let state = device.contexts().primary_state()?;
    assert_eq!(state.waiting, Waiting::Block);
    Ok(operations(&stage.context()?)?)
}

fn operations(context: &Context) -> Result<(), Error> {
    let stream = context.streams().create(Default::default())?;
    let other = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;

    let mut words = pool.upload(&[7u32; 64], &stream)?;
    let mut zeros = pool.zeros::<u32>(64, &stream)?;
    let (low, high) = zeros.split_at_mut(32)?;
    ops::fill(low.cast::<u8>()?, 1, &stream)?;
    ops::fill(high.cast::<u16>()?, 2, &stream)?;
    assert_eq!(zeros.to_vec(&stream)?[31..33], [0x0101_0101, 0x0002_0002]);

    // The pool is from before: the driver is asked.
    context.set_pointer_checks(true);
    // SAFETY: the elements of the buffer, which is alive.
    let there = unsafe { DeviceSliceMut::<u32>::from_raw(words.as_raw(), 64) };
    let written = ops::write(there, &[7; 64], &stream);
    context.set_pointer_checks(false);
    written?;
    let mut pinned = context.buffers().pinned::<u32>(64)?;
    ops::copy_to_host(words.slice(..32)?, pinned.slice_mut(32..)?, &stream)?;
    ops::copy_to_device(pinned.slice(..16)?, words.slice_mut(..16)?, &other)?;
    assert_eq!(pinned.as_slice()?[31..33], [0, 7]);
    let mut batch = CopyBatch::new(&stream);
    batch.download(&words, &mut pinned)?;
    batch.copy(&words, &mut zeros)?;
    batch.submit()?;
    assert_eq!(pinned.as_slice()?[31..33], [7, 7]);

    let rows = Rectangle::new(4, 8).from_pitch(8).to_pitch(6);
    let mut back = [9; 64];
    ops::copy_2d(&words, &mut zeros, rows, &stream)?;
    ops::write_2d(&mut zeros, &back, rows, &stream)?;
    ops::read_2d(&zeros, &mut back, rows, &stream)?;
    ops::copy_to_device_2d(&pinned, &mut zeros, rows, &stream)?;
    ops::copy_to_host_2d(&zeros, &mut pinned, rows, &stream)?;
    pinned.as_slice()?;

    let ticket = stream.ticket()?;
    ticket.is_done()?;
    ticket.wait_on(&other)?;
    ticket.wait()?;

    let module = context.modules().load_ptx(PTX)?;
    let table = module.global::<u32>("table")?;
    table.write(&[1, 2, 3, 4], &stream)?;
    assert_eq!(table.to_vec(&stream)?, [1, 2, 3, 4]);
    let function = module.function("nothing")?;
    function.allow_dynamic_shared(64 << 10)?;
    assert_eq!(function.max_dynamic_shared()?, 64 << 10);

    let own = Allocation::new(DriverAllocator::new(context), 64, 8, &stream)?;
    own.free()?;

    // What is refused is in the error, and freed with it.
    let bytes = pool.allocate_aligned::<u8>(64, 4096, &stream)?;
    bytes.cast::<u64>()?.free_on(&other)?;
    words.free_on(&other)?;
    ops::synchronize(&stream)
}
