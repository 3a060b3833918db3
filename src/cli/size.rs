//! Numbers of bytes as people write them: every option that takes one reads it here. Settings of
//! the software device are read alike where there is one (`cupola_sim::settings::parse_bytes`).

use cupola::primitives::Budget;

/// The units and their bytes; a `B` may follow each, and case does not matter.
const UNITS: [(&str, u64); 10] = [
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

/// A number of bytes with an optional unit: `512`, `64Ki`, `1.5GiB`. Of a part of a byte nothing
/// is left.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a number of bytes such as 512, 64Ki or 1.5GiB");
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = trimmed.split_at(end.unwrap_or(trimmed.len()));
    let factor = unit_bytes(unit)?;
    let (whole, part) = match number.split_once('.') {
        // A part of a byte is no number of bytes.
        Some((_, "")) => return Err(wrong()),
        Some(_) if factor == 1 => return Err(wrong()),
        Some((whole, part)) => (whole, part),
        None => (number, "0"),
    };
    if part.len() > DIGITS || part.contains('.') || whole.is_empty() {
        return Err(wrong());
    }
    let too_large = || format!("{text:?} exceeds 64 bits");
    // Neither exceeds 128 bits: the part is below 10^18.
    let scale = part.bytes().fold(1_u128, |scale, _| scale * 10);
    let part = part.parse::<u64>().map_err(|_| wrong())?;
    let part = u128::from(part) * u128::from(factor) / scale;
    let whole = whole.parse::<u64>().map_err(|_| too_large())?;
    let total = u128::from(whole) * u128::from(factor) + part;
    u64::try_from(total).map_err(|_| too_large())
}

/// As [`bytes`], and at least one.
pub(crate) fn some_bytes(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        0 => Err("at least one byte is needed".into()),
        some => Ok(some),
    }
}

/// As [`bytes`], and no more than a pool can count.
pub(crate) fn limit(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        over if over > Budget::MAX_LIMIT => {
            Err("a pool has less than 256 TiB: a larger limit is none".into())
        }
        limit => Ok(limit),
    }
}

fn unit_bytes(text: &str) -> Result<u64, String> {
    let unit = text.trim_start().to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    if unit.is_empty() {
        return Ok(1);
    }
    let found = UNITS.iter().find(|(name, _)| *name == unit);
    found.map(|(_, bytes)| *bytes).ok_or_else(|| {
        format!("{text:?} is not a unit: use K, M, G, T, P (powers of 1000) or Ki, Mi, Gi, Ti, Pi")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a limit could be taken for another one.
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
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for wrong in [
            "", "G", "-1", "1X", "1.5", "1.", ".5Gi", "1.5.5Gi", "1e3", "0x10", "1 2",
        ] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        for large in ["18446744073709551616", "99999999999999G", "16384.1Pi"] {
            assert!(bytes(large).unwrap_err().contains("64 bits"), "{large}");
        }
    }

    /// Without it one size could be good for an option and wrong for its variable, or be another
    /// one: the command line is built without the device too, and has a parser of its own.
    #[cfg(feature = "sim")]
    #[test]
    fn settings_read_sizes_alike() {
        let units = [
            "", "B", "b", "K", "kb", "Ki", "kIB", "m", "MiB", "g", "gib", "T", "tib", "P", "PB",
            "pi", "piB", "E", "ib", "BB", "x",
        ];
        let numbers = [
            "",
            "0",
            "1",
            "1.5",
            ".5",
            "1.",
            "1.5.5",
            "0.000000000000000001",
            "1e3",
            "-1",
            "0x1",
            "1.0000000000000000001",
            "18446744073709551615",
            "18446744073709551616",
            "16384",
            "99999999999999999999999",
        ];
        for number in numbers {
            for unit in units {
                for text in [
                    format!("{number}{unit}"),
                    format!(" {number} {unit} "),
                    format!("{unit}{number}"),
                ] {
                    assert_eq!(
                        bytes(&text),
                        cupola_sim::settings::parse_bytes(&text),
                        "{text:?}"
                    );
                }
            }
        }
    }

    /// Without it a step of nothing or a limit that no pool keeps could be taken for another one.
    #[test]
    fn sizes_that_mean_nothing_are_refused() {
        assert!(some_bytes("0").is_err() && some_bytes("0Gi").is_err());
        assert_eq!(some_bytes("1"), Ok(1));
        assert_eq!(limit("0"), Ok(0));
        assert_eq!(limit("281474976710655"), Ok(Budget::MAX_LIMIT));
        assert!(limit("256Ti").unwrap_err().contains("256 TiB"));
    }
}
