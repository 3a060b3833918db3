//! The streams of a pool.

pub(crate) mod free_stamp;
pub(crate) mod open_graphs;
pub(crate) mod pool_streams;
pub(crate) mod stream_state;
pub(crate) mod stream_table;
