//! Any text as a snapshot of PyTorch in JSON.
#![no_main]

#[path = "mod.rs"]
mod traces;

use cupola_cli::trace::snapshot::{self, Encoding};
use libfuzzer_sys::fuzz_target;
use traces::{options, sound};

fuzz_target!(|bytes: &[u8]| sound(snapshot::read(bytes, Encoding::Json, &options())));
