//! `Member`: a pool as those that it shares a limit or a context with see it.

use std::any::Any;

use crate::pool::alloc::progress::MemberProgress;
use crate::pool::heap::block_header::BlockHeader;

/// A pool that can be asked for memory, for figures and for its buffers, by a caller that is not
/// to end it. No caller has a lock of another pool meanwhile.
pub(crate) trait Member: Send + Sync {
    /// The pool itself. A call of the driver is made through it: a method of a trait object does
    /// not know its caller, which an error names.
    fn as_any(&self) -> &dyn Any;

    /// Its number in the process.
    fn number(&self) -> u64;

    /// Whether it is the memory of a graph, which gives nothing up.
    fn is_of_graph(&self) -> bool;

    /// The counts of its changes so far.
    fn sign(&self) -> MemberProgress;

    /// Bytes that have ever gone out to users.
    fn bytes_out(&self) -> u64;

    /// Bytes that have ever come back.
    fn bytes_in(&self) -> u64;

    /// Bytes that a request may have without anything more from the driver.
    fn reusable(&self) -> u64;

    /// How many buffers are alive.
    fn buffers_alive(&self) -> usize;

    /// How many buffers were made.
    fn buffers_made(&self) -> u64;

    /// Calls `work` with the header of every buffer that is alive now, unless it is freed before
    /// its turn. It is not freed meanwhile.
    fn with_buffers(&self, work: &mut dyn FnMut(&BlockHeader));
}
