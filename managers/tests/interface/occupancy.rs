//! Occupancy: the driver's answers, the reasons that are told for them, and launches that are planned
//! by them.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use cupola_managers::module::Function;
use cupola_managers::occupancy::{Coverage, Limit, Occupancy, PlanConfig};
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Error, ErrorClass, GreenConfig};
use cupola_random::Random;
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::flags::OccupancyFlags;

use crate::bench;
use crate::test_bench::{PoolBench, TestBench};

/// `empty` needs nothing; `touch` adds 1 to every element of `nx` by `ny` by `nz`, in a grid-stride loop.
const PTX: &str = "
.version 6.0
.target sm_60
.address_size 64
.visible .entry empty() { ret; }
.visible .entry touch(.param .u64 to, .param .u32 nx, .param .u32 ny, .param .u32 nz) {
    .reg .pred %p;
    .reg .b32 %n<4>; .reg .b32 %at<4>; .reg .b32 %by<4>; .reg .b32 %i<5>;
    .reg .b64 %to; .reg .b64 %a;
    ld.param.u64 %to, [to];
    ld.param.u32 %n1, [nx];
    ld.param.u32 %n2, [ny];
    ld.param.u32 %n3, [nz];
    mov.u32 %i1, %ntid.x;
    mov.u32 %i2, %ntid.y;
    mov.u32 %i3, %ntid.z;
    mov.u32 %by1, %nctaid.x;
    mov.u32 %by2, %nctaid.y;
    mov.u32 %by3, %nctaid.z;
    mul.lo.u32 %by1, %by1, %i1;
    mul.lo.u32 %by2, %by2, %i2;
    mul.lo.u32 %by3, %by3, %i3;
    mov.u32 %at3, %ctaid.z;
    mov.u32 %i4, %tid.z;
    mad.lo.u32 %at3, %at3, %i3, %i4;
Z:  setp.ge.u32 %p, %at3, %n3;
    @%p bra END;
    mov.u32 %at2, %ctaid.y;
    mov.u32 %i4, %tid.y;
    mad.lo.u32 %at2, %at2, %i2, %i4;
Y:  setp.ge.u32 %p, %at2, %n2;
    @%p bra NEXT_Z;
    mov.u32 %at1, %ctaid.x;
    mov.u32 %i4, %tid.x;
    mad.lo.u32 %at1, %at1, %i1, %i4;
X:  setp.ge.u32 %p, %at1, %n1;
    @%p bra NEXT_Y;
    mad.lo.u32 %i4, %at3, %n2, %at2;
    mad.lo.u32 %i4, %i4, %n1, %at1;
    mad.wide.u32 %a, %i4, 4, %to;
    red.global.add.u32 [%a], 1;
    add.u32 %at1, %at1, %by1;
    bra X;
NEXT_Y:
    add.u32 %at2, %at2, %by2;
    bra Y;
NEXT_Z:
    add.u32 %at3, %at3, %by3;
    bra Z;
END:
    ret;
}
";

fn function(bench: &PoolBench, name: &str) -> Function {
    let module = bench.base.context.modules().load_ptx(PTX).unwrap();
    module.function(name).unwrap()
}

fn limits(occupancy: Occupancy) -> Vec<Limit> {
    occupancy.limits().collect()
}

