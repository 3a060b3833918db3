//! Parsing of numbers of bytes with units, for options and settings that limit something.

use core::fmt;

/// The units and their bytes; a `B` may follow each, and case does not matter.
const UNITS: [(&str, u64); 11] = [
    ("", 1),
    ("k", 1_000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
    ("t", 1_000_000_000_000),
    ("p", 1_000_000_000_000_000),
    ("ki", 1 << 10),
    ("mi", 1 << 20),
    ("gi", 1 << 30),
    ("ti", 1 << 40),
    ("pi", 1 << 50),
];

/// Digits after the point that count; more are not a size that anything has.
const DIGITS: usize = 18;

/// The reason why a text is no number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseBytesError {
    /// The number is missing or malformed.
    Number,
    /// The text behind the number is no unit.
    Unit,
    /// The bytes exceed 64 bits.
    TooLarge,
}

impl fmt::Display for ParseBytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "not a number of bytes such as 512, 64Ki or 1.5GiB",
            Self::Unit => "not a unit: use K, M, G, T, P (powers of 1000) or Ki, Mi, Gi, Ti, Pi",
            Self::TooLarge => "exceeds 64 bits",
        })
    }
}

impl core::error::Error for ParseBytesError {}

/// Parses a number of bytes with an optional unit: `512`, `64Ki`, `1.5GiB`. The result is
/// rounded down to whole bytes.
///
/// ```
/// use cupola_core::parse_bytes;
///
/// assert_eq!(parse_bytes("1.5GiB"), Ok(3 << 29));
/// assert_eq!(parse_bytes("2 MB"), Ok(2_000_000));
/// assert!(parse_bytes("1.5").is_err());
/// ```
///
/// # Errors
/// [`ParseBytesError`]
pub fn parse_bytes(text: &str) -> Result<u64, ParseBytesError> {
    use ParseBytesError as E;
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let unit = unit.trim_start();
    let unit = unit.strip_suffix(['b', 'B']).unwrap_or(unit);
    let factor = UNITS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(unit));
    let (_, factor) = factor.ok_or(E::Unit)?;
    let (whole, part) = match number.split_once('.') {
        // A part of a byte is no number of bytes.
        Some((_, "")) => return Err(E::Number),
        Some(_) if *factor == 1 => return Err(E::Number),
        Some((whole, part)) => (whole, part),
        None => (number, "0"),
    };
    if part.len() > DIGITS || part.contains('.') || whole.is_empty() {
        return Err(E::Number);
    }
    // Neither exceeds 128 bits: the part is below 10^18.
    let scale = part.bytes().fold(1_u128, |scale, _| scale * 10);
    let part = part.parse::<u64>().map_err(|_| E::Number)?;
    let part = u128::from(part) * u128::from(*factor) / scale;
    let whole = whole.parse::<u64>().map_err(|_| E::TooLarge)?;
    let total = u128::from(whole) * u128::from(*factor) + part;
    u64::try_from(total).map_err(|_| E::TooLarge)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::ParseBytesError as E;
    use super::*;

    // Without it a limit could be taken for another one.
    #[test]
    fn sizes_have_units_and_fractions() {
        for (text, expected) in [
            ("0", 0),
            ("512", 512),
            ("512B", 512),
            ("8Gi", 8 << 30),
            ("8GiB", 8 << 30),
            ("8 gib", 8 << 30),
            (" 8gIB ", 8 << 30),
            ("2M", 2_000_000),
            ("2MB", 2_000_000),
            ("1T", 1_000_000_000_000),
            ("1TiB", 1 << 40),
            ("1Pi", 1 << 50),
            ("1.5Gi", 3 << 29),
            ("0.5Ki", 512),
            ("1.0001K", 1000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_bytes(text), Ok(expected), "{text}");
        }
        for (wrong, error) in [
            ("", E::Number),
            ("G", E::Number),
            ("-1", E::Unit),
            ("1X", E::Unit),
            ("1.5", E::Number),
            ("1.", E::Number),
            (".5Gi", E::Number),
            ("1.5.5Gi", E::Number),
            ("1e3", E::Unit),
            ("0x10", E::Unit),
            ("1 2", E::Unit),
            ("1BB", E::Unit),
            ("18446744073709551616", E::TooLarge),
            ("99999999999999G", E::TooLarge),
            ("16384.1Pi", E::TooLarge),
            ("99999999999999999999999", E::TooLarge),
            ("1.0000000000000000001G", E::Number),
        ] {
            assert_eq!(parse_bytes(wrong), Err(error), "{wrong}");
        }
    }
}
