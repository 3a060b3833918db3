//! `Taints`: the bytes of a memory object that operations were to write and have failed to.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Cause, Error, Result};
use crate::sync::{AtomicBool, Ordering};

/// Marks that are kept apart. Beyond that a new one is joined with the last, and spans both.
const MOST: usize = 16;

/// What a successful operation has written, or a failed one should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// All of the bytes.
    All,
    /// Some of them, which the driver or a kernel knows: those that another operation of this
    /// digest writes.
    Some(u64),
}

/// The marks of one memory object. Bytes are counted as its owner likes.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Taints {
    marks: Mutex<Vec<Taint>>,
    /// Whether there are marks, which spares a look the lock. A thread that may read the memory has
    /// synchronised with the one whose operation was to write it, so Relaxed does.
    is_tainted: AtomicBool,
}

#[derive(Clone, Debug)]
struct Taint {
    bytes: Range<u64>,
    first: Arc<Cause>,
    written: Written,
}

impl Taint {
    fn overlaps(&self, bytes: &Range<u64>) -> bool {
        self.bytes.start < bytes.end && bytes.start < self.bytes.end
    }

    fn has(&self, bytes: &Range<u64>) -> bool {
        self.bytes.start <= bytes.start && bytes.end <= self.bytes.end
    }
}

impl Taints {
    /// Whether there are marks.
    #[inline]
    pub(crate) fn is_tainted(&self) -> bool {
        self.is_tainted.load(Ordering::Relaxed)
    }

    /// The failure of the first operation that was to write one of these bytes, none of which has
    /// been written since.
    #[cold]
    pub(crate) fn first(&self, bytes: &Range<u64>) -> Option<Arc<Cause>> {
        let marks = self.lock();
        let taint = marks.iter().find(|taint| taint.overlaps(bytes))?;
        Some(Arc::clone(&taint.first))
    }

    /// Refuses to read bytes that were not written.
    ///
    /// # Errors
    /// [`Error::Tainted`].
    #[inline]
    pub(crate) fn check(&self, bytes: Range<u64>) -> Result<()> {
        if !self.is_tainted() {
            return Ok(());
        }
        match self.first(&bytes) {
            Some(first) => Err(Error::Tainted { first }),
            None => Ok(()),
        }
    }

    /// An operation that was to write these bytes has failed with `first`.
    #[cold]
    pub(crate) fn mark(&self, bytes: Range<u64>, first: Arc<Cause>, written: Written) {
        if bytes.is_empty() || mutant!("taint_of_no_failure") {
            return;
        }
        let mut marks = self.lock();
        // What lifts the older mark lifts this one too.
        let lifted_with = |taint: &Taint| taint.written == Written::All || taint.written == written;
        if marks
            .iter()
            .any(|taint| taint.has(&bytes) && lifted_with(taint))
        {
            return;
        }
        let is_full = marks.len() >= MOST;
        match marks.last_mut() {
            Some(last) if is_full => {
                last.bytes.start = last.bytes.start.min(bytes.start);
                last.bytes.end = last.bytes.end.max(bytes.end);
                last.written = Written::All;
            }
            _ => marks.push(Taint {
                bytes,
                first,
                written,
            }),
        }
        self.is_tainted.store(true, Ordering::Relaxed);
    }

    /// An operation has written these bytes, or those of its digest among them.
    #[cold]
    pub(crate) fn lift(&self, bytes: &Range<u64>, written: Written) {
        let mut marks = self.lock();
        match written {
            Written::All => cut(&mut marks, bytes),
            Written::Some(_) => marks.retain(|taint| {
                let is_within = bytes.start <= taint.bytes.start && taint.bytes.end <= bytes.end;
                taint.written != written || !is_within
            }),
        }
        self.is_tainted.store(!marks.is_empty(), Ordering::Relaxed);
    }

