//! Which call of the driver a thread is in, or works for.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::sync::Arc;

use crate::device::strict::blocks::regions::Moment;
use crate::device::strict::finding::CallSite;

/// A call of a driver function, small enough to be kept with everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) struct Here {
    pub(in crate::device) function: &'static str,
    pub(in crate::device) number: u64,
    /// The stream's id, or 0.
    pub(in crate::device) stream: u64,
}

const NOWHERE: Here = Here {
    function: "no call",
    number: 0,
    stream: 0,
};

thread_local! {
    static HERE: Cell<Here> = const { Cell::new(NOWHERE) };
}

impl Here {
    /// The call that this thread is in, or whose work it does.
    pub(in crate::device) fn now() -> Self {
        HERE.get()
    }

    /// This thread is in that call until the guard is dropped.
    pub(in crate::device) fn enter(self) -> Entered {
        self.enter_at(None)
    }

    /// As `enter`, with what the operation knows that the thread works for.
    pub(super) fn enter_at(self, moment: Option<Arc<Moment>>) -> Entered {
        Entered(HERE.replace(self), Moment::replace(moment))
    }

    pub(in crate::device) fn site(self) -> CallSite {
        CallSite {
            function: self.function,
            number: self.number,
            stream: (self.stream != 0).then_some(self.stream),
            source: None,
            backtrace: None,
        }
    }
}

/// Says again where the thread was before.
#[must_use]
pub(in crate::device) struct Entered(Here, Option<Arc<Moment>>);

impl Drop for Entered {
    fn drop(&mut self) {
        HERE.set(self.0);
        Moment::replace(self.1.take());
    }
}

/// Where something was made.
#[derive(Clone, Debug)]
pub(in crate::device) struct Origin {
    here: Here,
    trace: Option<Arc<Backtrace>>,
}

/// The call that this thread is in.
impl Default for Origin {
    fn default() -> Self {
        Self {
            here: Here::now(),
            trace: None,
        }
    }
}

impl Origin {
    /// The call that this thread is in, and its stack if wanted.
    pub(super) fn with_trace(wanted: bool) -> Self {
        Self {
            here: Here::now(),
            trace: wanted.then(|| Arc::new(Backtrace::force_capture())),
        }
    }

    pub(in crate::device) fn site(&self) -> CallSite {
        CallSite {
            backtrace: self.trace.as_ref().map(ToString::to_string),
            ..self.here.site()
        }
    }
}
