//! Any text as a log of RMM.
#![no_main]

#[path = "mod.rs"]
mod traces;

use cupola_cli::trace::rmm;
use libfuzzer_sys::fuzz_target;
use traces::{options, sound};

fuzz_target!(|bytes: &[u8]| sound(rmm::read(bytes, &options())));
