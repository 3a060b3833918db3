//! Logs of RMM's `logging_resource_adaptor` (RAPIDS Memory Manager): CSV with the columns
//! Thread, Time, Action, Pointer, Size, Stream.
//!
//! Actions are `allocate`, `free` (`deallocate` in some documents) and `allocate failure`, which
//! is counted. The time is that of a day, `14:21:19.998533` or, in older versions,
//! `14:21:19:998533`, and a fall by more than half a day is midnight, behind which lines of the
//! hour before it may still come; seconds since 1970 are taken as well. A free of a pointer that
//! was never allocated is a block from before the log.

use std::collections::HashMap;
use std::io::BufRead;

use super::build::{Builder, Memory, Refusal, lines};
use super::{ReadOptions, Trace, TraceError};

/// The first line of a log.
pub const HEADER: &str = "Thread,Time";

const COLUMNS: &str = "Thread,Time,Action,Pointer,Size,Stream";
const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 24 * 3600 * SECOND;

/// By how much a line may be late: one that would be nearly a day ahead is of the day before.
const LATE: u64 = 3600 * SECOND;

/// Reads a log.
///
/// # Errors
/// [`TraceError::Line`], and what reading takes.
pub fn read(source: impl BufRead, options: &ReadOptions) -> Result<Trace, TraceError> {
    let mut log = Log {
        builder: Builder::new(Memory::new(options)),
        words: HashMap::new(),
        midnights: 0,
        last: None,
    };
    lines(source, options, |line, text| match (line, text) {
        (1, COLUMNS) | (2.., "") => Ok(()),
        // Logs put together by `cat`: pointers and streams of one mean nothing in the next.
        (2.., COLUMNS) => Err("another log begins here; each is a trace of its own".into()),
        (1, _) => Err("the columns are not those of a log of RMM".into()),
        _ => log.line(text),
    })?;
    Ok(log.builder.finish())
}

struct Log {
    builder: Builder<u64>,
    /// Streams and threads are named by whatever a system prints for a pointer.
    words: HashMap<String, u64>,
    midnights: u64,
    /// The time of day of the line before.
    last: Option<u64>,
}

