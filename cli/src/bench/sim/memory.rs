//! Device memory for the kernels that are measured: a few live allocations.

use std::cell::UnsafeCell;

use cupola_sim::exec::{GlobalMemory, MemRange, Placement, VarSpace};

/// Address of the first allocation; each has 4 GiB of addresses to itself.
const FIRST: u64 = 0x1100_0000_0000;
const APART: u64 = 1 << 32;

/// Bytes that kernels read and write.
#[repr(transparent)]
struct Word(UnsafeCell<u128>);

/// The allocations of one kernel.
#[derive(Default)]
pub(super) struct Memory {
    blocks: Vec<Box<[Word]>>,
}

// SAFETY: while a kernel runs, the words are reached only through `lookup`'s pointers,
// with atomics; everything else here takes `&mut self`, or reads after the launch.
unsafe impl Sync for Memory {}

// SAFETY: blocks live as long as `self` and are never moved out of their boxes; a block's
// host address and its device address are multiples of 16.
unsafe impl GlobalMemory for Memory {
    fn lookup(&self, addr: u64) -> Option<MemRange> {
        let index = usize::try_from(addr.checked_sub(FIRST)? / APART).ok()?;
        let block = self.blocks.get(index)?;
        let base = FIRST + APART * index as u64;
        let len = size_of_val(&**block) as u64;
        (addr - base < len).then(|| MemRange {
            base,
            len,
            host: UnsafeCell::raw_get(block.as_ptr().cast()),
            writable: true,
        })
    }
}

impl Memory {
    /// A new allocation with these bytes, zeros up to a multiple of 16; its address.
    pub(super) fn add(&mut self, bytes: &[u8]) -> u64 {
        let words = bytes.chunks(16).map(|chunk| {
            let mut word = [0; 16];
            word[..chunk.len()].copy_from_slice(chunk);
            Word(UnsafeCell::new(u128::from_ne_bytes(word)))
        });
        self.blocks.push(words.collect());
        FIRST + APART * (self.blocks.len() as u64 - 1)
    }

    /// Overwrites the beginning of an allocation.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) {
        let index = usize::try_from((address - FIRST) / APART).unwrap_or(usize::MAX);
        for (word, chunk) in self.blocks[index].iter_mut().zip(bytes.chunks(16)) {
            let word = word.0.get_mut();
            let mut new = word.to_ne_bytes();
            new[..chunk.len()].copy_from_slice(chunk);
            *word = u128::from_ne_bytes(new);
        }
    }

    /// The first `len` bytes of an allocation.
    pub(super) fn read(&mut self, address: u64, len: usize) -> Vec<u8> {
        let index = usize::try_from((address - FIRST) / APART).unwrap_or(usize::MAX);
        let words = self.blocks[index].iter_mut();
        let mut bytes: Vec<u8> = words.flat_map(|w| w.0.get_mut().to_ne_bytes()).collect();
        bytes.truncate(len);
        bytes
    }
}

impl Placement for Memory {
    fn place(&mut self, _: &str, _: VarSpace, size: u64, _: u64) -> Option<u64> {
        let size = usize::try_from(size).ok().filter(|size| *size < 1 << 20)?;
        Some(self.add(&vec![0; size]))
    }

    fn fill(&mut self, address: u64, bytes: &[u8]) {
        self.write(address, bytes);
    }
}
