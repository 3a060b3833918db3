//! The page-locked memory that flags are words of.

use std::sync::{Arc, Mutex};

use cupola_sys::driver::{CUstream, Driver, DriverError};

use super::free_bits::FreeBits;
use crate::lists;
use crate::sync::{self, AtomicBool, AtomicU32, Ordering};

use super::words::{WORDS, Words};

/// Words that streams write and the host reads, each of them one flag's at a time. The memory is
/// given up with this value, which every flag shares.
pub(crate) struct Page {
    free: FreeBits<{ WORDS.div_ceil(64) }>,
    /// Words that no flag has any more, each with the last value that a stream may write to it yet.
    awaited: Mutex<Vec<(usize, u32)>>,
    /// A graph may write a word at any time.
    is_captured: AtomicBool,
    words: Words,
}

impl Page {
    pub(super) fn new(words: Words) -> Self {
        Self {
            free: FreeBits::new(WORDS),
            awaited: Mutex::default(),
            is_captured: AtomicBool::new(false),
            words,
        }
    }

    /// A word that no stream writes to.
    pub(crate) fn claim(self: &Arc<Self>) -> Option<Flag> {
        self.reclaim();
        let place = self.free.claim()?;
        let put = self.words.at(place).load(Ordering::Relaxed);
        Some(Flag {
            place,
            put,
            page: Arc::clone(self),
        })
    }

    /// Frees the words whose last value has come.
    fn reclaim(&self) {
        let mut awaited = sync::lock(&self.awaited);
        lists::retain(&mut awaited, |&(place, put)| {
            let has_come = self.has_reached(place, put);
            if has_come {
                self.free.free(place);
            }
            !has_come
        });
    }

    /// Whether a stream has written this value to the word, or a later one.
    pub(crate) fn has_reached(&self, place: usize, value: u32) -> bool {
        is_past(self.words.at(place), value)
    }
}

/// Whether a stream has written this value to a word, or a later one.
pub(super) fn is_past(word: &AtomicU32, value: u32) -> bool {
    // Acquire: what the stream did before comes before.
    let now = word.load(Ordering::Acquire);
    now.wrapping_sub(value).cast_signed() >= 0
}

/// A word that streams write numbers to, each greater than the one before: the host sees how far
/// they have come, without a driver call. Only one stream at a time writes to it.
pub(crate) struct Flag {
    place: usize,
    /// The last number that a stream was told to write.
    put: u32,
    page: Arc<Page>,
}

impl Flag {
    /// Has the stream write the next number behind the work that is on it now
    /// (`cuStreamWriteValue32`). After an error it may be written or not.
    ///
    /// # Safety
    /// The stream is alive, and its context, which is the page's, is current.
    pub(crate) unsafe fn raise(
        &mut self,
        driver: &Driver,
        stream: CUstream,
    ) -> Result<(), DriverError> {
        self.put = self.put.wrapping_add(1);
        let address = self.page.words.address(self.place);
        // SAFETY: the stream is alive and its context current, by this function's condition; the
        // word is there until the number is written, because the page waits for it.
        unsafe { driver.cuStreamWriteValue32_v2(stream, address, self.put, 0) }
    }

    #[cfg(loom)]
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// The last number that a stream was told to write.
    pub(crate) fn put(&self) -> u32 {
        self.put
    }

    /// The number that was written last.
    pub(crate) fn seen(&self) -> u32 {
        self.page.words.at(self.place).load(Ordering::Relaxed)
    }

    /// Whether the stream has written this number, or a later one: then the work before it is done,
    /// unless the context is lost.
    #[cfg(any(test, loom))]
    pub(crate) fn has_reached(&self, number: u32) -> bool {
        self.page.has_reached(self.place, number)
    }

    /// A capture that began meanwhile may have the write: the page stays for ever.
    pub(crate) fn note_captured(&self) {
        self.page.is_captured.store(true, Ordering::Relaxed);
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if self.words.are_the_parents() {
            return;
        }
        self.reclaim();
        let awaited = std::mem::take(&mut *sync::lock(&self.awaited));
        let is_captured = self.is_captured.load(Ordering::Relaxed);
        self.words.give_back(awaited, is_captured);
    }
}

impl Drop for Flag {
    /// The word is another flag's when the last number is written to it.
    fn drop(&mut self) {
        let Self { place, put, page } = self;
        // In a fork another thread may have left the lock taken.
        if page.words.are_the_parents() {
            return;
        }
        if page.has_reached(*place, *put) || mutant!("flag_is_free_before_it_is_written") {
            page.free.free(*place);
        } else {
            sync::lock(&page.awaited).push((*place, *put));
        }
    }
}

#[cfg(loom)]
impl Page {
    /// A page of a model.
    pub(crate) fn of_model() -> Arc<Self> {
        Arc::new(Self::new(Words::new()))
    }
}
