//! Random valid kernels, made from the input's bytes, against an oracle that interprets one
//! thread at a time.
#![no_main]

#[path = "../../sim/tests/random_kernels/generate.rs"]
mod generate;
#[path = "../../sim/tests/random_kernels/memory.rs"]
mod memory;
#[path = "../../sim/tests/random_kernels/ops.rs"]
mod ops;
#[path = "../../sim/tests/random_kernels/oracle.rs"]
mod oracle;
#[path = "../../sim/tests/random_kernels/run.rs"]
mod run;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| run::check(bytes));
