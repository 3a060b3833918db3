//! A program that is started, waited for, and stopped.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::compile::Cancellation;

/// The longest wait between two looks at a program. The flag of a [`Cancellation`] wakes no thread,
/// because NVRTC asks for it, so it is looked at this often.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// What a program's variables are kept for: where programs and libraries are.
const KEPT: &[&str] = &["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot"];

/// How a program ended.
pub(super) enum Ended {
    /// By itself.
    Exit(ExitStatus),
    /// It was stopped, because the compile was cancelled.
    Cancelled,
    /// It was stopped, because it took too long.
    TimedOut,
}

/// Leaves a command no variable that changes what clang does (`CPATH`, `CCC_OVERRIDE_OPTIONS`, …), so
/// that a result depends on none, and a folder of its own for temporaries.
pub(super) fn seclude(command: &mut Command, temporaries: &Path) {
    command.env_clear();
    let kept = KEPT
        .iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    let kept: Vec<(_, OsString)> = kept.collect();
    command
        .envs(kept)
        .env("LC_ALL", "C")
        .env("TMPDIR", temporaries)
        .env("TEMP", temporaries);
}

/// Whether a program that is started takes libraries from folders that a variable names.
#[cfg(unix)]
pub(in crate::compile) fn loads_from_elsewhere() -> bool {
    let mut folders = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"].iter();
    folders.any(|name| std::env::var_os(name).is_some_and(|folders| !folders.is_empty()))
}

/// Starts a command and waits for its end, which comes at the limit or with the cancellation if not
/// before. Its children end with it.
pub(super) fn run(
    command: &mut Command,
    limit: Duration,
    cancellation: &Cancellation,
) -> io::Result<Ended> {
    let begin = Instant::now();
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut running = Running(command.spawn()?);
    let mut wait = Duration::from_millis(1);
    loop {
        if let Some(status) = running.0.try_wait()? {
            return Ok(Ended::Exit(status));
        }
        if cancellation.is_cancelled() {
            return Ok(Ended::Cancelled);
        }
        let left = limit.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return Ok(Ended::TimedOut);
        }
        std::thread::sleep(wait.min(left));
        wait = (wait * 2).min(LONGEST_WAIT);
    }
}

/// A program that is stopped, if it still runs, and waited for when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that was waited for may have lost its number to another process.
        if matches!(self.0.try_wait(), Ok(None)) {
            self.stop();
        }
    }
}

impl Running {
    fn stop(&mut self) {
        // The group has the programs that it started besides.
        #[cfg(unix)]
        let _ = rustix::process::kill_process_group(
            rustix::process::Pid::from_child(&self.0),
            rustix::process::Signal::KILL,
        );
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sleep() -> Command {
        let mut command = Command::new("sh");
        // A child of the program, which must end too: it holds the pipe.
        command.args(["-c", "sleep 600 & wait"]);
        command
    }

    // Without it a program that hangs would hang the compile, or go on when nothing waits for it.
    #[test]
    fn a_program_ends_at_its_limit_with_its_children() {
        use std::io::Read as _;
        let mut command = sleep();
        let (mut reader, writer) = io::pipe().unwrap();
        command.stdout(writer);
        let limit = Duration::from_millis(20);
        let ended = run(&mut command, limit, &Cancellation::new()).unwrap();
        assert!(matches!(ended, Ended::TimedOut));
        drop(command);
        // The end of the file comes when the last program that could write is gone.
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
    }

    // Without it a cancelled compile would go on.
    #[test]
    fn a_cancelled_program_is_stopped() {
        let cancellation = Cancellation::new();
        cancellation.cancel();
        let ended = run(&mut sleep(), Duration::from_secs(600), &cancellation).unwrap();
        assert!(matches!(ended, Ended::Cancelled));
    }

    // Without it a variable of a user's shell could change what is compiled, and no key would tell.
    #[test]
    fn no_variable_of_the_caller_is_left() {
        let mut command = Command::new("clang");
        command.env("CPATH", "/include");
        seclude(&mut command, Path::new("/private"));
        let names: Vec<_> = command
            .get_envs()
            .map(|(name, _)| name.to_owned())
            .collect();
        assert!(names.iter().all(|name| name != "CPATH" && name != "HOME"));
        assert!(names.iter().any(|name| name == "TMPDIR"));
    }
}
