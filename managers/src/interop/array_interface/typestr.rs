//! The names of element types: NumPy's `typestr`.

use crate::buffer::DeviceCopy;
use crate::error::{Error, Result};

/// The types of elements that NumPy has a name for.
pub trait NumpyElement: DeviceCopy {
    /// The name, of a little-endian machine.
    const TYPESTR: &'static str;
}

macro_rules! types {
    ($($element:ty: $name:literal),* $(,)?) => {$(
        impl NumpyElement for $element {
            const TYPESTR: &'static str = $name;
        }
    )*};
}

types! {
    bool: "|b1", i8: "|i1", u8: "|u1",
    i16: "<i2", i32: "<i4", i64: "<i8",
    u16: "<u2", u32: "<u4", u64: "<u8",
    f32: "<f4", f64: "<f8",
}

#[cfg(feature = "half")]
types! { half::f16: "<f2" }

/// The order of the bytes of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ByteOrder {
    Little,
    Big,
    /// It has none.
    None,
}

/// A name, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Typestr {
    order: ByteOrder,
    /// `b`, `i`, `u`, `f`, `c`, and what no number is.
    kind: u8,
    /// Bytes; of `U` characters, of `t` bits.
    size: u32,
}

impl Typestr {
    /// A byte order, a kind and a size in decimal digits. What follows a size, such as the unit of a time, makes it
    /// another type, which is refused.
    fn parse(text: &str) -> Option<Self> {
        let [order, kind, size @ ..] = text.as_bytes() else {
            return None;
        };
        let order = match order {
            b'<' => ByteOrder::Little,
            b'>' => ByteOrder::Big,
            b'|' => ByteOrder::None,
            _ => return None,
        };
        let is_number = !size.is_empty() && size.iter().all(u8::is_ascii_digit);
        let size = std::str::from_utf8(size).ok().filter(|_| is_number);
        Some(Self {
            order,
            kind: kind.is_ascii_alphabetic().then_some(*kind)?,
            size: size?.parse().ok()?,
        })
    }
}

/// Demands that elements of this name are of this type, in the order of bytes that devices have.
///
/// # Errors
/// [`Error::Invalid`] of `typestr`.
pub(super) fn demand<T: NumpyElement>(typestr: &str) -> Result<()> {
    let invalid = |problem: String| Err(Error::invalid("typestr", problem));
    let (Some(given), Some(wanted)) = (Typestr::parse(typestr), Typestr::parse(T::TYPESTR)) else {
        return invalid(format!("{typestr:?} names no type"));
    };
    if (given.kind, given.size) != (wanted.kind, wanted.size) {
        return invalid(format!("it is {typestr:?}, not {:?}", T::TYPESTR));
    }
    // One byte has no order, whichever is given.
    match given.order {
        _ if given.size == 1 => Ok(()),
        ByteOrder::Little => Ok(()),
        ByteOrder::Big => invalid(format!(
            "{typestr:?} is big-endian, the device is not; have the producer swap the bytes"
        )),
        ByteOrder::None => invalid(format!("{typestr:?} has no order of bytes")),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use quickcheck::QuickCheck;

    use super::*;

    /// The same, by a list of all names that are taken for the type.
    fn is_u32(text: &str) -> bool {
        (0..12).any(|zeros| text == format!("<u{}4", "0".repeat(zeros)))
    }

    // Without it elements could be taken for others, or in the wrong order of bytes.
    #[test]
    fn names_are_taken_apart() {
        for good in ["|u1", "<u1", ">u1"] {
            assert!(demand::<u8>(good).is_ok(), "{good}");
        }
        assert!(demand::<bool>("|b1").is_ok());
        assert!(demand::<f64>("<f8").is_ok());
        for bad in [
            "",
            "<",
            "<u",
            "u4",
            "<i4",
            "<u8",
            ">u4",
            "|u4",
            "=u4",
            "<u+4",
            "<u4 ",
            "<4u",
            "<u4294967300",
            "<u4[ns]",
            "<é4",
            "|V4",
            "<U4",
            "<O8",
        ] {
            let refused = demand::<u32>(bad);
            assert!(
                matches!(
                    refused,
                    Err(Error::Invalid {
                        field: "typestr",
                        ..
                    })
                ),
                "{bad}"
            );
        }
    }

    // Without it a name that is nearly one could be taken for it.
    #[test]
    fn no_other_name_is_taken() {
        #[expect(clippy::needless_pass_by_value, reason = "quickcheck gives values")]
        fn property(picks: Vec<u8>) -> bool {
            let letters = b"<<<>|=uuuif4440128 ";
            let picked = picks.iter().take(6);
            let text: String = picked
                .map(|&pick| char::from(letters[usize::from(pick) % letters.len()]))
                .collect();
            demand::<u32>(&text).is_ok() == is_u32(&text)
        }
        QuickCheck::new()
            .tests(50_000)
            .quickcheck(property as fn(Vec<u8>) -> bool);
    }
}
