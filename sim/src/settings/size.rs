//! Numbers of bytes as people write them. The command line reads its own options alike
//! (`src/cli/size.rs`), with the device or without it; a test there holds the two together.

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
///
/// # Errors
/// What is wrong with the text.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
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
