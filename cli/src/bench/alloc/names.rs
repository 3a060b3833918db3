//! The names of the rows: `WORK: WHO`, the same words for all who do the same work.

/// Sizes of blocks for the rows that have one size.
pub(super) const SIZES: [u64; 2] = [1 << 10, 1 << 20];

/// Blocks that are alive in the rows of [`live`].
pub(super) const LIVE: usize = 1_000;

/// A size in the largest unit that it is a multiple of.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
        bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} B"),
    }
}

/// A block is allocated and freed, again and again.
pub(super) fn pair(bytes: u64) -> String {
    format!("hot pair, {}", size(bytes))
}

/// Pairs of one thread, on each of so many streams in turn.
pub(super) fn in_turn(streams: usize, bytes: u64) -> String {
    format!("1 thread on {streams} streams in turn, {}", size(bytes))
}

/// A random one of many live blocks is freed, and another one allocated.
pub(super) fn live() -> String {
    format!("{LIVE} live blocks, 256 B to 32 MiB, free + allocate")
}

/// Hot pairs on several threads, each on a stream of its own.
pub(super) fn threads(threads: usize, bytes: u64) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    format!("{threads} thread{plural}, {}", size(bytes))
}

/// As [`threads`], on one stream that all of them have in common.
pub(super) fn one_stream(threads: usize, bytes: u64) -> String {
    format!("{threads} threads on one stream, {}", size(bytes))
}

/// A random one of many live blocks of each thread is freed, and another one allocated, of sizes
/// that hardly ever come again: nearly all of them miss.
pub(super) fn misses(threads: usize, each: usize) -> String {
    format!("{threads} threads, {each} live blocks each, 64 KiB to 4 MiB, free + allocate")
}

/// Each thread frees what another one has allocated.
pub(super) fn exchange(threads: usize, bytes: u64, place: &str) -> String {
    format!("{threads} threads hand over, {}, {place}", size(bytes))
}

/// A trace from its first operation to its last.
pub(super) fn replay(trace: &str) -> String {
    format!("trace {trace}, an operation")
}

/// The same on several threads at a time, each of which does all of it, on streams of its own.
pub(super) fn replay_on(trace: &str, threads: usize) -> String {
    format!("trace {trace} on {threads} threads, an operation")
}

/// How long a request takes that cannot be had.
pub(super) fn refusal(point: &str) -> String {
    format!("a hopeless request beside a neighbour, refusal, {point}")
}

/// How long the operations of a thread take beside one that makes such requests, or makes none.
pub(super) fn neighbour(requests: bool, point: &str) -> String {
    let with = if requests { "with" } else { "without" };
    format!("the neighbour, {with} hopeless requests, {point}")
}

/// At most how long so many of a trace's operations of a kind take, each by itself.
pub(super) fn operation(trace: &str, kind: &str, point: &str) -> String {
    format!("trace {trace}, {kind}, {point}")
}

/// The row of `work` by `who`.
pub(super) fn row(work: &str, who: &str) -> String {
    format!("{work}: {who}")
}
