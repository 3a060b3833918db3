//! `cupola sim` as a user meets it.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::FromRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

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
    command.env("XDG_CACHE_HOME", folder.path().join("cache"));
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

/// Without it the links between devices, which a machine with several is judged by, would not be told,
/// or be told of other pairs.
#[test]
fn the_doctor_tells_the_links_between_devices() {
    let doctor = |args: &[&str]| {
        let program = env!("CARGO_BIN_EXE_cupola");
        let mut command = cupola(&["sim", "run", "--devices", "2", "--", program, "doctor"]);
        command.args(args).env("CUPOLA_SIM_NO_PEER_ACCESS", "1:0");
        let (code, stdout, stderr) = output(&mut command);
        assert_eq!(code, Some(0), "{stdout}{stderr}");
        stdout
    };
    let report = json(&doctor(&["--json", "-"]));
    let peers = report["peers"].as_array().unwrap();
    let claims: Vec<_> = peers
        .iter()
        .map(|link| (link["device"].as_u64(), link["access"].as_bool()))
        .collect();
    assert_eq!(
        claims,
        [(Some(0), Some(true)), (Some(1), Some(false))],
        "{report}"
    );
    assert_eq!(peers[0]["native_atomics"], true);
    let text = doctor(&[]);
    assert!(
        text.contains("memory of 1") && text.contains("rank 0, atomics"),
        "{text}"
    );
}

/// Bytes of all files in a folder and those in it; links count nothing.
fn bytes_in(folder: &Path) -> u64 {
    let found = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let sizes = found.map(|one| match one.file_type().unwrap() {
        kind if kind.is_dir() => bytes_in(&one.path()),
        kind if kind.is_file() => one.metadata().unwrap().len(),
        _ => 0,
    });
    sizes.sum()
}

/// The signals that this process ignores: bit `n - 1` is signal `n`. None where there is no `/proc`.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap())
}

/// Without it each run that is ended by hand or by a service would leave a copy of the library in
/// the folder of temporary files, and nothing of what was found would be said.
#[test]
fn a_run_that_is_ended_leaves_nothing_and_says_what_was_found() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = folder.path();
    let installed = folder.join("cupola");
    std::fs::hard_link(env!("CARGO_BIN_EXE_cupola"), &installed).unwrap();
    let temporary = folder.join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    // What is above the checkout may be writable by others.
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path().join("cache");
    let run = |what: &str| {
        let mut command = Command::new(&installed);
        command.args(["sim", "run", "--", "sh", "-c", what]);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CUPOLA_")) {
            command.env_remove(name);
        }
        let command = command.env("TMPDIR", &temporary);
        let (code, _, stderr) = output(command.env("XDG_CACHE_HOME", &cache));
        (code, stderr)
    };
    let library = || {
        let found = std::fs::read_dir(cache.join("cupola")).unwrap();
        let found: Vec<_> = found.map(|one| one.unwrap().path()).collect();
        let [one] = &found[..] else {
            panic!("{found:?}");
        };
        (std::fs::metadata(one).unwrap().ino(), one.clone())
    };
    assert_eq!(run("exit 7"), (Some(7), String::new()));
    let first = library();
    let ignored = ignored_signals();
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        // `nohup` and a shell's `&` have some ignored, which is inherited, and respected.
        if ignored >> (number - 1) & 1 == 1 {
            continue;
        }
        let code = 128 + number;
        let what =
            // Some leave a memory image behind where they end.
            format!(
                "ulimit -c 0; echo a finding >> $CUPOLA_SIM_REPORT; kill -{signal} $PPID; \
                 exec sleep 20"
            );
        let ended = run(&what);
        assert_eq!(ended, (Some(code), "a finding\n".into()), "{signal}");
        assert_eq!(bytes_in(&temporary), 0, "{signal}");
        let left = std::fs::read_dir(&temporary).unwrap().count();
        assert_eq!((left, library()), (0, first.clone()), "{signal}");
    }
    // What nothing can be done about.
    assert_eq!(run("kill -KILL $PPID").0, None);
    assert!(bytes_in(&temporary) < 1 << 20);
    assert_eq!(library(), first);
    // A program that ignores it goes on.
    let stays = "trap '' TERM; kill -TERM $PPID; sleep 0.2; exit 3";
    assert_eq!(run(stays).0, Some(3));
}

