//! Slots that are added while they help.

use cupola_managers::pipeline::{Graphs, Pipeline, PipelineConfig};
use cupola_managers::{Error, PoolConfig};
use cupola_sys::driver::{CUresult, id};

use super::test_bench::PoolBench;
use super::{LEN, bench, copy};

/// When the host is so late that all items in flight have arrived before it submits the next one.
#[derive(Clone, Copy, Debug)]
enum Late {
    Never,
    Always,
    NowAndThen,
}

/// Takes items through a pipeline, of which the device is as slow as can be: what is not known to have
/// arrived has not when it is asked for.
fn run(bench: &PoolBench, pipeline: &mut Pipeline<u32, u32>, late: Late) {
    const ITEMS: u32 = 600;
    let faults = &bench.base.faults;
    faults.reset();
    faults.fail_from(id::cuEventQuery, 1, CUresult::CUDA_ERROR_NOT_READY);
    let (mut sent, mut seen) = (0, 0);
    while seen < ITEMS {
        let is_late = match late {
            Late::Never => false,
            Late::Always => true,
            Late::NowAndThen => sent % 20 == 19,
        };
        if is_late {
            pipeline.synchronize().unwrap();
        }
        if let Some(mut input) = pipeline.try_input().filter(|_| sent < ITEMS) {
            input.fill(sent);
            assert_eq!(input.submit(LEN, copy), Ok(u64::from(sent)));
            sent += 1;
            continue;
        }
        let item = pipeline.output().unwrap().expect("one is in flight");
        assert_eq!(
            (item.index, item.output),
            (u64::from(seen), &[seen; LEN][..])
        );
        seen += 1;
    }
    faults.reset();
    assert_eq!(pipeline.cancel().unwrap().taken, u64::from(ITEMS));
}

// Without it a pipeline could keep a depth at which the device is without work whenever the host is late,
// take memory for slots that gain nothing, or mix items up when it grows.
#[test]
fn slots_are_added_while_they_help() {
    let bench = bench();
    let config = PipelineConfig::new(LEN, LEN).adaptive(2..=7);
    for config in [
        config,
        config.graphs(Graphs::Steps),
        config.split(2, 2),
        config.split(1, 2).graphs(Graphs::Steps),
    ] {
        for (late, depth) in [(Late::Never, 2), (Late::Always, 2), (Late::NowAndThen, 7)] {
            let (context, pool) = (&bench.base.context, &bench.pool);
            let mut pipeline = Pipeline::new(context, pool, config).unwrap();
            for _ in 0..2 {
                run(&bench, &mut pipeline, late);
                assert_eq!(pipeline.depth(), depth, "{late:?}, {config:?}");
            }
            let growth = pipeline.growth().unwrap();
            assert_eq!((growth.added, &growth.refused), (depth - 2, &None));
            if config.graphs == Graphs::Steps {
                let launched = pipeline.graph_report().launched;
                assert_eq!(launched, 0, "counted anew");
            }
        }
    }
    assert_eq!(bench.base.machine.findings(), []);
    assert_eq!(bench.pool.usage().unwrap().blocks, 0);
}

// Without it a pool that is full could end a run that has all that it needs.
#[test]
fn a_pool_that_is_full_keeps_the_depth() {
    let bench = bench();
    let context = &bench.base.context;
    // Memory for six buffers, so for three slots.
    const BYTES: usize = 1_200_000;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20)).unwrap();
    let config = PipelineConfig::new(BYTES / 4, BYTES / 4);
    let fixed: Pipeline<u32, u32> = Pipeline::new(context, &pool, config).unwrap();
    assert!(fixed.growth().is_none(), "it is not adaptive");
    drop(fixed);
    let config = config.adaptive(2..=7);
    let mut pipeline = Pipeline::new(context, &pool, config).unwrap();
    run(&bench, &mut pipeline, Late::NowAndThen);
    let growth = pipeline.growth().unwrap();
    assert_eq!((pipeline.depth(), growth.added), (3, 1), "{growth}");
    let Some(Error::OverLimit { .. }) = growth.refused else {
        panic!("{growth}");
    };
    assert!(
        growth
            .to_string()
            .starts_with("1 slots added; no more because ")
    );
    assert_eq!(bench.base.machine.findings(), []);
}
