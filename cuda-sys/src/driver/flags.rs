//! Flags.
