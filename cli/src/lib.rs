//! What the program `cupola` measures, reads and draws.
//!
//! The program is this package's binary: `cargo run --release` at the root of the checkout, or
//! `cargo install cupola-cli`. Its commands are private to it. This library holds the parts that
//! other programs of the project use as well: `cargo bench`, the tests and the fuzz targets. A
//! program that wants a GPU depends on the crate `cupola` instead, which builds none of this.
//!
//! | module | what it is |
//! |---|---|
//! | [`mod@bench`] | the suites of `cupola bench` and `cargo bench` |
//! | [`trace`] | allocation traces and their file formats |
//! | [`picture`] | pictures of a pool's address range as SVG |
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod bench;
pub mod picture;
pub mod trace;
