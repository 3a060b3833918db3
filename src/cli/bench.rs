//! `cupola bench`: figures for people on standard output, and as JSON in a file.

use std::fs;

use cupola::Cupola;
use cupola::bench;

use super::args::{BenchArgs, Suite};
use super::exit::{Exit, Failure};
use super::output::say;

pub(super) fn run(args: &BenchArgs) -> Result<Exit, Failure> {
    let cupola = Cupola::open(args.device.into())?;
    let device = cupola.device(0)?;
    let name = format!("{} ({})", device.info()?.name, cupola.backend());
    let figures = match args.suite {
        Suite::Loader => bench::loader::run(cupola.driver(), name)?,
        Suite::Pipeline => bench::pipeline::run(&device, name)?,
    };
    say(&figures.table());
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&figures)?;
        fs::write(path, text).map_err(|error| Failure::file(path, error))?;
    }
    Ok(Exit::Done)
}
