//! `Member`: a pool as those that it shares a limit or a context with see it.

use crate::error::Result;
use crate::pool::alloc::progress::MemberProgress;
use crate::pool::heap::block_header::BlockHeader;
use crate::pool::request::Wait;

/// A pool that can be asked for memory, for figures and for its buffers, by a caller that is not
/// to end it. No caller has a lock of another pool meanwhile.
pub(crate) trait Member: Send + Sync {
    /// Its number in the process.
    fn number(&self) -> u64;

    /// Whether it is the memory of a graph, which gives nothing up.
    fn is_of_graph(&self) -> bool;

    /// The counts of its changes so far.
    fn sign(&self) -> MemberProgress;

    /// Whether work that uses freed memory is under way, after a poll.
    ///
    /// # Errors
    /// The error that the driver returned.
    fn is_under_way(&self) -> Result<bool>;

    /// Bytes that have ever gone out to users.
    fn bytes_out(&self) -> u64;

    /// Bytes that have ever come back.
    fn bytes_in(&self) -> u64;

    /// Bytes that a request may have without anything more from the driver.
    fn reusable(&self) -> u64;

    /// Gives memory that nothing uses back to the driver, so many bytes or a little more. How many
    /// bytes.
    ///
    /// # Errors
    /// The driver's error; [`Error::Busy`](crate::Error::Busy) where `wait` is over.
    fn give_up_idle(&self, wanted: u64, wait: Wait) -> Result<u64>;

    /// How many buffers are alive.
    fn buffers_alive(&self) -> usize;

    /// How many buffers were made.
    fn buffers_made(&self) -> u64;

    /// Calls `work` with the header of every buffer that is alive now, unless it is freed before
    /// its turn. It is not freed meanwhile.
    fn with_buffers(&self, work: &mut dyn FnMut(&BlockHeader));
}
