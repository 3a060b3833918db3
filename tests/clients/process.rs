//! The library in a process: settings, log, faults, report, exit and fork.

use std::process::Output;

use cupola_sys::driver::{CUresult, Driver};

use crate::library;

/// Runs one of the programs below in a process of its own.
fn run(program: &str, settings: &[(&str, &str)]) -> Output {
    let folder = library::folder();
    let this = std::env::current_exe().expect("this program's path");
    library::command(this, &folder)
        .args(["--ignored", "--exact", "--nocapture", "--quiet"])
        .arg(format!("process::{program}"))
        .env("CUPOLA_CUDA_LIBRARY", folder.path().join("libcuda.so.1"))
        .envs(settings.iter().copied())
        .output()
        .expect("the program starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
#[ignore = "a process that tests start"]
fn leaky_program() {
    let driver = Driver::load().expect("the library");
    let (mut context, mut memory) = (std::ptr::null_mut(), 0);
    // SAFETY: the places outlive the calls.
    unsafe {
        driver.cuInit(0).expect("cuInit");
        driver
            .cuDevicePrimaryCtxRetain(&raw mut context, 0)
            .expect("retain");
        driver.cuCtxSetCurrent(context).expect("current");
        let first = driver.cuMemAlloc_v2(&raw mut memory, 1000);
        let second = driver.cuMemAlloc_v2(&raw mut memory, 1000);
        println!("first {first:?}, second {second:?}");
    }
}

// Without it settings could be read and not used, a fault hit another call, the log miss a
// call, or a leak go unreported.
#[test]
fn settings_log_faults_and_report_work_together() {
    let settings = [
        ("CUPOLA_SIM_LOG", "stderr"),
        ("CUPOLA_SIM_REPORT", "stderr"),
        (
            "CUPOLA_SIM_FAULTS",
            "cuMemAlloc_v2:2=CUDA_ERROR_OUT_OF_MEMORY",
        ),
    ];
    let output = run("leaky_program", &settings);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.contains(" cuMemAlloc_v2("))
        .collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(
        lines[0].contains("bytesize=1000) = CUDA_SUCCESS (0)"),
        "{text}"
    );
    assert!(
        lines[1].contains(") = CUDA_ERROR_OUT_OF_MEMORY (2)"),
        "{text}"
    );
    assert!(
        text.contains("leak: ") && text.contains("1000 bytes of device memory"),
        "{text}"
    );
}

// Without it a typing error in the settings would silently test another machine.
#[test]
fn wrong_settings_are_an_error_that_is_said() {
    let output = run("says_what_init_returns", &[("CUPOLA_SIM_DEVICES", "many")]);
    let text = text(&output);
    assert!(
        text.contains("CUPOLA_SIM_DEVICES: \"many\" is not a whole number"),
        "{text}"
    );
    assert!(text.contains("CUDA_ERROR_SYSTEM_NOT_READY"), "{text}");
}

#[test]
#[ignore = "a process that tests start"]
fn says_what_init_returns() {
    match Driver::load() {
        // SAFETY: cuInit takes no pointers.
        Ok(driver) => println!("{:?}", unsafe { driver.cuInit(0) }),
        Err(error) => println!("{error:?}"),
    }
}

#[test]
#[ignore = "a process that tests start"]
fn forks() {
    let driver = Driver::load().expect("the library");
    let mut count = 0;
    // SAFETY: the place outlives the calls; the child calls the driver and ends.
    unsafe {
        driver.cuInit(0).expect("cuInit");
        match libc::fork() {
            -1 => panic!("no fork"),
            0 => {
                // A child that waits for ever is ended.
                libc::alarm(30);
                let code = driver.cuDeviceGetCount(&raw mut count);
                let code = code.err().and_then(|error| error.status());
                let good = code == Some(CUresult::CUDA_ERROR_NOT_INITIALIZED);
                libc::_exit(i32::from(!good) * 9);
            }
            child => {
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                assert!(libc::WIFEXITED(status), "the child died: {status:#x}");
                assert_eq!(libc::WEXITSTATUS(status), 0, "the child's call");
            }
        }
        driver
            .cuDeviceGetCount(&raw mut count)
            .expect("the parent goes on");
    }
    println!("the parent has {count} device");
}

// Without it a child could wait for ever for threads that it does not have.
#[test]
fn a_forked_child_is_told_that_it_has_no_driver() {
    let output = run("forks", &[]);
    let text = text(&output);
    assert!(
        output.status.success() && text.contains("the parent has 1 device"),
        "{text}"
    );
}

#[test]
#[ignore = "a process that tests start"]
fn calls_at_exit() {
    static DRIVER: std::sync::OnceLock<Driver> = std::sync::OnceLock::new();
    extern "C" fn late() {
        // Not a new driver: its first question would be refused too.
        let Some(driver) = DRIVER.get() else { return };
        let mut count = 0;
        // SAFETY: the place outlives the call.
        let code = unsafe { driver.cuDeviceGetCount(&raw mut count) };
        println!("late: {code:?}");
    }
    // SAFETY: the handler is registered before the library's own, so that it runs after it.
    unsafe { libc::atexit(late) };
    let driver = DRIVER.get_or_init(|| Driver::load().expect("the library"));
    // SAFETY: cuInit takes no pointers.
    unsafe { driver.cuInit(0) }.expect("cuInit");
}

#[test]
#[ignore = "a process that tests start"]
fn forks_before_init() {
    let driver = Driver::load().expect("the library");
    // SAFETY: the child calls the driver and ends.
    unsafe {
        match libc::fork() {
            -1 => panic!("no fork"),
            0 => {
                libc::alarm(30);
                let mut count = 0;
                let works =
                    driver.cuInit(0).is_ok() && driver.cuDeviceGetCount(&raw mut count).is_ok();
                libc::_exit(i32::from(!(works && count == 1)) * 9);
            }
            child => {
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
                assert!(
                    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
                    "{status:#x}"
                );
            }
        }
    }
    println!("the child had a driver");
}

// Without it a program that forks workers after it has looked for a driver, and before it
// uses one, could not use it in them.
#[test]
fn a_child_of_before_init_has_a_driver() {
    let output = run("forks_before_init", &[]);
    let text = text(&output);
    assert!(
        output.status.success() && text.contains("the child had a driver"),
        "{text}"
    );
}

// Without it the text of an error could be asked for and not be written, by a program that
// prints it.
#[test]
fn error_texts_are_there_when_nothing_else_is() {
    let output = run("asks_for_a_text", &[("CUPOLA_SIM_DEVICES", "many")]);
    let text = text(&output);
    assert!(
        output.status.success() && text.contains("802 is CUDA_ERROR_SYSTEM_NOT_READY"),
        "{text}"
    );
}

#[test]
#[ignore = "a process that tests start"]
fn asks_for_a_text() {
    // SAFETY: the library's initialisers are Rust's own.
    let library = unsafe { libloading::Library::new(library::path()) }.expect("it loads");
    let mut name = std::ptr::null();
    // SAFETY: the types are those of the API, and the place outlives the calls.
    let name = unsafe {
        use cupola_sys::driver::pfn;
        let init = library.get::<pfn::cuInit>(b"cuInit\0").expect("exported");
        let text = library
            .get::<pfn::cuGetErrorName>(b"cuGetErrorName\0")
            .expect("exported");
        let code = init(0);
        assert_eq!(text(code, &raw mut name), CUresult::CUDA_SUCCESS);
        println!(
            "{} is {}",
            code.0,
            std::ffi::CStr::from_ptr(name).to_string_lossy()
        );
        name
    };
    assert!(!name.is_null());
}

// Without it a destructor that runs late could work on a driver that has reported its
// leaks and ended, or crash.
#[test]
fn calls_after_the_end_are_refused() {
    let output = run("calls_at_exit", &[]);
    let text = text(&output);
    assert!(
        output.status.success() && text.contains("CUDA_ERROR_DEINITIALIZED"),
        "{text}"
    );
}

// Without it a name of the ABI could be missing: programs that take all names from the
// loader would not start.
#[test]
fn every_name_of_the_abi_is_exported() {
    // SAFETY: the library's initialisers are Rust's own.
    let library = unsafe { libloading::Library::new(library::path()) }.expect("it loads");
    for symbol in cupola_sys::driver::SYMBOLS {
        // SAFETY: the address is not called.
        let found = unsafe { library.get::<*const ()>(symbol.name.to_bytes_with_nul()) };
        assert!(found.is_ok(), "{}", symbol.as_str());
    }
}
