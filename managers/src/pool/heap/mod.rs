//! The page heap: free pieces of all sizes, slabs for small ones, and the headers of blocks. It
//! makes no driver call and knows no pool.

pub(crate) mod arena;
pub(crate) mod best_fit;
pub(crate) mod block_header;
pub(crate) mod block_name;
pub(crate) mod central;
pub(crate) mod cold_fields;
pub(crate) mod peer_uses;
pub(crate) mod placement;
pub(crate) mod requester;
pub(crate) mod slab;
pub(crate) mod stream_uses;
