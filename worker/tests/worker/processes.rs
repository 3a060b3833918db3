//! Processes: what is left when a side ends, and what a fork may do.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use cupola_worker::{self as worker, Supervisor, WorkerError};

use crate::jobs::{config, start};

/// Starts one of the ignored tests below in a process of its own.
fn alone(test: &str, setting: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--quiet", "--nocapture"])
        .arg(format!("processes::{test}"))
        .env("CUPOLA_TEST_SETTING", setting)
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program starts")
}

#[test]
#[ignore = "a process that tests start"]
fn supervises_for_ever() {
    let setting = std::env::var("CUPOLA_TEST_SETTING").unwrap();
    let (job, item) = setting.split_once(':').unwrap();
    let mut config = config(job);
    config.command().stdout(Stdio::inherit());
    let mut supervisor = Supervisor::start(config).unwrap();
    if !item.is_empty() {
        supervisor.submit(item.into()).unwrap();
    }
    println!("ready");
    std::thread::sleep(Duration::from_secs(600));
}

// Without it the workers of a supervisor that was killed would keep their devices.
#[test]
fn an_orphan_ends() {
    for setting in ["script:", "script:sleep 300", "watched:hang"] {
        let mut supervisor = alone("supervises_for_ever", setting);
        let mut output = BufReader::new(supervisor.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("ready") {
            line.clear();
            assert!(
                output.read_line(&mut line).unwrap() > 0,
                "{setting}: no start"
            );
        }
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        // The worker has the other end of the pipe: it is read to its end once both are gone.
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let read = output.read_to_end(&mut Vec::new());
            let _ = sender.send(read.is_ok());
        });
        let ended = receiver.recv_timeout(Duration::from_secs(60));
        assert_eq!(ended, Ok(true), "{setting}: the orphan lives");
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "a process that tests start"]
fn replaces_its_own_file() {
    let here = std::env::current_exe().unwrap();
    let name = here.file_name().unwrap().to_string_lossy();
    assert!(name.starts_with("cupola-replaced-"), "only a copy: {name}");
    std::fs::remove_file(&here).unwrap();
    std::fs::write(&here, "another program").unwrap();
    let mut supervisor = start("script");
    let answer = supervisor.call(b"until 2 exit 1".to_vec()).unwrap();
    println!("answer: {}", String::from_utf8_lossy(&answer));
}

// Without it an update of a program's file would break the restarts of the one that runs, or
// pair it with a worker of another version.
#[cfg(target_os = "linux")]
#[test]
fn a_program_whose_file_was_replaced_starts_itself() {
    let copy = std::env::temp_dir().join(format!("cupola-replaced-{}", std::process::id()));
    std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
    let start = || {
        Command::new(&copy)
            .args(["--exact", "--ignored", "--quiet", "--nocapture"])
            .arg("processes::replaces_its_own_file")
            .output()
    };
    let mut output = start();
    // A process that another test starts has the copy open for writing, until it runs.
    while matches!(&output, Err(error) if error.kind() == ErrorKind::ExecutableFileBusy) {
        output = start();
    }
    std::fs::remove_file(&copy).unwrap();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("answer: 1 until 2 exit 1"), "{text}");
}

/// How many descriptors this process has, and how many children, dead or alive.
#[cfg(target_os = "linux")]
fn held() -> (usize, usize) {
    let here = format!(") {}", std::process::id());
    let mut children = 0;
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        // "pid (name) state parent ...": a process that has ended meanwhile is no child.
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split(' ').nth(2));
        children += usize::from(parent == Some(&here[2..]));
    }
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    (descriptors, children)
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "a process that tests start"]
fn restarts_200_times() {
    let before = held();
    let mut config = config("script");
    config.restarts = u32::MAX;
    let mut supervisor = Supervisor::start(config).unwrap();
    let with_one = held();
    for round in 0..200 {
        let item = [
            "until 2 exit 1",
            "until 2 panic",
            "until 2 lost",
            "until 2 abort",
        ];
        supervisor.call(item[round % 4].into()).unwrap();
        assert_eq!(held(), with_one, "round {round}");
    }
    assert_eq!(supervisor.statistics().lost.total(), 200);
    // Dropped at rest, in mid-work, and shut down.
    supervisor.submit(b"hang".to_vec()).unwrap();
    drop(supervisor);
    assert_eq!(held(), before);
    start("script").shutdown().unwrap();
    drop(start("script"));
    assert_eq!(held(), before);
    assert_eq!((with_one.0 - before.0, with_one.1 - before.1), (1, 1));
    println!("nothing is left");
}

