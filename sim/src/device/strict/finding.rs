//! What strict mode reports.

use std::fmt;

use serde::Serialize;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// An access leaves an allocation, or shared memory.
    OutOfBounds,
    /// An access to memory that was freed before.
    UseAfterFree,
    /// An access where no allocation is, or host memory that is not page-locked.
    UnmappedAccess,
    /// A kernel writes memory that it may only read.
    ReadOnlyWrite,
    /// An address is no multiple of the access's size.
    MisalignedAccess,
    /// A free of what was freed before.
    DoubleFree,
    /// A free of what was never allocated so, or not at its start.
    InvalidFree,
    /// Something of another context or device.
    ForeignContext,
    /// A destroyed context is made current.
    DestroyedContext,
    /// A green context is current on two threads.
    SharedGreenContext,
    /// Memory or a module goes while work that uses it may still run.
    FreeInUse,
    /// A stream or an event goes before its work has ended, which the driver allows.
    DestroyInUse,
    /// Stream-ordered memory is used by work that does not come after its allocation.
    UnorderedUse,
    /// Work of two streams uses the same bytes of a block, one of them to write, and neither
    /// comes after the other.
    StreamRace,
    /// The host uses page-locked memory that queued work still uses, one of them to write.
    HostRace,
    /// A launch is refused.
    InvalidLaunch,
    /// A kernel reads memory that was never written.
    UninitialisedRead,
    /// Two warps of a block access shared memory, one of them to write, without a barrier
    /// between.
    SharedMemoryRace,
    /// A kernel's calls are nested too deep, or its local memory ran out.
    StackOverflow,
    /// Every thread of a block waits for another.
    Deadlock,
    /// A kernel executed `trap`.
    Trap,
    /// A device-side assertion failed.
    Assertion,
    /// A kernel ran longer than its device lets it.
    Timeout,
    /// A kernel branched or called to nowhere, or executed what is no instruction.
    IllegalInstruction,
    /// Something was not given back.
    Leak,
}

impl FindingKind {
    /// The name in reports, which does not change.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out-of-bounds",
            Self::UseAfterFree => "use-after-free",
            Self::UnmappedAccess => "unmapped-access",
            Self::ReadOnlyWrite => "read-only-write",
            Self::MisalignedAccess => "misaligned-access",
            Self::DoubleFree => "double-free",
            Self::InvalidFree => "invalid-free",
            Self::ForeignContext => "foreign-context",
            Self::DestroyedContext => "destroyed-context",
            Self::SharedGreenContext => "shared-green-context",
            Self::FreeInUse => "free-in-use",
            Self::DestroyInUse => "destroy-in-use",
            Self::UnorderedUse => "unordered-use",
            Self::StreamRace => "stream-race",
            Self::HostRace => "host-race",
            Self::InvalidLaunch => "invalid-launch",
            Self::UninitialisedRead => "uninitialised-read",
            Self::SharedMemoryRace => "shared-memory-race",
            Self::StackOverflow => "stack-overflow",
            Self::Deadlock => "deadlock",
            Self::Trap => "trap",
            Self::Assertion => "assertion",
            Self::Timeout => "timeout",
            Self::IllegalInstruction => "illegal-instruction",
            Self::Leak => "leak",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A call of a driver function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CallSite {
    /// The function, by its name in the library.
    pub function: &'static str,
    /// Which call of the machine it was, counted from 1 over all functions and threads;
    /// 0 if it was made while nothing counted.
    pub number: u64,
    /// What `cuStreamGetId` says of the stream that it was for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<u64>,
    /// The program's file and line, of calls by which an allocator tells of its blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The host's stack, if [`Strict::BACKTRACES`](crate::device::strict::Strict::BACKTRACES) was set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backtrace: Option<String>,
}

impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.source.as_deref().unwrap_or(self.function);
        write!(f, "{place} (call {}", self.number)?;
        match self.stream {
            Some(stream) => write!(f, ", stream {stream})"),
            None => f.write_str(")"),
        }
    }
}

