//! Any use of a budget, against sums in 128 bits: never over the limit, no false refusal, an
//! exact account.
#![no_main]

#[path = "../../core/tests/properties/budget/replay.rs"]
mod replay;

use libfuzzer_sys::fuzz_target;
use replay::replay;

fuzz_target!(|bytes: &[u8]| replay(bytes));
