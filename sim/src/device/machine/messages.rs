//! What error codes cannot say, and what kernels print.

use std::collections::VecDeque;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::device::operations::op::{MachineId, in_user_code};
use crate::device::sync::lock;

/// Most messages that are kept.
const KEPT: usize = 256;

type Sink = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Where the output of device-side `printf` goes.
#[derive(Clone)]
pub(in crate::device) struct Output(Sink, MachineId);

impl Output {
    pub(in crate::device) fn new(sink: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink), MachineId::default())
    }

    /// The same for a machine, whose driver the sink must not call.
    pub(in crate::device) fn of(self, machine: MachineId) -> Self {
        Self(self.0, machine)
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
        in_user_code(self.1, || (self.0)(text));
    }
}

/// The latest messages of a machine.
#[derive(Debug, Default)]
pub(in crate::device) struct Messages(Mutex<Latest>);

#[derive(Debug, Default)]
struct Latest {
    texts: VecDeque<String>,
    /// How many there were before the first of `texts`.
    forgotten: u64,
}

impl Messages {
    pub(in crate::device) fn add(&self, text: String) {
        crate::device::calls::logs::say(&text);
        let mut latest = lock(&self.0);
        if latest.texts.len() == KEPT {
            latest.texts.pop_front();
            latest.forgotten += 1;
        }
        latest.texts.push_back(text);
    }

    /// How many messages there have been.
    pub(in crate::device) fn count(&self) -> u64 {
        let latest = lock(&self.0);
        latest.forgotten + latest.texts.len() as u64
    }

    /// Those after the first `count`, as far as they are kept.
    pub(in crate::device) fn since(&self, count: u64) -> Vec<String> {
        let latest = lock(&self.0);
        let known = count.saturating_sub(latest.forgotten);
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        latest.texts.iter().skip(known).cloned().collect()
    }
}
