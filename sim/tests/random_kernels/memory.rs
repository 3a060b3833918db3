//! Two pieces of device memory.

use cupola_sim::exec::{GlobalMemory, MemRange, Placement, VarSpace};

/// A piece of memory at `base`.
pub(crate) struct Piece {
    base: u64,
    len: u64,
    words: Box<[u128]>,
    host: *mut u8,
}

impl Piece {
    pub(crate) fn new(base: u64, len: usize) -> Self {
        let mut words = vec![0u128; len.div_ceil(16)].into_boxed_slice();
        let host = words.as_mut_ptr().cast();
        Self {
            base,
            len: len as u64,
            words,
            host,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        // SAFETY: `words` has at least `len` bytes, and no kernel runs.
        unsafe { std::slice::from_raw_parts(self.host, self.len as usize) }.to_vec()
    }
}

/// What the kernel may touch.
pub(crate) struct Memory(pub(crate) [Piece; 2]);

// SAFETY: kernels access the bytes through the pointer with atomics, the test while none
// runs; `words` is not used meanwhile.
unsafe impl Sync for Memory {}

// SAFETY: the pieces live as long as the memory; bases are multiples of 16, and so are the
// addresses of the words.
unsafe impl GlobalMemory for Memory {
    fn lookup(&self, addr: u64) -> Option<MemRange> {
        let piece = self
            .0
            .iter()
            .find(|piece| addr.wrapping_sub(piece.base) < piece.len)?;
        debug_assert!(!piece.words.is_empty());
        Some(MemRange {
            base: piece.base,
            len: piece.len,
            host: piece.host,
            writable: true,
        })
    }
}

/// Random kernels have no variables of module scope.
pub(crate) struct NoVariables;

impl Placement for NoVariables {
    fn place(&mut self, _: &str, _: VarSpace, _: u64, _: u64) -> Option<u64> {
        None
    }

    fn fill(&mut self, _: u64, _: &[u8]) {}
}