/// What an allocation is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Memory {
    /// `cuMemAlloc` and its like.
    Device,
    /// Stream-ordered, from a pool.
    Pool,
    /// `cuMemAllocManaged`.
    Managed,
    /// A module's variable.
    Variable,
    /// Page-locked host memory that the driver allocated.
    PageLocked,
    /// Host memory of the program, registered.
    Registered,
    /// Physical memory at reserved addresses.
    Mapped,
    /// A block that an allocator of the program cut out of such memory, as it told.
    Region,
}

impl Memory {
    fn name(self) -> &'static str {
        match self {
            Self::Device => "device memory",
            Self::Pool => "stream-ordered memory",
            Self::Managed => "managed memory",
            Self::Variable => "a module's variable",
            Self::PageLocked => "page-locked memory",
            Self::Registered => "registered memory",
            Self::Mapped => "mapped memory",
            Self::Region => "an allocator's memory",
        }
    }
}

/// The allocation that a finding is about, or is next to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Allocation {
    /// Device address of the first byte.
    pub base: u64,
    /// Bytes that were asked for.
    pub size: u64,
    /// What kind of memory it is.
    pub memory: Memory,
    /// The variable's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The call that made it.
    pub allocated: CallSite,
    /// The call that freed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed: Option<CallSite>,
}

impl fmt::Display for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, memory) = (self.size, self.memory.name());
        write!(f, "{size} bytes of {memory} ")?;
        if let Some(name) = &self.name {
            write!(f, "{name} ")?;
        }
        write!(f, "at 0x{:x}", self.base)?;
        let verb = match self.memory {
            Memory::Device
            | Memory::Pool
            | Memory::Managed
            | Memory::PageLocked
            | Memory::Region => "allocated",
            Memory::Variable => "loaded",
            Memory::Registered => "registered",
            Memory::Mapped => "mapped",
        };
        // A line is a place, a function is who did it.
        let by = |call: &CallSite| if call.source.is_some() { "at" } else { "by" };
        write!(f, ", {verb} {} {}", by(&self.allocated), self.allocated)?;
        match &self.freed {
            Some(freed) if self.memory == Memory::Mapped => write!(f, ", unmapped by {freed}"),
            Some(freed) => write!(f, ", freed {} {freed}", by(freed)),
            None => Ok(()),
        }
    }
}

/// A thread of a kernel, and what it was executing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KernelSite {
    /// The kernel that was launched.
    pub kernel: String,
    /// The function that was executing.
    pub function: String,
    /// Line of the PTX text.
    pub line: u32,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in the block.
    pub thread: [u32; 3],
}

impl fmt::Display for KernelSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([bx, by, bz], [tx, ty, tz]) = (self.block, self.thread);
        write!(
            f,
            "kernel {} (function {}, PTX line {}), block ({bx},{by},{bz}), thread ({tx},{ty},{tz})",
            self.kernel, self.function, self.line
        )
    }
}

/// One thing that is wrong with a program. [`Display`](fmt::Display) gives one line, whose
/// words change only with the addresses and numbers in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// What happened, in words.
    pub what: String,
    /// The address that was accessed or given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
    /// Bytes that the access has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The thread of a kernel that did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelSite>,
    /// The other access of a race, in the same kernel. Its function is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<KernelSite>,
    /// The allocation that it concerns or is next to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation: Option<Allocation>,
    /// The call that did it: for work in a stream, the one that queued it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallSite>,
    /// Another call that takes part: the work that still uses what is freed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<CallSite>,
}

impl Finding {
    pub(in crate::device) fn new(kind: FindingKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
            address: None,
            bytes: None,
            kernel: None,
            against: None,
            allocation: None,
            call: None,
            other: None,
        }
    }

    /// One line of JSON without the line's end: the fields, and `text` with what
    /// [`Display`](fmt::Display) gives.
    #[must_use]
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(flatten)]
            finding: &'a Finding,
            text: String,
        }
        let line = Line {
            finding: self,
            text: self.to_string(),
        };
        // Strings and numbers under string keys: there is nothing that could fail.
        serde_json::to_string(&line).unwrap_or_default()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.kind)?;
        if let Some(kernel) = &self.kernel {
            write!(f, "{kernel}: ")?;
        }
        f.write_str(&self.what)?;
        if let Some(allocation) = &self.allocation {
            write!(f, " [{allocation}]")?;
        }
        match &self.call {
            Some(call) => write!(f, "; in {call}"),
            None => Ok(()),
        }
    }
}
