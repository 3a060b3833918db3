//! Times on a device whose time is virtual: what the model says, and nothing else.

use std::time::Duration;

use cupola_kernels::executor::{Execution, Executor, ExecutorConfig};
use cupola_kernels::profile::{Cost, Profile, Profiler};
use cupola_managers::module::Function;
use cupola_managers::ops::LaunchConfig;
use cupola_managers::{ExecutionManager, Result, ops};
use cupola_sim::{DeviceConfig, Machine, Order};

/// Kernels that take a millisecond each.
struct Bench {
    nothing: Function,
    executor: Executor,
    machine: Machine,
}

const MILLI: Duration = Duration::from_millis(1);

const PTX: &str = "
    .version 7.0
    .target sm_60
    .address_size 64
    .visible .entry nothing() { ret; }
";

impl Bench {
    fn new(streams: usize) -> Self {
        let device = DeviceConfig::new().launch_delay(MILLI);
        let machine = Machine::builder().device(device).order(Order::Timed);
        let machine = machine.build();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        let module = context.modules().load_ptx(PTX).unwrap();
        Self {
            nothing: module.function("nothing").unwrap(),
            executor: Executor::new(&context, ExecutorConfig::streams(streams)).unwrap(),
            machine,
        }
    }

    fn launch(&self, after: &[&Execution<()>]) -> Result<Execution<()>> {
        let fences: Vec<_> = after.iter().map(|execution| execution.fence()).collect();
        let request = self.executor.request().timed().after(&fences);
        // SAFETY: the kernel takes nothing and touches nothing.
        unsafe { request.launch(&self.nothing, LaunchConfig::linear(1, 1), ()) }
    }
}

/// The same to a microsecond, of which a kernel has some for its instructions.
#[track_caller]
fn assert_near(found: Duration, expected: Duration) {
    let off = found.abs_diff(expected);
    assert!(
        off < Duration::from_micros(2),
        "{found:?}, not {expected:?}"
    );
}

// Without it a wait behind other work could be told as time of the kernel's own, or the reverse.
#[test]
fn executions_of_one_stream_wait_for_each_other() {
    let bench = Bench::new(1);
    let executions: Vec<_> = (0..4).map(|_| bench.launch(&[]).unwrap()).collect();
    for (before, execution) in (0..).zip(&executions) {
        let times = execution.times().unwrap().unwrap();
        assert_near(times.queue_wait, before * MILLI);
        assert_near(times.execute, MILLI);
        assert_eq!(&*times.label, "nothing");
    }
    // The stream is idle again.
    let times = bench.launch(&[]).unwrap().times().unwrap().unwrap();
    assert_near(times.queue_wait, Duration::ZERO);
    assert!(bench.machine.trace().unwrap().departures().is_empty());
}

// Without it executions could all be put on one stream while others are idle.
#[test]
fn executions_of_several_streams_do_not_wait() {
    let bench = Bench::new(4);
    let executions: Vec<_> = (0..8).map(|_| bench.launch(&[]).unwrap()).collect();
    let waits = |execution: &Execution<()>| execution.times().unwrap().unwrap().queue_wait;
    for (place, execution) in executions.iter().enumerate() {
        assert_near(waits(execution), (place / 4) as u32 * MILLI);
    }
}

// Without it an execution could begin before those that it comes after, or wait for others.
#[test]
fn an_execution_waits_for_those_that_it_comes_after() {
    let bench = Bench::new(4);
    let first = bench.launch(&[]).unwrap();
    let second = bench.launch(&[&first]).unwrap();
    let beside = bench.launch(&[]).unwrap();
    let last = bench.launch(&[&second, &beside]).unwrap();
    let expected = [(&first, 0), (&second, 1), (&beside, 0), (&last, 2)];
    for (execution, waits) in expected {
        let times = execution.times().unwrap().unwrap();
        assert_near(times.queue_wait, waits * MILLI);
        assert_near(times.execute, MILLI);
    }
}

