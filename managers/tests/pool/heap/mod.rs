//! Where blocks are placed, and that no two have one byte.

mod arenas;
mod canary;
mod random;