/// A terminal: the side of its user, and that of programs.
fn terminal() -> (File, File) {
    let (mut user, mut programs) = (-1, -1);
    let nothing = std::ptr::null_mut();
    // SAFETY: the places outlive the call; no name is wanted, and no settings are given.
    let opened = unsafe {
        libc::openpty(
            &raw mut user,
            &raw mut programs,
            nothing,
            nothing.cast(),
            nothing.cast(),
        )
    };
    assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the call has opened both, and nothing else owns them.
    let files = [user, programs].map(|file| unsafe { File::from_raw_fd(file) });
    // Copies, which no program inherits.
    files.map(|file| file.try_clone().unwrap()).into()
}

/// Without it a run in a terminal would go on for ever when that is closed, or a key that ends a
/// program end nothing.
#[test]
fn a_terminal_ends_a_run_by_a_key_and_by_its_own_end() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    for (key, code) in [(Some(b"\x03"), 130), (None, 129)] {
        let (mut user, programs) = terminal();
        let what = ": > \"$1\"; exec sleep 20";
        let mut command = cupola(&["sim", "run", "--", "sh", "-c", what, "sh"]);
        command.arg(&ready).stdin(programs).stdout(Stdio::piped());
        // SAFETY: these calls may be made between a fork and what is executed then. The process
        // becomes the leader of a session with this terminal, as that of `ssh` or a window, and
        // ignores no signal that these tests were started to ignore (`nohup`).
        unsafe {
            command.stderr(Stdio::piped()).pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                libc::signal(libc::SIGHUP, libc::SIG_DFL);
                match libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    true => Err(std::io::Error::last_os_error()),
                    false => Ok(()),
                }
            });
        }
        let run = command.spawn().unwrap();
        drop(command);
        while !ready.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        match key {
            Some(key) => user.write_all(key).unwrap(),
            None => drop(user),
        }
        let ended = run.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{ended:?}");
        std::fs::remove_file(&ready).unwrap();
    }
}

/// Without it a report that goes to a pipe would hold this program up for ever.
#[test]
fn a_report_may_go_to_a_pipe() {
    let args = ["sim", "run", "--report", "/dev/stdout", "--", "true"];
    let (code, stdout, stderr) = output(&mut cupola(&args));
    assert_eq!((code, &*stdout), (Some(0), ""), "{stderr}");
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
    assert!(!stdout.contains(&folder), "it is said once: {stdout}");
    let args = ["sim", "check", &folder, GOOD, "--json", "-"];
    let (code, stdout, stderr) = output(&mut cupola(&args));
    assert_eq!(code, Some(5), "{stderr}");
    let files = json(&stdout);
    assert!(
        files[0]["error"].is_string() && files[1]["error"].is_null(),
        "{stdout}"
    );
}

/// Without it a report would be lost, though the file of settings names another place.
#[test]
fn a_report_goes_where_the_settings_say() {
    let folder = tempfile::tempdir().unwrap();
    let (config, report) = (folder.path().join("config"), folder.path().join("report"));
    std::fs::write(&report, "of a run before").unwrap();
    std::fs::write(
        &config,
        format!("report = {:?}\n", report.display().to_string()),
    )
    .unwrap();
    let config = config.display().to_string();
    let program = ["sh", "-c", "echo $CUPOLA_SIM_REPORT"];
    let args = [&["sim", "run", "--config", &config, "--"], &program[..]].concat();
    let (code, stdout, stderr) = output(&mut cupola(&args));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(stdout.trim_end(), report.display().to_string());
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "");
}
