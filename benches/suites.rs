//! `cargo bench`: every suite of `cupola bench` on whatever device there is.
//!
//! The suites themselves are in the library, so that the released program measures the
//! same code: `cupola bench SUITE --json FILE`.

use cupola::{Cupola, Select, bench};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cupola = Cupola::open(Select::Auto)?;
    let device = cupola.device(0)?;
    let name = || -> Result<String, cupola::Error> {
        Ok(format!("{} ({})", device.info()?.name, cupola.backend()))
    };
    println!("{}", bench::loader::run(cupola.driver(), name()?)?.table());
    println!("{}", bench::pipeline::run(&device, name()?)?.table());
    Ok(())
}
