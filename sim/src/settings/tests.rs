//! Settings of all forms, and what is wrong with wrong ones.

use std::collections::HashMap;
use std::ffi::OsString;

use cupola_sys::driver::{CUdevice, CUresult};

use super::{Settings, environment};

fn from(variables: &[(&str, &str)]) -> Result<Settings, String> {
    let variables: HashMap<_, _> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
        .collect();
    environment::read(|name| variables.get(name).cloned()).map_err(|error| error.to_string())
}

/// Device count and the memory of the last one, as a program sees them.
fn seen(settings: &Settings) -> (i32, usize) {
    let machine = settings.builder().build();
    let driver = settings.driver(machine.driver()).unwrap();
    let (mut count, mut memory) = (0, 0usize);
    // SAFETY: the places outlive the calls.
    unsafe {
        driver.cuInit(0).unwrap();
        driver.cuDeviceGetCount(&raw mut count).unwrap();
        let last: CUdevice = count - 1;
        driver.cuDeviceTotalMem_v2(&raw mut memory, last).unwrap();
    }
    (count, memory)
}

/// Without it a key could be read and have no effect.
#[test]
fn a_file_describes_the_machine() {
    let text = "driver_version = \"12.4\"\nworkers = 1\n[[device]]\nmemory = 4096\n\
                [[device]]\nmemory = \"2MiB\"\nlaunch_delay = \"5us\"\ncopy_latency = \"2us\"\nduplex = 0.9";
    let settings = Settings::from_toml(text).unwrap();
    assert_eq!(seen(&settings), (2, 2 << 20));
    let version = settings.builder().build().driver().driver_version();
    assert_eq!(version.to_string(), "12.4");
}

/// Without it variables could lose against the file, or change one device only.
#[test]
fn variables_win_over_the_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        &file,
        "[[device]]\nmemory = 1024\n[[device]]\nmemory = 2048",
    )
    .unwrap();
    let path = file.path().to_str().unwrap();
    let config = ("CUPOLA_SIM_CONFIG", path);
    assert_eq!(seen(&from(&[config]).unwrap()), (2, 2048));
    let memory = ("CUPOLA_SIM_MEMORY", "1.00Ki");
    let devices = ("CUPOLA_SIM_DEVICES", "3");
    assert_eq!(seen(&from(&[config, memory, devices]).unwrap()), (3, 1024));
    assert_eq!(
        seen(&from(&[config, ("CUPOLA_SIM_MEMORY", "")]).unwrap()),
        (2, 2048)
    );
}

/// Without it a profile could be read and change nothing, or change what a setting says itself.
#[test]
fn a_profile_gives_what_the_settings_do_not_say() {
    let all = from(&[("CUPOLA_SIM_PROFILE", "mig"), ("CUPOLA_SIM_DEVICES", "3")]).unwrap();
    assert_eq!(seen(&all), (1, 2 << 30), "a process sees one instance");
    let told = Settings::from_toml("profile = \"mig\"\n[[device]]\nmemory = \"3GiB\"").unwrap();
    assert_eq!(seen(&told), (1, 3 << 30));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "[[device]]\nprofile = \"mig\"").unwrap();
    let config = ("CUPOLA_SIM_CONFIG", file.path().to_str().unwrap());
    assert_eq!(seen(&from(&[config]).unwrap()), (1, 2 << 30));
    let plain = ("CUPOLA_SIM_PROFILE", "discrete");
    assert_eq!(seen(&from(&[config, plain]).unwrap()), (1, 16 << 30));
}

/// Without it one size could be good for an option and wrong for its variable.
#[test]
fn sizes_are_those_of_the_options() {
    for (text, bytes) in [
        ("4096", 4096),
        ("1mib", 1 << 20),
        ("2 MB", 2_000_000),
        (" 0.5gI ", 1 << 29),
        ("0.001P", 1_000_000_000_000),
        ("1ti", 1 << 40),
    ] {
        let variable = from(&[("CUPOLA_SIM_MEMORY", text)]).unwrap();
        let file = Settings::from_toml(&format!("[[device]]\nmemory = {text:?}")).unwrap();
        assert_eq!((seen(&variable).1, seen(&file).1), (bytes, bytes), "{text}");
    }
}

/// Without it a fault could hit another call, or the counting could start with the
/// driver's own calls.
#[test]
fn faults_hit_the_calls_they_name() {
    let faults = "cuDeviceGetCount:2=CUDA_ERROR_NOT_READY, cuDriverGetVersion:1=3";
    let settings = from(&[("CUPOLA_SIM_FAULTS", faults)]).unwrap();
    let machine = settings.builder().build();
    let driver = settings.driver(machine.driver()).unwrap();
    let mut value = 0;
    // SAFETY: the place outlives the calls.
    unsafe {
        driver.cuInit(0).unwrap();
        driver.cuDeviceGetCount(&raw mut value).unwrap();
        let second = driver.cuDeviceGetCount(&raw mut value).unwrap_err();
        assert_eq!(second.status(), Some(CUresult::CUDA_ERROR_NOT_READY));
        driver.cuDeviceGetCount(&raw mut value).unwrap();
        let version = driver.cuDriverGetVersion(&raw mut value).unwrap_err();
        assert_eq!(version.status(), Some(CUresult::CUDA_ERROR_NOT_INITIALIZED));
    }
}