    /// Notes what became of an operation that was to write these bytes. `written` is asked for only
    /// where that is noted.
    ///
    /// A failure that names no call was this crate's own refusal: the memory is as before. A context
    /// that is lost refuses every read itself.
    #[inline]
    pub(crate) fn end_write(
        &self,
        bytes: Range<u64>,
        result: &Result<()>,
        written: impl FnOnce() -> Written,
    ) {
        match result {
            Ok(()) if !self.is_tainted() => {}
            Ok(()) => self.lift(&bytes, written()),
            Err(error) => {
                if let Some(first) = error.taints() {
                    self.mark(bytes, first, written());
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Taint>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes these bytes out of all marks. A mark that would become two when there are too many stays
/// whole: a read is refused rather than a failure forgotten.
fn cut(marks: &mut Vec<Taint>, bytes: &Range<u64>) {
    let mut left = Vec::with_capacity(marks.len());
    let mut room = MOST.saturating_sub(marks.len());
    for taint in marks.drain(..) {
        if !taint.overlaps(bytes) {
            left.push(taint);
            continue;
        }
        let before = taint.bytes.start..bytes.start.min(taint.bytes.end);
        let behind = bytes.end.max(taint.bytes.start)..taint.bytes.end;
        let parts = [before, behind].map(|part| (!part.is_empty()).then_some(part));
        if let [Some(_), Some(_)] = parts {
            if room == 0 {
                left.push(taint);
                continue;
            }
            room -= 1;
        }
        for bytes in parts.into_iter().flatten() {
            left.push(Taint {
                bytes,
                ..taint.clone()
            });
        }
    }
    *marks = left;
}

impl Error {
    /// The failure that memory is tainted with which the operation of this error was to write.
    /// `None` when the memory is as before, and when the context is lost.
    #[cold]
    pub(crate) fn taints(&self) -> Option<Arc<Cause>> {
        match self {
            Self::Tainted { first } => Some(Arc::clone(first)),
            _ if self.is_sticky() => None,
            _ => self.cause().cloned().map(Arc::new),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use cupola_sys::driver::{CUresult, DriverError, id};

    use super::super::Site;
    use super::*;

    fn cause(code: u32) -> Arc<Cause> {
        let call = DriverError::Failed {
            symbol: id::cuMemsetD8Async,
            code: CUresult(code),
        };
        Arc::new(Cause::new(call, Site::here()))
    }

    fn code(taints: &Taints, bytes: Range<u64>) -> Option<u32> {
        let first = taints.first(&bytes)?;
        Some(first.call.status()?.0)
    }

    // Without it a byte that no operation has written could pass for one that was, or one that was
    // for one that was not.
    #[test]
    fn marks_are_of_the_bytes_that_were_not_written_since() {
        // Each step fails or succeeds at some bytes; a table of bytes is what is right.
        fn property(steps: Vec<(bool, u8, u8)>) -> bool {
            let taints = Taints::default();
            let mut right = [None; 64];
            for (number, (fails, start, len)) in steps.into_iter().take(6).enumerate() {
                let start = usize::from(start % 64);
                let end = (start + usize::from(len % 16)).min(64);
                let bytes = start as u64..end as u64;
                if fails {
                    let number = number as u32 + 1;
                    taints.mark(bytes, cause(number), Written::All);
                    for byte in &mut right[start..end] {
                        *byte = byte.or(Some(number));
                    }
                } else {
                    taints.lift(&bytes, Written::All);
                    right[start..end].fill(None);
                }
            }
            let is_tainted = right.iter().any(Option::is_some);
            taints.is_tainted() == is_tainted
                && (0..64).all(|at| code(&taints, at as u64..at as u64 + 1) == right[at])
        }
        quickcheck::quickcheck(property as fn(Vec<(bool, u8, u8)>) -> bool);
    }

    // Without it a program that fails at one place after the other would take ever more memory, or a
    // failure would be forgotten for want of room.
    #[test]
    fn many_marks_are_joined_and_none_is_forgotten() {
        let taints = Taints::default();
        for n in 0..100 {
            taints.mark(10 * n..10 * n + 1, cause(1), Written::All);
        }
        assert_eq!(taints.lock().len(), MOST);
        assert!((0..100).all(|n| code(&taints, 10 * n..10 * n + 1).is_some()));
        let whole = Taints::default();
        whole.mark(0..1000, cause(1), Written::All);
        for n in 0..100 {
            whole.lift(&(10 * n..10 * n + 1), Written::All);
        }
        assert!(whole.lock().len() <= MOST);
        assert!((0..100).all(|n| code(&whole, 10 * n + 1..10 * n + 9).is_some()));
        whole.lift(&(0..1000), Written::All);
        assert!(!whole.is_tainted());
    }

    // Without it a launch that was tried again would leave its output unreadable, or the launch of
    // another kernel would pass for the one that failed.
    #[test]
    fn the_same_operation_lifts_its_mark_and_no_other_does() {
        let taints = Taints::default();
        taints.mark(0..8, cause(1), Written::Some(7));
        taints.mark(0..8, cause(2), Written::Some(9));
        taints.lift(&(0..8), Written::Some(8));
        taints.lift(&(0..4), Written::Some(7));
        assert_eq!(code(&taints, 0..8), Some(1));
        taints.lift(&(0..8), Written::Some(7));
        assert_eq!(code(&taints, 0..8), Some(2));
        taints.lift(&(0..8), Written::All);
        assert_eq!(code(&taints, 0..8), None);
    }
}
