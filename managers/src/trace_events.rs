//! Files of the trace event format (JSON), which <https://ui.perfetto.dev> and `chrome://tracing` open.
//!
//! A [`TraceWriter`] writes one event after the other and keeps none. A crate that writes JSON would be
//! one more to compile for each dependent.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

/// A row of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track {
    /// The group of rows, which viewers call a process.
    pub group: u32,
    /// The row in it, which viewers call a thread.
    pub row: usize,
}

/// A stretch of time, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Its beginning.
    pub start: f64,
    /// Its end.
    pub end: f64,
}

/// What is said of a slice beside its name: shown when it is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument<'a> {
    /// A whole number.
    Integer(&'static str, u64),
    /// A number: JSON has none that is not finite, which is written as 0 or as very large.
    Number(&'static str, f64),
    /// A text.
    Text(&'static str, &'a str),
}

/// Which part of an arrow is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrowPart {
    /// Its beginning.
    Start,
    /// A place that it passes.
    Step,
    /// Its end.
    End,
}

/// Writes a trace event by event.
pub struct TraceWriter<'w> {
    to: &'w mut dyn Write,
    /// What is written before the next event.
    separator: &'static str,
}

impl<'w> TraceWriter<'w> {
    /// Begins a trace.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn begin(to: &'w mut dyn Write) -> io::Result<Self> {
        write!(to, "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let separator = "";
        Ok(Self { to, separator })
    }

    /// Names a group of rows.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn name_group(&mut self, group: u32, name: &str) -> io::Result<()> {
        self.name(Track { group, row: 0 }, "process_name", name)
    }

    /// Names a row.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn name_row(&mut self, track: Track, name: &str) -> io::Result<()> {
        self.name(track, "thread_name", name)
    }

    fn name(&mut self, track: Track, what: &str, name: &str) -> io::Result<()> {
        self.event("M", track)?;
        let name = JsonText(name);
        write!(
            self.to,
            ",\"name\":\"{what}\",\"args\":{{\"name\":{name}}}}}"
        )
    }

    /// A slice of a row, of a category where there is one. The slices of a row do not overlap.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn slice(
        &mut self,
        track: Track,
        span: Span,
        name: &str,
        category: Option<&str>,
        arguments: &[Argument<'_>],
    ) -> io::Result<()> {
        self.event("X", track)?;
        let (start, end) = (microseconds(span.start), microseconds(span.end));
        let (long, name) = (finite(end - start).max(0.0), JsonText(name));
        write!(
            self.to,
            ",\"ts\":{start:.3},\"dur\":{long:.3},\"name\":{name}"
        )?;
        if let Some(category) = category {
            write!(self.to, ",\"cat\":{}", JsonText(category))?;
        }
        write!(self.to, ",\"args\":{{")?;
        let mut separator = "";
        for argument in arguments {
            write!(self.to, "{separator}{argument}")?;
            separator = ",";
        }
        write!(self.to, "}}}}")
    }

    /// A part of the arrow of this number, at a time in milliseconds. It ends in the slice that is there.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn arrow(
        &mut self,
        part: ArrowPart,
        track: Track,
        at: f64,
        name: &str,
        number: u64,
    ) -> io::Result<()> {
        let (kind, more) = match part {
            ArrowPart::Start => ("s", ""),
            ArrowPart::Step => ("t", ""),
            ArrowPart::End => ("f", ",\"bp\":\"e\""),
        };
        self.event(kind, track)?;
        let (at, name) = (microseconds(at), JsonText(name));
        write!(
            self.to,
            "{more},\"ts\":{at:.3},\"id\":{number},\"cat\":{name},\"name\":{name}}}"
        )
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn end(self) -> io::Result<()> {
        write!(self.to, "\n]}}\n")
    }

    /// Begins an event, which its caller goes on with.
    fn event(&mut self, kind: &str, track: Track) -> io::Result<()> {
        let (separator, Track { group, row }) = (self.separator, track);
        self.separator = ",";
        write!(
            self.to,
            "{separator}\n{{\"ph\":\"{kind}\",\"pid\":{group},\"tid\":{row}"
        )
    }
}

impl fmt::Debug for TraceWriter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceWriter").finish_non_exhaustive()
    }
}

impl fmt::Display for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Integer(name, value) => write!(f, "{}:{value}", JsonText(name)),
            Self::Number(name, value) => write!(f, "{}:{:.3}", JsonText(name), finite(value)),
            Self::Text(name, value) => write!(f, "{}:{}", JsonText(name), JsonText(value)),
        }
    }
}

/// A text as JSON has it: in quotes, and with what those forbid escaped.
#[derive(Clone, Copy, Debug)]
pub struct JsonText<'a>(pub &'a str);

impl fmt::Display for JsonText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for letter in self.0.chars() {
            match letter {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                control if u32::from(control) < 0x20 => {
                    write!(f, "\\u{:04x}", u32::from(control))?;
                }
                other => f.write_char(other)?,
            }
        }
        f.write_char('"')
    }
}

/// Of milliseconds.
fn microseconds(milliseconds: f64) -> f64 {
    finite(milliseconds * 1e3)
}

/// JSON has no other numbers, and readers none of hundreds of digits.
fn finite(number: f64) -> f64 {
    match number.is_nan() {
        true => 0.0,
        false => number.clamp(-1e18, 1e18),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a kernel's name, or a time that is no number, could make a file that no viewer opens.
    #[test]
    fn any_text_and_any_number_is_json() {
        #[expect(clippy::needless_pass_by_value, reason = "quickcheck gives values")]
        fn property(name: String, times: (f64, f64), number: u64) -> bool {
            let track = Track { group: 1, row: 2 };
            let span = Span {
                start: times.0,
                end: times.1,
            };
            let mut text = Vec::new();
            let mut trace = TraceWriter::begin(&mut text).unwrap();
            trace.name_group(1, &name).unwrap();
            let arguments = [
                Argument::Integer("number", number),
                Argument::Number("time", times.0),
                Argument::Text("text", &name),
            ];
            let category = Some(&*name);
            (trace.slice(track, span, &name, category, &arguments)).unwrap();
            (trace.arrow(ArrowPart::End, track, times.1, &name, number)).unwrap();
            trace.end().unwrap();
            let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
            let events = read["traceEvents"].as_array().unwrap();
            events.len() == 3
                && events[0]["args"]["name"] == *name
                && events[1]["name"] == *name
                && events[1]["args"]["text"] == *name
                && events[1]["args"]["number"] == number
                && events[1]["dur"].as_f64().unwrap() >= 0.0
        }
        let names = ["a\"b\\c\n\t\u{1}\u{7f}ü", ""];
        for name in names {
            assert!(property(name.into(), (f64::NAN, f64::INFINITY), u64::MAX));
        }
        quickcheck::quickcheck(property as fn(String, (f64, f64), u64) -> bool);
    }
}
