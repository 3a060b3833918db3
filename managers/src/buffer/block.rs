//! `Block`: one piece of device memory, its account, and the streams that use it.
//!
//! A block belongs to the stream it was allocated on. The first use on another stream
//! makes that stream wait for the allocation; the free makes the block's own stream wait
//! for every stream that used it. Which work used it is not tracked: the free waits for all
//! that is on those streams by then, which is simple, and never too little.

use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use cupola_sys::driver::CUdeviceptr;

use super::BufferHandle;
use crate::error::{Error, Quiet, Result};
use crate::memory::{Ask, Header, Pool};
use crate::registry::Seat;
use crate::stream::Stream;
use crate::submit;

pub(crate) struct Block {
    piece: NonNull<Header>,
    address: CUdeviceptr,
    /// As asked for.
    bytes: u64,
    /// Freed, or given up because the driver refused: there is nothing left to do.
    gone: bool,
    /// Its place among a limited number of buffers.
    _seat: Option<Seat>,
    home: Stream,
    /// Streams other than `home` that work with the block was put on.
    uses: Mutex<Vec<Stream>>,
}

// SAFETY: the piece is the block's alone; the rest is Send and Sync.
unsafe impl Send for Block {}
// SAFETY: as above; nothing of the piece is touched but by `free`.
unsafe impl Sync for Block {}

impl Block {
    #[track_caller]
    pub(crate) fn new(pool: &Arc<Pool>, ask: Ask, home: &Stream) -> Result<Self> {
        if !home.is_in(pool.core()) {
            return Err(Error::WrongContext { what: "the pool" });
        }
        let table = pool.table();
        let seat = table.enter_one()?;
        let piece = pool.take(ask, home)?;
        // SAFETY: the piece is ours.
        let address = unsafe { piece.as_ref() }.address();
        let block = Self {
            piece,
            address,
            bytes: ask.bytes,
            gone: false,
            _seat: seat,
            home: home.clone(),
            uses: Mutex::new(Vec::new()),
        };
        // A shutdown names what it finds alive. Who is alive only after it looked sees that
        // here: it makes a barrier for all threads in between.
        pool.light();
        table.check_open()?;
        Ok(block)
    }

    /// The pool, which is there as long as a piece of it is out.
    fn pool(&self) -> &Pool {
        // SAFETY: the piece is this block's, and not given back before its end.
        unsafe { &*self.piece.as_ref().pool() }
    }

    pub(crate) fn address(&self) -> CUdeviceptr {
        self.address
    }

    pub(crate) fn handle(&self) -> BufferHandle {
        // SAFETY: the piece is this block's.
        self.pool().table().name(unsafe { self.piece.as_ref() })
    }

    pub(crate) fn home(&self) -> &Stream {
        &self.home
    }

    /// Prepares a use on `stream`: after this, work put there finds the memory allocated,
    /// and the free waits for it.
    #[track_caller]
    pub(crate) fn join(&self, stream: &Stream) -> Result<()> {
        if stream.is(&self.home) || self.bytes == 0 {
            return Ok(());
        }
        if !stream.is_in(self.pool().core()) {
            return Err(Error::WrongContext { what: "the buffer" });
        }
        // In a fork another thread may have left the lock taken.
        self.pool().core().healthy()?;
        let _quiet = Quiet::new();
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if !uses.iter().any(|used| used.is(stream)) {
            submit::order(&self.home, stream)?;
            // Streams that nobody else leases any more go back for their next life, or a
            // block that lives long would keep every stream that it was ever used on: its own
            // stream waits for them now and not when it is freed.
            uses.retain(|used| !used.is_last_lease() || submit::order(used, &self.home).is_err());
            uses.push(stream.clone());
        }
        Ok(())
    }

    /// Frees the block in stream order. All uses have been joined.
    ///
    /// The one attempt: after an error the driver may still have freed it, and the address
    /// may be somebody else's by now.
    #[track_caller]
    pub(crate) fn free(mut self) -> Result<()> {
        // SAFETY: the piece is the block's, which is gone after this; the stream has been made
        // to wait for all uses.
        let freed = unsafe { Pool::put(self.piece, &self.home) };
        match freed {
            Ok(()) => self.gone = true,
            Err(_) => self.give_up(),
        }
        freed
    }

    /// Makes the block's stream wait for every other stream that used it.
    ///
    /// # Errors
    /// What the driver returned; the block is as good as before, and this may be tried again.
    #[track_caller]
    pub(crate) fn join_uses(&mut self) -> Result<()> {
        let uses = self.uses.get_mut().unwrap_or_else(PoisonError::into_inner);
        while let Some(stream) = uses.last() {
            // In a lost context nothing runs, and there is nothing to wait for.
            if self.home.core().poison().is_none() {
                submit::order(stream, &self.home)?;
            }
            uses.pop();
        }
        Ok(())
    }

    /// Leaves the memory alone for ever. It stays charged to the pool: it is still in use as
    /// far as anyone knows.
    fn give_up(&mut self) {
        self.gone = true;
        // SAFETY: the piece is the block's, which is gone.
        unsafe { Pool::abandon(self.piece) };
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.gone {
            return;
        }
        let mut joined = self.join_uses().or_else(|_| self.join_uses());
        if joined.is_err() {
            // Events cannot be had: wait on the host instead.
            let uses = self.uses.get_mut().unwrap_or_else(PoisonError::into_inner);
            let site = self.home.core().site();
            if uses.iter().all(|used| submit::settle(used, site)) {
                joined = Ok(());
            }
        }
        // SAFETY: the piece is the block's, which is gone after this; its stream has been made to
        // wait for all uses, or they are over.
        if joined.is_err() || unsafe { Pool::put_at(self.piece, &self.home, None) }.is_err() {
            self.give_up();
        }
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block")
            .field("stream", &self.home)
            .field("address", &format_args!("{:#x}", self.address))
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
