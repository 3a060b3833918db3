//! Whether a context still works: the first fault of its device work is kept for good.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cupola_sys::driver::CUresult;

use crate::device::memory::Peers;

/// How often a delayed operation looks whether it is still wanted.
const STEP: Duration = Duration::from_millis(20);

/// Why device work stopped: a sticky code and a text for people.
#[derive(Clone, Debug)]
pub(in crate::device) struct Fault {
    pub(in crate::device) code: CUresult,
    pub(in crate::device) text: String,
}

impl Fault {
    /// An error of ours, not of the program.
    pub(in crate::device) fn internal() -> Self {
        Self {
            code: CUresult::CUDA_ERROR_UNKNOWN,
            text: "the software device failed".into(),
        }
    }

    /// Work that was under way when its context halted was stopped. That is no fault of its
    /// own.
    pub(in crate::device) fn stop() -> Self {
        Self {
            code: CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
            text: "stopped, because the context has halted".into(),
        }
    }

    /// Whether it is [`Fault::stop`]: no fault has its code.
    pub(in crate::device) fn is_stop(&self) -> bool {
        self.code == CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
    }

    pub(in crate::device) fn illegal_address(text: String) -> Self {
        Self {
            code: CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
            text,
        }
    }
}

/// The state that all streams of a context share.
#[derive(Debug, Default)]
pub(in crate::device) struct Health {
    fault: OnceLock<Fault>,
    /// Set with a fault and at the end of the machine: running kernels stop.
    stop: AtomicBool,
    /// Whose memory the context may access.
    pub(in crate::device) peers: Peers,
}

impl Health {
    /// The sticky code, if work of this context faulted.
    pub(in crate::device) fn check(&self) -> Result<(), CUresult> {
        match self.fault.get() {
            Some(fault) => Err(fault.code),
            None => Ok(()),
        }
    }

    /// What the fault was, if there was one.
    pub(in crate::device) fn why(&self) -> Option<&Fault> {
        self.fault.get()
    }

    /// Keeps the first fault; later ones are its consequences.
    pub(in crate::device) fn poison(&self, fault: Fault) {
        // Losing the race means that another fault came first.
        let _ = self.fault.set(fault);
        self.stop.store(true, Ordering::Release);
    }

    /// Drops all work that has not run: the machine goes away.
    pub(in crate::device) fn abandon(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// The code that queued work ends with instead of running.
    pub(in crate::device) fn halted(&self) -> Option<CUresult> {
        self.stop.load(Ordering::Acquire).then(|| {
            let fault = self.fault.get();
            fault.map_or(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED, |fault| {
                fault.code
            })
        })
    }

    /// Sleeps until `time` after `started`, or until queued work is dropped.
    pub(in crate::device) fn pass(&self, started: Instant, time: Duration) {
        while !self.stop.load(Ordering::Acquire) {
            let rest = time.saturating_sub(started.elapsed());
            if rest.is_zero() {
                return;
            }
            std::thread::sleep(rest.min(STEP));
        }
    }

    /// Set when running kernels should stop.
    pub(in crate::device) fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }
}
