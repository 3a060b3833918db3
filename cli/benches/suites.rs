//! `cargo bench`: every suite of `cupola bench` on whatever device there is; with words after
//! `--`, only the suites of these names.
//!
//! The suites themselves are in the library, so that the released program measures the same code:
//! `cupola bench SUITE --json FILE`. `cargo test --bench suites` runs each of them once and
//! shortly: then every result is checked, and the figures mean nothing.

use std::env;
use std::error::Error;

use cupola::{Cupola, Select};
use cupola_cli::bench::{
    Figures, alloc, cache, graph, kernels, launch, lifecycle, loader, pipeline, sim, slots,
};

/// What measures on a device.
type Run = fn(&Cupola, bool) -> Result<Figures, Box<dyn Error>>;

const SUITES: [(&str, Run); 10] = [
    ("alloc", |cupola, quick| {
        let options = alloc::Options::default();
        let options = if quick { options.quick() } else { options };
        Ok(alloc::run(&cupola.selected()?, name(cupola)?, &options)?)
    }),
    ("cache", |cupola, quick| {
        // Without the processes, which are the command line's.
        Ok(cache::run(name(cupola)?, None, quick)?)
    }),
    ("graph", |cupola, quick| {
        Ok(graph::run(&cupola.selected()?, name(cupola)?, quick)?)
    }),
    ("kernels", |cupola, quick| {
        Ok(kernels::run(&cupola.selected()?, name(cupola)?, quick)?)
    }),
    ("launch", |cupola, quick| {
        // In this process alone: others are the command line's.
        let samples = launch::measure(&cupola.selected()?, quick)?;
        Ok(launch::figures(name(cupola)?, &samples))
    }),
    ("lifecycle", |cupola, quick| {
        let options = lifecycle::Options::default();
        let options = if quick { options.quick() } else { options };
        let device = cupola.selected()?;
        Ok(lifecycle::run(&device, name(cupola)?, &options)?)
    }),
    ("loader", |cupola, quick| {
        Ok(loader::run(cupola.driver(), name(cupola)?, quick)?)
    }),
    ("pipeline", |cupola, quick| {
        Ok(pipeline::run(&cupola.selected()?, name(cupola)?, quick)?)
    }),
    ("sim", |_, quick| {
        let options = sim::Options::default();
        let options = if quick { options.quick() } else { options };
        Ok(sim::run(&options)?)
    }),
    ("slots", |_, quick| {
        let options = slots::Options::default();
        let options = if quick { options.quick() } else { options };
        Ok(slots::run(&options)?)
    }),
];

fn name(cupola: &Cupola) -> Result<String, cupola::Error> {
    let device = cupola.selected()?;
    Ok(format!("{} ({})", device.info()?.name, cupola.backend()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<_> = env::args().skip(1).collect();
    // What `cargo bench` says to each program that it runs, and `cargo test` does not.
    let quick = !words.iter().any(|word| word == "--bench");
    let wanted: Vec<_> = words
        .iter()
        .filter(|word| !word.starts_with("--"))
        .collect();
    let cupola = Cupola::open(Select::AutoOrSoftware)?;
    for (suite, run) in SUITES {
        if wanted.is_empty() || wanted.iter().any(|word| *word == suite) {
            let figures = run(&cupola, quick).map_err(|error| format!("{suite}: {error}"))?;
            println!("{}", figures.table());
        }
    }
    Ok(())
}
