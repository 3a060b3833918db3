//! The end of pools, streams and threads, and what fails on the way.

mod ends;
mod faults;
mod fork;
mod lives;
