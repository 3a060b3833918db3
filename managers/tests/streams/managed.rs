//! Managed contexts: steps that are waited for now or later.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll, Wake, Waker};

use cupola_managers::managed::{ManagedConfig, ManagedContext, Mode, Stepped};
use cupola_managers::pipeline::{DirectReason, Graphs, Sampling};
use cupola_managers::{Error, ItemStage};
use cupola_sys::driver::{CUresult, id};

use super::{LEN, PoolBench, bench, copy};

fn managed(bench: &PoolBench, mode: Mode) -> ManagedContext<u32, u32> {
    let config = ManagedConfig::new(LEN, LEN).mode(mode);
    ManagedContext::new(&bench.base.context, &bench.pool, config, copy).unwrap()
}

const MODES: [Mode; 3] = [
    Mode::Synchronous,
    Mode::Asynchronous { depth: 2 },
    Mode::Asynchronous { depth: 3 },
];

/// What a step of this number sends and gets back.
fn config(step: u32) -> Vec<u32> {
    vec![step; (step as usize * 37) % (LEN + 1)]
}

// Without it a step could get another step's telemetry, or lose its own when it is taken late.
#[test]
fn telemetry_is_taken_in_any_order() {
    let bench = bench();
    for mode in MODES {
        let mut managed = managed(&bench, mode);
        let steps: Vec<_> = (0..10)
            .map(|step| managed.step(&config(step)).unwrap())
            .collect();
        let first = steps[0].is_ready().unwrap();
        assert!(first, "the ring was full: its telemetry was kept");
        for (index, step) in (0..10).zip(steps).rev() {
            assert_eq!(step.index(), u64::from(index));
            let telemetry = step.wait().unwrap();
            assert_eq!(telemetry.index(), u64::from(index));
            assert_eq!(telemetry[..], config(index));
        }
        // Some are never taken, and some are of the other kind.
        let mut row = Vec::new();
        for step in 10..30 {
            let config = config(step);
            match step % 3 {
                0 => drop(managed.step(&config).unwrap()),
                _ => row.extend(
                    managed
                        .triple_buffered_step(&config)
                        .unwrap()
                        .map(|t| t.to_vec()),
                ),
            }
        }
        managed.synchronize().unwrap();
        managed
            .drain(|telemetry| {
                row.push(telemetry.to_vec());
                Ok(())
            })
            .unwrap();
        let expected: Vec<_> = (10..30).filter(|step| step % 3 != 0).map(config).collect();
        assert_eq!(row, expected, "{mode:?}");
    }
    assert_eq!(bench.base.machine.findings(), []);
}

/// Awaits a step on this thread.
fn block_on(step: Stepped<u32>) -> Result<Vec<u32>, Error> {
    struct Woken(Sender<()>);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            let _ = self.0.send(());
        }
    }
    let (sender, woken) = channel();
    let waker = Waker::from(Arc::new(Woken(sender)));
    let mut step = pin!(step);
    loop {
        match step.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(telemetry) => return telemetry.map(|telemetry| telemetry.to_vec()),
            Poll::Pending => woken.recv().unwrap(),
        }
    }
}

