//! Daily operations, on a GPU too: vectors, fills, rows, variables, shared memory, other allocators.

use cupola_managers::context::Waiting;
use cupola_managers::ops::{self, LaunchConfig, Rectangle};
use cupola_managers::pool::{Allocation, DriverAllocator};

use crate::common::{Bench, on_gpu};

/// `gather` copies `table` into what it is given; `reach` takes the number of its thread through the
/// end of 64 KiB of shared memory.
const PTX: &str = "
.version 6.0
.target sm_60
.address_size 64
.global .align 4 .b8 table[16];
.extern .shared .align 4 .b8 memory[];
.visible .entry gather(.param .u64 to) {
    .reg .b32 %i<3>;
    .reg .b64 %a<5>;
    mov.u32 %i1, %tid.x;
    ld.param.u64 %a1, [to];
    mad.wide.u32 %a2, %i1, 4, %a1;
    mov.u64 %a3, table;
    mad.wide.u32 %a4, %i1, 4, %a3;
    ld.global.u32 %i2, [%a4];
    st.global.u32 [%a2], %i2;
    ret;
}
.visible .entry reach(.param .u64 to) {
    .reg .b32 %i<5>;
    .reg .b64 %a<3>;
    mov.u32 %i1, %tid.x;
    mov.u32 %i2, memory;
    mad.lo.u32 %i3, %i1, 4, %i2;
    st.shared.u32 [%i3+65520], %i1;
    ld.shared.u32 %i4, [%i3+65520];
    ld.param.u64 %a1, [to];
    mad.wide.u32 %a2, %i1, 4, %a1;
    st.global.u32 [%a2], %i4;
    ret;
}
";

// Without it a device could fill with other bytes than the software device does.
#[test]
fn vectors_and_fills_come_back() {
    let bench = Bench::open();
    let (pool, stream) = (&bench.pool, &bench.stream);
    let numbers: Vec<u16> = (0..1001).collect();
    let mut there = pool.upload(&numbers, stream).unwrap();
    assert_eq!(there.to_vec(stream).unwrap(), numbers);
    let (low, high) = there.split_at_mut(501).unwrap();
    ops::fill(low, 7, stream).unwrap();
    // At an address that is odd as one of words.
    ops::fill(high, 0x1234, stream).unwrap();
    let back = there.to_vec(stream).unwrap();
    assert!(back[..501].iter().all(|&short| short == 7));
    assert!(back[501..].iter().all(|&short| short == 0x1234));
    let mut floats = pool.zeros::<[f32; 2]>(33, stream).unwrap();
    ops::fill(&mut floats, [1.5, 1.5], stream).unwrap();
    assert_eq!(floats.to_vec(stream).unwrap(), [[1.5; 2]; 33]);
    let bytes = floats.cast::<u8>().unwrap();
    assert_eq!(bytes.len(), 264);
    bytes.free_on(&bench.another_stream()).unwrap();
    drop(there);
    bench.finish();
}

// Without it a device could take pitches that the software device does, or the other way about.
#[test]
fn rows_of_any_pitch_are_copied() {
    let bench = Bench::open();
    let (pool, stream) = (&bench.pool, &bench.stream);
    let from: Vec<u8> = (0..=255).collect();
    // Pitches that are aligned to nothing.
    let rectangle = Rectangle::new(13, 7).from_pitch(31).to_pitch(17);
    let mut expected = [0; 128];
    for row in 0..7 {
        expected[row * 17..][..13].copy_from_slice(&from[row * 31..][..13]);
    }
    let source = pool.upload(&from, stream).unwrap();
    let mut there = pool.zeros::<u8>(128, stream).unwrap();
    ops::copy_2d(&source, &mut there, rectangle, stream).unwrap();
    assert_eq!(there.to_vec(stream).unwrap(), expected);
    ops::zero(&mut there, stream).unwrap();
    ops::write_2d(&mut there, &from, rectangle, stream).unwrap();
    assert_eq!(there.to_vec(stream).unwrap(), expected);
    let mut here = [0; 128];
    ops::read_2d(&source, &mut here, rectangle, stream).unwrap();
    assert_eq!(here, expected);
    let mut pinned = bench.context.buffers().pinned::<u8>(256).unwrap();
    ops::copy_to_host_2d(
        &source,
        pinned.slice_mut(64..192).unwrap(),
        rectangle,
        stream,
    )
    .unwrap();
    assert_eq!(pinned.as_slice().unwrap()[64..192], expected);
    pinned.as_mut_slice().unwrap().copy_from_slice(&from);
    ops::zero(&mut there, stream).unwrap();
    ops::copy_to_device_2d(&pinned, &mut there, rectangle, stream).unwrap();
    assert_eq!(there.to_vec(stream).unwrap(), expected);
    drop((source, there, pinned));
    bench.finish();
}

