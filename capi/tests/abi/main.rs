//! The C ABI, called as PyTorch, CuPy, Numba and programs in C call it: each test in a process of its own,
//! whose driver is the software device's library, or the GPU's with `CUPOLA_TEST_DEVICE=gpu`.
#![cfg(target_os = "linux")]

mod c_programs;
mod faults;
mod framework;
mod graphs;
mod memory;
mod model;
mod process;
mod scripts;
mod streams;
