//! cupola
fn main() {}
