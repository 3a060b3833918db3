//! What two threads write goes on lines that they do not share.

use core::ops::Deref;

/// A value with a pair of cache lines of its own: 128 bytes, because x86-64 fetches lines
/// of 64 bytes in pairs and some aarch64 cores have lines of 128.
#[repr(align(128))]
#[derive(Debug)]
pub(crate) struct Padded<T>(pub(crate) T);

impl<T> Deref for Padded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
