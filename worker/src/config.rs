//! `WorkerConfig`: what to start, and how patient to be with it.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::frame::JOB_LIMIT;
use crate::refusal::WorkerError;

/// A year.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// How a worker is started and supervised.
///
/// ```
/// use std::time::Duration;
/// use cupola_worker::WorkerConfig;
///
/// let mut config = WorkerConfig::new("scale");
/// config.item_deadline = Some(Duration::from_secs(30));
/// config.command().env("CUDA_VISIBLE_DEVICES", "1");
/// ```
#[derive(Debug)]
pub struct WorkerConfig {
    /// How long an item may take before the worker counts as hung and is killed; `None`, the
    /// default, waits for ever. Counted while nothing is heard of the worker, and noticed
    /// only inside of the supervisor's calls. A panic is reported after its backtrace was
    /// written (`RUST_BACKTRACE`), which can take longer than a short deadline.
    pub item_deadline: Option<Duration>,
    /// How long the start of the program and the making of the handler may take together.
    /// 60 s.
    pub start_deadline: Duration,
    /// How long a worker that was told to end, or is about to, has before it is killed. 5 s.
    pub stop_deadline: Duration,
    /// How many workers may be lost with an item before it is given up. 3.
    pub attempts: u32,
    /// How many workers may be lost within [`restart_window`](Self::restart_window) and be
    /// replaced. 10.
    pub restarts: u32,
    /// See [`restarts`](Self::restarts). 60 s.
    pub restart_window: Duration,
    /// How long to wait before the next start after a worker was lost that had answered
    /// nothing; doubles each time. One that had answered is replaced at once. 100 ms.
    pub backoff: Duration,
    /// The longest such wait. 10 s.
    pub backoff_ceiling: Duration,
    /// How many items may be with the worker, so that the next one is there when it has
    /// finished one. 4.
    pub window: usize,
    /// How many items may be taken whose outcomes were not received. 64.
    pub capacity: usize,
    /// How many bytes the items without an outcome and the results that were not received may
    /// have together for an item to be taken. One item is always taken, and results of items
    /// that were taken always come in. 256 MiB.
    pub capacity_bytes: usize,
    /// Most bytes of an item and of a result. 64 MiB.
    pub item_limit: u32,
    pub(super) job: String,
    pub(super) program: PathBuf,
    pub(super) command: Command,
}

impl WorkerConfig {
    /// This program, started once more without arguments, as the worker of `job`.
    ///
    /// On Linux this is the program that runs, even if its file has been replaced since.
    #[must_use]
    pub fn new(job: &str) -> Self {
        let here = std::env::current_exe().unwrap_or_default();
        let mut command = Command::new(this_program(&here));
        name_it(&mut command, here.as_os_str());
        Self::with(job, command, here)
    }

    /// Another program, with its arguments, environment, folder, output and error as they are
    /// in `command`. The standard input of a worker is the connection to its supervisor.
    #[must_use]
    pub fn with_command(job: &str, command: Command) -> Self {
        let program = command.get_program().into();
        Self::with(job, command, program)
    }

    fn with(job: &str, command: Command, program: PathBuf) -> Self {
        Self {
            item_deadline: None,
            start_deadline: Duration::from_secs(60),
            stop_deadline: Duration::from_secs(5),
            attempts: 3,
            restarts: 10,
            restart_window: Duration::from_secs(60),
            backoff: Duration::from_millis(100),
            backoff_ceiling: Duration::from_secs(10),
            window: 4,
            capacity: 64,
            capacity_bytes: 256 << 20,
            item_limit: 64 << 20,
            job: job.to_owned(),
            program,
            command,
        }
    }

    /// The command that starts the worker, to add arguments and environment to.
    ///
    /// A program that handles Ctrl-C itself may want a
    /// process group for the worker (`CommandExt::process_group(0)`): a terminal sends the
    /// signal to the worker too.
    pub fn command(&mut self) -> &mut Command {
        &mut self.command
    }

    /// Refuses what cannot be. Times without end become very long ones, which can be added
    /// to an instant.
    pub(super) fn check(&mut self) -> Result<(), WorkerError> {
        let times = [
            &mut self.start_deadline,
            &mut self.stop_deadline,
            &mut self.backoff_ceiling,
        ];
        for time in times.into_iter().chain(&mut self.item_deadline) {
            *time = LONGEST.min(*time);
        }
        let refuse = |field, problem| Err(WorkerError::Invalid { field, problem });
        if self.job.is_empty() || self.job.len() > JOB_LIMIT || self.job.contains('\0') {
            return refuse("job", "must be 1 to 255 bytes without a zero byte");
        }
        if self.attempts == 0 {
            return refuse("attempts", "must be 1 at least");
        }
        if self.window == 0 {
            return refuse("window", "must be 1 at least");
        }
        if self.capacity == 0 {
            return refuse("capacity", "must be 1 at least");
        }
        if self.item_limit > 1 << 30 {
            return refuse("item_limit", "must be 1 GiB at most");
        }
        Ok(())
    }
}

/// The path to start this program by.
#[cfg(target_os = "linux")]
fn this_program(_: &std::path::Path) -> PathBuf {
    // The file that this process runs, whatever its path leads to by now.
    PathBuf::from("/proc/self/exe")
}

#[cfg(not(target_os = "linux"))]
fn this_program(here: &std::path::Path) -> PathBuf {
    here.to_owned()
}

/// What the program sees as its own name.
#[cfg(unix)]
fn name_it(command: &mut Command, name: &OsStr) {
    std::os::unix::process::CommandExt::arg0(command, name);
}

#[cfg(not(unix))]
fn name_it(_: &mut Command, _: &OsStr) {}
