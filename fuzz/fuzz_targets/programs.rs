//! Random programs of driver calls, made from the input's bytes, against a model.
#![no_main]

#[path = "../../sim/tests/random_programs/program.rs"]
mod program;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| program::run(bytes));
