//! The linker.
