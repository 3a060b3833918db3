//! Any text as the native format of allocation traces.
#![no_main]

#[path = "mod.rs"]
mod traces;

use cupola_cli::trace::native;
use libfuzzer_sys::fuzz_target;
use traces::{options, sound};

fuzz_target!(|bytes: &[u8]| sound(native::read(bytes, &options())));
