//! What there is to say at the end of the process.

use std::fmt::Write as _;
use std::path::Path;

use cupola_sim::Machine;

use crate::log::Sink;

/// Where the report goes.
pub(crate) struct Report(Sink);

impl Report {
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        Sink::open(path).map(Self)
    }

    /// Writes it: the messages of the machine, and what the program has not given back.
    pub(crate) fn write(&self, machine: &Machine) {
        let mut text = String::new();
        for message in machine.messages() {
            let _ = writeln!(text, "message: {message}");
        }
        if let Some(leaks) = machine.leaks() {
            let _ = writeln!(text, "leaked: {leaks}");
        }
        self.0.write(&text);
    }
}
