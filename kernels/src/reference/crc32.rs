//! CRC-32 (IEEE 802.3, as in zlib and gzip): a byte at a time, and the combination of the
//! CRCs of two neighbouring pieces.
//!
//! Independent of the device code and of other crates on purpose: it is what those are
//! compared with. A remainder is a `u32` with the coefficient of x^(31-i) in bit i.

const POLYNOMIAL: u32 = 0xEDB8_8320;

/// x^0.
const ONE: u32 = 0x8000_0000;

/// Entry `b` is the remainder `b`, times x^8.
static TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = times_x(remainder);
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

const fn times_x(a: u32) -> u32 {
    let carry = if a & 1 == 1 { POLYNOMIAL } else { 0 };
    (a >> 1) ^ carry
}

/// The product of two remainders modulo the polynomial.
pub(crate) fn product(mut a: u32, mut b: u32) -> u32 {
    let mut sum = 0;
    while a != 0 {
        if a & ONE != 0 {
            sum ^= b;
        }
        a <<= 1;
        b = times_x(b);
    }
    sum
}

/// CRC-32 of `data`; zero for no data.
#[must_use]
pub fn crc32(data: &[u8]) -> u32 {
    let mut remainder = u32::MAX;
    for &byte in data {
        let index = (remainder ^ u32::from(byte)) & 0xFF;
        remainder = TABLE[index as usize] ^ (remainder >> 8);
    }
    !remainder
}

/// CRC-32 of two pieces one after the other, from the CRC of each and the length of the
/// second in bytes.
///
/// The CRCs of chunks that were computed apart, in any order, give that of the whole
/// stream this way. At most 64 steps, whatever the length.
#[must_use]
pub fn crc32_combine(first: u32, second: u32, second_len: u64) -> u32 {
    // first * x^(8 * second_len); the inversions of the two CRCs cancel out.
    let mut shift = ONE;
    // x^8, squared at each step.
    let mut square = ONE >> 8;
    let mut len = second_len;
    while len != 0 {
        if len & 1 == 1 {
            shift = product(shift, square);
        }
        square = product(square, square);
        len >>= 1;
    }
    product(shift, first) ^ second
}

#[cfg(test)]
mod tests {
    use quickcheck::quickcheck;

    use super::*;

    // Without it another CRC of 32 bits would pass wherever both sides use this one.
    #[test]
    fn check_value_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    quickcheck! {
        // Without it the reference would be checked on one text only.
        fn agrees_with_crc32fast(data: Vec<u8>) -> bool {
            crc32(&data) == crc32fast::hash(&data)
        }

        // Without it the CRC of a stream could not be trusted to follow from its chunks'.
        fn combination_is_the_crc_of_the_whole(first: Vec<u8>, second: Vec<u8>) -> bool {
            let whole = [first.as_slice(), second.as_slice()].concat();
            crc32_combine(crc32(&first), crc32(&second), second.len() as u64) == crc32(&whole)
        }

        // Without it lengths beyond what fits in memory would go untested.
        fn combination_of_huge_lengths_agrees(first: u32, second: u32, len: u64) -> bool {
            let len = len.max(1); // no bytes have only one CRC
            let mut hasher = crc32fast::Hasher::new_with_initial_len(first, 0);
            hasher.combine(&crc32fast::Hasher::new_with_initial_len(second, len));
            crc32_combine(first, second, len) == hasher.finalize()
        }
    }
}
