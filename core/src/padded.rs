//! `Padded`: a value on cache lines of its own, against false sharing.

/// A value with a pair of cache lines of its own: 128 bytes, because x86-64 fetches lines
/// of 64 bytes in pairs and some aarch64 cores have lines of 128.
#[repr(align(128))]
#[derive(Debug)]
pub(crate) struct Padded<T>(pub(crate) T);
