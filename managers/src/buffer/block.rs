//! `Block`: one piece of device memory, its account, and the streams that use it.
//!
//! A block belongs to the stream it was allocated on. The first use on another stream makes that
//! stream wait for the allocation, if work that had the memory before may still use it. Once freed,
//! the memory is its own stream's again as soon as every stream that used it has come so far:
//! neither waits for the other. The work that used it is not tracked: all work that is on those
//! streams at the free counts as such, which is simple, and never too little.

mod free_on;
mod outputs;
mod ready;

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use cupola_sys::driver::CUdeviceptr;

use super::BufferHandle;
use crate::driver::ContextCore;
use crate::error::{Error, Result};
use crate::pool::heap::cold_fields::ColdFields;
use crate::pool::{AllocRequest, BlockHeader, Pool};
use crate::stream::Stream;
use crate::stream::submit;
use crate::sync::deferred::DeferCallbacks;
pub(crate) use outputs::Output;

/// One word: the fields of a block are in its piece's header, its lease of its stream among them.
/// So a buffer is two words, which are moved in registers. More are copied through memory at each
/// move, where a load that is wider than the stores before it waits for all of them.
pub(crate) struct Block {
    piece: NonNull<BlockHeader>,
}

// SAFETY: the piece is the block's alone; the values that the block keeps in it are Send and Sync.
unsafe impl Send for Block {}
// SAFETY: the values in the piece are Send and Sync; fields of the header that are not atomic are
// written by the block's beginning and end only.
unsafe impl Sync for Block {}

impl Block {
    #[track_caller]
    pub(crate) fn new(pool: &Arc<Pool>, ask: AllocRequest, home: &Stream) -> Result<Self> {
        if !home.is_in(pool.core()) {
            return Err(Error::WrongContext { what: "the pool" });
        }
        let table = pool.table();
        let permit = table.enter_one()?;
        let piece = pool.allocate(ask, home)?;
        let block = Self { piece };
        if let Some(permit) = permit {
            block
                .header()
                .rest()
                .get_or_put(ColdFields::of_permit(permit));
        }
        // A shutdown names the buffers that it finds alive. A block that is alive only after the
        // shutdown looked sees the shutdown here, because that makes a barrier for all threads in
        // between.
        pool.light();
        table.check_open()?;
        Ok(block)
    }

    #[inline]
    fn header(&self) -> &BlockHeader {
        // SAFETY: the piece is this block's, and not given back before its end.
        unsafe { self.piece.as_ref() }
    }

    /// Takes the lease and the cold fields out of the header, which is given back after that.
    #[inline]
    fn end(&mut self) -> (Stream, Option<Box<ColdFields>>) {
        let header = self.header();
        // SAFETY: the piece is the block's, and has its lease; the block is the caller's alone.
        unsafe { (header.take_lease(), header.rest().take()) }
    }

    /// The fields that few blocks have, for the block's only user.
    #[inline]
    fn rest_mut(&mut self) -> Option<&mut ColdFields> {
        // SAFETY: the block is the caller's alone.
        unsafe { self.header().rest().get_mut() }
    }

    /// The pool, which is there as long as a piece of it is out.
    #[inline]
    fn pool(&self) -> &Pool {
        // SAFETY: a pool is there as long as a piece of it is out, and the block has one.
        unsafe { &*Pool::of(self.header()) }
    }

    #[inline]
    pub(crate) fn address(&self) -> CUdeviceptr {
        self.header().address()
    }

    pub(crate) fn handle(&self) -> BufferHandle {
        self.pool().table().name(self.header())
    }

    #[inline]
    pub(crate) fn home(&self) -> &Stream {
        // SAFETY: `new` put it there, and the block's end takes it out.
        unsafe { self.header().lease() }
    }

    /// Whether no work that was put on the block's stream before its allocation can use its memory
    /// any more. In a graph all work has its order from the capture.
    fn is_fresh(&self) -> bool {
        self.header().is_fresh() && !self.pool().is_of_graph()
    }

