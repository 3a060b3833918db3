//! Tests that need a process of their own: an ignored test of this program, run by itself.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Output, Stdio};

use crate::common::User;
use crate::common::sharing::alone;

/// Runs the ignored test of this path in a process of its own. What it wrote, both streams.
pub(crate) fn run(test: &str) -> (Output, String) {
    let _user = User::new();
    start(test)
}

/// The command that runs the ignored test of this path in a process of its own.
pub(crate) fn command(test: &str) -> Command {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args([
        test,
        "--exact",
        "--ignored",
        "--nocapture",
        "--test-threads",
        "1",
    ]);
    // What it leaves on purpose is not for the report on the other tests.
    command.env_remove("CUPOLA_SIM_REPORT");
    command
}

/// Starts the same, for a test that has a [`User`] already, with a socket as its standard input whose
/// other end is returned.
pub(crate) fn spawn(test: &str) -> (Child, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut command = command(test);
    command.stdin(Stdio::from(OwnedFd::from(theirs)));
    (command.spawn().unwrap(), ours)
}

fn start(test: &str) -> (Output, String) {
    let output = command(test).output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    (output, said)
}

/// As [`run`], and it must pass.
pub(crate) fn passes(test: &str) {
    judge(test, run(test));
}

/// As [`passes`], while no other test uses the GPU.
pub(crate) fn passes_alone(test: &str) {
    judge(test, alone(|| start(test)));
}

fn judge(test: &str, (output, said): (Output, String)) {
    println!("{said}");
    assert!(output.status.success(), "{test}: {}\n{said}", output.status);
    assert!(said.contains("1 passed"), "{test} did not run:\n{said}");
}
