//! Speed-ups in virtual time, which must be what the theory says, and runs that must not overlap:
//! without those a pipeline, or a report, that claims overlap of everything would pass.

use std::num::NonZeroU64;
use std::time::Duration;

use cupola_managers::event::EventConfig;
use cupola_managers::pipeline::{
    Asymptote, Bound, Graphs, Measured, OverlapReport, Pipeline, PipelineConfig, Sampling,
    StageTimes,
};
use cupola_managers::{
    Context, Error, Event, ExecutionManager, MemoryPool, PoolConfig, Stream, ops,
};
use cupola_sim::{DeviceConfig, Machine, Order};

/// Bytes of an item, which take a millisecond on the way up or down at a time of 1.
const BYTES: usize = 10_000;
const ITEMS: u64 = 100;

/// Milliseconds of each stage of an item.
#[derive(Clone, Copy)]
struct Stages {
    upload: u64,
    kernel: u64,
    download: u64,
}

impl Stages {
    const EQUAL: Self = Self {
        upload: 1,
        kernel: 1,
        download: 1,
    };

    fn sum(self) -> u64 {
        self.upload + self.kernel + self.download
    }

    fn longest(self) -> u64 {
        self.upload.max(self.kernel).max(self.download)
    }
}

/// A device on which each stage takes its time, and no other one.
struct Bench {
    machine: Machine,
    pool: MemoryPool,
    context: Context,
    stages: Stages,
}

impl Bench {
    fn new(stages: Stages, copy_engines: u32) -> Self {
        let bandwidth = |ms: u64| BYTES as u64 * 1000 / ms;
        let device = DeviceConfig::new()
            .copy_engines(copy_engines)
            .upload_bandwidth(bandwidth(stages.upload))
            .download_bandwidth(bandwidth(stages.download))
            .memory_bandwidth(bandwidth(stages.kernel));
        let machine = Machine::builder()
            .device(device)
            .order(Order::Timed)
            .build();
        let execution = ExecutionManager::new(machine.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        Self {
            machine,
            pool: context.memory_pool(PoolConfig::limit(8 << 20)).unwrap(),
            context,
            stages,
        }
    }

    /// A run of a pipeline, in which `after` is called when a step's kernel is on its stream.
    fn run(
        &self,
        config: PipelineConfig,
        mut after: impl FnMut(&Stream) -> Result<(), Error>,
    ) -> OverlapReport {
        let config = match config.sampling {
            Sampling::Off => config.measured(),
            _ => config,
        };
        let mut pipeline = Pipeline::<u8, u8>::new(&self.context, &self.pool, config).unwrap();
        let mut left = ITEMS;
        let report = pipeline.run::<Error>(
            |_| {
                let more = left > 0;
                left -= u64::from(more);
                Ok(more.then_some(BYTES))
            },
            |step| {
                ops::copy(step.input, step.output, step.stream)?;
                after(step.stream).map(|()| BYTES)
            },
            |_| Ok(()),
        );
        assert_eq!(report.unwrap().items, ITEMS);
        pipeline.report().overlap.unwrap()
    }

    /// How many times faster than the stages one after the other, each as long as it is alone.
    fn speedup(&self, report: &OverlapReport) -> f64 {
        let serial = Duration::from_millis(self.stages.sum() * ITEMS);
        serial.as_secs_f64() / report.span.as_secs_f64()
    }
}

/// Equal to one percent.
#[track_caller]
fn assert_about(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 0.01,
        "{found}, not {expected}"
    );
}

/// What the theory says of a run whose items overlap as far as they can.
fn overlapped(stages: Stages) -> f64 {
    let span = stages.sum() + (ITEMS - 1) * stages.longest();
    (stages.sum() * ITEMS) as f64 / span as f64
}

fn whole() -> PipelineConfig {
    PipelineConfig::new(BYTES, BYTES)
}

