//! Copy engines: how many copies between host and device run at once, and how long.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use crate::device::machine::config::{DeviceConfig, Pace};
use crate::device::sync::{lock, wait};

/// Which way a copy goes over the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) enum Direction {
    Upload,
    Download,
}

/// First come, first served: a copy draws a number and waits until it is called.
#[derive(Debug, Default)]
struct Desk {
    drawn: u64,
    done: u64,
}

#[derive(Debug)]
struct Engine {
    desk: Mutex<Desk>,
    called: Condvar,
    /// How many copies it does at once.
    width: u64,
}

/// The copy engines of a device.
#[derive(Debug)]
pub(in crate::device) struct Engines {
    /// One for both directions, or one for each.
    engines: Vec<Engine>,
    pub(in crate::device) pace: Pace,
    /// Copies last as long in the host's time. With virtual time, the machine's scheduler
    /// sees to the engines.
    real: bool,
}

/// Holds an engine until dropped.
pub(in crate::device) struct Held<'a>(&'a Engine);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        lock(&self.0.desk).done += 1;
        self.0.called.notify_all();
    }
}

impl Engines {
    pub(in crate::device) fn new(config: &DeviceConfig, real: bool) -> Self {
        let count = u64::from(config.copy_engines);
        let engine = |width| Engine {
            desk: Mutex::default(),
            called: Condvar::new(),
            width,
        };
        let engines = if count < 2 {
            vec![engine(1)]
        } else {
            vec![engine(count.div_ceil(2)), engine(count / 2)]
        };
        Self {
            engines,
            pace: config.pace.clone(),
            real,
        }
    }

    /// Waits for a free engine of the direction.
    pub(in crate::device) fn acquire(&self, direction: Direction) -> Held<'_> {
        let index = match direction {
            Direction::Upload => 0,
            Direction::Download => self.engines.len() - 1,
        };
        let engine = &self.engines[index];
        let mut desk = lock(&engine.desk);
        let number = desk.drawn;
        desk.drawn += 1;
        // With one lane this is strict order; with more, `done` of later copies may let
        // this one in early, never more than `width` at once.
        while number >= desk.done + engine.width {
            desk = wait(&engine.called, desk);
        }
        Held(engine)
    }

    /// Bytes a second; `None` if copies take no time.
    pub(in crate::device) fn rate(&self, direction: Direction) -> Option<u64> {
        match direction {
            Direction::Upload => self.pace.upload,
            Direction::Download => self.pace.download,
        }
    }

    /// How long a copy of `bytes` keeps the host waiting.
    pub(in crate::device) fn time(&self, direction: Direction, bytes: u64) -> Duration {
        if !self.real {
            return Duration::ZERO;
        }
        let bytes = self.rate(direction).map_or(Duration::ZERO, |rate| {
            Duration::from_secs_f64(bytes as f64 / rate as f64)
        });
        self.pace.copy.saturating_add(bytes)
    }
}
