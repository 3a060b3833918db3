//! Integers as mathematical numbers, in 128 bits.

use crate::form::Ty;

/// The number that the low bits stand for.
pub(crate) fn number(bits: u64, ty: Ty) -> i128 {
    let width = ty.bits();
    if ty.signed() {
        i128::from(bits.cast_signed() << (64 - width) >> (64 - width))
    } else {
        i128::from(bits << (64 - width) >> (64 - width))
    }
}

/// The low bits of a number, as many as the type has.
pub(crate) fn wrap(number: i128, ty: Ty) -> u64 {
    number.cast_unsigned() as u64 & (u64::MAX >> (64 - ty.bits()))
}

/// The least and the greatest number of a type.
pub(crate) fn range(ty: Ty) -> (i128, i128) {
    if ty.signed() {
        let half = 1i128 << (ty.bits() - 1);
        (-half, half - 1)
    } else {
        (0, (1 << ty.bits()) - 1)
    }
}

/// The nearest number of a type.
pub(crate) fn clamp(number: i128, ty: Ty) -> i128 {
    let (least, greatest) = range(ty);
    number.clamp(least, greatest)
}
