//! What people see while the program works: a progress bar on a terminal, plain lines
//! otherwise, nothing with `--json`.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::exit::Failure;

/// Sizes as people read them: `1.25 GiB`.
pub(crate) fn bytes(count: u64) -> String {
    let mut value = count as f64;
    for unit in ["bytes", "KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 || unit == "TiB" {
            return if unit == "bytes" {
                format!("{count} bytes")
            } else {
                format!("{value:.2} {unit}")
            };
        }
        value /= 1024.0;
    }
    format!("{count} bytes")
}

/// So many of them, as people write it: `1 thread`, `2 threads`.
pub(crate) fn count(number: impl Into<u64>, what: &str) -> String {
    match number.into() {
        1 => format!("1 {what}"),
        number => format!("{number} {what}s"),
    }
}

/// How a check ended, in a word.
pub(crate) fn verdict(right: bool) -> &'static str {
    if right { "verified" } else { "WRONG" }
}

/// Writes to standard output. A reader that has gone away (`cupola run | head -1`) is not an
/// error: the work goes on, and its exit code still says how it went.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    say_bytes(text.as_bytes())
}

/// As [`say`].
pub(crate) fn say_bytes(text: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    said(out.write_all(text).and_then(|()| out.flush()))
}

/// What came of writing to standard output.
pub(crate) fn said(written: io::Result<()>) -> Result<(), Failure> {
    unless_closed(written).map_err(|error| Failure::file("standard output".as_ref(), error))
}

/// `written`, but for a reader that has gone away.
pub(crate) fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes to standard error. Where that fails no place is left to tell it; the exit code stays.
pub(crate) fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// How far a piece of work is.
pub(crate) struct Progress {
    bar: ProgressBar,
    plain: bool,
    what: &'static str,
    total: u64,
    said: Instant,
}

impl Progress {
    /// Progress of `total` steps; silent if `quiet`.
    pub(crate) fn new(what: &'static str, total: u64, quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let bar = ProgressBar::new(total);
        if quiet || !terminal {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        } else if let Ok(style) =
            ProgressStyle::with_template("{msg:>8} [{wide_bar}] {pos}/{len} {eta}")
        {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        Self {
            bar,
            plain: !quiet && !terminal,
            what,
            total,
            said: Instant::now(),
        }
    }

    /// Says that `done` steps are done.
    pub(crate) fn at(&mut self, done: u64) {
        self.bar.set_position(done);
        // A log wants a line now and then, not a bar.
        if self.plain && self.said.elapsed() >= Duration::from_secs(5) {
            self.said = Instant::now();
            complain(&format!("{}: {done} of {}\n", self.what, self.total));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    /// Without it a size could be shown in the wrong unit.
    #[test]
    fn sizes_are_readable() {
        assert_eq!(super::bytes(0), "0 bytes");
        assert_eq!(super::bytes(1023), "1023 bytes");
        assert_eq!(super::bytes(1536), "1.50 KiB");
        assert_eq!(super::bytes(8 << 30), "8.00 GiB");
        assert_eq!(super::bytes(u64::MAX), "16777216.00 TiB");
    }

    /// Without it a report could speak of 1 threads.
    #[test]
    fn one_is_not_several() {
        let said = [0_u64, 1, 2].map(|number| super::count(number, "thread"));
        assert_eq!(said, ["0 threads", "1 thread", "2 threads"]);
    }
}