/// A kernel of `registers` registers and `shared` bytes of shared memory.
fn kernel(registers: u32, shared: u32, most_threads: u32) -> String {
    let mut text = format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n\
         .visible .entry kernel() .maxntid {most_threads}, 1, 1 {{\n\
         .reg .b32 %r<{registers}>;\n.shared .align 4 .b8 own[{}];\n",
        shared.max(4)
    );
    for register in 0..registers {
        writeln!(text, "mov.u32 %r{register}, %tid.x;").unwrap();
    }
    text.push_str("st.shared.u32 [own], %r0;\nret;\n}\n");
    text
}

// Without it the reasons that are told could be those of another device: what limits blocks would be
// counted by other rules than the driver counts them by.
#[test]
fn what_is_counted_is_what_the_driver_says() {
    let bench = bench();
    let mut random = Random::new(18);
    let mut seen = Vec::new();
    for _ in 0..150 {
        let (few, little) = (random.one_in(2), random.one_in(2));
        let registers = 1 + random.below(if few { 40 } else { 250 }) as u32;
        let shared = random.below(if little { 2000 } else { 48 << 10 }) as u32;
        let most = 1 + random.below(1024) as u32;
        let text = kernel(registers, shared, most);
        let module = bench.base.context.modules().load_ptx(&text).unwrap();
        let kernel = module.function("kernel").unwrap();
        if random.one_in(2) {
            kernel.allow_dynamic_shared(100 << 10).unwrap();
        }
        let dynamic = random.below(120 << 10) as u32 >> random.below(17);
        let curve = kernel
            .occupancy_curve(|threads| dynamic / 1024 * threads)
            .unwrap();
        for &point in curve.points() {
            let told = kernel
                .active_blocks(point.threads(), point.shared_bytes())
                .unwrap();
            assert_eq!(point.active_blocks(), told);
            assert_eq!(
                point.counted_blocks(),
                told,
                "{point}: {:?}",
                kernel.attributes()
            );
            assert!(
                !limits(point).is_empty() && point.fraction() <= 1.0,
                "{point}"
            );
            seen.extend(point.limits());
        }
        let larger = kernel.occupancy(most + 1, 0).unwrap();
        assert_eq!((larger.active_blocks(), larger.counted_blocks()), (0, 0));
        seen.extend(larger.limits());
    }
    use Limit as L;
    for limit in [
        L::Warps,
        L::Blocks,
        L::Registers,
        L::SharedMemory,
        L::BlockSize,
    ] {
        assert!(seen.contains(&limit), "no kernel was limited by {limit}");
    }
    assert!(!seen.contains(&L::Driver));
}

// Without it a device whose rules are not those that are counted by would be told wrong numbers, or
// right ones with a wrong reason.
#[test]
fn the_drivers_answer_counts_where_it_is_another() {
    // The software device counts by the rules of 8.0 whatever it plays: shared memory in units of 128
    // bytes, which were 256.
    let device = DeviceConfig::new().compute_capability(7, 0);
    let bench = TestBench::on(Machine::builder().worker_threads(1).device(device));
    let module = bench.context.modules().load_ptx(PTX).unwrap();
    let empty = module.function("empty").unwrap();
    // 164 KiB have room for 15 blocks of 11 136 bytes, and for 14 of 11 264.
    let occupancy = empty.occupancy(32, 10_100).unwrap();
    assert_eq!(
        occupancy.active_blocks(),
        empty.active_blocks(32, 10_100).unwrap()
    );
    assert_eq!(
        (occupancy.active_blocks(), occupancy.counted_blocks()),
        (15, 14)
    );
    assert_eq!(limits(occupancy), [Limit::Driver]);
    assert_eq!(
        occupancy.to_string(),
        "32 threads a block: 15 blocks on a multiprocessor, 15 of 64 warps (23 %), limited by the \
         driver: it says 15 blocks, and the device's figures give 14"
    );
}

// Without it a program that lets the driver choose would leave a part of the device idle, or a chosen
// size could be one that cannot be launched.
#[test]
fn the_potential_block_size_fills_the_device() {
    let bench = bench();
    let empty = function(&bench, "empty");
    let whole = empty.potential_block_size(0, None).unwrap();
    let all = bench.base.context.multiprocessors().unwrap();
    assert_eq!((whole.threads, whole.blocks), (1024, 2 * all));
    assert_eq!(empty.potential_block_size(0, Some(5000)).unwrap(), whole);
    assert_eq!(
        empty.potential_block_size(0, Some(100)).unwrap().threads,
        64
    );
    let flags = OccupancyFlags::DISABLE_CACHING_OVERRIDE;
    assert_eq!(empty.active_blocks_with(1024, 0, flags).unwrap(), 2);
    for refused in [
        empty.potential_block_size(0, Some(0)),
        empty.potential_block_size(200 << 10, None),
        empty.potential_block_size_by(None, |_| 200 << 10),
    ] {
        assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    }
    assert!(matches!(
        empty.active_blocks(0, 0),
        Err(Error::Invalid {
            field: "threads",
            ..
        })
    ));
    assert!(empty.available_dynamic_shared(0, 32).is_err());
    assert_eq!(empty.available_dynamic_shared(1, 32).unwrap(), 48 << 10);
    let each = empty.available_dynamic_shared(8, 128).unwrap();
    assert!(empty.active_blocks(128, each).unwrap() >= 8);
}

// Without it the search here could find another size than the driver's own, or a panic of its caller's
// function could go through the driver.
#[test]
fn shared_memory_may_depend_on_the_block_size() {
    let bench = bench();
    let empty = function(&bench, "empty");
    for (most, bytes) in [
        (None, 0),
        (Some(100), 0),
        (Some(1), 0),
        (None, 20 << 10),
        (Some(333), 5 << 10),
    ] {
        let by = empty.potential_block_size_by(most, |_| bytes).unwrap();
        assert_eq!(
            by,
            empty.potential_block_size(bytes, most).unwrap(),
            "{most:?}, {bytes}"
        );
    }
    let large_above_128 = |threads| if threads > 128 { 1 << 30 } else { 0 };
    assert_eq!(
        empty
            .potential_block_size_by(None, large_above_128)
            .unwrap()
            .threads,
        128
    );
    let panics = || empty.potential_block_size_by(None, |_| panic!("the caller's function"));
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(empty.active_blocks(256, 0).unwrap(), 8);
}

// Without it a kernel of a part of the device would be launched with the blocks of all of it.
#[test]
fn a_green_context_counts_its_own_multiprocessors() {
    let device = DeviceConfig::new().multiprocessors(32);
    let bench = TestBench::on(Machine::builder().worker_threads(1).device(device));
    let device = bench.execution.devices().get(0).unwrap();
    let green = device.contexts().green(GreenConfig::at_least(8)).unwrap();
    let part = green.multiprocessors().unwrap();
    assert!(part < 32);
    let empty = green
        .modules()
        .load_ptx(PTX)
        .unwrap()
        .function("empty")
        .unwrap();
    let potential = empty.potential_block_size(0, None).unwrap();
    assert_eq!(potential.blocks, 2 * part);
    assert_eq!(
        empty.potential_block_size_by(None, |_| 0).unwrap(),
        potential
    );
    assert_eq!(
        empty.occupancy(1024, 0).unwrap().wave(),
        u64::from(2 * part)
    );
    let plan = PlanConfig::new(1 << 40).coverage(Coverage::GridStride);
    assert_eq!(
        empty.plan_launch(plan).unwrap().config(),
        LaunchConfig::linear(2 * part, 1024)
    );
}

// Without it a device without clusters would answer with a code that each driver chooses.
#[test]
fn clusters_need_a_device_that_has_them() {
    let bench = bench();
    let empty = function(&bench, "empty");
    for refused in [
        empty.max_active_clusters([2, 1, 1], [32, 1, 1], 0),
        empty.max_cluster_size([32, 1, 1], 0),
    ] {
        let error = refused.unwrap_err();
        assert!(
            matches!(error, Error::UnsupportedByDevice { .. }),
            "{error:?}"
        );
        assert_eq!(error.class(), ErrorClass::Unsupported);
        assert_eq!(
            error.to_string(),
            "the device, of compute capability 8.0, lacks clusters of blocks, which came with 9.0"
        );
    }
    for empty_size in [
        empty.max_active_clusters([2, 0, 1], [32, 1, 1], 0),
        empty.max_active_clusters([2, 1, 1], [0, 1, 1], 0),
        empty.max_cluster_size([32, 1, 0], 0),
    ] {
        assert!(
            matches!(empty_size, Err(Error::Invalid { .. })),
            "{empty_size:?}"
        );
    }
}

// Without it a text could leave out the number that matters, or tell of resources where the grid is too
// small.
#[test]
fn occupancies_are_told_in_words() {
    let bench = bench();
    let empty = function(&bench, "empty");
    let text = |threads, shared| empty.occupancy(threads, shared).unwrap().to_string();
    assert_eq!(
        text(256, 0),
        "256 threads a block: 8 blocks on a multiprocessor, 64 of 64 warps (100 %), limited by warps"
    );
    assert_eq!(
        text(32, 0),
        "32 threads a block: 32 blocks on a multiprocessor, 32 of 64 warps (50 %), limited by the \
         number of blocks"
    );
    let small = empty
        .launch_occupancy(LaunchConfig::linear(3, 256))
        .unwrap();
    assert_eq!(small.limits().collect::<Vec<_>>(), [Limit::Grid]);
    assert_eq!(
        small.to_string(),
        "3 blocks of 256 threads: the grid is smaller than one wave (0.05), which is 64 blocks"
    );
    let large = empty
        .launch_occupancy(LaunchConfig::linear(96, 256))
        .unwrap();
    assert_eq!(large.waves(), Some(1.5));
    assert!(
        large
            .to_string()
            .starts_with("96 blocks, 1.50 waves; 256 threads a block: "),
        "{large}"
    );
    let none = empty
        .launch_occupancy(LaunchConfig::linear(1, 2048))
        .unwrap();
    assert_eq!(
        none.to_string(),
        "1 blocks; 2048 threads a block: 0 blocks on a multiprocessor, 0 of 64 warps (0 %), limited by \
         the block size, which the kernel cannot have"
    );
    let curve = empty.occupancy_curve(|threads| 40 * threads).unwrap();
    assert_eq!(curve.points().len(), 32);
    assert_eq!(curve.best().unwrap().threads(), 1024);
    let text = curve.to_string();
    let line = text.lines().nth(16).unwrap();
    assert_eq!(line, "    512       4   64 of  64 100 %  warps");
}

// Without it a planned launch could leave elements out, or have two threads at one.
#[test]
fn planned_launches_reach_each_element_once() {
    let bench = bench();
    let touch = function(&bench, "touch");
    let mut random = Random::new(2);
    for round in 0..60 {
        let mut side = |most: u64| 1 + (random.below(most) >> random.below(4));
        let size = match round % 3 {
            0 => [side(20_000), 1, 1],
            1 => [side(200), side(100), 1],
            _ => [side(40), side(30), side(20)],
        };
        let mut config = PlanConfig::new(size);
        if random.one_in(3) {
            config = config.block([8, 4, 2]);
        }
        if random.one_in(2) {
            config = config.coverage(Coverage::GridStride);
        }
        let plan = touch.plan_launch(config).unwrap();
        let count: u64 = size.iter().product();
        let mut elements = bench
            .pool
            .zeros::<u32>(count.max(1) as usize, &bench.stream)
            .unwrap();
        let [x, y, z] = size.map(|n| n as u32);
        // SAFETY: the kernel adds to `x * y * z` elements, which is their number.
        unsafe {
            ops::launch(
                &touch,
                plan.config(),
                (&mut elements, x, y, z),
                &bench.stream,
            )
            .unwrap();
        }
        let elements = elements.to_vec(&bench.stream).unwrap();
        let touched = elements.iter().filter(|n| **n == 1).count() as u64;
        assert_eq!(touched, count, "{size:?}: {plan:?}");
    }
}

// Without it a problem that a grid cannot cover would be launched with a part of it, and one without
// elements be refused by the driver.
#[test]
fn plans_are_never_empty_and_never_too_large() {
    let bench = bench();
    let empty = function(&bench, "empty");
    let plan = |config| empty.plan_launch(config);
    for coverage in [Coverage::ThreadPerElement, Coverage::GridStride] {
        let none = plan(PlanConfig::new([0, 7]).coverage(coverage)).unwrap();
        assert_eq!(none.config().grid, [1; 3]);
        assert!(none.is_thread_per_element());
    }
    let refused = plan(PlanConfig::new(u64::MAX));
    assert!(
        matches!(refused, Err(Error::Invalid { field: "size", .. })),
        "{refused:?}"
    );
    let stride = plan(PlanConfig::new(u64::MAX).coverage(Coverage::GridStride)).unwrap();
    let potential = empty.potential_block_size(0, None).unwrap();
    assert_eq!(
        stride.config(),
        LaunchConfig::linear(potential.blocks, potential.threads)
    );
    assert!(!stride.is_thread_per_element());
    let refused = plan(PlanConfig::new(9).block([2048, 1, 1]));
    assert!(
        matches!(refused, Err(Error::Invalid { field: "block", .. })),
        "{refused:?}"
    );
    for config in [PlanConfig::new(9), PlanConfig::new(9).block([32, 1, 1])] {
        let config = config.shared_bytes(200 << 10);
        for coverage in [Coverage::ThreadPerElement, Coverage::GridStride] {
            let refused = plan(config.coverage(coverage));
            let Err(Error::Invalid { field, .. }) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(field, "shared_bytes");
        }
    }
}
