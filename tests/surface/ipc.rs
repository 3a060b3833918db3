//! Memory and events shared between processes.