impl Log {
    fn line(&mut self, text: &str) -> Result<(), Refusal> {
        let mut columns = text.split(',').map(str::trim);
        let mut next = || columns.next().filter(|column| !column.is_empty());
        let thread = next().ok_or("the thread is missing")?;
        let time = next().ok_or("the time is missing")?;
        let action = next().ok_or("the action is missing")?;
        let pointer = next().ok_or("the pointer is missing")?;
        let bytes = next().ok_or("the size is missing")?;
        let stream = next().ok_or("the stream is missing")?;
        if columns.next().is_some() {
            return Err("there are more than six columns".into());
        }
        let time = clock(time).ok_or("the time is neither of a day nor in seconds")?;
        let bytes: u64 = bytes.parse().map_err(|_| "the size is not a number")?;
        if action == "allocate failure" {
            self.builder.ignored().failures += 1;
            return Ok(());
        }
        let address = hexadecimal(pointer).ok_or("the pointer is not an address")?;
        match action {
            // Every allocation of no bytes may have the same pointer, or none.
            "allocate" if bytes == 0 || address == 0 => {
                self.builder.ignored().empty += 1;
                return Ok(());
            }
            "free" | "deallocate" if bytes == 0 || address == 0 => return Ok(()),
            "allocate" => {
                let stream = self.word(stream)?;
                self.builder.allocate(address, bytes, stream)?;
            }
            "free" | "deallocate" => {
                let stream = self.word(stream)?;
                if !self.builder.free(&address, Some(stream))? {
                    let ignored = self.builder.ignored();
                    ignored.older_blocks += 1;
                    ignored.older_bytes = ignored.older_bytes.saturating_add(bytes);
                    return Ok(());
                }
            }
            _ => return Err("the action is not allocate, free or allocate failure".into()),
        }
        let time = self.forward(time);
        self.builder.at(time);
        let thread = self.word(thread)?;
        self.builder.by(thread)?;
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<u64, TraceError> {
        if let Some(&known) = self.words.get(word) {
            return Ok(known);
        }
        self.builder.take(word.len() + 128)?;
        let new = self.words.len() as u64;
        self.words.insert(word.into(), new);
        Ok(new)
    }

    /// `time` on a clock that does not fall back at midnight.
    fn forward(&mut self, time: u64) -> u64 {
        let last = self.last.unwrap_or(time);
        if last.saturating_sub(time) > DAY / 2 {
            self.midnights += 1;
        } else if time < DAY && time.saturating_sub(last) > DAY - LATE {
            // From before the midnight that others have written down already: threads race.
            let days = self.midnights.checked_sub(1);
            return days.map_or(0, |days| time.saturating_add(days.saturating_mul(DAY)));
        }
        self.last = Some(time);
        time.saturating_add(self.midnights.saturating_mul(DAY))
    }
}

/// `HH:MM:SS.ffffff`, `HH:MM:SS:ffffff` or `seconds.ffffff` in nanoseconds.
fn clock(text: &str) -> Option<u64> {
    let mut parts = text.split([':', '.']);
    let mut whole = || parts.next()?.parse::<u64>().ok();
    let seconds = if text.contains(':') {
        let (hours, minutes, seconds) = (whole()?, whole()?, whole()?);
        if hours >= 24 || minutes >= 60 || seconds > 60 {
            return None;
        }
        (hours * 60 + minutes) * 60 + seconds
    } else {
        whole()?
    };
    let fraction = match parts.next() {
        None => 0,
        // At most nine digits, right of the point.
        Some(digits) if digits.len() <= 9 => {
            let value: u64 = digits.parse().ok()?;
            value * 10_u64.pow(9 - digits.len() as u32)
        }
        Some(_) => return None,
    };
    if parts.next().is_some() {
        return None;
    }
    seconds.checked_mul(SECOND)?.checked_add(fraction)
}

/// An address as `%p` prints it.
fn hexadecimal(text: &str) -> Option<u64> {
    match text {
        "(nil)" => Some(0),
        _ => u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Ignored, Operation};
    use super::*;

    fn log(rows: &str) -> Result<Trace, TraceError> {
        Trace::read(format!("{COLUMNS}\n{rows}").as_bytes())
    }

    /// Without it a column could be read as another, a free be put on the wrong stream, or a
    /// block from before the log be freed.
    #[test]
    fn every_column_means_what_it_says() {
        let trace = log("7,23:59:59.999999,allocate,0x7f00,1024,0x2\r\n\
             8,00:00:00.000001,allocate,0x8f00,16,1\n\
             7,00:00:00.000002,allocate failure,(nil),99,0x2\n\
             7,00:00:00.000003,free,0x9f00,512,0x2\n\
             8,00:00:00.000004,free,0x7f00,1024,1\n\
             8,00:00:00.000005,allocate,(nil),0,1\n\n")
        .unwrap();
        assert_eq!(
            trace.operations(),
            [
                Operation::Allocate {
                    block: 0,
                    bytes: 1024,
                    stream: 0
                },
                Operation::Allocate {
                    block: 1,
                    bytes: 16,
                    stream: 1
                },
                Operation::Free {
                    block: 0,
                    stream: 1
                },
            ]
        );
        let times: Vec<_> = (0..4).map(|index| trace.time(index)).collect();
        assert_eq!(times, [Some(0), Some(2_000), Some(5_000), None]);
        let threads: Vec<_> = (0..3).map(|index| trace.thread(index)).collect();
        assert_eq!(threads, [Some(0), Some(1), Some(1)]);
        assert_eq!(trace.peak_bytes(), 1040);
        let expected = Ignored {
            older_blocks: 1,
            older_bytes: 512,
            failures: 1,
            empty: 1,
            ..Ignored::default()
        };
        assert_eq!(trace.ignored(), expected);
        assert_eq!(
            expected.lines(),
            [
                "1 block (512 bytes) from before the recording",
                "1 request that failed when it was recorded",
                "1 allocation of no bytes",
            ]
        );
    }

    /// Without it one line that comes late, from before midnight, put all after it a day off.
    #[test]
    fn a_late_line_around_midnight_is_of_the_day_before() {
        let times = |clocks: &[&str]| -> Vec<u64> {
            let rows = clocks.iter().enumerate();
            let rows = rows.map(|(row, clock)| format!("1,{clock},allocate,0x{row}00f,8,0\n"));
            let trace = log(&rows.collect::<String>()).unwrap();
            (0..clocks.len())
                .filter_map(|row| trace.time(row))
                .collect()
        };
        let late = times(&[
            "23:59:59.0",
            "00:00:00.000010",
            "23:59:59.999999",
            "00:00:00.00002",
        ]);
        assert_eq!(late, [0, 1_000_010_000, 1_000_010_000, 1_000_020_000]);
        // The same at the beginning, where the day before is before everything.
        let late = times(&["00:00:00.000010", "23:59:59.999999", "00:00:00.00002"]);
        assert_eq!(late, [0, 0, 10_000]);
        // A night without work is one, and so is the next midnight.
        let hours = times(&["23:00:00", "01:00:00", "20:00:00", "02:00:00"]);
        assert_eq!(hours, [0, 2, 21, 27].map(|hour| hour * 3600 * SECOND));
    }

    /// Without it a time of one of RMM's versions could be refused, or be off by a factor.
    #[test]
    fn clocks_of_all_versions_are_read() {
        let base = (14 * 3600 + 21 * 60 + 19) * SECOND;
        assert_eq!(clock("14:21:19.998533"), Some(base + 998_533_000));
        assert_eq!(clock("14:21:19:998533"), Some(base + 998_533_000));
        assert_eq!(clock("14:21:19"), Some(base));
        assert_eq!(clock("1634567890.5"), Some(1_634_567_890_500_000_000));
        for wrong in [
            "",
            "25:00:00",
            "1:2",
            "1:60:00",
            "1.2.3",
            "1.0123456789",
            "-1",
            "1:2:3:4:5",
        ] {
            assert_eq!(clock(wrong), None, "{wrong}");
        }
    }

    /// Without it a damaged log could replay as something else.
    #[test]
    fn wrong_lines_are_named() {
        let first = "1,1.0,allocate,0x10,8,0\n";
        for (second, words) in [
            ("1,1.0,allocate,0x10,8,0", "already allocated"),
            ("1,1.0,allocate,0x20,8", "stream is missing"),
            ("1,1.0,allocate,0x20,8,0,9", "six columns"),
            ("1,1.0,allocate,0x20,x,0", "size"),
            ("1,1.0,allocate,zz,8,0", "pointer"),
            ("1,noon,allocate,0x20,8,0", "time"),
            ("1,1.0,resize,0x20,8,0", "action"),
            (COLUMNS, "another log begins"),
        ] {
            let error = log(&format!("{first}{second}")).unwrap_err();
            assert!(matches!(error, TraceError::Line { line: 3, .. }), "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
        let error = Trace::read(&b"Thread,Time,What\n"[..]).unwrap_err();
        assert!(matches!(error, TraceError::Line { line: 1, .. }), "{error}");
    }
}
