//! Virtual memory management.
