//! What there is to say about the program: findings when they are made, messages and leaks
//! at the end of the process.

use std::path::Path;
use std::sync::Arc;

use cupola_sim::{Finding, Machine};

use crate::log::Sink;

/// Where the report goes.
#[derive(Clone)]
pub(crate) struct Report {
    sink: Arc<Sink>,
    /// One JSON document a line, for files that are called so.
    json: bool,
}

impl Report {
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let json = path
            .extension()
            .is_some_and(|end| end == "json" || end == "jsonl");
        let sink = Arc::new(Sink::open(path)?);
        Ok(Self { sink, json })
    }

    /// Writes a finding, so that it is there however the process ends.
    pub(crate) fn finding(&self, finding: &Finding) {
        let text = if self.json {
            finding.to_json()
        } else {
            finding.to_string()
        };
        self.sink.write(&(text + "\n"));
    }

    /// Writes what is known at the end. Leaks are findings.
    pub(crate) fn end(&self, machine: &Machine) {
        machine.report_leaks();
        for message in machine.messages() {
            self.sink.write(&if self.json {
                // A text as JSON: Rust's form of it differs in control characters.
                let text = serde_json::Value::from(message);
                format!("{{\"message\":{text}}}\n")
            } else {
                // A line that continues a message begins with spaces.
                format!("message: {}\n", message.replace('\n', "\n  "))
            });
        }
    }
}
