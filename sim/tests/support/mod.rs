//! What tests of the device share: [`TestBench`], a machine with a current context, and
//! [`vmm`], the calls of virtual memory management in short.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test binary uses its own part"
)]

mod bench;
pub(crate) mod vmm;

pub(crate) use bench::{Code, Gate, TestBench, code, started, without_hanging};
