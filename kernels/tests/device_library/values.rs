//! Elements to test with.

use std::fmt::Debug;

use cupola_managers::buffer::DeviceCopy;
use cupola_random::Random;

/// An element of which a test can make values, and compare them.
pub(crate) trait Value: DeviceCopy + Debug {
    /// Where something special happens.
    const SPECIAL: &'static [Self];

    fn from_bits(bits: u64) -> Self;

    /// A number of moderate size.
    fn moderate(bits: u64) -> Self;

    /// The same bits; of floats the payload of a NaN is free.
    fn same(self, other: Self) -> bool;
}

/// Special values, any bits, and moderate numbers.
pub(crate) fn values<T: Value>(random: &mut Random, n: usize) -> Vec<T> {
    let one = |_| {
        let bits = random.next_u64();
        match bits % 8 {
            0 | 1 => T::SPECIAL[(bits >> 8) as usize % T::SPECIAL.len()],
            2..=4 => T::from_bits(bits.rotate_left(24)),
            _ => T::moderate(bits >> 3),
        }
    };
    (0..n).map(one).collect()
}

macro_rules! integers {
    ($($of:ty)*) => {$(
        impl Value for $of {
            const SPECIAL: &'static [Self] =
                &[0, 1, 2, <$of>::MAX, <$of>::MAX - 1, <$of>::MIN, <$of>::MIN + 1, <$of>::MAX / 2];

            fn from_bits(bits: u64) -> Self {
                bits as $of
            }

            fn moderate(bits: u64) -> Self {
                (bits as i64 >> 40) as $of
            }

            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}

integers! { i8 u8 i16 u16 i32 u32 i64 u64 }

macro_rules! floats {
    ($($of:ident of $bits:ty, $edges:expr;)*) => {$(
        impl Value for $of {
            const SPECIAL: &'static [Self] = &[
                0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, $of::NAN, $of::INFINITY, $of::NEG_INFINITY,
                $of::MAX, $of::MIN, $of::MIN_POSITIVE, -$of::MIN_POSITIVE, $of::EPSILON,
                $of::from_bits(1), $of::from_bits(2), -$of::from_bits(1),
                $of::from_bits($of::MIN_POSITIVE.to_bits() - 1),
                // The edges of integers.
                127.0, 128.0, 127.5, -128.0, -128.9, -129.0, 255.0, 255.9, 256.0, -0.9, 32767.0, 32768.0,
                -32768.0, -32769.0, 65535.0, 65536.0, 2147483520.0, 2147483648.0, -2147483648.0,
                -2147483904.0, 4294967040.0, 4294967296.0, 9.223_372e18, -9.223_372e18, 9.223_371_5e18,
                1.844_674_4e19, 1.844_674_2e19,
                // The edges of f16 and bf16.
                65504.0, 65519.0, 65520.0, 65519.996, 5.960_464_5e-8, 2.980_232_2e-8, 2.980_232_5e-8,
                6.1e-5, 1.000_488_3, 1.001_464_8, 1.003_906_3, 1.011_718_8, 1.003_906_4,
                3.389_531_4e38, 3.396_178_3e38, 3.39e38,
                $edges[0], $edges[1], $edges[2], $edges[3],
            ];

            fn from_bits(bits: u64) -> Self {
                $of::from_bits(bits as $bits)
            }

            fn moderate(bits: u64) -> Self {
                (bits as i64 >> 38) as $of / 1021.0
            }

            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    )*};
}

floats! {
    f32 of u32, [3.0, 7.0, 1.0e-40, 9.0e-41];
    // Between two numbers of f32, f16 and bf16, and just beside the middle.
    f64 of u64, [1.000_000_059_604_644_8, 1.000_488_281_250_000_2, 1.003_906_250_000_000_2, 1.0e-45];
}

#[cfg(feature = "half")]
macro_rules! halves {
    ($($of:ty)*) => {$(
        impl Value for $of {
            const SPECIAL: &'static [Self] = &[
                <$of>::ZERO, <$of>::NEG_ZERO, <$of>::ONE, <$of>::NEG_ONE, <$of>::NAN, <$of>::INFINITY,
                <$of>::NEG_INFINITY, <$of>::MAX, <$of>::MIN, <$of>::MIN_POSITIVE,
                <$of>::MIN_POSITIVE_SUBNORMAL, <$of>::MAX_SUBNORMAL,
            ];

            fn from_bits(bits: u64) -> Self {
                <$of>::from_bits(bits as u16)
            }

            fn moderate(bits: u64) -> Self {
                <$of>::from_f32((bits as i64 >> 45) as f32 / 9.0)
            }

            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    )*};
}

#[cfg(feature = "half")]
halves! { half::f16 half::bf16 }
