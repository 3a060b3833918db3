//! What threads have for themselves: pieces, and leases of streams.

mod leases;
mod threads;
