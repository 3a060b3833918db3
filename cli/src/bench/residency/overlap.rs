//! A request that finds nothing loaded, whose layers compute as long as they are copied.

use cupola_kernels::ops::Kernels;
use cupola_managers::{DeviceInfo, Error, PoolConfig, ops};
use cupola_residency::{Residency, ResidencyError};

use super::super::{Figures, median};
use super::{Bench, MIB, Plan, micros};

/// Layers of the model.
const LAYERS: u64 = 13;

/// What a layer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Kernels.
    Kernels,
    /// Memsets of the driver's, which may run them on a copy engine, where copies of weights wait for them.
    Memsets,
}

impl Work {
    const ALL: [Self; 2] = [Self::Kernels, Self::Memsets];

    fn name(self) -> &'static str {
        match self {
            Self::Kernels => "of kernels",
            Self::Memsets => "of memsets",
        }
    }
}

/// Measures both kinds of work.
pub(super) fn run(
    bench: &Bench,
    figures: &mut Figures,
    info: &DeviceInfo,
    plan: &Plan,
) -> Result<(), ResidencyError> {
    let kernels = Kernels::load(&bench.context, info)?;
    let bytes = plan.scratch * MIB;
    let pool = (bench.context).memory_pool(PoolConfig::limit(bytes + 2 * MIB))?;
    let mut scratch = pool.zeros::<u32>(bytes as usize / 4, &bench.stream)?;
    for work in Work::ALL {
        let stream = &bench.stream;
        let mut unit = || match work {
            Work::Kernels => kernels.fill(&mut scratch, 7u32, stream),
            Work::Memsets => ops::fill(&mut scratch, 7u32, stream),
        };
        measure(bench, figures, plan, work, &mut unit)?;
    }
    Ok(())
}

/// Loads, computes, and does both, by turns.
fn measure(
    bench: &Bench,
    figures: &mut Figures,
    plan: &Plan,
    work: Work,
    unit: &mut dyn FnMut() -> Result<(), Error>,
) -> Result<(), ResidencyError> {
    let stream = &bench.stream;
    let bytes = plan.model * MIB;
    let residency = Residency::new(&bench.context, bench.config(bytes))?;
    let slot = Bench::slot(&residency, "model", bytes)?;
    drop(residency.lease(&slot, stream)?);
    bench.wait()?;
    let evicted = || residency.evict(&slot).map(drop);
    let mut copies = Vec::new();
    for _ in 0..plan.rounds {
        evicted()?;
        copies.push(micros(|| {
            drop(residency.lease(&slot, stream)?);
            Ok::<_, ResidencyError>(bench.wait()?)
        })?);
    }
    let mut units = Vec::new();
    for _ in 0..plan.rounds {
        units.push(micros(|| {
            (0..8).try_for_each(|_| unit())?;
            bench.wait()
        })?);
    }
    let layer = median(&copies) / LAYERS as f64;
    let each = (layer / (median(&units) / 8.0)).round().max(1.0) as u32;
    let mut layer = || (0..each).try_for_each(|_| unit());
    let mut computes = Vec::new();
    let (mut progressive, mut whole, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    let loads = bench.context.streams().create(Default::default())?;
    for _ in 0..plan.rounds {
        computes.push(micros(|| {
            (0..LAYERS).try_for_each(|_| layer())?;
            bench.wait()
        })?);
        evicted()?;
        whole.push(micros(|| {
            let _lease = residency.lease(&slot, stream)?;
            (0..LAYERS).try_for_each(|_| layer())?;
            Ok::<_, ResidencyError>(bench.wait()?)
        })?);
        evicted()?;
        // Twice the work, so that some of it runs as long as the model is loaded.
        (0..2 * LAYERS).try_for_each(|_| layer())?;
        beside.push(micros(|| {
            drop(residency.lease(&slot, &loads)?);
            Ok::<_, ResidencyError>(loads.ticket()?.wait()?)
        })?);
        bench.wait()?;
        evicted()?;
        progressive.push(micros(|| {
            let mut lease = residency.lease_progressively(&slot, stream)?;
            for number in 1..=LAYERS {
                lease.wait_for(bytes * number / LAYERS, stream)?;
                layer()?;
            }
            Ok::<_, ResidencyError>(bench.wait()?)
        })?);
    }
    let name = work.name();
    let copy = &format!("a cold model, work {name}: loading");
    let compute = &format!("a cold model, work {name}: its work");
    let during = &format!("a cold model, work {name}: loading beside other work");
    let first = &format!("a cold request, work {name}, all of the model first");
    let layers = &format!("a cold request, work {name}, layer by layer");
    let longer = match median(&copies) > median(&computes) {
        true => copy,
        false => compute,
    };
    let millis = |micros: &[f64]| micros.iter().map(|it| it / 1e3).collect::<Vec<_>>();
    figures.push(copy, "ms", &millis(&copies), None);
    figures.push(compute, "ms", &millis(&computes), None);
    figures.push(during, "ms", &millis(&beside), Some(copy));
    figures.push(first, "ms", &millis(&whole), Some(longer));
    figures.push(layers, "ms", &millis(&progressive), Some(longer));
    if work == Work::Kernels {
        figures.want(layers, 1.15, &[longer]);
    }
    Ok(())
}
