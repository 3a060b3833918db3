//! cupola
