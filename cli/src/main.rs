//! The command line: `cupola --help`.

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
