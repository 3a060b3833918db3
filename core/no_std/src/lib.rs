//! Links cupola-core without std and without an allocator.
//!
//! Generic code is only there once it has been made concrete, so every public type is used
//! here with some concrete type, from functions that the linker must keep.
//! `cargo xtask no-std` reads the archive, and this source for types that are missing.
#![no_std]

#[cfg(feature = "allocate")]
mod allocate;
mod budget;
mod handles;
mod ledger;
mod lru;
mod made;
mod stage_ring;
mod stores;
mod tlsf;

use core::fmt;
use core::panic::PanicInfo;

/// There must be exactly one of these in a program, and std brings its own: this function
/// cannot be compiled together with std.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}

#[cfg(feature = "std")]
extern crate std;

/// Counts what is written to it: makes formatting code concrete.
struct Length(usize);

impl fmt::Write for Length {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// How long `value` is as text.
fn length(value: fmt::Arguments<'_>) -> usize {
    let mut length = Length(0);
    // `Length` refuses nothing.
    let _ = fmt::write(&mut length, value);
    length.0
}

/// How long an error is as text, by way of its trait.
fn message(error: &dyn core::error::Error) -> usize {
    length(format_args!("{error} {error:?}"))
}