    /// The context that the memory is of.
    #[inline]
    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        self.pool().core()
    }

    /// Refuses a stream whose work may not use the memory: one of another context, unless the pool is
    /// open to that now.
    pub(crate) fn check_use(&self, stream: &Stream) -> Result<()> {
        match self.address() == 0
            || stream.is_in(self.pool().core())
            || self.pool().is_open_to(stream.core())
        {
            true => Ok(()),
            false => Err(Error::WrongContext { what: "the buffer" }),
        }
    }

    /// Refuses a stream of another context.
    pub(crate) fn check_context(&self, stream: &Stream) -> Result<()> {
        match self.address() == 0 || stream.is_in(self.pool().core()) {
            true => Ok(()),
            false => Err(Error::WrongContext { what: "the buffer" }),
        }
    }

    /// Whether no other stream has used the memory, and no operation has failed to write it.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.header().rest().get().is_none()
    }

    /// Whether a use on `stream` needs no preparation: it is the stream of a [plain](Self::is_plain)
    /// block.
    #[inline]
    pub(crate) fn is_ready(&self, stream: &Stream) -> bool {
        stream.is(self.home()) && self.is_plain() && !stream.is_captured()
    }

    /// Prepares a use on `stream`: after this, work put there finds the memory allocated,
    /// and the free waits for it.
    #[track_caller]
    pub(crate) fn join(&self, stream: &Stream) -> Result<()> {
        let home = self.home();
        if stream.is_captured() {
            return self.join_graph(stream);
        }
        if stream.is(home) || self.address() == 0 {
            return Ok(());
        }
        if self.is_prepared(stream) {
            // What is lost may be the other context, which the operation does not ask.
            return self.pool().core().healthy();
        }
        if !stream.is_in(self.pool().core()) && !self.begin_peer_use(stream)? {
            return Err(Error::WrongContext { what: "the buffer" });
        }
        self.join_use(stream, true)
    }

    /// Whether a use on `stream`, which is not the block's own, needs no preparation any more.
    #[inline]
    fn is_prepared(&self, stream: &Stream) -> bool {
        let rest = self.header().rest().get();
        rest.is_some_and(|rest| rest.uses().is_prepared(stream.serial()))
    }

    /// Keeps the pool open to the context of `stream`, which is another one than the pool's, until the
    /// block's end. Whether it is open.
    #[cold]
    fn begin_peer_use(&self, stream: &Stream) -> Result<bool> {
        // In a fork another thread may have left the lock taken.
        self.pool().core().healthy()?;
        let known = self.header().rest();
        let context = stream.core().current_identity();
        if known.get().is_some_and(|rest| rest.is_used_by(context)) {
            return Ok(true);
        }
        let Some(peer) = self.pool().begin_peer_use(context) else {
            return Ok(false);
        };
        let rest = known.get();
        let rest = rest.unwrap_or_else(|| known.get_or_put(ColdFields::default()));
        rest.add_peer_use(peer);
        Ok(true)
    }

    /// As [`join`](Self::join), for a copy that names the context of each end: it needs no access of the
    /// stream's context to the memory. No capture is open on the stream.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn join_across(&self, stream: &Stream) -> Result<()> {
        if stream.is(self.home()) || self.is_prepared(stream) || self.address() == 0 {
            return Ok(());
        }
        self.join_use_across(stream)
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn join_use_across(&self, stream: &Stream) -> Result<()> {
        // An access that the pool is open for makes the copy direct. It may be opened before the next copy.
        let is_counted = stream.is_in(self.pool().core()) || self.begin_peer_use(stream)?;
        self.join_use(stream, is_counted)
    }

    /// The use on another stream than the block's own, which needs no preparation after this if it is also
    /// counted, or of the pool's context.
    #[cold]
    #[track_caller]
    fn join_use(&self, stream: &Stream, is_counted: bool) -> Result<()> {
        let home = self.home();
        // In a fork another thread may have left the lock taken.
        self.pool().core().healthy()?;
        let _defer = DeferCallbacks::new();
        let known = self.header().rest();
        let rest = known.get();
        let rest = rest.unwrap_or_else(|| known.get_or_put(ColdFields::default()));
        let mut uses = rest.uses().lock();
        if !uses.iter().any(|used| used.is(stream)) {
            // The memory is that of launches, which work outside of the graph is not ordered with.
            if home.is_captured() {
                return Err(is_of_graphs());
            }
            {
                // Told also where no wait is needed: the use comes after the allocation.
                let region_hooks = self.pool().region_hooks();
                let _own =
                    region_hooks.map(|region_hooks| region_hooks.share(self.address(), stream));
                if !self.is_fresh() {
                    self.pool().order(home, stream)?;
                }
            }
            // Streams without another lease go back for their next life, or a block that lives long
            // would keep every stream that it was ever used on: its own stream waits for them now
            // and not when it is freed.
            uses.retain(|used| !used.is_last_lease() || self.pool().order(used, home).is_err());
            uses.push(stream.clone());
        }
        if is_counted {
            uses.note_prepared(stream.serial());
        }
        Ok(())
    }

    /// Tells a driver that checks programs that work on `stream` will use the memory, which the caller
    /// puts in order with the work of a stream that has [joined](Self::join).
    pub(crate) fn tell_use(&self, stream: &Stream) {
        if self.address() != 0
            && let Some(region_hooks) = self.pool().region_hooks()
        {
            drop(region_hooks.share(self.address(), stream));
        }
    }

    /// Prepares a use by the graph that `stream` is captured into: it keeps the block, and its launches
    /// come after the allocation.
    #[cold]
    #[track_caller]
    fn join_graph(&self, stream: &Stream) -> Result<()> {
        let (home, header) = (self.home(), self.header());
        if self.address() == 0 {
            return Ok(());
        }
        self.check_context(stream)?;
        // In a fork another thread may have left the lock taken.
        self.pool().core().healthy()?;
        let Some(graph) = stream.captured() else {
            return Err(is_of_graphs());
        };
        let number = self.pool().number;
        // The graph's own memory is kept as a whole, and used again within the graph.
        if graph.reuses(number, stream) {
            return Ok(());
        }
        let is_own = graph.owns(number);
        if !is_own && home.is_captured() {
            return Err(is_of_graphs());
        }
        let known = header.rest();
        let rest = known.get();
        let rest = rest.unwrap_or_else(|| known.get_or_put(ColdFields::default()));
        if rest.add_graph(&graph) && !is_own && !self.is_fresh() {
            graph.comes_after(home);
        }
        Ok(())
    }

    /// Gives the block, which ends here, to a graph that may still use it: it is freed when that is
    /// over. False when there is none.
    #[cold]
    fn give_to_graph(&mut self) -> bool {
        // In a fork another thread may have left a lock taken.
        if self.pool().core().not_forked().is_err() {
            return false;
        }
        let number = self.pool().number;
        while let Some(graph) = self.rest_mut().and_then(ColdFields::take_graph) {
            match graph.keep_block(number, Self { piece: self.piece }) {
                Ok(()) => return true,
                Err(same) => {
                    // This block goes on.
                    let _same = ManuallyDrop::new(same);
                }
            }
        }
        false
    }

    /// Frees the block behind all uses, or gives it back with the error: it is as before then, but
    /// that its stream may wait for others.
    #[track_caller]
    pub(crate) fn free(self) -> Result<(), (Self, Error)> {
        let mut block = ManuallyDrop::new(self);
        if block.put_behind() {
            return Ok(());
        }
        let freed = match block.join_uses() {
            Ok(()) => block.put(),
            refused => refused,
        };
        freed.map_err(|error| (ManuallyDrop::into_inner(block), error))
    }

    /// Gives the piece back, which the block's stream has been made to wait for all users of. After
    /// an error the block is as before.
    #[inline]
    #[track_caller]
    fn put(&mut self) -> Result<()> {
        // SAFETY: the block is the caller's alone.
        let rest = unsafe { self.header().rest().take() };
        // SAFETY: the piece was the block's, which ends here; its stream has been made to wait for
        // all uses, or they are over.
        let freed = unsafe { Pool::free_buffer(self.piece, None) };
        if freed.is_err()
            && let Some(rest) = rest
        {
            self.header().rest().get_or_put(*rest);
        }
        freed
    }

    /// Puts back the lease and the fields that [`end`](Self::end) has taken out.
    #[cold]
    #[inline(never)]
    fn keep(&mut self, home: Stream, rest: Option<Box<ColdFields>>) {
        // SAFETY: the piece is still ours, and its lease was taken out.
        unsafe { self.header().put_lease(home) };
        if let Some(rest) = rest {
            self.header().rest().get_or_put(*rest);
        }
    }

    /// Gives the piece back where other streams have used it, behind them, if that can be done
    /// without a call of the driver. The block is over then.
    #[inline]
    #[track_caller]
    fn put_behind(&mut self) -> bool {
        match self.rest_mut() {
            Some(_) => self.put_behind_uses(),
            None => false,
        }
    }

    #[cold]
    #[track_caller]
    fn put_behind_uses(&mut self) -> bool {
        if self.give_to_graph() {
            return true;
        }
        // SAFETY: the lease is there until the block's end, and the pool as long as the piece is
        // out.
        let (home, pool) = unsafe {
            let header = self.piece.as_ref();
            (header.lease(), &*Pool::of(header))
        };
        let uses = self.rest_mut().map(ColdFields::uses_mut);
        let uses = uses.filter(|uses| !uses.is_empty());
        let Some(behind) = uses.and_then(|uses| pool.behind(home, &*uses)) else {
            return false;
        };
        if let Some(region_hooks) = pool.region_hooks() {
            // SAFETY: the piece is this block's, and not given back before its end.
            let header = unsafe { &*self.piece.as_ptr() };
            for other in self
                .rest_mut()
                .map(ColdFields::uses_mut)
                .into_iter()
                .flatten()
            {
                region_hooks.behind(header, other);
            }
            region_hooks.end(header, home, None);
        }
        self.end_peer_uses();
        // The leases go after the piece: a stream whose last one this is closes its last batch.
        let _leases = self.end();
        // SAFETY: the piece was the block's, which is over; work that uses it is on these streams
        // by now.
        unsafe { Pool::free_behind(self.piece, &behind, None) };
        true
    }

    /// Makes the block's stream wait for every other stream that used it.
    ///
    /// # Errors
    /// What the driver returned; the block is as good as before, and this may be tried again.
    #[inline]
    #[track_caller]
    pub(crate) fn join_uses(&mut self) -> Result<()> {
        // SAFETY: the lease is there until the block's end, and the pool as long as the piece is
        // out.
        let (home, pool) = unsafe {
            let header = self.piece.as_ref();
            (header.lease(), &*Pool::of(header))
        };
        match self.rest_mut() {
            Some(rest) => {
                join_uses(rest.uses_mut(), home, pool)?;
                rest.end_peer_uses(home);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The uses by other contexts end with the block: they are over, or its stream comes behind them.
    #[cold]
    fn end_peer_uses(&mut self) {
        // SAFETY: the lease is there until the block's end, and the piece is the block's until then.
        let home = unsafe { (*self.piece.as_ptr()).lease() };
        if let Some(rest) = self.rest_mut() {
            rest.end_peer_uses(home);
        }
    }

    /// Waits on the host for the streams that used the block. Whether that is over.
    #[cold]
    fn settle_uses(&mut self) -> bool {
        let site = self.home().core().site();
        let settled = |rest: &mut ColdFields| {
            rest.uses_mut()
                .iter()
                .all(|used| submit::settle(used, site))
        };
        self.rest_mut().is_none_or(settled)
    }

    /// Leaves the memory alone for ever. It stays charged to the pool, because it may still be in
    /// use.
    ///
    /// # Safety
    /// The caller has the piece, and gives it away.
    #[cold]
    unsafe fn give_up(piece: NonNull<BlockHeader>) {
        // SAFETY: needs a piece that the caller gives away, which this function asks for too.
        unsafe { Pool::abandon(piece) };
    }
}

/// The error of work with a block that is no such work's: launches of graphs use the memory, at any
/// time.
#[cold]
fn is_of_graphs() -> Error {
    let problem = "it is memory of graphs, and this is not work of one of them";
    Error::invalid("buffer", problem)
}

/// See [`Block::join_uses`].
#[track_caller]
fn join_uses(uses: &mut Vec<Stream>, home: &Stream, pool: &Pool) -> Result<()> {
    while let Some(stream) = uses.last() {
        // A lost context takes no order, and needs none: its pool hands nothing out any more. But
        // another context's work may go on, and its pool may give the memory back.
        if home.core().poison().is_none() {
            pool.order(stream, home)?;
        } else if !stream.is_in(home.core()) && !submit::settle(stream, home.core().site()) {
            stream.core().healthy()?;
        }
        uses.pop();
    }
    Ok(())
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        // No other stream has used it, as of nearly all.
        if self.rest_mut().is_none() {
            // SAFETY: the piece was the block's, which ends here.
            if unsafe { Pool::free_buffer(self.piece, None) }.is_ok() {
                return;
            }
        }
        self.drop_used();
    }
}

impl Block {
    /// The end of a block that other streams have used, or whose stream could not take it back.
    #[cold]
    #[inline(never)]
    fn drop_used(&mut self) {
        if self.put_behind() {
            return;
        }
        let joined = self.join_uses().or_else(|_| self.join_uses());
        // Where events cannot be had it waits on the host instead.
        let is_over = joined.is_ok() || self.settle_uses();
        if is_over {
            self.end_peer_uses();
        }
        if !is_over || self.put().is_err() {
            let _leases = self.end();
            // SAFETY: the piece was the block's, which is over.
            unsafe { Self::give_up(self.piece) };
        }
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block")
            .field("stream", self.home())
            .field("address", &format_args!("{:#x}", self.address()))
            .field("bytes", &self.header().requested().unwrap_or_default())
            .finish_non_exhaustive()
    }
}
