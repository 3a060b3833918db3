//! Types for the flag arguments and flag fields of the driver API.
//!
//! The constants are the generated ones. A bit that is not named here, because a newer
//! driver defined it, is kept as it is. Constants whose value is zero are `empty()`.

/// Makes `bitflags` types from rows `Name(integer) { FLAG = generated constant; }`. The
/// texts after the colon are the functions and `structure.field`s that take the type; the
/// tests check that they are all of them.
macro_rules! flags {
    ($(
        $(#[$doc:meta])*
        $name:ident($int:ty): $($used:literal)* {
            $($(#[doc = $flag_doc:literal])* $flag:ident = $value:expr;)*
        }
    )*) => {
        $(
            bitflags::bitflags! {
                $(#[$doc])*
                ///
                /// Used by:
                $(#[doc = concat!("* `", $used, "`")])*
                #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
                #[repr(transparent)]
                pub struct $name: $int {
                    $($(#[doc = $flag_doc])* const $flag = $value as $int;)*
                    // Every other bit is kept too.
                    const _ = !0;
                }
            }
        )*

        #[cfg(test)]
        pub(super) const ROWS: &[super::tests::Row] = &[$(super::tests::Row {
            name: stringify!($name),
            bits: <$int>::BITS,
            used: &[$($used),*],
            flags: &[$((stringify!($value), $name::$flag.bits() as u64)),*],
        }),*];
    };
}

mod execution;
mod memory;
#[cfg(test)]
mod tests;

pub use execution::*;
pub use memory::*;
