//! Development tasks of cupola: `cargo xtask --help`.
fn main() {}