// Without it an awaited step could sleep on, or a reset leave it waiting for ever.
#[test]
fn steps_are_awaited_and_a_reset_tells_them() {
    let bench = bench();
    for mode in MODES {
        let mut managed = managed(&bench, mode);
        for step in 0..5 {
            let stepped = managed.step(&config(step)).unwrap();
            assert_eq!(block_on(stepped).unwrap(), config(step));
        }
        let stepped = managed.step(&config(5)).unwrap();
        managed.triple_buffered_step(&config(6)).unwrap();
        managed.reset().unwrap();
        let found = block_on(stepped);
        match mode {
            // It had arrived.
            Mode::Synchronous => assert_eq!(found.unwrap(), config(5)),
            Mode::Asynchronous { depth: 2 } => assert_eq!(found.unwrap(), config(5)),
            Mode::Asynchronous { .. } => {
                assert!(matches!(
                    found,
                    Err(Error::Invalid {
                        field: "managed step",
                        ..
                    })
                ));
            }
        }
        managed.drain(|_| panic!("all was dropped")).unwrap();
        let step = managed.step(&config(9)).unwrap();
        assert_eq!(
            (step.index(), step.wait().unwrap().to_vec()),
            (0, config(9))
        );
    }
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it an error could be that of another step, or lose the steps before it.
#[test]
fn an_error_of_a_step_is_its_own() {
    let bench = bench();
    for mode in MODES {
        let mut managed = managed(&bench, mode);
        let before = managed.step(&config(1)).unwrap();
        let Error::Item(error) = managed.step(&[0; LEN + 1]).unwrap_err() else {
            panic!("it is an item's");
        };
        assert_eq!((error.index, error.stage), (1, ItemStage::Fill));
        bench.base.faults.reset();
        let code = CUresult::CUDA_ERROR_OPERATING_SYSTEM;
        bench.base.faults.fail(id::cuMemcpyHtoDAsync_v2, 1, code);
        let Error::Item(error) = managed.step(&config(2)).unwrap_err() else {
            panic!("it is an item's");
        };
        assert_eq!(error.stage, ItemStage::Upload);
        assert_eq!(before.wait().unwrap()[..], config(1));
        let after = managed.step(&config(3)).unwrap();
        assert_eq!(after.wait().unwrap()[..], config(3));
    }
    assert_eq!(bench.base.machine.findings(), []);
}

// Without it a managed context could leave out what it was told of graphs and measurements, or give other
// telemetry with them.
#[test]
fn graphs_and_measurements_change_no_telemetry() {
    const STEPS: u32 = 24;
    let bench = bench();
    let all = [
        (Graphs::Never, Sampling::Off, DirectReason::Off),
        (Graphs::Never, Sampling::All, DirectReason::Measured),
        (Graphs::Steps, Sampling::Off, DirectReason::New),
        (Graphs::Steps, Sampling::All, DirectReason::Measured),
    ];
    for mode in MODES {
        for (graphs, sampling, reason) in all.clone() {
            let config = ManagedConfig::new(LEN, LEN).mode(mode);
            let config = config.graphs(graphs).sampling(sampling);
            let (context, pool) = (&bench.base.context, &bench.pool);
            let mut managed = ManagedContext::new(context, pool, config, copy).unwrap();
            let mut telemetry = Vec::new();
            for step in 0..STEPS {
                let left = managed.triple_buffered_step(&[step; LEN]).unwrap();
                telemetry.extend(left.map(|it| it.to_vec()));
            }
            managed
                .drain(|left| {
                    telemetry.push(left.to_vec());
                    Ok(())
                })
                .unwrap();
            let expected: Vec<_> = (0..STEPS).map(|step| vec![step; LEN]).collect();
            assert_eq!(telemetry, expected, "{config:?}");

            let (report, of_graphs) = (managed.report().unwrap(), managed.graph_report().unwrap());
            assert_eq!(report.items, u64::from(STEPS));
            let measured = report.overlap.map_or(0, |overlap| overlap.items);
            let is_measured = sampling == Sampling::All;
            assert_eq!(measured, if is_measured { report.items } else { 0 });
            assert_eq!(of_graphs.reason, Some(reason), "{config:?}");
            assert_eq!(of_graphs.launched + of_graphs.direct, report.items);
            // Slots see a step come before they launch one like it; the first one has none before it.
            let repeats = graphs == Graphs::Steps && !is_measured;
            let most = if repeats { report.items - 1 } else { 0 };
            let least = most.saturating_sub(slots(mode));
            assert!((least..=most).contains(&of_graphs.launched), "{of_graphs}");

            managed.reset().unwrap();
            assert_eq!(managed.report().unwrap().items, 0);
        }
    }
    assert_eq!(bench.base.machine.findings(), []);
}

fn slots(mode: Mode) -> u64 {
    match mode {
        Mode::Synchronous => 1,
        Mode::Asynchronous { depth } => depth as u64,
    }
}
