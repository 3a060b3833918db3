//! Arithmetic, against Rust's own.

mod bits;
mod convert;
mod float;
mod integer;

/// Integers at the ends of the types, and where a sign or a byte changes.
const EDGES: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    8,
    31,
    32,
    33,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    0x1234_5678,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x0123_4567_89ab_cdef,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
];

/// `ins` on all pairs of edges, in type `$t`, against a function of two `$t`.
macro_rules! pairs {
    ($($ty:literal $t:ty { $($op:literal => |$a:ident, $b:ident| $e:expr;)* })*) => {$($(
        check(
            &format!(concat!($op, ".{} %d, %a, %b;"), $ty),
            &format!("u{}", <$t>::BITS),
            &[$ty, $ty],
            &rows(EDGES, 2),
            |row| {
                let ($a, $b) = (row[0] as $t, row[1] as $t);
                let r: $t = $e;
                r as u64 & (u64::MAX >> (64 - <$t>::BITS))
            },
        );
    )*)*};
}
use pairs;
