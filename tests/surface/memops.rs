//! Stream write and wait values.