// Without it each restart could leave a descriptor or a dead process behind, until there is
// no room for more.
#[cfg(target_os = "linux")]
#[test]
fn restarts_leave_nothing_behind() {
    let output = alone("restarts_200_times", "").wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("nothing is left"), "{text}");
}

unsafe extern "C" {
    fn signal(signal: i32, handler: usize) -> usize;
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "a process that tests start"]
fn has_its_children_waited_for() {
    const SIGCHLD: i32 = 17;
    const SIG_IGN: usize = 1;
    // SAFETY: the signal is ignored from now on, for which no handler is needed.
    unsafe { signal(SIGCHLD, SIG_IGN) };
    let mut supervisor = start("script");
    let answer = supervisor.call(b"until 2 abort".to_vec()).unwrap();
    println!("answer: {}", String::from_utf8_lossy(&answer));
    println!("unreaped: {}", supervisor.statistics().unreaped);
    println!("cause: {:?}", supervisor.statistics().last_cause);
    println!("orderly: {}", supervisor.shutdown().unwrap().orderly);
}

// Without it a program that ignores its children would wait for each lost worker for long,
// and then kill whatever process has its number by then.
#[cfg(target_os = "linux")]
#[test]
fn workers_may_be_waited_for_by_the_system() {
    let output = alone("has_its_children_waited_for", "").wait_with_output();
    let text = String::from_utf8_lossy(&output.unwrap().stdout).into_owned();
    assert!(text.contains("answer: 1 until 2 abort"), "{text}");
    assert!(text.contains("unreaped: 0"), "{text}");
    // It is not made up: an exit code that was not seen, an end that may have been a crash.
    assert!(text.contains("cause: Some(Gone)"), "{text}");
    assert!(text.contains("orderly: false"), "{text}");
}

// Without it a fork could take answers that are its parent's, or end its parent's worker.
#[test]
fn a_fork_leaves_the_worker_alone() {
    let mut supervisor = start("script");
    supervisor.submit(b"say".to_vec()).unwrap();
    // SAFETY: the child looks at counters, frees memory and closes its copy of a descriptor,
    // none of which another thread can have left locked, and leaves.
    let child = unsafe { fork() };
    if child == 0 {
        let refused = matches!(supervisor.receive(), Err(WorkerError::Forked))
            && matches!(supervisor.try_receive(), Err(WorkerError::Forked))
            && supervisor.submit(Vec::new()).is_err();
        drop(supervisor);
        // SAFETY: ends the child at once.
        unsafe { _exit(i32::from(!refused)) };
    }
    let mut status = -1;
    // SAFETY: `status` outlives the call.
    assert_eq!(unsafe { waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0, "256: something was done in the fork");
    assert_eq!(
        supervisor.receive().unwrap().unwrap().result.unwrap(),
        b"1 say"
    );
    assert!(supervisor.call(b"say".to_vec()).is_ok());
    assert_eq!(supervisor.statistics().lost.total(), 0);
}

// Without it a program that uses no worker would end at the call that serves one.
#[test]
fn a_process_that_is_no_worker_goes_on() {
    crate::jobs::serve();
    worker::end_with_supervisor();
}

#[test]
#[ignore = "a process that supervisors start"]
fn supervises_itself() {
    // Said to who started it; the connection is not for this.
    println!("{}", Supervisor::start(config("script")).unwrap_err());
}

// Without it a program that forgets to serve would start itself without end.
#[test]
fn a_worker_that_does_not_serve_starts_no_others() {
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "--quiet", "--nocapture"])
        .arg("processes::supervises_itself")
        .env("CUPOLA_WORKER", "script")
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("started as the worker of job \"script\""),
        "{text}"
    );
    assert_eq!(ours.read(&mut [0]).unwrap(), 0, "nothing was said");
}