// Without it a pipeline could lose some of the overlap that its stages allow, at some ratio or depth.
#[test]
fn the_speed_up_is_that_of_the_theory() {
    let ratios = [
        (Stages::EQUAL, Bound::Upload),
        (
            Stages {
                kernel: 10,
                ..Stages::EQUAL
            },
            Bound::Kernel,
        ),
        (
            Stages {
                upload: 10,
                kernel: 1,
                download: 10,
            },
            Bound::Upload,
        ),
        (
            Stages {
                upload: 1,
                kernel: 2,
                download: 10,
            },
            Bound::Download,
        ),
    ];
    for (stages, bound) in ratios {
        let bench = Bench::new(stages, 2);
        for config in [whole(), whole().depth(4), whole().split(2, 2)] {
            let report = bench.run(config, |_| Ok(()));
            assert_about(bench.speedup(&report), overlapped(stages));
            assert_about(report.speedup(), overlapped(stages));
            let busiest = (ITEMS * stages.longest()) as f64;
            let span = (stages.sum() + (ITEMS - 1) * stages.longest()) as f64;
            assert_about(report.efficiency, busiest / span);
            let found = report.diagnosis().bound;
            if stages.upload != stages.kernel || stages.kernel != stages.download {
                assert_eq!(found, bound, "{report:?}");
            }
        }
        assert_eq!(bench.machine.findings(), []);
    }
}

// Without it items that are launched as graphs could wait for each other more than their stages do.
#[test]
fn graphs_overlap_as_far() {
    let unequal = Stages {
        upload: 2,
        kernel: 5,
        download: 3,
    };
    let late = Stages {
        upload: 1,
        kernel: 2,
        download: 10,
    };
    for (stages, config) in [
        (Stages::EQUAL, whole()),
        (Stages::EQUAL, whole().depth(4)),
        (Stages::EQUAL, whole().split(2, 2)),
        (unequal, whole()),
        (late, whole().depth(4).split(3, 2)),
    ] {
        let bench = Bench::new(stages, 2);
        let config = config.graphs(Graphs::Steps);
        let mut pipeline = Pipeline::<u8, u8>::new(&bench.context, &bench.pool, config).unwrap();
        let mut run = || {
            let now = || bench.machine.trace().unwrap().now();
            let (begin, mut left) = (now(), ITEMS);
            let report = pipeline.run::<Error>(
                |_| {
                    let more = left > 0;
                    left -= u64::from(more);
                    Ok(more.then_some(BYTES))
                },
                |step| ops::copy(step.input, step.output, step.stream).map(|()| BYTES),
                |_| Ok(()),
            );
            assert_eq!(report.unwrap().items, ITEMS);
            now() - begin
        };
        // The first run makes the graphs.
        let spans = [run(), run()];
        assert_eq!(pipeline.graph_report().launched, ITEMS);
        for span in spans {
            let serial = Duration::from_millis(stages.sum() * ITEMS);
            assert_about(
                serial.as_secs_f64() / span.as_secs_f64(),
                overlapped(stages),
            );
        }
        assert_eq!(bench.machine.findings(), []);
    }
}

// Without it a sample could say something else of a pipeline than measuring all of it: more overlap, since
// it does not see its neighbours, or less, since it sees only the beginning of some.
#[test]
fn a_sample_says_what_the_whole_says() {
    let long = |kernel: u64, download: u64| Stages {
        kernel,
        download,
        ..Stages::EQUAL
    };
    let sparse = Sampling::OneRunIn(NonZeroU64::new(25).unwrap());
    for (stages, depth, period) in [
        (Stages::EQUAL, 3, 1),
        (Stages::EQUAL, 4, 1),
        (Stages::EQUAL, 1, 3),
        (long(10, 1), 3, 10),
        (long(2, 10), 3, 10),
        (long(1, 1), 1, 3),
    ] {
        let bench = Bench::new(stages, 2);
        let report = bench.run(whole().depth(depth).sampling(sparse), |_| Ok(()));
        let Measured::Runs(runs) = report.measured else {
            panic!("all were measured");
        };
        assert_eq!(runs, ITEMS / 25, "{report:?}");
        assert_about(
            report.efficiency,
            stages.longest() as f64 / f64::from(period),
        );
        assert_about(report.speedup(), stages.sum() as f64 / f64::from(period));
        let an_item = report.serial_sum.as_secs_f64() / report.items as f64;
        assert_about(an_item * 1e3, stages.sum() as f64);
        assert_about(
            report.utilisation().download,
            stages.download as f64 / f64::from(period),
        );
        let alone = Asymptote {
            upload: Duration::from_millis(stages.upload),
            compute: Duration::from_millis(stages.kernel),
            download: Duration::from_millis(stages.download),
            both_copies: Duration::from_millis(stages.upload.max(stages.download)),
        };
        assert_about(
            report.efficiency_of(&alone),
            stages.longest() as f64 / f64::from(period),
        );
        let whole = bench.run(whole().depth(depth), |_| Ok(()));
        let bound = whole.diagnosis().bound;
        assert_eq!(report.diagnosis().bound, bound, "{report:?} and {whole:?}");
        if depth > 1 {
            assert_about(whole.efficiency_of(&alone), 1.0);
        }
    }
}