// Without it `begun` could be on no clock that a reader has: by how much executions follow each other is
// the device's time, and the first is where the host was.
#[test]
fn the_trace_has_the_times_of_the_device() {
    let bench = Bench::new(1);
    for _ in 0..3 {
        drop(bench.launch(&[]).unwrap());
    }
    bench.launch(&[]).unwrap().wait().unwrap();
    let trace = bench.executor.trace();
    let begun: Vec<_> = trace.executions.iter().map(|times| times.begun).collect();
    for pair in begun.windows(2) {
        assert_near(pair[1] - pair[0], MILLI);
    }
    let words = trace.executions[3].to_string();
    assert!(
        words.starts_with("nothing: waited 3.0ms, was launched in "),
        "{words}"
    );
    assert!(words.ends_with(", ran for 1.0ms"), "{words}");
}

/// A profile of a kernel that takes so long, on a device with this clock.
fn profile(long: Duration, clock_khz: u32) -> Profile {
    let device = DeviceConfig::new().launch_delay(long).clock_khz(clock_khz);
    let machine = Machine::builder()
        .device(device)
        .order(Order::Timed)
        .build();
    let execution = ExecutionManager::new(machine.driver()).unwrap();
    let device = execution.devices().get(0).unwrap();
    let context = device.primary().unwrap();
    let nothing = context
        .modules()
        .load_ptx(PTX)
        .unwrap()
        .function("nothing")
        .unwrap();
    let profiler = Profiler::new(&context, device.info().unwrap()).unwrap();
    let cost = Cost::new().bytes(1_000_000).flops(500_000);
    let profile = profiler.profile("nothing", cost, |stream| {
        // SAFETY: the kernel takes nothing and touches nothing.
        unsafe { ops::launch(&nothing, LaunchConfig::linear(1, 1), (), stream) }
    });
    profile.unwrap()
}

// Without it the times could be of the wrong events, or rates be off by a factor.
#[test]
fn a_profile_has_the_times_of_the_device() {
    let profile = profile(MILLI, 1_000_000);
    assert_eq!((profile.launches, profile.samples.len()), (1, 100));
    for sample in &profile.samples {
        assert_near(sample.execute, MILLI);
    }
    assert_near(profile.execute.mean, MILLI);
    assert_near(profile.execute.deviation, Duration::ZERO);
    let near = |found: Option<f64>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 0.01;
    assert!(near(profile.bandwidth(), 1e9), "{profile}");
    assert!(near(profile.flop_rate(), 5e8), "{profile}");
    // The software device says that its memory has the same clock, and a bus of 64 bits.
    assert!(near(profile.limits.bandwidth, 16e9), "{profile}");
    assert!(near(profile.bandwidth_share(), 1.0 / 16.0), "{profile}");
    assert!(
        profile.to_string().contains(", 6.2 % of 16.00 GB/s"),
        "{profile}"
    );
    assert!(!profile.is_launch_bound());
}

// Without it a kernel that is as short as the resolution of events would be measured by one launch.
#[test]
fn short_kernels_are_measured_by_many_launches() {
    let profile = profile(Duration::from_micros(2), 1_000_000);
    // 16 are too few for 50 us.
    assert_eq!(profile.launches, 32, "{profile}");
    let off = profile.execute.median.abs_diff(Duration::from_micros(2));
    assert!(off < Duration::from_nanos(200), "{profile}");
}

// Without it a limit that no driver tells could be shown as one.
#[test]
fn a_limit_that_is_not_told_is_said_to_be_unknown() {
    let profile = profile(MILLI, 0);
    assert_eq!(
        (profile.limits.bandwidth, profile.limits.flop_rate),
        (None, None)
    );
    assert_eq!(
        (profile.bandwidth_share(), profile.flop_share()),
        (None, None)
    );
    let words = profile.to_string();
    assert_eq!(words.matches("limit is not told").count(), 2, "{words}");
}
