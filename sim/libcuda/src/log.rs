//! The log of calls: one line for each, written before the call returns.

use std::fmt::{Debug, Write as _};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use cupola_sim::Machine;
use cupola_sys::driver::{CUresult, SYMBOLS};
use cupola_sys::{Status as _, SymbolId};

use crate::process;

/// Where lines go.
pub(crate) enum Sink {
    File(Mutex<File>),
    Error,
}

impl Sink {
    /// A file to add to, or standard error. A program may start others, which write to the
    /// same file: the process that starts the first one empties it.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        if path == Path::new("stderr") {
            return Ok(Self::Error);
        }
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self::File(Mutex::new(file)))
    }

    pub(crate) fn write(&self, text: &str) {
        match self {
            // A full disk must not change what the program under test sees.
            Self::File(file) => {
                let mut file = file
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                let _ = file.write_all(text.as_bytes());
            }
            Self::Error => process::write_error(text),
        }
    }
}

/// The log of a process.
pub(crate) struct Log {
    sink: Sink,
    started: Instant,
    calls: AtomicU64,
}

/// The arguments of a call, as text.
pub(crate) struct Line(String);

impl Line {
    pub(crate) fn argument(&mut self, name: &str, value: &dyn Debug) {
        if !self.0.ends_with('(') {
            self.0.push_str(", ");
        }
        // Writing to a text does not fail.
        let _ = write!(self.0, "{name}={value:?}");
    }
}

impl Log {
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        Ok(Self {
            sink: Sink::open(path)?,
            started: Instant::now(),
            calls: AtomicU64::new(0),
        })
    }

    /// Runs a call and writes its line:
    /// `number, milliseconds since the first call, process, thread, call, result, microseconds`.
    pub(crate) fn around(
        &self,
        id: SymbolId,
        machine: &Machine,
        run: &dyn Fn() -> CUresult,
        describe: &dyn Fn(&mut Line),
    ) -> CUresult {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let at = self.started.elapsed();
        let name = SYMBOLS
            .get(usize::from(id.0))
            .map_or("?", |symbol| symbol.as_str());
        let mut line = Line(format!(
            "{number} {:.3}ms {} {:?} {name}(",
            at.as_secs_f64() * 1e3,
            std::process::id(),
            std::thread::current().id(),
        ));
        describe(&mut line);
        let noted = machine.message_count();
        let before = Instant::now();
        let code = run();
        let took = before.elapsed().as_secs_f64() * 1e6;
        let mut text = line.0;
        let result = code.name().unwrap_or("?");
        let _ = writeln!(text, ") = {result} ({}) {took:.1}us", code.0);
        for message in machine.messages_since(noted) {
            let _ = writeln!(text, "  {message}");
        }
        self.sink.write(&text);
        code
    }
}