// Without it the times of steps could be those of other steps, or be counted across items that were not
// measured.
#[test]
fn step_times_are_those_of_the_schedule() {
    let bench = Bench::new(Stages::EQUAL, 2);
    let sampled = Sampling::OneRunIn(NonZeroU64::new(20).unwrap());
    // Of a sampled window eight items have seven intervals.
    for (sampling, items, intervals) in [
        (Sampling::All, ITEMS, ITEMS - 1),
        (sampled, 8 * ITEMS / 20, 7 * ITEMS / 20),
    ] {
        let config = whole().sampling(sampling);
        let mut pipeline = Pipeline::<u8, u8>::new(&bench.context, &bench.pool, config).unwrap();
        let mut left = ITEMS;
        let ran = pipeline.run::<Error>(
            |_| {
                let more = left > 0;
                left -= u64::from(more);
                Ok(more.then_some(BYTES))
            },
            |step| ops::copy(step.input, step.output, step.stream).map(|()| BYTES),
            |_| Ok(()),
        );
        assert_eq!(ran.unwrap().items, ITEMS);
        let steps = pipeline.step_times().unwrap();
        assert_eq!(steps.latency.count(), items);
        assert_eq!(steps.interval.count(), intervals);
        let ms = |time: Option<Duration>| time.unwrap().as_secs_f64() * 1e3;
        assert_about(ms(steps.interval.mean()), 1.0);
        // In steady state an item also waits for its slot's stages: never less than its own three.
        assert!(ms(steps.latency.min()) > 2.99, "{:?}", steps.latency);
        let indices: Vec<u64> = pipeline
            .timeline()
            .unwrap()
            .samples()
            .map(|s| s.index)
            .collect();
        let expected = (0..ITEMS).filter(|index| sampling == Sampling::All || index % 20 >= 12);
        assert_eq!(indices, expected.collect::<Vec<_>>());
    }
}

// Without it a pipeline of fewer slots than stages could claim to overlap them all.
#[test]
fn fewer_slots_overlap_less() {
    let bench = Bench::new(Stages::EQUAL, 2);
    let one = bench.run(whole().depth(1), |_| Ok(()));
    assert_about(bench.speedup(&one), 1.0);
    assert_about(one.efficiency, 1.0 / 3.0);
    assert!(!one.overlapped);
    assert_eq!(one.diagnosis().bound, Bound::Order);
    // Two items at a time, each of which takes as long as three stages.
    let two = bench.run(whole().depth(2), |_| Ok(()));
    assert_about(bench.speedup(&two), 2.0);
    assert_about(two.efficiency, 2.0 / 3.0);
}

// Without it a device with one copy engine, or memory that makes copies take turns, could look like
// one with two.
#[test]
fn one_copy_engine_takes_turns() {
    let bench = Bench::new(Stages::EQUAL, 1);
    let report = bench.run(whole().depth(4), |_| Ok(()));
    // Two copies an item, and the kernels in between.
    assert_about(bench.speedup(&report), 1.5);
    assert_eq!(report.diagnosis().bound, Bound::CopyEngine, "{report:?}");
}

