//! Programs on the project's own pool with one bug each. With the bug the bench must make exactly
//! this finding, with the program's own line of the block's allocation; without it, none. Each
//! runs with pages and with chunks.

mod bounds;
mod client;
mod host;
mod lives;
mod order;
mod races;
mod unwritten;
