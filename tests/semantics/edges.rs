//! Operands: each type's edge values, their products, and seeded random ones.

use cupola_random::Random;

use crate::form::Ty;

/// Operands at random: the same ones on every machine.
pub(crate) trait Operands {
    /// A value of the type. Of floats, every second one has an exponent near zero's, so
    /// that sums and products of two neither vanish nor overflow.
    fn of(&mut self, ty: Ty) -> u64;
}

impl Operands for Random {
    fn of(&mut self, ty: Ty) -> u64 {
        let raw = self.next_u64();
        let (fraction, exponent) = match ty {
            Ty::F16 | Ty::F16x2 => (10, 5),
            Ty::BF16 | Ty::BF16x2 => (7, 8),
            Ty::F32 => (23, 8),
            Ty::F64 => (52, 11),
            // Small numbers as often as large ones.
            _ => return (raw >> (self.next_u64() % u64::from(ty.bits()))) & ty.mask(),
        };
        if raw & 1 << 63 != 0 {
            return raw.rotate_left(17) & ty.mask();
        }
        let middle = (1u64 << (exponent - 1)) - 1;
        let near = |raw: u64| {
            let sign = (raw >> 60 & 1) << (fraction + exponent);
            let exponent = middle + (raw >> 53 & 7) - 4;
            sign | exponent << fraction | (raw & ((1 << fraction) - 1))
        };
        match ty {
            Ty::F16x2 | Ty::BF16x2 => near(raw) | near(self.next_u64()) << 16,
            _ => near(raw),
        }
    }
}

/// Values at the edges of a type.
pub(crate) fn of(ty: Ty) -> Vec<u64> {
    match ty {
        Ty::Pred => vec![0, 1],
        Ty::F16 => halves(10),
        Ty::BF16 => halves(7),
        Ty::F16x2 => paired(&halves(10)),
        Ty::BF16x2 => paired(&halves(7)),
        Ty::F32 => singles(),
        Ty::F64 => doubles(),
        _ => integers(ty),
    }
}

/// Fewer of them, for products of three.
pub(crate) fn few(ty: Ty) -> Vec<u64> {
    let all = of(ty);
    let most = 13;
    if all.len() <= most {
        return all;
    }
    // The first ones are the most telling.
    let rest = &all[8..];
    let step = rest.len().div_ceil(most - 8);
    all[..8]
        .iter()
        .chain(rest.iter().step_by(step))
        .copied()
        .collect()
}

fn integers(ty: Ty) -> Vec<u64> {
    let bits = ty.bits();
    let mask = if bits == 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    };
    let top = 1u64 << (bits - 1);
    let mut all = vec![
        0,
        1,
        mask,
        top,
        top - 1,
        2,
        mask - 1,
        top + 1,
        3,
        7,
        100 & mask,
        0xaaaa_aaaa_aaaa_aaaa & mask,
        0x5555_5555_5555_5555 & mask,
        0x0123_4567_89ab_cdef & mask,
        1 << (bits / 2),
        (1 << (bits / 2)) - 1,
        mask << (bits / 2) & mask,
    ];
    // An 8-bit value travels in a wider register, whose other bits must not matter.
    if bits == 8 {
        let dirty: Vec<u64> = all.iter().map(|v| v | 0x5a00).collect();
        all.extend(dirty);
    }
    all
}

fn singles() -> Vec<u64> {
    let plain: [u32; 26] = [
        0,           // zero
        0x3f80_0000, // 1
        0x7f80_0000, // infinity
        0x7fc0_0000, // a quiet NaN
        0x0000_0001, // the least subnormal
        0x0080_0000, // the least normal
        0x7f7f_ffff, // the greatest
        0x3f00_0000, // 1/2
        0x007f_ffff, // the greatest subnormal
        0x7f80_0001, // a signalling NaN
        0x7fc1_2345, // a NaN with a payload
        0x3f80_0001, // after 1
        0x3f7f_ffff, // before 1
        0x3fc0_0000, // 3/2
        0x4020_0000, // 5/2
        0x4040_0000, // 3
        0x3dcc_cccd, // 0.1
        0x4b00_0000, // 2^23
        0x4b80_0001, // 2^24 + 2
        0x4f00_0000, // 2^31
        0x4eff_ffff, // before 2^31
        0x5f00_0000, // 2^63
        0x0000_7fff, // a subnormal
        0x0c00_0000, // about the root of the least normal
        0x3380_0000, // half an ulp of 1
        0x7e80_0000, // 2^126
    ];
    signed(plain.map(u64::from).as_slice(), 31)
}

