//! The tuner on the device that the tests run on.

use std::collections::BTreeMap;

use cupola_kernels::EMBEDDED;
use cupola_kernels::cache::CacheConfig;
use cupola_kernels::tune::{ProblemClass, TrialOutcome, TuneTask, Tuner, block_sizes};
use cupola_managers::PoolConfig;
use cupola_managers::occupancy::{Coverage, PlanConfig};
use cupola_managers::ops;

use super::told::context;
use crate::raw::{Raw, Where, target};

/// Without it real times could be read in wrong units, a winner be slower than what it was chosen before, or a
/// start on this device measure what is remembered.
#[test]
fn a_winner_is_measured_once() {
    let raw = Raw::open();
    let (execution, context) = context(&raw);
    let device = execution.devices().get(0).unwrap();
    let info = device.info().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let tuner = || {
        let mut cache = CacheConfig::default();
        cache.folder = Some(folder.path().to_owned());
        Tuner::new(&context, info, cache).unwrap()
    };
    let stream = context.streams().create(Default::default()).unwrap();
    let pool = context.memory_pool(PoolConfig::limit(1 << 30)).unwrap();
    let file = EMBEDDED
        .iter()
        .find(|file| file.entries().contains(&"cupola_scale"))
        .unwrap();
    let module = context.modules().load_ptx(file.ptx()).unwrap();
    let scale = module.function("cupola_scale").unwrap();
    let n: u64 = if target() == Where::Gpu {
        16 << 20
    } else {
        2000
    };
    let ones = pool.upload(&vec![1.0f32; n as usize], &stream).unwrap();
    let mut twos = pool.zeros::<f32>(n as usize, &stream).unwrap();
    let class = ProblemClass::of_sizes(&[n]);
    let task = TuneTask::of_code(file.ptx().as_bytes(), "cupola_scale", class);
    let sizes = block_sizes(&scale.occupancy_curve(|_| 0).unwrap());
    assert!(sizes.len() > 1, "{sizes:?}");
    // Not at each launch, whose time would have that of the questions in it.
    let configs = sizes.iter().map(|&threads| {
        let plan = PlanConfig::new(n).block([threads, 1, 1]);
        let plan = plan.coverage(Coverage::GridStride);
        (threads, scale.plan_launch(plan).unwrap().config())
    });
    let configs: BTreeMap<_, _> = configs.collect();
    let mut launches = 0;
    let mut choose = |tuner: &Tuner| {
        let choice = tuner.choose(&task, &sizes, &stream, |threads, stream| {
            launches += 1;
            let arguments = (n, 2.0f32, &ones, &mut twos);
            // SAFETY: the kernel reads and writes `n` elements.
            unsafe { ops::launch(&scale, configs[threads], arguments, stream) }
        });
        (choice.unwrap(), std::mem::take(&mut launches))
    };
    let (measured, count) = choose(&tuner());
    println!(
        "{} threads of {n} elements, {count} launches\n{}",
        measured.candidate, measured.text
    );
    let report = measured.report.unwrap();
    let index = sizes
        .iter()
        .position(|size| size == measured.candidate)
        .unwrap();
    let of = |outcome: &TrialOutcome| match outcome {
        TrialOutcome::Measured { median, .. } => Some(*median),
        _ => None,
    };
    let medians = report
        .trials()
        .iter()
        .filter_map(|trial| of(&trial.outcome));
    assert_eq!(of(&report.trials()[index].outcome), medians.min());
    let (remembered, count) = choose(&tuner());
    assert_eq!((remembered.candidate, count), (measured.candidate, 0));
    assert!(twos.to_vec(&stream).unwrap().iter().all(|two| *two == 2.0));
    drop((twos, ones, scale, module, pool, stream, context, execution));
}
