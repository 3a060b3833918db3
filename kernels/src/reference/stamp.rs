//! The marks of `cupola_stamp`: one byte at each of up to 64 offsets of a block of memory.

/// Most marks in a block.
const SAMPLES: usize = 64;

/// The offsets of a block of `bytes` bytes that are marked: from the first byte to the
/// last, evenly, or all of them if there are no more than 64.
pub fn stamp_offsets(bytes: usize) -> impl Iterator<Item = usize> {
    (0..SAMPLES)
        .map(move |sample| {
            if bytes <= SAMPLES {
                sample
            } else {
                sample * (bytes - 1) / (SAMPLES - 1)
            }
        })
        .filter(move |&offset| offset < bytes)
}

/// The mark at one offset of a block stamped with `seed`.
#[must_use]
pub fn stamp_byte(seed: u64, offset: u64) -> u8 {
    let mut x = seed ^ offset.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 32;
    x = x.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^= x >> 32;
    x.to_le_bytes()[0]
}

/// Marks `block`, as `cupola_stamp`; the other bytes keep their values.
pub fn stamp(block: &mut [u8], seed: u64) {
    for offset in stamp_offsets(block.len()) {
        block[offset] = stamp_byte(seed, offset as u64);
    }
}

/// The number of wrong marks, as `cupola_check` adds to its counter.
#[must_use]
pub fn check(block: &[u8], seed: u64) -> u64 {
    stamp_offsets(block.len())
        .filter(|&offset| block[offset] != stamp_byte(seed, offset as u64))
        .count() as u64
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    quickcheck! {
        // Without it an overlap at either end of a block could go unmarked.
        fn both_ends_are_marked(block: Vec<u8>) -> bool {
            let offsets: Vec<_> = stamp_offsets(block.len()).collect();
            offsets.is_sorted_by(|a, b| a < b)
                && offsets.len() == block.len().min(SAMPLES)
                && offsets.first().copied() == (!block.is_empty()).then_some(0)
                && offsets.last().copied() == block.len().checked_sub(1)
        }

        // Without it a check that never finds anything would pass.
        fn each_changed_mark_is_counted(block: Vec<u8>, seed: u64, change: u8) -> bool {
            let mut block = block;
            stamp(&mut block, seed);
            let whole = check(&block, seed) == 0;
            for offset in stamp_offsets(block.len()) {
                block[offset] ^= change | 1;
            }
            whole && check(&block, seed) == block.len().min(SAMPLES) as u64
        }
    }

    // Without it blocks stamped with neighbouring seeds could pass for one another: by
    // chance one mark in 256 is equal, and never eight of 64 in these thousand blocks.
    #[test]
    fn another_seed_does_not_pass() {
        let mut block = vec![0; 4096];
        for seed in 0..1000 {
            stamp(&mut block, seed);
            assert!(check(&block, seed + 1) > 56, "seed {seed}");
        }
    }
}
