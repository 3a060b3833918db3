//! The command line as a test runs it.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::process::{Command, Output};

pub(crate) fn cupola(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cupola"));
    command.args(args);
    for (name, _) in std::env::vars() {
        if name.starts_with("CUPOLA_") {
            command.env_remove(name);
        }
    }
    command
}

pub(crate) fn output(command: &mut Command) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

pub(crate) fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}
