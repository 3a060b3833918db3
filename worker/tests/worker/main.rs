//! The supervised worker: everything that can be lost, and nothing that is.
//!
//! A worker is this test program, started with the one ignored test below.
#![cfg(unix)]

mod faults;
mod hostile;
mod jobs;
mod kills;
mod processes;
mod sizes;
mod starts;

#[test]
#[ignore = "the process that supervisors start"]
fn entry() {
    hostile::serve();
    jobs::serve();
}
