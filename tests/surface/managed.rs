//! Managed memory.
