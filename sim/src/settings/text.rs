//! Values as people write them: sizes and times with units, versions, names of functions
//! and of error codes.

use std::time::Duration;

use cupola_core::parse_bytes;
use cupola_sys::driver::{CUresult, SYMBOLS};
use cupola_sys::{Status as _, SymbolId, Version};
use serde::de::{Deserialize, Deserializer, Error};

use crate::device::{MOST_DEVICES, Order, Profile, Strict};

/// Bytes: a number, or a text such as `16GiB`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size(pub(super) u64);

/// A time as a text: `5us`, `2ms`, `1s`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time(pub(super) Duration);

/// Splits `5us` into `5` and `us`.
fn number(text: &str) -> Result<(u64, &str), String> {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number = digits
        .parse()
        .map_err(|_| format!("{text:?} does not begin with a whole number of 64 bits"))?;
    Ok((number, unit.trim()))
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    parse_bytes(text).map_err(|error| format!("{text:?}: {error}"))
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = number(text)?;
    match unit {
        "ns" => Ok(Duration::from_nanos(number)),
        "us" => Ok(Duration::from_micros(number)),
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        other => Err(format!("{other:?} is no unit of time: use ns, us, ms or s")),
    }
}

/// `12.4`.
pub(super) fn parse_version(text: &str) -> Result<Version, String> {
    let (major, minor) = pair(text)?;
    if major > 99 || minor > 99 {
        return Err(format!("{text:?} is no CUDA version"));
    }
    Ok(Version::new(major, minor))
}

/// Two numbers with a point between them.
fn pair(text: &str) -> Result<(u32, u32), String> {
    let wrong = || format!("{text:?} is not of the form MAJOR.MINOR");
    let (major, minor) = text.trim().split_once('.').ok_or_else(wrong)?;
    let number = |text: &str| text.parse().map_err(|_| wrong());
    Ok((number(major)?, number(minor)?))
}

/// A function of the driver API by its exported name.
pub(super) fn function(name: &str) -> Result<SymbolId, String> {
    let position = SYMBOLS.iter().position(|symbol| symbol.as_str() == name);
    let id = position.and_then(|position| u16::try_from(position).ok());
    id.map(SymbolId::new).ok_or_else(|| {
        let base = SYMBOLS
            .iter()
            .filter(|symbol| symbol.base.to_str() == Ok(name));
        let forms: Vec<_> = base.map(cupola_sys::Symbol::as_str).collect();
        if forms.is_empty() {
            format!("{name:?} is no function of the driver API")
        } else {
            format!("{name:?} is exported as {}: name one", forms.join(", "))
        }
    })
}

/// As many devices as a machine can have.
pub(super) fn device_count(count: usize) -> Result<(), String> {
    if count > MOST_DEVICES {
        return Err(format!(
            "{count} devices: a machine has {MOST_DEVICES} at most"
        ));
    }
    Ok(())
}

/// An error code by name or number.
pub(super) fn code(text: &str) -> Result<CUresult, String> {
    let text = text.trim();
    if let Ok(number) = text.parse() {
        return Ok(CUresult(number));
    }
    let found = (0..1000)
        .map(CUresult)
        .find(|code| code.name() == Some(text));
    found.ok_or_else(|| format!("{text:?} is no error code of the driver API"))
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged, expecting = "a number of bytes, or a text such as \"16GiB\"")]
        enum Form {
            Number(u64),
            Text(String),
        }
        match Form::deserialize(from)? {
            Form::Number(bytes) => Ok(Self(bytes)),
            Form::Text(text) => size(&text).map(Self).map_err(D::Error::custom),
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        time(&text).map(Self).map_err(D::Error::custom)
    }
}

pub(super) fn version<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Version>, D::Error> {
    let text = String::deserialize(from)?;
    parse_version(&text).map(Some).map_err(D::Error::custom)
}

pub(super) fn capability<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<(u32, u32)>, D::Error> {
    let text = String::deserialize(from)?;
    pair(&text).map(Some).map_err(D::Error::custom)
}

/// `off`, `default`, `all`, and names of single checks, separated by commas.
pub(super) fn parse_strict(text: &str) -> Result<Strict, String> {
    let mut strict = Strict::empty();
    for word in text.split(',').map(str::trim) {
        strict |= match word {
            "off" => Strict::empty(),
            "default" => Strict::CHEAP,
            "all" => Strict::all().difference(Strict::BACKTRACES),
            name => {
                let flag = name.replace('-', "_").to_uppercase();
                Strict::from_name(&flag).ok_or_else(|| {
                    let names: Vec<_> = Strict::all().iter_names().map(|(name, _)| name).collect();
                    let names = names.join(", ").to_lowercase().replace('_', "-");
                    format!("{name:?} is no check: use off, default, all, or some of {names}")
                })?
            }
        };
    }
    Ok(strict)
}

/// `threads` or `timed`; a seed has a key of its own.
pub(super) fn parse_order(text: &str) -> Result<Order, String> {
    match text.trim() {
        "threads" => Ok(Order::Threads),
        "timed" => Ok(Order::Timed),
        other => Err(format!(
            "{other:?} is no order: use threads or timed, or give a seed"
        )),
    }
}

pub(super) fn strict<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Strict>, D::Error> {
    let text = String::deserialize(from)?;
    parse_strict(&text).map(Some).map_err(D::Error::custom)
}

pub(super) fn order<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Order>, D::Error> {
    let text = String::deserialize(from)?;
    parse_order(&text).map(Some).map_err(D::Error::custom)
}

pub(super) fn profile<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Profile>, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

pub(super) fn pairs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(usize, usize)>, D::Error> {
    let pairs = Vec::<String>::deserialize(from)?;
    let pairs = pairs.iter().map(|pair| parse_pair(pair));
    pairs.collect::<Result<_, _>>().map_err(D::Error::custom)
}

/// Ordered pairs of devices, separated by commas.
pub(super) fn parse_pairs(text: &str) -> Result<Vec<(usize, usize)>, String> {
    text.split(',').map(parse_pair).collect()
}

/// Two ordinals: `0:1`.
fn parse_pair(text: &str) -> Result<(usize, usize), String> {
    let pair = text.trim().split_once(':').and_then(|(device, peer)| {
        let pair = (device.trim().parse().ok()?, peer.trim().parse().ok()?);
        Some(pair)
    });
    pair.ok_or_else(|| format!("{text:?} is no pair of devices, such as 0:1"))
}

pub(super) fn functions<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<SymbolId>, D::Error> {
    let names = Vec::<String>::deserialize(from)?;
    let ids = names.iter().map(|name| match name.as_str() {
        "cuDriverGetVersion" => Err(format!("{name} cannot be missing: every driver has it")),
        name => function(name),
    });
    ids.collect::<Result<_, _>>().map_err(D::Error::custom)
}
