//! `Watchdog`: ends the process when a case hangs, which is a failure and not a wait.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread that is told of each case.
pub(super) struct Watchdog {
    cases: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Aborts the process when no new case is told of for `patience`.
    pub(super) fn start(patience: Duration) -> Self {
        let (cases, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut now = String::from("the life without a fault");
            loop {
                match told.recv_timeout(patience) {
                    Ok(case) => now = case,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        eprintln!("hangs: {now}");
                        std::process::abort();
                    }
                }
            }
        });
        Self {
            cases: Some(cases),
            thread: Some(thread),
        }
    }

    pub(super) fn enter(&self, case: String) {
        if let Some(cases) = &self.cases {
            // It is gone only when it has aborted the process.
            let _ = cases.send(case);
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.cases = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