// Without it kernels of a device could know a variable, or their shared memory, by something else.
#[test]
fn kernels_know_variables_and_shared_memory() {
    let bench = Bench::open();
    let stream = &bench.stream;
    let module = bench.context.modules().load_ptx(PTX).unwrap();
    let table = module.global::<u32>("table").unwrap();
    // The address of a variable is no block of a pool, and known all the same.
    bench.context.set_pointer_checks(true);
    table.write(&[5, 6, 7, 8], stream).unwrap();
    bench.context.set_pointer_checks(false);
    let mut to = bench.pool.zeros::<u32>(4, stream).unwrap();
    let gather = module.function("gather").unwrap();
    // SAFETY: four threads, each of which writes its word of four.
    unsafe { ops::launch(&gather, LaunchConfig::linear(1, 4), (&mut to,), stream) }.unwrap();
    assert_eq!(to.to_vec(stream).unwrap(), [5, 6, 7, 8]);
    assert_eq!(table.to_vec(stream).unwrap(), [5, 6, 7, 8]);

    let reach = module.function("reach").unwrap();
    let config = LaunchConfig {
        shared_bytes: 64 << 10,
        ..LaunchConfig::linear(1, 4)
    };
    // The software device reports a launch that it refuses as a mistake of the program.
    if on_gpu() {
        // SAFETY: as above.
        let refused = unsafe { ops::launch(&reach, config, (&mut to,), stream) }.unwrap_err();
        assert!(
            refused.to_string().contains("allow_dynamic_shared"),
            "{refused}"
        );
    }
    let most = bench.device.info().unwrap().shared_per_block_optin as u32;
    if most >= config.shared_bytes {
        reach.allow_dynamic_shared(config.shared_bytes).unwrap();
        // SAFETY: as above.
        unsafe { ops::launch(&reach, config, (&mut to,), stream) }.unwrap();
        assert_eq!(to.to_vec(stream).unwrap(), [0, 1, 2, 3]);
    }
    reach.allow_dynamic_shared(most).unwrap();
    assert!(reach.allow_dynamic_shared(most + 1).is_err());
    drop((to, table, gather, reach, module));
    bench.finish();
}

// Without it a device could hand out memory, or take flags, in another way.
#[test]
fn the_drivers_pool_and_the_primary_flags_are_as_they_are_said() {
    let bench = Bench::open();
    let stream = &bench.stream;
    let own = DriverAllocator::new(&bench.context);
    let mut block = Allocation::new(own, 4000, 256, stream).unwrap();
    assert_eq!(block.as_raw() % 256, 0);
    // SAFETY: all of it is on the block's stream, here and below.
    ops::fill(unsafe { block.view_mut::<u32>() }.unwrap(), 3, stream).unwrap();
    // SAFETY: as above.
    let back = unsafe { block.view::<u32>() }.unwrap().to_vec(stream);
    assert_eq!(back.unwrap(), [3; 1000]);
    block.free().unwrap();

    let contexts = bench.device.contexts();
    let before = contexts.primary_state().unwrap();
    assert!(before.active);
    for waiting in [Waiting::Yield, before.waiting] {
        contexts.set_primary_waiting(waiting).unwrap();
        assert_eq!(contexts.primary_state().unwrap().waiting, waiting);
    }
    bench.finish();
}
