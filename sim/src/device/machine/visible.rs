//! Which of a machine's devices a process sees: `CUDA_VISIBLE_DEVICES`.
//!
//! The answers are those of two H100 with driver 580 / CUDA 13.0.

use crate::device::machine::config::DeviceConfig;
use crate::device::machine::profile::Profile;

/// A list that names a device twice, which `cuInit` refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) struct Twice;

/// The letters that the UUID of every device begins with, and that of every instance.
const LETTERS: &[u8; 10] = b"cupola-sim";
const INSTANCE_LETTERS: &[u8; 10] = b"cupola-mig";

/// What a list has before the UUID of a device.
const WHOLE: &str = "GPU-";
const INSTANCE: &str = "MIG-";

/// The UUID of the device of this number: the same in every run.
pub(in crate::device) fn uuid(number: usize, profile: Profile) -> [u8; 16] {
    let letters = match profile {
        Profile::Mig => INSTANCE_LETTERS,
        _ => LETTERS,
    };
    let mut bytes = [0; 16];
    bytes[..letters.len()].copy_from_slice(letters);
    bytes[15] = number as u8;
    bytes
}

/// The devices that a process with this list sees, in its order: up to the first entry that
/// names none. If the first entry is a UUID all are, and otherwise all are ordinals.
///
/// # Errors
/// A device is named twice.
pub(in crate::device) fn select(
    list: &str,
    devices: &[DeviceConfig],
) -> Result<Vec<DeviceConfig>, Twice> {
    let mut chosen: Vec<usize> = Vec::new();
    for entry in list.split(',') {
        let found = match list.starts_with(WHOLE) || list.starts_with(INSTANCE) {
            true => by_uuid(entry, devices),
            false => by_ordinal(entry).filter(|ordinal| *ordinal < devices.len()),
        };
        let Some(found) = found else {
            break;
        };
        if chosen.contains(&found) {
            return Err(Twice);
        }
        chosen.push(found);
    }
    let choose = |index: usize| {
        let mut device = devices[index].clone();
        device.number = Some(device.number.unwrap_or(index));
        device
    };
    Ok(chosen.into_iter().map(choose).collect())
}

/// Of several devices the first, if one of them is an instance: CUDA enumerates one instance.
pub(in crate::device) fn alone(mut devices: Vec<DeviceConfig>) -> Vec<DeviceConfig> {
    if devices.iter().any(|device| device.kind() == Profile::Mig) {
        devices.truncate(1);
    }
    devices
}

/// A decimal number, as C's `strtol` reads one: after blanks and a sign, up to the first byte
/// that is no digit.
fn by_ordinal(entry: &str) -> Option<usize> {
    let text = entry.trim_ascii_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|c: char| !c.is_ascii_digit());
    let value: usize = digits[..end.unwrap_or(digits.len())].parse().ok()?;
    (!negative || value == 0).then_some(value)
}

/// The one device whose UUID begins with these digits. Dashes do not count, nor does what
/// comes after the 32nd digit.
fn by_uuid(entry: &str, devices: &[DeviceConfig]) -> Option<usize> {
    let whole = entry.strip_prefix(WHOLE).map(|text| (text, false));
    let instance = || entry.strip_prefix(INSTANCE).map(|text| (text, true));
    let (text, is_instance) = whole.or_else(instance)?;
    let mut digits = Vec::new();
    for byte in text.bytes().filter(|byte| *byte != b'-').take(32) {
        digits.push(char::from(byte).to_digit(16)? as u8);
    }
    let begins = |number: &usize| {
        let profile = devices[*number].kind();
        let own = uuid(*number, profile);
        let nibbles = own.into_iter().flat_map(|b| [b >> 4, b & 15]);
        (profile == Profile::Mig) == is_instance
            && !digits.is_empty()
            && nibbles.zip(&digits).all(|(own, wanted)| own == *wanted)
    };
    let mut fitting = (0..devices.len()).filter(begins);
    let found = fitting.next()?;
    fitting.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(list: &str) -> Result<Vec<usize>, Twice> {
        let devices = vec![DeviceConfig::default(); 2];
        let devices = select(list, &devices)?;
        Ok(devices.iter().filter_map(|device| device.number).collect())
    }

    /// Without it, a program could see other devices here than on a machine with GPUs: every
    /// row is what two H100 answered.
    #[test]
    fn lists_mean_what_a_driver_takes_them_for() {
        for (list, wanted) in [
            ("", &[][..]),
            ("0", &[0]),
            ("1", &[1]),
            ("1,0", &[1, 0]),
            ("-1", &[]),
            ("1,-1,0", &[1]),
            ("0,9", &[0]),
            ("9,0", &[]),
            ("1,x,0", &[1]),
            ("1,0,x,0", &[1, 0]),
            ("x", &[]),
            (" 1", &[1]),
            ("1 ,0", &[1, 0]),
            ("1, 0", &[1, 0]),
            ("1;0", &[1]),
            ("01", &[1]),
            ("+1", &[1]),
            ("-0,1", &[0, 1]),
            ("0x1", &[0]),
            ("1x", &[1]),
            ("1e0", &[1]),
            (",1", &[]),
            ("1,,0", &[1]),
            ("GPU-", &[]),
            ("GPU-,0", &[]),
            ("MIG-1", &[]),
        ] {
            assert_eq!(seen(list).as_deref(), Ok(wanted), "{list:?}");
        }
        for list in ["0,0", "0,1,0", "0x1,0", "1,0,1x"] {
            assert_eq!(seen(list), Err(Twice), "{list:?}");
        }
    }

    /// Without it, a UUID could name no device, or one that it does not name alone.
    #[test]
    fn uuids_may_be_cut_short_while_they_name_one_device() {
        let text = |number| {
            let own = uuid(number, Profile::Discrete);
            let hex: String = own.iter().map(|b| format!("{b:02x}")).collect();
            let parts = [
                &hex[..8],
                &hex[8..12],
                &hex[12..16],
                &hex[16..20],
                &hex[20..],
            ];
            format!("GPU-{}", parts.join("-"))
        };
        let (a, b) = (text(0), text(1));
        for (list, wanted) in [
            (b.clone(), &[1][..]),
            (format!("{b},{a}"), &[1, 0]),
            (b.to_uppercase(), &[1]),
            (format!("{b}zzz,{a}"), &[1, 0]),
            // One kind alone: the other's entries name nothing.
            (format!("{b},0"), &[1]),
            (format!("1,{a}"), &[1]),
            (format!(" {b}"), &[]),
            (b.to_lowercase().replace("gpu-6", "gpu-"), &[]),
            (format!("{} ,{b}", &a[..12]), &[]),
            // All devices begin alike.
            (a[..12].to_owned(), &[]),
        ] {
            assert_eq!(seen(&list).as_deref(), Ok(wanted), "{list:?}");
        }
        assert_eq!(seen(&format!("{a},{a}")), Err(Twice));
        let one = select(&a[..6], &[DeviceConfig::default()]).unwrap();
        assert_eq!(one.len(), 1);
    }
}
