//! What the managers tell of occupancy: the driver's answers, with reasons that hold on this device.

use std::fmt::Write as _;

use cupola_kernels::EMBEDDED;
use cupola_managers::occupancy::{Coverage, Limit, OccupancyCurve, PlanConfig};
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Context, Error, ExecutionManager, Function, PoolConfig};

use crate::raw::Raw;

/// A kernel that keeps so many numbers at a time, each of which depends on the ones before.
fn wide(numbers: u32) -> String {
    let mut text = format!(
        ".version 6.0\n.target sm_60\n.address_size 64\n\
         .visible .entry wide(.param .u64 to, .param .u32 seed) .maxntid 256, 1, 1 {{\n\
         .reg .b32 %r<{numbers}>;\n.reg .b32 %s;\n.reg .b64 %a;\n\
         ld.param.u64 %a, [to];\nld.param.u32 %s, [seed];\n"
    );
    for number in 0..numbers {
        writeln!(
            text,
            "mad.lo.u32 %r{number}, %s, {}, {number};",
            2 * number + 3
        )
        .unwrap();
        writeln!(text, "xor.b32 %s, %s, %r{number};").unwrap();
    }
    for number in 0..numbers {
        // In another order than they were made in, so that all are kept.
        let number = (number * 7 + 3) % numbers;
        writeln!(text, "mad.lo.u32 %s, %s, %s, %r{number};").unwrap();
    }
    text.push_str("st.global.u32 [%a], %s;\nret;\n}\n");
    text
}

/// Kernels of many kinds: those of this project, and some that need many registers.
fn kernels(context: &Context) -> Vec<Function> {
    let load = |text: &str, entry: &str| {
        let module = context.modules().load_ptx(text).expect("its PTX loads");
        module.function(entry).expect("the module has it")
    };
    let embedded = EMBEDDED.iter().flat_map(|file| {
        let entries = file.entries().iter();
        entries.map(|entry| load(file.ptx(), entry))
    });
    let wide = [2, 17, 61, 127, 199].map(|numbers| load(&wide(numbers), "wide"));
    embedded.chain(wide).collect()
}

pub(super) fn context(raw: &Raw) -> (ExecutionManager, Context) {
    let execution = ExecutionManager::new(raw.driver.clone()).expect("cuInit");
    let device = execution.devices().get(0).expect("device 0");
    let context = device.primary().expect("primary context");
    (execution, context)
}

/// Every point is the driver's answer, and says why in words that are right for this device.
fn check(kernel: &Function, curve: &OccupancyCurve) {
    let name = kernel.name().to_string_lossy();
    assert!(!curve.points().is_empty(), "{name}");
    for point in curve.points() {
        let told = kernel
            .active_blocks(point.threads(), point.shared_bytes())
            .unwrap();
        let text = format!("{name}, {point}; {:?}", kernel.attributes());
        assert_eq!(point.active_blocks(), told, "{text}");
        assert_eq!(point.counted_blocks(), told, "{text}");
        let limits: Vec<_> = point.limits().collect();
        assert!(
            !limits.is_empty() && !limits.contains(&Limit::Driver),
            "{text}"
        );
        assert!(point.active_warps() <= point.max_warps(), "{text}");
    }
}

/// Without it the reasons that are told for an occupancy could be counted by rules that this device has
/// not: the blocks that the figures give are the driver's for kernels of few and many registers, with
/// little and much shared memory, at every block size.
#[test]
fn occupancies_are_counted_as_the_driver_counts() {
    let raw = Raw::open();
    let (execution, context) = context(&raw);
    let device = execution.devices().get(0).unwrap();
    let most = device.info().unwrap().shared_per_block_optin as u32;
    let mut registers = Vec::new();
    for kernel in kernels(&context) {
        registers.push(kernel.attributes().registers);
        for shared in [0, 1, 1000, 5000, 20_000, 40_000] {
            let curve = kernel.occupancy_curve(|_| shared).unwrap();
            check(&kernel, &curve);
        }
        let more = most
            .saturating_sub(kernel.attributes().shared_bytes)
            .min(90 << 10);
        kernel.allow_dynamic_shared(more).unwrap();
        check(
            &kernel,
            &kernel.occupancy_curve(|threads| 70 * threads).unwrap(),
        );
        println!(
            "{}\n{}",
            kernel.name().to_string_lossy(),
            kernel.occupancy_curve(|_| 0).unwrap()
        );
    }
    let range = (
        registers.iter().min().unwrap(),
        registers.iter().max().unwrap(),
    );
    assert!(
        *range.0 < 32 && *range.1 > 64,
        "kernels of {range:?} registers are too much alike"
    );
    drop((context, execution));
}

