//! What strict mode looks for.

bitflags::bitflags! {
    /// What a machine looks for beyond the errors that hardware would return, chosen with
    /// [`MachineBuilder::strict`](crate::MachineBuilder::strict). Finding something changes
    /// no result: the call or the kernel does what it does without strict mode.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Strict: u32 {
        /// Accesses by kernels, copies and memsets that fault, each with the allocation
        /// that was missed, and kernels that end before their time.
        const ACCESSES = 1;
        /// Frees of what is not, or no longer, allocated.
        const FREES = 1 << 1;
        /// Memory and modules that go while work which uses them may still run, and
        /// stream-ordered memory used outside of its order.
        const ORDER = 1 << 2;
        /// Streams, functions, events and memory of another context; destroyed contexts that
        /// are made current, and green ones that are current on two threads.
        const CONTEXTS = 1 << 3;
        /// Launches that are refused.
        const LAUNCHES = 1 << 4;
        /// What is left when a context or the machine ends.
        const LEAKS = 1 << 5;
        /// Kernels that read device or shared memory that was never written. Accesses are
        /// many times slower.
        const UNINITIALISED = 1 << 6;
        /// Accesses of a block's shared memory by two warps, one of them a write, that no
        /// barrier puts in order. Accesses are many times slower.
        const SHARED_RACES = 1 << 7;
        /// Streams and events that are destroyed before their work has ended, which the
        /// driver allows.
        const PENDING_DESTROY = 1 << 8;
        /// Accesses of an allocator's block by kernels of two streams, one of them a write, that
        /// nothing puts in order. (Those by copies and memsets alone belong to
        /// [`ORDER`](Self::ORDER).) Accesses are many times slower.
        const STREAM_RACES = 1 << 10;
        /// Keeps the host's stack with every allocation. Slow.
        const BACKTRACES = 1 << 9;
    }
}

impl Strict {
    /// What costs next to nothing and reports no correct program.
    pub const CHEAP: Self = Self::ACCESSES
        .union(Self::FREES)
        .union(Self::ORDER)
        .union(Self::CONTEXTS)
        .union(Self::LAUNCHES)
        .union(Self::LEAKS);
}

/// [`Strict::CHEAP`].
impl Default for Strict {
    fn default() -> Self {
        Self::CHEAP
    }
}
