//! Types for the flag arguments and flag fields of the driver API.
//!
//! The constants are the generated ones. A bit that is not named here, because a newer
//! driver defined it, is kept as it is. Constants whose value is zero are `empty()`.

use core::fmt;

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
            $(#[$doc])*
            ///
            /// Used by:
            $(#[doc = concat!("* `", $used, "`")])*
            #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
            #[repr(transparent)]
            pub struct $name($int);

            // Not a structure of the macro's, which would have an inner type too that reads and
            // writes texts: a third of what there is to compile here.
            bitflags::bitflags! {
                impl $name: $int {
                    $($(#[doc = $flag_doc])* const $flag = $value as $int;)*
                    // Every other bit is kept too.
                    const _ = !0;
                }
            }

            impl core::fmt::Debug for $name {
                fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    let named = super::Named {
                        names: &[$((stringify!($flag), u64::from(Self::$flag.0))),*],
                        bits: u64::from(self.0),
                    };
                    f.debug_tuple(stringify!($name)).field(&named).finish()
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

/// Shows bits as the names of flags, and what has no name as a number: `A | B | 0x40`.
struct Named<'a> {
    names: &'a [(&'static str, u64)],
    bits: u64,
}

impl fmt::Debug for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut left, mut separator) = (self.bits, "");
        for (name, flag) in self.names {
            // A flag of several bits may have been named by others before.
            if self.bits & flag == *flag && left & flag != 0 {
                write!(f, "{separator}{name}")?;
                (left, separator) = (left & !flag, " | ");
            }
        }
        if left != 0 || self.bits == 0 {
            write!(f, "{separator}{left:#x}")?;
        }
        Ok(())
    }
}

mod execution;
mod memory;
#[cfg(test)]
mod tests;

pub use execution::*;
pub use memory::*;
