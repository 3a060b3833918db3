//! Executions on the streams of a pool, and profiles.

use cupola_kernels::executor::{Executor, ExecutorConfig};
use cupola_kernels::profile::{Cost, Launches, ProfileConfig, Profiler};
use cupola_kernels::{Embedded, Kernels};
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{PoolConfig, Stream};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

/// Executions of every kind, each of which is waited for.
pub(crate) fn executor(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let executor = Executor::new(&context, ExecutorConfig::streams(2))?;
    let file = Embedded::with_entry("cupola_scale").ok_or("an embedded kernel")?;
    let scale = &context
        .modules()
        .load_ptx(file.ptx())?
        .function("cupola_scale")?;
    let config = LaunchConfig::linear(1, 64);

    let zeros = executor.execute(|stream| pool.zeros::<f32>(64, stream))?;
    let exact = (executor.request().exact().after(&[zeros.fence()]))
        .execute(|stream| pool.zeros::<f32>(64, stream))?;
    let mut output = exact.join()?;
    // What came after it has ended.
    zeros.is_done()?;
    let after = [zeros.fence()];
    let timed = executor.request().timed().after(&after);
    let arguments = (64_u64, 2.0_f32, zeros.output(), &mut output);
    // SAFETY: the kernel reads and writes 64 elements.
    let launched = unsafe { timed.launch(scale, config, arguments) }?;
    launched.times()?.ok_or("it was timed")?;
    let arguments = (64_u64, 2.0_f32, zeros.output(), &mut output);
    // SAFETY: the same.
    let launched = unsafe { timed.launch_cooperative(scale, config, arguments) }?;
    launched.times()?.ok_or("it was timed")?;
    let works = (0..3).map(|_| {
        |stream: &Stream| {
            let mut output = pool.allocate::<f32>(64, stream)?;
            let arguments = (64_u64, 2.0_f32, zeros.output(), &mut output);
            // SAFETY: the same.
            unsafe { ops::launch(scale, config, arguments, stream) }?;
            Ok(output)
        }
    });
    let outputs = executor.batch(works).join()?;
    assert_eq!(outputs.len(), 3, "success, but not of each");
    assert_eq!(executor.trace().executions.len(), 2);
    Ok(())
}

/// A profile of a kernel.
pub(crate) fn profile(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let device = stage.device()?;
    let kernels = Kernels::load(&context, device.info()?)?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let config = ProfileConfig {
        warm_up: 1,
        repetitions: 3,
        launches: Launches::Exactly(2),
    };
    let profiler = Profiler::new(&context, device.info()?)?.config(config);
    let input = pool.zeros::<f32>(64, profiler.stream())?;
    let mut output = pool.zeros::<f32>(64, profiler.stream())?;
    let profile = profiler.profile("scale", Cost::new().bytes(512), |stream| {
        kernels.scale(2.0, &input, &mut output, stream)
    })?;
    assert_eq!(profile.samples.len(), 3);
    Ok(())
}
