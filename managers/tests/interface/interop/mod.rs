//! Memory that changes hands between libraries.

mod array_interface;
mod dlpack;
#[cfg(target_os = "linux")]
mod external;
mod refused;

use super::{PoolBench, TestBench, bench, hold};
