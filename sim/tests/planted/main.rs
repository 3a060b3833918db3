//! Client programs with one bug each, and their correct twins. Strict mode must find the
//! bug, say where it is, and report nothing else, and nothing at all of the twin.
//! `docs/design/sim/strict.md` says what each finding means.

mod client;

mod accesses;
mod checks;
mod contexts;
mod early;
mod frees;
mod kernels;
mod leaks;
// Elsewhere the software device has no virtual memory management.
#[cfg(target_os = "linux")]
mod mapped;
mod order;
mod places;
