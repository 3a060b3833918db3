//! Strict mode: what a program does wrong, found and described.
//!
//! [`Monitor`] is a machine's: it keeps the findings and what is needed to make them. The
//! rest of the device asks it at few places: when a call begins, when work is queued and
//! runs, when memory is made, missed and freed, and when a context ends. Nothing here
//! changes what a call or a kernel does. `docs/design/sim/strict.md` says what is found.

mod blame;
mod blocks;
mod current;
mod finding;
mod frees;
mod leaks;
mod options;
mod order;
mod site;
mod watch;

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::device::operations::op::{MachineId, in_user_code};
use crate::device::sync::lock;
use blame::history::History;
use blocks::regions::Regions;
use order::Order;

pub(in crate::device) use blame::locate::Miss;
pub(in crate::device) use blocks::bounds::{Bounds, Limit};
pub(in crate::device) use blocks::regions::{
    Map, Moment, Region, Told, set_own_order, with_captured,
};
pub(in crate::device) use current::{CurrentOn, Thread};
pub use finding::{Allocation, CallSite, Finding, FindingKind, KernelSite, Memory};
pub(in crate::device) use frees::Frees;
pub(in crate::device) use leaks::{context_ends, green_ends, of_machine, report_leaks};
pub use options::Strict;
pub(in crate::device) use order::Trace;
pub(in crate::device) use order::clock::Clock;
pub(in crate::device) use site::{Entered, Here, Origin};
pub(in crate::device) use watch::{Watched, Watcher};

/// Most findings that are kept.
const KEPT: usize = 1024;

/// Who is told of findings.
#[derive(Clone)]
pub(super) struct Sink(Arc<dyn Fn(&Finding) + Send + Sync>);

impl Sink {
    pub(super) fn new(sink: impl Fn(&Finding) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}

/// What a machine knows for strict mode.
#[derive(Debug)]
pub(super) struct Monitor {
    options: Strict,
    sink: Option<Sink>,
    /// Whose driver the sink must not call.
    machine: MachineId,
    calls: AtomicU64,
    findings: Mutex<VecDeque<Finding>>,
    history: Mutex<History>,
    order: Mutex<Order>,
    ended: current::Ended,
    /// Blocks of the program's allocators.
    regions: Regions,
}

/// Looks for nothing.
impl Default for Monitor {
    fn default() -> Self {
        Self::new(Strict::empty(), None, MachineId::default())
    }
}

impl Monitor {
    pub(super) fn new(options: Strict, sink: Option<Sink>, machine: MachineId) -> Self {
        Self {
            options,
            sink,
            machine,
            calls: AtomicU64::new(0),
            findings: Mutex::default(),
            history: Mutex::default(),
            order: Mutex::default(),
            ended: current::Ended::default(),
            regions: Regions::default(),
        }
    }

    fn wants(&self, option: Strict) -> bool {
        self.options.intersects(option)
    }

    /// A call of `function` begins; it ends when the guard is dropped.
    pub(super) fn enter(&self, function: &'static str) -> Entered {
        // One counter for all threads: numbers tell calls apart, and order those of one
        // thread.
        let number = if self.options.is_empty() {
            0
        } else {
            self.calls.fetch_add(1, Ordering::Relaxed) + 1
        };
        let here = Here {
            function,
            number,
            stream: 0,
        };
        here.enter()
    }

    /// The call that this thread is in, as the place where something is made.
    pub(super) fn origin(&self) -> Origin {
        Origin::with_trace(self.wants(Strict::BACKTRACES))
    }

    /// Keeps a finding and tells of it. No lock that [`Machine`](crate::device::Machine)'s own
    /// functions take may be held.
    pub(super) fn report(&self, finding: Finding) {
        let told = finding.clone();
        if self.keep(finding) {
            self.tell(&told);
        }
    }

    /// Keeps a finding; false if it is known or not wanted.
    fn keep(&self, finding: Finding) -> bool {
        if !self.wants(option(finding.kind)) {
            return false;
        }
        let mut findings = lock(&self.findings);
        // Work that was reported when it was queued may fault for the same reason.
        if findings.iter().any(|known| same(known, &finding)) {
            return false;
        }
        if findings.len() == KEPT {
            findings.pop_front();
        }
        findings.push_back(finding);
        true
    }

