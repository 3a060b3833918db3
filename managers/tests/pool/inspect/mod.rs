//! What a pool says of itself.

mod figures;
mod gauges;
mod peaks;
