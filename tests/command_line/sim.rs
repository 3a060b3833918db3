//! `cupola sim` as a user meets it.

use std::process::Command;

use cupola_sys::driver::Driver;

use super::cli::{cupola, json, output};

const GOOD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/bench/sim/kernels.ptx");

#[test]
#[ignore = "a process that another test starts under `cupola sim run`"]
fn inside_sim_run() {
    let driver = Driver::load().expect("the software device's library");
    let mut count = 0;
    // SAFETY: the place outlives the calls.
    unsafe {
        driver.cuInit(0).expect("cuInit");
        driver.cuDeviceGetCount(&raw mut count).expect("a count");
    }
    let library = driver.library_path().expect("a library");
    println!("{count} devices of {}", library.display());
}

/// Without it the program that `cargo install` installs, with nothing beside it, could run no
/// other one on the software device.
#[test]
fn a_program_that_is_installed_has_the_device_with_it() {
    // On the disk of the program: a copy could be open for writing in a child of another test.
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let installed = folder.path().join("cupola");
    std::fs::hard_link(env!("CARGO_BIN_EXE_cupola"), &installed).unwrap();
    let mut command = Command::new(&installed);
    command.args(["sim", "run", "--devices", "3", "--"]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "sim::inside_sim_run", "--nocapture"]);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CUPOLA_")) {
        command.env_remove(name);
    }
    let (code, stdout, stderr) = output(&mut command);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("3 devices of /"), "{stdout}");
    let mut info = Command::new(&installed);
    let (_, stdout, stderr) = output(info.args(["sim", "info"]));
    assert!(
        stdout.contains("library  inside of this program"),
        "{stdout}{stderr}"
    );
}

/// Without it a program that ignores what `cuInit` returns would run without a device under
/// settings that mean nothing, and succeed.
#[test]
fn settings_are_refused_before_the_program_starts() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let program = format!("touch {}", mark.display());
    for (options, exit, word) in [
        (["--devices", "999999"], 2, "999999 devices"),
        (["--faults", "bogus"], 2, "CUPOLA_SIM_FAULTS"),
        (["--strict", "bogus"], 2, "bogus"),
        (["--driver-version", "x"], 2, "MAJOR.MINOR"),
        (["--memory", "1X"], 2, "not a unit"),
        (["--memory", "0"], 2, "at least one byte"),
        (["--config", "/no/such/file"], 5, "/no/such/file"),
    ] {
        let args = [&["sim", "run"], &options[..], &["--", "sh", "-c", &program]].concat();
        let (code, _, stderr) = output(&mut cupola(&args));
        assert_eq!(code, Some(exit), "{options:?}: {stderr}");
        assert!(stderr.contains(word), "{options:?}: {stderr}");
    }
    let args = ["sim", "run", "--", "sh", "-c", &program];
    let mut command = cupola(&args);
    let (code, _, stderr) = output(command.env("CUPOLA_SIM_SEED", "x"));
    assert_eq!(code, Some(2), "{stderr}");
    assert!(!mark.exists());
    let (code, _, stderr) = output(&mut cupola(&args));
    assert_eq!((code, mark.exists()), (Some(0), true), "{stderr}");
}

/// Without it one file that cannot be read would keep the answer of all others.
#[test]
fn a_file_that_cannot_be_read_keeps_no_other_from_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display().to_string();
    let (code, stdout, stderr) = output(&mut cupola(&["sim", "check", GOOD, &folder]));
    assert_eq!(code, Some(5), "{stderr}");
    assert!(
        stdout.contains("kernels.ptx: ") && stdout.contains("functions can run"),
        "{stdout}"
    );
    assert!(stderr.contains(&folder), "{stderr}");
    let args = ["sim", "check", &folder, GOOD, "--json", "-"];
    let (code, stdout, stderr) = output(&mut cupola(&args));
    assert_eq!(code, Some(5), "{stderr}");
    let files = json(&stdout);
    assert!(
        files[0]["error"].is_string() && files[1]["error"].is_null(),
        "{stdout}"
    );
}
