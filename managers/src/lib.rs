//! Placeholder line replaced by the crate's documentation.
