//! The driver API function by function, through raw calls: what any CUDA driver must do.
//! `CUPOLA_TEST_DEVICE` chooses the software device in process (`sim`, the default), its
//! shared library through the real loader (`library`), or a GPU (`gpu`).

mod raw;

mod concurrency;
mod copies;
mod green;
mod heap;
mod ipc;
mod libraries;
mod linking;
mod managed;
mod memops;
mod occupancy;
mod peers;
mod streams;
mod vmm;