/// Without it the block size that is searched here, where shared memory depends on it, could keep fewer
/// threads than the driver's own, and the figures of one answer contradict those of another.
#[test]
fn answers_agree_with_each_other() {
    let raw = Raw::open();
    let (execution, context) = context(&raw);
    let all = context.multiprocessors().unwrap();
    for kernel in kernels(&context) {
        let name = kernel.name().to_string_lossy().into_owned();
        for shared in [0, 3000, 20_000] {
            let driver = kernel.potential_block_size(shared, None).unwrap();
            let searched = kernel.potential_block_size_by(None, |_| shared).unwrap();
            let resident = |threads| threads * kernel.active_blocks(threads, shared).unwrap();
            assert_eq!(
                resident(driver.threads),
                resident(searched.threads),
                "{name}, {shared}"
            );
            let active = kernel.active_blocks(driver.threads, shared).unwrap();
            assert_eq!(driver.blocks, active * all, "{name}, {shared}");
            let limited = kernel.potential_block_size(shared, Some(64)).unwrap();
            assert!(limited.threads <= 64, "{name}");
        }
        let blocks = kernel.active_blocks(64, 0).unwrap();
        let each = kernel.available_dynamic_shared(blocks, 64).unwrap();
        assert!(
            kernel.active_blocks(64, each).unwrap() >= blocks,
            "{name}: {each} bytes"
        );
        let small = kernel
            .launch_occupancy(LaunchConfig::linear(1, 64))
            .unwrap();
        assert_eq!(small.limits().collect::<Vec<_>>(), [Limit::Grid], "{small}");
    }
    drop((context, execution));
}

/// Without it clusters could be promised that the device does not hold, or a device without them be asked
/// for them by a code that each driver chooses.
#[test]
fn clusters_are_no_more_than_their_blocks() {
    let raw = Raw::open();
    let (execution, context) = context(&raw);
    let module = context.modules().load_ptx(&wide(9)).unwrap();
    let kernel = module.function("wide").unwrap();
    let block = [128, 1, 1];
    match kernel.max_cluster_size(block, 0) {
        Err(error @ Error::UnsupportedByDevice { .. }) => {
            println!("{error}");
            let clusters = kernel.max_active_clusters([2, 1, 1], block, 0);
            assert!(matches!(clusters, Err(Error::UnsupportedByDevice { .. })));
        }
        most => {
            let most = most.unwrap();
            assert!(most >= 8, "8 blocks are portable, and it says {most}");
            let wave = kernel.occupancy(128, 0).unwrap().wave();
            let mut fewer = u32::MAX;
            for blocks in [1, 2, 4, 8] {
                let clusters = kernel
                    .max_active_clusters([blocks, 1, 1], block, 0)
                    .unwrap();
                println!("{clusters} clusters of {blocks}; {wave} blocks are a wave");
                assert!(clusters > 0 && clusters <= fewer);
                assert!(u64::from(clusters * blocks) <= wave);
                fewer = clusters;
            }
            let flat = kernel.max_active_clusters([2, 2, 1], block, 0).unwrap();
            assert_eq!(
                flat,
                kernel.max_active_clusters([4, 1, 1], block, 0).unwrap()
            );
            let none = kernel.max_active_clusters([0, 1, 1], block, 0);
            assert!(matches!(
                none,
                Err(Error::Invalid {
                    field: "cluster",
                    ..
                })
            ));
        }
    }
    drop((kernel, module, context, execution));
}

/// Without it a planned launch could be refused by the device, or leave elements out.
#[test]
fn planned_launches_reach_every_element() {
    let raw = Raw::open();
    let (execution, context) = context(&raw);
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(64 << 20)).unwrap();
    let file = EMBEDDED
        .iter()
        .find(|file| file.entries().contains(&"cupola_scale"));
    let module = context.modules().load_ptx(file.unwrap().ptx()).unwrap();
    let scale = module.function("cupola_scale").unwrap();
    for n in [0, 1, 33, 100_001] {
        for coverage in [Coverage::ThreadPerElement, Coverage::GridStride] {
            let plan = scale
                .plan_launch(PlanConfig::new(n as u64).coverage(coverage))
                .unwrap();
            let ones = pool.upload(&vec![1.0f32; n.max(1)], &stream).unwrap();
            let mut twos = pool.zeros::<f32>(n.max(1), &stream).unwrap();
            let arguments = (n as u64, 2.0f32, &ones, &mut twos);
            // SAFETY: the kernel reads and writes `n` elements.
            unsafe { ops::launch(&scale, plan.config(), arguments, &stream) }.unwrap();
            let twos = twos.to_vec(&stream).unwrap();
            assert!(twos[..n].iter().all(|two| *two == 2.0), "{n}, {plan:?}");
        }
    }
    let text = scale.occupancy(256, 0).unwrap().to_string();
    assert!(text.contains("limited by"), "{text}");
    drop((scale, module, pool, stream, context, execution));
}