    /// Tells of a finding that was kept. A panic of who is told ends here: its hook has said
    /// so, and callers may be destructors.
    pub(super) fn tell(&self, finding: &Finding) {
        if let Some(sink) = &self.sink {
            let tell = || in_user_code(self.machine, || (sink.0)(finding));
            let _ = catch_unwind(AssertUnwindSafe(tell));
        }
    }

    /// The call names something of another context.
    pub(super) fn foreign(&self, what: &str) {
        if self.wants(Strict::CONTEXTS) {
            self.report(Finding {
                call: Some(Here::now().site()),
                ..Finding::new(FindingKind::ForeignContext, what)
            });
        }
    }

    /// The call refuses to launch a kernel.
    pub(super) fn refused(&self, kernel: &str, why: &str) {
        if self.wants(Strict::LAUNCHES) {
            self.report(Finding {
                call: Some(Here::now().site()),
                ..Finding::new(
                    FindingKind::InvalidLaunch,
                    format!("kernel {kernel}: {why}"),
                )
            });
        }
    }

    pub(super) fn findings(&self) -> Vec<Finding> {
        lock(&self.findings).iter().cloned().collect()
    }

    pub(super) fn take(&self) -> Vec<Finding> {
        lock(&self.findings).drain(..).collect()
    }
}

/// The option that findings of a kind belong to.
fn option(kind: FindingKind) -> Strict {
    use FindingKind as K;
    match kind {
        K::DoubleFree | K::InvalidFree => Strict::FREES,
        K::ForeignContext => Strict::CONTEXTS | Strict::ACCESSES,
        K::DestroyedContext | K::SharedGreenContext => Strict::CONTEXTS,
        K::UseAfterFree => Strict::ORDER | Strict::ACCESSES,
        K::FreeInUse | K::UnorderedUse | K::HostRace => Strict::ORDER,
        K::StreamRace => Strict::ORDER | Strict::STREAM_RACES,
        K::DestroyInUse => Strict::PENDING_DESTROY,
        K::InvalidLaunch => Strict::LAUNCHES,
        K::Leak => Strict::LEAKS,
        K::UninitialisedRead => Strict::UNINITIALISED,
        K::SharedMemoryRace => Strict::SHARED_RACES,
        K::OutOfBounds
        | K::UnmappedAccess
        | K::ReadOnlyWrite
        | K::MisalignedAccess
        | K::StackOverflow
        | K::Deadlock
        | K::Trap
        | K::Assertion
        | K::Timeout
        | K::IllegalInstruction => Strict::ACCESSES,
    }
}

/// Whether a finding is the same mistake as a known one: of the same call, about the same
/// allocation, or what comes of it.
fn same(known: &Finding, finding: &Finding) -> bool {
    let number = |call: &Option<CallSite>| call.as_ref().map_or(0, |call| call.number);
    let memory = |finding: &Finding| finding.allocation.as_ref().map(|memory| memory.base);
    let line = |finding: &Finding| finding.kernel.as_ref().map(|kernel| kernel.line);
    let lines = |finding: &Finding| {
        let other = finding.against.as_ref().map(|kernel| kernel.line);
        (line(finding).min(other), line(finding).max(other))
    };
    let of_allocator = |finding: &Finding| {
        let memory = finding.allocation.as_ref().map(|memory| memory.memory);
        memory == Some(Memory::Region)
    };
    let call = number(&finding.call);
    if call == 0 || memory(known) != memory(finding) {
        return false;
    }
    match (known.kind, finding.kind) {
        (FindingKind::FreeInUse, FindingKind::UseAfterFree) => number(&known.other) == call,
        (one, other) if one != other || number(&known.call) != call => false,
        (FindingKind::UseAfterFree, _) => true,
        // One for each line of a launch.
        (FindingKind::UninitialisedRead, _) => line(known) == line(finding),
        // One for each pair of lines.
        (FindingKind::SharedMemoryRace, _) => lines(known) == lines(finding),
        // One for each line of a launch and block, whatever thread and address.
        _ if line(finding).is_some() && of_allocator(finding) => line(known) == line(finding),
        (FindingKind::StreamRace, _) => true,
        _ => line(known) == line(finding) && known.what == finding.what,
    }
}
