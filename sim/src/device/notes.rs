//! What error codes cannot say, and what kernels print.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex};

use super::op::in_user_code;
use super::sync::lock;

/// Most messages that are kept.
const KEPT: usize = 256;

type Sink = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Where the output of device-side `printf` goes.
#[derive(Clone)]
pub(super) struct Output(Sink);

impl Output {
    pub(super) fn new(sink: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }
}

impl Default for Output {
    fn default() -> Self {
        Self::new(|text| {
            // A closed standard output is no reason for a kernel to fail.
            let _ = std::io::stdout().write_all(text);
        })
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

impl crate::exec::Host for Output {
    fn print(&self, text: &[u8]) {
        in_user_code(|| (self.0)(text));
    }
}

/// The latest messages of a machine.
#[derive(Debug, Default)]
pub(super) struct Notes(Mutex<VecDeque<String>>);

impl Notes {
    pub(super) fn add(&self, text: String) {
        let mut notes = lock(&self.0);
        if notes.len() == KEPT {
            notes.pop_front();
        }
        notes.push_back(text);
    }

    pub(super) fn all(&self) -> Vec<String> {
        lock(&self.0).iter().cloned().collect()
    }
}