fn doubles() -> Vec<u64> {
    let plain: [u64; 26] = [
        0,
        0x3ff0_0000_0000_0000, // 1
        0x7ff0_0000_0000_0000, // infinity
        0x7ff8_0000_0000_0000, // a quiet NaN
        0x0000_0000_0000_0001, // the least subnormal
        0x0010_0000_0000_0000, // the least normal
        0x7fef_ffff_ffff_ffff, // the greatest
        0x3fe0_0000_0000_0000, // 1/2
        0x000f_ffff_ffff_ffff, // the greatest subnormal
        0x7ff0_0000_0000_0001, // a signalling NaN
        0x7ff8_1234_5678_9abc, // a NaN with a payload
        0x3ff0_0000_0000_0001, // after 1
        0x3fef_ffff_ffff_ffff, // before 1
        0x3ff8_0000_0000_0000, // 3/2
        0x4004_0000_0000_0000, // 5/2
        0x4008_0000_0000_0000, // 3
        0x3fb9_9999_9999_999a, // 0.1
        0x4330_0000_0000_0000, // 2^52
        0x4340_0000_0000_0001, // 2^53 + 2
        0x41e0_0000_0000_0000, // 2^31
        0x43e0_0000_0000_0000, // 2^63
        0x43df_ffff_ffff_ffff, // before 2^63
        0x0000_0000_7fff_ffff, // a subnormal
        0x2000_0000_0000_0000, // about the root of the least normal
        0x3ca0_0000_0000_0000, // half an ulp of 1
        0x47ef_ffff_e000_0000, // the greatest single
    ];
    signed(&plain, 63)
}

/// `f16` has 10 bits of fraction, `bf16` has 7.
fn halves(fraction: u32) -> Vec<u64> {
    let one = ((1u64 << (14 - fraction)) - 1) << fraction;
    let infinity = 0x7fff >> fraction << fraction;
    let half_ulp = one - (u64::from(fraction + 1) << fraction);
    let plain = [
        0,
        one,
        infinity,
        infinity | 1 << (fraction - 1),
        1,
        1 << fraction,
        infinity - 1,
        one - (1 << fraction),
        (1 << fraction) - 1,
        infinity | 1,
        infinity | 1 << (fraction - 1) | 0x15,
        one + 1,
        one - 1,
        one | 1 << (fraction - 1),
        (one + (1 << fraction)) | 1 << (fraction - 2),
        (one + (1 << fraction)) | 1 << (fraction - 1),
        half_ulp,
        half_ulp + 1,
        0x15,
    ];
    signed(&plain, 15)
}

fn signed(plain: &[u64], sign: u32) -> Vec<u64> {
    plain.iter().flat_map(|v| [*v, v | 1 << sign]).collect()
}

/// Two halves in one word, both different.
fn paired(halves: &[u64]) -> Vec<u64> {
    let other = halves.iter().rev().cycle().skip(5);
    halves.iter().zip(other).map(|(a, b)| a | b << 16).collect()
}

/// Every edge value, and random ones.
pub(crate) fn ones(ty: Ty) -> Vec<Vec<u64>> {
    let mut random = Random::new(1);
    let mut all: Vec<Vec<u64>> = of(ty).into_iter().map(|v| vec![v]).collect();
    all.extend((0..64).map(|_| vec![random.of(ty)]));
    all
}

/// Every pair of edge values, and random pairs.
pub(crate) fn pairs(a: Ty, b: Ty) -> Vec<Vec<u64>> {
    mixed(&[of(a), of(b)], &[a, b])
}

/// Every triple of a few edge values, and random triples.
pub(crate) fn triples(a: Ty, b: Ty, c: Ty) -> Vec<Vec<u64>> {
    mixed(&[few(a), few(b), few(c)], &[a, b, c])
}

/// Every choice of one value from each list, then random ones of the types.
pub(crate) fn mixed(lists: &[Vec<u64>], types: &[Ty]) -> Vec<Vec<u64>> {
    let mut all = product(lists);
    let mut random = Random::new(lists.len() as u64);
    all.extend((0..64).map(|_| types.iter().map(|ty| random.of(*ty)).collect()));
    all
}

/// Every choice of one value from each list.
pub(crate) fn product(lists: &[Vec<u64>]) -> Vec<Vec<u64>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        all.iter()
            .flat_map(|head| {
                list.iter().map(move |v| {
                    let mut longer = head.clone();
                    longer.push(*v);
                    longer
                })
            })
            .collect()
    })
}