// Without it a wait on the host in the middle of a step could go unnoticed.
#[test]
fn a_wait_of_the_host_in_each_step_costs_the_overlap() {
    let bench = Bench::new(Stages::EQUAL, 2);
    let report = bench.run(whole(), ops::synchronize);
    // The next upload begins when the kernel has ended: only the download is hidden behind others.
    let span = (2 * ITEMS + 1) as f64;
    assert_about(bench.speedup(&report), 3.0 * ITEMS as f64 / span);
    assert_about(report.efficiency, ITEMS as f64 / span);
    assert_eq!(report.diagnosis().bound, Bound::Order, "{report:?}");
}

/// A loop without the pipeline, which runs each item's copies and kernel on these three streams.
fn raw_loop(bench: &Bench, streams: [&Stream; 3], is_pageable: bool) -> OverlapReport {
    let [up, compute, down] = streams;
    let timing = || {
        bench
            .context
            .events()
            .create(EventConfig::timing())
            .unwrap()
    };
    let record = |stream: &Stream| -> Result<Event, Error> {
        let event = timing();
        ops::record(&event, stream)?;
        Ok(event)
    };
    let pinned = || bench.context.buffers().pinned::<u8>(BYTES).unwrap();
    let (from, mut to) = (pinned(), pinned());
    let mut pageable = vec![0; BYTES];
    let buffer = || bench.pool.allocate::<u8>(BYTES, compute).unwrap();
    let (mut input, mut output) = (buffer(), buffer());
    let mut run = |events: &mut Vec<[Event; 6]>| -> Result<(), Error> {
        let upload = record(up)?;
        match is_pageable {
            true => ops::write(&mut input, &pageable, up)?,
            false => ops::copy_to_device(&from, &mut input, up)?,
        }
        let uploaded = record(up)?;
        ops::order(up, compute)?;
        let kernel = record(compute)?;
        ops::copy(&input, &mut output, compute)?;
        let computed = record(compute)?;
        ops::order(compute, down)?;
        let download = record(down)?;
        match is_pageable {
            true => ops::read(&output, &mut pageable, down)?,
            false => ops::copy_to_host(&output, &mut to, down)?,
        }
        let downloaded = record(down)?;
        events.push([upload, uploaded, kernel, computed, download, downloaded]);
        Ok(())
    };
    let zero = record(up).unwrap();
    let mut events = Vec::new();
    for _ in 0..ITEMS {
        run(&mut events).unwrap();
    }
    for stream in streams {
        ops::synchronize(stream).unwrap();
    }
    let times: Vec<_> = events
        .iter()
        .map(|events| {
            let [a, b, c, d, e, f] = events
                .each_ref()
                .map(|event| f64::from(ops::elapsed(&zero, event).unwrap()));
            StageTimes {
                upload: (a, b),
                compute: (c, d),
                download: (e, f),
            }
        })
        .collect();
    OverlapReport::of(&times).unwrap()
}

// Without it a report could call work overlapped that is all on one stream.
#[test]
fn one_stream_overlaps_nothing() {
    let bench = Bench::new(Stages::EQUAL, 2);
    let stream = bench.context.streams().create(Default::default()).unwrap();
    let report = raw_loop(&bench, [&stream; 3], false);
    assert_about(bench.speedup(&report), 1.0);
    assert_about(report.efficiency, 1.0 / 3.0);
    assert!(!report.overlapped);
    assert_eq!(report.diagnosis().bound, Bound::Order);
}

// Without it memory that is not page-locked could seem to overlap: its copies wait on the host.
#[test]
fn pageable_memory_overlaps_nothing() {
    let bench = Bench::new(Stages::EQUAL, 2);
    let stream = || bench.context.streams().create(Default::default()).unwrap();
    let streams = [stream(), stream(), stream()];
    let report = raw_loop(&bench, streams.each_ref(), true);
    assert_about(bench.speedup(&report), 1.0);
    assert_about(report.efficiency, 1.0 / 3.0);
    assert_eq!(report.diagnosis().bound, Bound::Order, "{report:?}");
}
