//! Device-side `printf`. The arguments are packed in memory as CUDA's compilers
//! do: each at a multiple of its size, 4 or 8 bytes, floats as doubles.

use super::ctx::Ctx;
use super::fault::FaultKind;

/// Longest field width and precision honoured.
const MAX_WIDTH: usize = 4096;

/// Formatted output and the number of conversions in it.
pub(crate) struct Text {
    pub(crate) bytes: Vec<u8>,
    pub(crate) conversions: u32,
}

/// Flags, width and precision of a conversion.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    long: bool,
}

/// Reads packed arguments in order.
struct Args {
    at: u64,
}

impl Args {
    fn next(&mut self, cx: &mut Ctx<'_>, lane: usize, size: u64) -> Result<u64, (FaultKind, u64)> {
        let at = self.at.checked_next_multiple_of(size);
        let at = at.ok_or((FaultKind::IllegalAddress, self.at))?;
        self.at = at.wrapping_add(size);
        cx.read_bytes(lane, at, size).map_err(|kind| (kind, at))
    }
}

/// Formats for one lane, with arguments at generic address `args`.
pub(crate) fn format(
    cx: &mut Ctx<'_>,
    lane: usize,
    format: &[u8],
    args: u64,
) -> Result<Text, (FaultKind, u64)> {
    let mut out = Text {
        bytes: Vec::new(),
        conversions: 0,
    };
    let mut args = Args { at: args };
    let mut rest = format;
    while let Some((&b, tail)) = rest.split_first() {
        rest = tail;
        if b != b'%' {
            out.bytes.push(b);
            continue;
        }
        let mut spec = Spec::default();
        while let Some((&flag, tail)) = rest.split_first() {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            rest = tail;
        }
        spec.width = number(cx, lane, &mut rest, &mut args)?.unwrap_or(0);
        if rest.first() == Some(&b'.') {
            rest = &rest[1..];
            spec.precision = Some(number(cx, lane, &mut rest, &mut args)?.unwrap_or(0));
        }
        while let Some((&b @ (b'l' | b'h' | b'z' | b't' | b'j'), tail)) = rest.split_first() {
            spec.long |= b != b'h';
            rest = tail;
        }
        let Some((&conversion, tail)) = rest.split_first() else {
            break;
        };
        rest = tail;
        if conversion == b'%' {
            out.bytes.push(b'%');
            continue;
        }
        let text = convert(cx, lane, conversion, &spec, &mut args)?;
        out.bytes.extend(text);
        out.conversions += 1;
    }
    Ok(out)
}

/// A width or precision: digits, `*`, or nothing.
fn number(
    cx: &mut Ctx<'_>,
    lane: usize,
    rest: &mut &[u8],
    args: &mut Args,
) -> Result<Option<usize>, (FaultKind, u64)> {
    if rest.first() == Some(&b'*') {
        *rest = &rest[1..];
        let value = args.next(cx, lane, 4)?;
        return Ok(Some((value as usize).min(MAX_WIDTH)));
    }
    let mut value = None;
    while let Some((&digit, tail)) = rest.split_first().filter(|(d, _)| d.is_ascii_digit()) {
        let so_far: usize = value.unwrap_or(0);
        value = Some((so_far * 10 + usize::from(digit - b'0')).min(MAX_WIDTH));
        *rest = tail;
    }
    Ok(value)
}

fn convert(
    cx: &mut Ctx<'_>,
    lane: usize,
    conversion: u8,
    spec: &Spec,
    args: &mut Args,
) -> Result<Vec<u8>, (FaultKind, u64)> {
    let size = if spec.long { 8 } else { 4 };
    let (sign, digits) = match conversion {
        b'd' | b'i' => {
            let raw = args.next(cx, lane, size)?;
            let value = if spec.long {
                raw.cast_signed()
            } else {
                i64::from(raw as u32 as i32)
            };
            (
                sign(value < 0, spec),
                integer(value.unsigned_abs().to_string(), spec),
            )
        }
        b'u' => ("", integer(args.next(cx, lane, size)?.to_string(), spec)),
        b'x' | b'X' | b'o' => {
            let value = args.next(cx, lane, size)?;
            let (prefix, text) = match conversion {
                b'x' => ("0x", format!("{value:x}")),
                b'X' => ("0X", format!("{value:X}")),
                _ => ("0", format!("{value:o}")),
            };
            let prefix = if spec.alternate && value != 0 {
                prefix
            } else {
                ""
            };
            (prefix, integer(text, spec))
        }
        b'p' => ("0x", format!("{:x}", args.next(cx, lane, 8)?)),
        b'c' => {
            let value = args.next(cx, lane, 4)? as u8;
            return Ok(pad("", &[value], spec, false));
        }
        b's' => {
            let at = args.next(cx, lane, 8)?;
            let mut text = cx.read_text(lane, at).map_err(|kind| (kind, at))?;
            text.truncate(spec.precision.unwrap_or(usize::MAX));
            return Ok(pad("", &text, spec, false));
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let value = f64::from_bits(args.next(cx, lane, 8)?);
            let text = float(value.abs(), conversion, spec);
            return Ok(pad(
                sign(value.is_sign_negative(), spec),
                text.as_bytes(),
                spec,
                value.is_finite(),
            ));
        }
        // An unknown conversion is printed as it stands.
        other => return Ok(vec![b'%', other]),
    };
    Ok(pad(sign, digits.as_bytes(), spec, spec.precision.is_none()))
}

fn sign(negative: bool, spec: &Spec) -> &'static str {
    match () {
        () if negative => "-",
        () if spec.plus => "+",
        () if spec.space => " ",
        () => "",
    }
}

fn integer(digits: String, spec: &Spec) -> String {
    match spec.precision {
        Some(p) if digits.len() < p => format!("{digits:0>p$}"),
        _ => digits,
    }
}

fn pad(sign: &str, text: &[u8], spec: &Spec, zeros: bool) -> Vec<u8> {
    let missing = spec.width.saturating_sub(sign.len() + text.len());
    let mut out = Vec::with_capacity(missing + sign.len() + text.len());
    let zero = spec.zero && zeros && !spec.left;
    if !spec.left && !zero {
        out.resize(missing, b' ');
    }
    out.extend(sign.as_bytes());
    if zero {
        out.resize(out.len() + missing, b'0');
    }
    out.extend(text);
    if spec.left {
        out.resize(out.len() + missing, b' ');
    }
    out
}

/// A non-negative double as C prints it.
fn float(value: f64, conversion: u8, spec: &Spec) -> String {
    let upper = conversion.is_ascii_uppercase();
    let precision = spec.precision.unwrap_or(6);
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        match conversion.to_ascii_lowercase() {
            b'f' => format!("{value:.precision$}"),
            b'e' => exponential(value, precision),
            b'a' => hexadecimal(value),
            _ => general(value, precision.max(1), spec.alternate),
        }
    };
    if upper { text.to_uppercase() } else { text }
}

fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let scientific = exponential(value, precision - 1);
    let exponent: i32 = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    let trim = |digits: &str| {
        if keep_zeros || !digits.contains('.') {
            return digits.to_owned();
        }
        digits
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "+00"));
        return format!("{}e{exponent}", trim(mantissa));
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32;
    let fraction = format!("{:013x}", bits & ((1 << 52) - 1));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let (lead, exponent) = match (exponent, value == 0.0) {
        (_, true) => (0, 0),
        (0, false) => (0, -1022),
        _ => (1, exponent - 1023),
    };
    format!("0x{lead}{point}{fraction}p{exponent:+}")
}
