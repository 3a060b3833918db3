//! A function in a process of its own, which is started again when it is lost.
//!
//! After a sticky error (an illegal address, a failed assertion in a kernel, an ECC error) a
//! process can do no more work on its device: CUDA asks for a new one. A [`Supervisor`] gives
//! that to a program. It starts a worker, sends it items, bytes in and bytes out, and when the
//! worker is lost by a sticky error, a panic, a crash, a kill or a hang, it starts the next
//! one and sends again what had no answer. The first cause is kept and handed back.
//!
//! * Each item that [`submit`](Supervisor::submit) took has one outcome, and
//!   [`receive`](Supervisor::receive) hands the outcomes out once each, in order.
//! * An item may be *worked on* more than once: a worker can be lost between the work and the
//!   answer. A handler with effects outside of its process finds the number of the item and
//!   of the attempt in [`Item`].
//! * An item with which worker after worker is lost is given up, and the others go on.
//!
//! A closure cannot be sent to another process, so the worker is the same program (or one
//! that you name), and says at the start of `main` what it does as a worker:
//!
//! ```no_run
//! use cupola_worker::{
//!     Failure, Item, Supervisor, WorkerConfig, end_with_supervisor, serve,
//! };
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // In the worker this call never returns; elsewhere it returns at once.
//!     serve("reverse", || {
//!         // So that an item that hangs does not outlive a supervisor that is killed.
//!         std::thread::spawn(end_with_supervisor);
//!         // Here the worker opens its GPU. The supervisor's process never touches it.
//!         Ok::<_, Failure>(|item: Item<'_>| {
//!             Ok(item.bytes.iter().rev().copied().collect())
//!         })
//!     });
//!
//!     let mut supervisor = Supervisor::start(WorkerConfig::new("reverse"))?;
//!     supervisor.submit(b"first".to_vec())?;
//!     supervisor.submit(b"second".to_vec())?;
//!     while let Some(outcome) = supervisor.receive()? {
//!         println!("{}: {:?}", outcome.sequence, outcome.result);
//!     }
//!     println!("{:?}", supervisor.shutdown()?.statistics);
//!     Ok(())
//! }
//! ```
//!
//! The supervisor starts no thread and works only inside of its methods: between calls
//! nothing is noticed, and the worker goes on with what it has. The worker starts no thread
//! either, so an item that hangs outlives a supervisor that is killed, unless a thread of the
//! worker calls [`end_with_supervisor`].
//!
//! Workers need Unix. Elsewhere [`Supervisor::start`] returns [`WorkerError::Unsupported`]
//! and [`serve`] returns.

mod config;
mod drive;
mod failure;
mod frame;
mod ledger;
mod link;
mod loss;
mod refusal;
#[cfg(unix)]
mod server;
mod statistics;
mod supervisor;
mod talk;

pub use config::WorkerConfig;
pub use failure::Failure;
pub use frame::FrameError;
pub use ledger::Outcome;
pub use loss::Loss;
pub use refusal::{CallError, ItemError, Refusal, Refused, WorkerError};
pub use statistics::{LossCounts, Report, Statistics};
pub use supervisor::Supervisor;

/// The variable that tells a process which job it was started for.
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no workers"))]
const VARIABLE: &str = "CUPOLA_WORKER";

/// An item, as a handler sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Item<'a> {
    /// What was submitted.
    pub bytes: &'a [u8],
    /// The number that [`Supervisor::submit`] returned.
    pub sequence: u64,
    /// Which attempt this is, from 1: one more than workers were lost with it.
    pub attempt: u16,
}

/// Serves `job`, if this process is a worker that was started for it, and then ends the
/// process; else returns at once. Call it at the start of `main`, before anything reads the
/// standard input, once for each job that the program has.
///
/// `open` makes the handler: it opens the device and whatever stays open between items. The
/// handler is called with one item after the other. An error that it returns is the outcome
/// of the item, and the handler goes on; but a sticky one (see [`Failure`]) and a panic end
/// the process after they were reported, and the item is tried again in the next one. The
/// handler must wait for the item's work on the device before it returns, so that an error
/// comes up with the item that caused it.
///
/// A worker's standard input is empty: it was the connection to the supervisor. Standard
/// output and error are those that the supervisor's [`WorkerConfig`] says. When there are no
/// more items the process exits with code 0, after the handler was dropped.
///
/// # When the supervisor is killed
/// The worker notices when it asks for the next item or sends an answer, and ends. **An item
/// that hangs does neither: its process, and what it holds of the device, outlives a
/// supervisor that was killed (`SIGKILL`, out of memory), for ever**, unless a thread of the
/// worker calls [`end_with_supervisor`]. Start one in `open`:
///
/// ```no_run
/// # use cupola_worker::{Failure, Item, end_with_supervisor, serve};
/// serve("reverse", || {
///     std::thread::spawn(end_with_supervisor);
///     Ok::<_, Failure>(|item: Item<'_>| Ok(item.bytes.to_vec()))
/// });
/// ```
pub fn serve<H, E>(job: &str, open: impl FnOnce() -> Result<H, E>)
where
    H: FnMut(Item<'_>) -> Result<Vec<u8>, E>,
    E: Into<Failure>,
{
    #[cfg(unix)]
    server::serve(job, open);
    #[cfg(not(unix))]
    let _ = (job, open);
}

/// Blocks until the supervisor of this worker is gone, and then kills this process. Returns
/// at once in a process that is no worker.
///
/// A worker whose supervisor has died ends by itself when it asks for the next item or sends
/// an answer. One that hangs in an item does neither and would keep its device; so call this
/// in a thread, started in `open` (see [`serve`]).
pub fn end_with_supervisor() {
    #[cfg(unix)]
    server::end_with_supervisor();
}
