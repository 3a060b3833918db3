//! Settings from environment variables.

use std::ffi::OsString;
use std::path::Path;

use super::fault::FaultSetting;
use super::text::{self, Size};
use super::{DeviceSettings, Settings, SettingsError};

/// The variables that are read, each with what it means.
pub const VARIABLES: &[(&str, &str)] = &[
    (
        "CUPOLA_SIM_CONFIG",
        "a TOML file with settings; the other variables win over it",
    ),
    (
        "CUPOLA_SIM_DRIVER_VERSION",
        "the CUDA version of the driver, such as 12.4",
    ),
    ("CUPOLA_SIM_DEVICES", "how many devices; 0 for none"),
    (
        "CUPOLA_SIM_PROFILE",
        "what kind of devices: discrete (the default), confidential, integrated or mig",
    ),
    ("CUPOLA_SIM_MEMORY", "memory of each device, such as 16GiB"),
    ("CUPOLA_SIM_WORKERS", "host threads that execute a kernel"),
    (
        "CUPOLA_SIM_LOG",
        "where the log of all calls goes: a file, or stderr",
    ),
    (
        "CUPOLA_SIM_REPORT",
        "where the report at the end of the process goes: a file, or stderr",
    ),
    (
        "CUPOLA_SIM_STRICT",
        "what is looked for: off, default, all, or names of checks separated by commas",
    ),
    (
        "CUPOLA_SIM_ORDER",
        "who decides what runs next: threads (the default), or timed, by virtual time",
    ),
    (
        "CUPOLA_SIM_SEED",
        "a number that decides what runs next: the same one replays the same order",
    ),
    (
        "CUPOLA_SIM_HIDE_UNSUPPORTED",
        "1: cuGetProcAddress does not find what is not built",
    ),
    (
        "CUDA_VISIBLE_DEVICES",
        "the driver's own: which devices the program sees, in which order; empty for none",
    ),
    (
        "CUDA_LAUNCH_BLOCKING",
        "the driver's own; 1: every launch waits for its kernel",
    ),
    (
        "CUPOLA_SIM_NO_PEER_ACCESS",
        "pairs of devices of which the first does not reach the second one's memory, such as 0:1,1:0",
    ),
    (
        "CUPOLA_SIM_CORRUPT_LINKS",
        "pairs of devices: copies from the first to the second lose bytes and return success",
    ),
    (
        "CUPOLA_SIM_FAULTS",
        "faults, separated by commas: FUNCTION:CALL=CODE fails one call, FUNCTION:CALL+=CODE that and all later ones",
    ),
];

/// Reads the variables through `get`.
pub(super) fn read(get: impl Fn(&str) -> Option<OsString>) -> Result<Settings, SettingsError> {
    // But for the driver's own list, where it hides all devices.
    let visible = get("CUDA_VISIBLE_DEVICES");
    // An empty variable is one that is not set: a shell has no other way to take one away.
    let get = |name: &str| get(name).filter(|value| !value.is_empty());
    let mut settings = match get("CUPOLA_SIM_CONFIG") {
        Some(path) => Settings::from_file(Path::new(&path))?,
        None => Settings::default(),
    };
    let text = |name: &str| match get(name).map(OsString::into_string) {
        None => Ok(None),
        Some(Ok(text)) => Ok(Some(text)),
        Some(Err(_)) => Err(SettingsError::value(name, "not a UTF-8 text")),
    };
    let number = |name: &str| match text(name)? {
        None => Ok(None),
        Some(text) => {
            let number = text.trim().parse::<usize>();
            number
                .map(Some)
                .map_err(|_| SettingsError::value(name, format!("{text:?} is not a whole number")))
        }
    };
    let flag = |name: &str| match text(name)?.as_deref().map(str::trim) {
        None => Ok(None),
        Some("0") => Ok(Some(false)),
        Some("1") => Ok(Some(true)),
        Some(other) => Err(SettingsError::value(
            name,
            format!("{other:?} is not 0 or 1"),
        )),
    };
    if let Some(version) = text("CUPOLA_SIM_DRIVER_VERSION")? {
        let version = text::parse_version(&version);
        settings.driver_version = Some(
            version.map_err(|reason| SettingsError::value("CUPOLA_SIM_DRIVER_VERSION", reason))?,
        );
    }
    if let Some(count) = number("CUPOLA_SIM_DEVICES")? {
        text::device_count(count)
            .map_err(|reason| SettingsError::value("CUPOLA_SIM_DEVICES", reason))?;
        settings.devices = Some(count);
        settings.device.truncate(1);
    }
    if let Some(size) = text("CUPOLA_SIM_MEMORY")? {
        let size = text::size(&size);
        let size = size.map_err(|reason| SettingsError::value("CUPOLA_SIM_MEMORY", reason))?;
        if settings.device.is_empty() {
            settings.device.push(DeviceSettings::default());
        }
        for device in &mut settings.device {
            device.memory = Some(Size(size));
        }
    }
    if let Some(profile) = text("CUPOLA_SIM_PROFILE")? {
        let profile = profile.parse();
        settings.profile =
            Some(profile.map_err(|error| SettingsError::value("CUPOLA_SIM_PROFILE", error))?);
        settings
            .device
            .iter_mut()
            .for_each(|device| device.profile = None);
    }
    if let Some(workers) = number("CUPOLA_SIM_WORKERS")? {
        settings.workers = Some(workers);
    }
    if let Some(strict) = text("CUPOLA_SIM_STRICT")? {
        let strict = text::parse_strict(&strict);
        settings.strict =
            Some(strict.map_err(|reason| SettingsError::value("CUPOLA_SIM_STRICT", reason))?);
    }
    if let Some(order) = text("CUPOLA_SIM_ORDER")? {
        let order = text::parse_order(&order);
        settings.order =
            Some(order.map_err(|reason| SettingsError::value("CUPOLA_SIM_ORDER", reason))?);
        settings.seed = None;
    }
    if let Some(seed) = number("CUPOLA_SIM_SEED")? {
        settings.seed = Some(seed as u64);
    }
    for (name, pairs) in [
        ("CUPOLA_SIM_NO_PEER_ACCESS", &mut settings.no_peer_access),
        ("CUPOLA_SIM_CORRUPT_LINKS", &mut settings.corrupt_links),
    ] {
        if let Some(value) = text(name)? {
            let value = text::parse_pairs(&value);
            *pairs = value.map_err(|reason| SettingsError::value(name, reason))?;
        }
    }
    // As the driver reads it: bytes that are no text name no device.
    settings.visible = visible.map(|list| list.to_string_lossy().into_owned());
    if let Some(hide) = flag("CUPOLA_SIM_HIDE_UNSUPPORTED")? {
        settings.hide_unsupported = hide;
    }
    settings.launch_blocking = get("CUDA_LAUNCH_BLOCKING").is_some_and(|value| {
        let text = value.to_string_lossy();
        text.trim().parse::<i64>().is_ok_and(|value| value != 0)
    });
    if let Some(path) = get("CUPOLA_SIM_LOG") {
        settings.log = Some(path.into());
    }
    if let Some(path) = get("CUPOLA_SIM_REPORT") {
        settings.report = Some(path.into());
    }
    if let Some(faults) = text("CUPOLA_SIM_FAULTS")? {
        for fault in faults
            .split(',')
            .map(str::trim)
            .filter(|fault| !fault.is_empty())
        {
            let fault = FaultSetting::parse(fault);
            let fault =
                fault.map_err(|reason| SettingsError::value("CUPOLA_SIM_FAULTS", reason))?;
            settings.fault.push(fault);
        }
    }
    Ok(settings)
}