/// Without it a typing error would silently leave the default in place.
#[test]
fn what_means_nothing_is_an_error_that_says_where() {
    for (text, part) in [
        ("devcies = 2", "line 1"),
        ("driver_version = \"12\"", "MAJOR.MINOR"),
        ("[[device]]\nmemory = \"16GX\"", "not a unit"),
        ("[[device]]\nlaunch_delay = \"5\"", "no unit of time"),
        ("[[fault]]\ncall = \"cuMemAlloc\"\nat = 1", "a fault has"),
        (
            "[[fault]]\ncall = \"cuLunch\"\nat = 1\ncode = 2",
            "no function",
        ),
        ("[[fault]]\ncall = \"cuInit\"\nat = 0\ncode = 2", "from 1"),
        (
            "[[fault]]\ncall = \"cuInit\"\nat = 1\ncode = \"EIO\"",
            "no error code",
        ),
        ("without = [\"cuNothing\"]", "no function"),
        ("strict = \"some\"", "no check"),
        ("devices = 17", "16 at most"),
        ("without = [\"cuDriverGetVersion\"]", "every driver"),
        ("order = \"random\"", "no order"),
        ("corrupt_links = [\"0\"]", "no pair"),
        ("profile = \"jetson\"", "no profile"),
        ("devices = 2\n[[device]]\n[[device]]", "all alike"),
    ] {
        let error = Settings::from_toml(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    for (name, value, part) in [
        ("CUPOLA_SIM_DEVICES", "two", "whole number"),
        ("CUPOLA_SIM_DEVICES", "1000000000000", "16 at most"),
        ("CUPOLA_SIM_PROFILE", "MIG", "no profile"),
        ("CUPOLA_SIM_NO_PEER_ACCESS", "0:1,1", "no pair"),
        ("CUPOLA_SIM_MEMORY", "99999999999GiB", "exceeds 64 bits"),
        ("CUPOLA_SIM_MEMORY", "1.5", "not a number of bytes"),
        ("CUPOLA_SIM_MEMORY", "1.Gi", "not a number of bytes"),
        ("CUPOLA_SIM_FAULTS", "cuInit=2", "FUNCTION:CALL=CODE"),
        ("CUPOLA_SIM_FAULTS", "cuStreamGetCtx_v9:1=2", "no function"),
        (
            "CUPOLA_SIM_CONFIG",
            "/nonexistent/settings.toml",
            "No such file",
        ),
    ] {
        let error = from(&[(name, value)]).unwrap_err();
        assert!(error.contains(part), "{name}={value}: {error}");
    }
}

/// Without it a check could be switched on under another's name, or a seed lose against
/// the file's order.
#[test]
fn strictness_and_order_are_chosen_by_name() {
    use crate::{Order, Strict};
    let file =
        Settings::from_toml("strict = \"leaks, pending-destroy\"\norder = \"timed\"").unwrap();
    assert_eq!(file.strict, Some(Strict::LEAKS | Strict::PENDING_DESTROY));
    assert_eq!(file.order, Some(Order::Timed));
    let variables = [("CUPOLA_SIM_STRICT", "default"), ("CUPOLA_SIM_SEED", "9")];
    let settings = from(&variables).unwrap();
    assert_eq!(
        (settings.strict, settings.seed),
        (Some(Strict::CHEAP), Some(9))
    );
    let trace = |settings: &Settings| settings.builder().build().trace();
    assert!(trace(&settings).is_some() && trace(&Settings::default()).is_none());
}

/// Without it a program would see devices that its caller hides, or launches run on although its
/// caller debugs it.
#[test]
fn the_drivers_own_variables_are_obeyed() {
    let devices = ("CUPOLA_SIM_DEVICES", "3");
    let visible = |list| from(&[devices, ("CUDA_VISIBLE_DEVICES", list)]).unwrap();
    assert_eq!(seen(&visible("2,0")).0, 2);
    assert_eq!(seen(&from(&[devices]).unwrap()).0, 3);
    let none = visible("").builder().build();
    // SAFETY: no pointers.
    let refused = unsafe { none.driver().cuInit(0) }.unwrap_err();
    assert_eq!(refused.status(), Some(CUresult::CUDA_ERROR_NO_DEVICE));
    for (value, blocking) in [("1", true), ("0", false), ("", false), ("x", false)] {
        let settings = from(&[("CUDA_LAUNCH_BLOCKING", value)]).unwrap();
        assert_eq!(settings.launch_blocking, blocking, "{value:?}");
    }
    let hidden = from(&[("CUPOLA_SIM_HIDE_UNSUPPORTED", "1")]).unwrap();
    assert!(hidden.hide_unsupported && !Settings::default().hide_unsupported);
    assert!(from(&[("CUPOLA_SIM_HIDE_UNSUPPORTED", "yes")]).is_err());
}
