//! What the driver says of calls that failed (`cuLogs*`), in the form of NVIDIA's.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::SystemTime;

use cupola_sys::Status as _;
use cupola_sys::driver::CUresult;

use crate::device::sync::lock;

/// Most lines that are kept.
const KEPT: usize = 100;

/// The latest lines of a machine.
#[derive(Debug, Default)]
pub(in crate::device) struct Logs(Mutex<Latest>);

#[derive(Debug, Default)]
struct Latest {
    lines: VecDeque<String>,
    /// How many there were before the first of `lines`.
    forgotten: u32,
}

thread_local! {
    /// What the call that this thread is in has to say, should it fail.
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
    /// Whether there is something.
    static HAS_SAID: Cell<bool> = const { Cell::new(false) };
}

/// Why the call that this thread is in is about to fail, or has failed.
pub(in crate::device) fn say(why: &str) {
    HAS_SAID.set(true);
    SAID.set(Some(why.to_owned()));
}

/// What was said since the last call of this thread ended.
pub(super) fn take_said() -> Option<String> {
    if !HAS_SAID.replace(false) {
        return None;
    }
    SAID.take()
}

impl Logs {
    /// A call has failed, for this reason if there is more to say than its code.
    pub(in crate::device) fn add(&self, function: &str, code: CUresult, why: Option<&str>) {
        let head = format!("[{}][{}][CUDA][E]", time(), thread());
        let name = code.name().unwrap_or("unknown");
        let last = format!("Returning {} ({name}) from {function}", code.0);
        let mut latest = lock(&self.0);
        for message in why.into_iter().flat_map(str::lines).chain([&*last]) {
            if latest.lines.len() == KEPT {
                latest.lines.pop_front();
                latest.forgotten += 1;
            }
            latest.lines.push_back(format!("{head} {message}\n"));
        }
    }

    /// Where the next line comes.
    pub(in crate::device) fn end(&self) -> u32 {
        let latest = lock(&self.0);
        latest.forgotten + latest.lines.len() as u32
    }

    /// The newest of the lines from `start` on that have room in so many bytes, where the next one
    /// comes, and whether there were any.
    pub(in crate::device) fn since(&self, start: u32, room: usize) -> (String, u32, bool) {
        let latest = lock(&self.0);
        let end = latest.forgotten + latest.lines.len() as u32;
        let known = start.saturating_sub(latest.forgotten) as usize;
        let lines = latest.lines.iter().skip(known);
        let mut left = room;
        let fits = |line: &&String| {
            let fits = line.len() <= left;
            left = left.saturating_sub(line.len());
            fits
        };
        let newest = lines.clone().rev().take_while(fits).count();
        let there = lines.clone().count();
        let text = lines.skip(there - newest).cloned().collect();
        (text, end, there > 0)
    }
}

/// The time of day.
fn time() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default();
    let (seconds, millis) = (since.as_secs() % 86_400, since.subsec_millis());
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02}.{millis:03}", seconds % 60)
}

/// This thread's number, as NVIDIA's driver writes it.
#[cfg(unix)]
fn thread() -> usize {
    unsafe extern "C" {
        safe fn pthread_self() -> usize;
    }
    pthread_self()
}

#[cfg(not(unix))]
fn thread() -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

    /// What there is from `start` on, without the time and the thread of each line.
    fn since(logs: &Logs, start: u32, room: usize) -> (Vec<String>, u32, bool) {
        let (text, end, any) = logs.since(start, room);
        let said = |line: &str| line.split("[E] ").nth(1).unwrap_or("").to_owned();
        (text.lines().map(said).collect(), end, any)
    }

    /// Without it a program that follows the log could get lines twice or never, when there are
    /// more than are kept.
    #[test]
    fn the_oldest_lines_go_and_places_stay() {
        let logs = Logs::default();
        assert_eq!((logs.end(), since(&logs, 0, 99)), (0, (vec![], 0, false)));
        for number in 0..70 {
            logs.add("f", CODE, Some(&format!("reason {number}")));
        }
        assert_eq!(logs.end(), 140);
        let (lines, end, any) = since(&logs, 0, usize::MAX);
        assert_eq!((lines.len(), end, any), (KEPT, 140, true));
        assert_eq!(lines[0], "reason 20", "the oldest that is kept");
        let (lines, ..) = since(&logs, 138, usize::MAX);
        let last = "Returning 1 (CUDA_ERROR_INVALID_VALUE) from f";
        assert_eq!(lines, ["reason 69", last]);
        // A place that is forgotten, one at the end, and one that never was.
        assert_eq!(since(&logs, 3, usize::MAX).0.len(), KEPT);
        assert_eq!(since(&logs, 140, usize::MAX), (vec![], 140, false));
        assert_eq!(since(&logs, 999, usize::MAX), (vec![], 140, false));
    }

    /// Without it a small buffer could be overrun, get half a line, or lose the newest for the
    /// oldest.
    #[test]
    fn the_newest_whole_lines_are_given() {
        let logs = Logs::default();
        for function in ["one", "two", "three"] {
            logs.add(function, CODE, None);
        }
        let all = logs.since(0, usize::MAX).0;
        let newest = all.lines().last().unwrap().len() + 1;
        for (room, lines) in [
            (0, 0),
            (newest - 1, 0),
            (newest, 1),
            (all.len() - 1, 2),
            (all.len(), 3),
        ] {
            let (text, end, any) = logs.since(0, room);
            assert!(all.ends_with(&text) && text.len() <= room, "{text}");
            assert_eq!((text.lines().count(), end, any), (lines, 3, true));
        }
    }
}
