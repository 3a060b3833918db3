//! Allocation traces: what a real program asked of its allocator, in order.
//!
//! [`Trace::read`] takes several formats and tells them apart by their content:
//!
//! | format | what it is |
//! |---|---|
//! | [`native`] | text, `a ID BYTES STREAM` or `f ID [STREAM]` a line |
//! | [`snapshot`] | PyTorch's memory snapshot, as the pickle that it writes or as JSON |
//! | [`rmm`] | the CSV log of RMM's logging resource adaptor |
//!
//! Files may be gzip-compressed, in one member or several (`cat a.gz b.gz`), and begin with a
//! byte order mark. The bundled trace is 13 transformer encoders served
//! behind one memory budget, recorded under PyTorch.
//!
//! A damaged or hostile file costs memory in proportion to its length and at most
//! [`ReadOptions::memory`], whatever it claims to hold.

mod build;
mod error;
pub mod generate;
pub mod native;
pub mod rmm;
pub mod smallest;
pub mod snapshot;
mod spread;

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

pub use error::TraceError;
use snapshot::Encoding;
pub(crate) use spread::SplitMix;

/// The bundled trace, compressed as it is committed.
pub const EMBED13: &[u8] = include_bytes!("../../data/embed13.trace.gz");

/// One operation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Allocate `bytes` as block `block`.
    Allocate {
        /// The position of the block among all blocks of the trace, from 0.
        block: usize,
        /// The size that the program asked for.
        bytes: u64,
        /// The stream it asked on, numbered from 0 in order of first use.
        stream: u32,
    },
    /// Free block `block`.
    Free {
        /// The block's position.
        block: usize,
        /// The stream that the free is ordered on. It is the block's own unless the trace
        /// says otherwise.
        stream: u32,
    },
}

/// A trace in memory: every block is allocated once, and freed at most once after that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    operations: Vec<Operation>,
    blocks: usize,
    streams: u32,
    peak: u64,
    /// Nanoseconds since the first operation, never falling; empty if the source had none.
    times: Vec<u64>,
    /// The thread of each operation, from 0 in order of first use; empty if not told.
    threads: Vec<u32>,
    /// The call site of each block, in `names`; empty if not told.
    sites: Vec<u32>,
    names: Vec<String>,
    ignored: Ignored,
}

/// What a source holds that a trace cannot: to be told to the reader of its figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ignored {
    /// Blocks that were alive before the recording began.
    pub older_blocks: u64,
    /// Their bytes.
    pub older_bytes: u64,
    /// Requests that had failed when the trace was recorded.
    pub failures: u64,
    /// Events of other devices.
    pub other_devices: u64,
    /// Allocations of no bytes in a log of RMM, which may all have the same pointer, or none.
    pub empty: u64,
}

impl Ignored {
    /// What there is, a line of it each, for people.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let older = format!(
            "({}) from before the recording",
            crate::picture::size(self.older_bytes)
        );
        let all = [
            (self.older_blocks, "block", older.as_str()),
            (self.failures, "request", "that failed when it was recorded"),
            (self.other_devices, "event", "of other devices"),
            (self.empty, "allocation", "of no bytes"),
        ];
        let any = all.into_iter().filter(|(count, ..)| *count > 0);
        any.map(|(count, what, which)| {
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} {what}{plural} {which}")
        })
        .collect()
    }
}

/// How to read a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Which device's events to take from a snapshot of several; the first that has any if
    /// `None`. Other formats do not tell devices apart: with anything else they are refused
    /// ([`TraceError::NoDevices`]).
    pub device: Option<usize>,
    /// The most bytes of host memory that reading may take. 8 GiB if nothing else is said.
    pub memory: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            device: None,
            memory: 8 << 30,
        }
    }
}

impl Trace {
    /// Reads a trace of any format, compressed or not.
    ///
    /// # Errors
    /// The bytes cannot be read, or are not a trace; the error says where.
    pub fn read(source: impl Read) -> Result<Self, TraceError> {
        Self::read_with(source, &ReadOptions::default())
    }

    /// [`read`](Self::read) with options.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_with(source: impl Read, options: &ReadOptions) -> Result<Self, TraceError> {
        let mut source = BufReader::new(source);
        let head = head(&mut source, GZIP.len())?;
        let source = head.chain(source);
        if head.starts_with(GZIP) {
            // One member after another, as `cat` and logs that are appended to leave them.
            parse(BufReader::new(MultiGzDecoder::new(source)), options)
        } else {
            parse(source, options)
        }
    }

    /// The trace, if there is anything in it to replay: figures of nothing are none, and a check
    /// of nothing passes.
    ///
    /// # Errors
    /// [`TraceError::Empty`].
    pub fn not_empty(self) -> Result<Self, TraceError> {
        let any = !self.operations.is_empty();
        any.then_some(self).ok_or(TraceError::Empty)
    }

    /// The operations in order.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// How many blocks it allocates.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// How many streams it uses.
    #[must_use]
    pub fn streams(&self) -> u32 {
        self.streams
    }

    /// The most bytes that are live at once.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        self.peak
    }

    /// When operation `index` happened, in nanoseconds since the first one; `None` if the
    /// source does not say for every operation.
    #[must_use]
    pub fn time(&self, index: usize) -> Option<u64> {
        self.times.get(index).copied()
    }

    /// The thread of operation `index`, numbered from 0 in order of first use, if told.
    #[must_use]
    pub fn thread(&self, index: usize) -> Option<u32> {
        self.threads.get(index).copied()
    }

    /// The code that allocated block `block`, as `file:line function`, if told.
    #[must_use]
    pub fn site(&self, block: usize) -> Option<&str> {
        let name = *self.sites.get(block)?;
        let name = self.names.get(name as usize)?;
        (!name.is_empty()).then_some(name)
    }

    /// What the source held besides.
    #[must_use]
    pub fn ignored(&self) -> Ignored {
        self.ignored
    }
}

/// What a compressed file begins with.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// What editors and spreadsheets put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes in which a format shows.
const HEAD: usize = 1024;

/// The first `most` bytes, however few the source gives at a time.
fn head(source: &mut impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(most as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Picks the format by the first bytes.
fn parse(mut source: impl BufRead, options: &ReadOptions) -> Result<Trace, TraceError> {
    let head = head(&mut source, HEAD)?;
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&head);
    let source = head.chain(source);
    let first = head.iter().find(|byte| !byte.is_ascii_whitespace());
    match first {
        // A pickle of protocol 2 or later begins with its version.
        Some(0x80) => snapshot::read(source, Encoding::Pickle, options),
        Some(b'{' | b'[') => snapshot::read(source, Encoding::Json, options),
        _ if options.device.is_some() => Err(TraceError::NoDevices),
        _ if head.starts_with(rmm::HEADER.as_bytes()) => rmm::read(source, options),
        _ => native::read(source, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it the bundled trace could be damaged or misread; the figures are those
    /// that its recording reported.
    #[test]
    fn the_bundled_trace_is_whole() {
        let trace = Trace::read(EMBED13).unwrap();
        assert_eq!(trace.operations().len(), 198_798);
        assert_eq!(trace.peak_bytes(), 3_365_624_512);
        assert_eq!(trace.ignored(), Ignored::default());
    }

    /// Without it a file cut short could replay as a shorter trace.
    #[test]
    fn a_truncated_archive_is_refused() {
        let truncated = &EMBED13[..EMBED13.len() / 2];
        assert!(matches!(Trace::read(truncated), Err(TraceError::Read(_))));
    }

    /// Without it all but the first of the logs that a user put together, or what was appended
    /// to one, could be left out without a word.
    #[test]
    fn all_members_of_an_archive_are_read() {
        use std::io::Write as _;
        let member = |text: &[u8]| {
            let fast = flate2::Compression::fast();
            let mut archive = flate2::write::GzEncoder::new(Vec::new(), fast);
            archive.write_all(text).unwrap();
            archive.finish().unwrap()
        };
        let mut both = member(b"a 1 1 0\n");
        both.extend(member(b"a 2 1 0\n"));
        assert_eq!(Trace::read(&both[..]).unwrap().blocks(), 2);
        both.truncate(both.len() - 3);
        assert!(matches!(Trace::read(&both[..]), Err(TraceError::Read(_))));
    }

    /// Without it a file that an editor put a byte order mark before could be refused, or one
    /// that comes in small pieces be taken for another format.
    #[test]
    fn a_mark_is_skipped_and_pieces_are_put_together() {
        /// One byte at a time.
        struct Slow<'b>(&'b [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let most = buffer.len().min(1);
                self.0.read(&mut buffer[..most])
            }
        }
        for (text, blocks) in [
            ("a 1 1 0\n", 1),
            ("{\"device_traces\": [[]]}", 0),
            (
                "Thread,Time,Action,Pointer,Size,Stream\n1,1.0,allocate,0x10,8,0\n",
                1,
            ),
        ] {
            let marked = format!("\u{feff}{text}");
            assert_eq!(Trace::read(marked.as_bytes()).unwrap().blocks(), blocks);
            let slow = Trace::read(Slow(marked.as_bytes())).unwrap();
            assert_eq!(slow.blocks(), blocks, "{text}");
        }
        assert_eq!(Trace::read(Slow(EMBED13)).unwrap().blocks(), 99_400);
    }

    /// Without it a format could be taken for another one, and refused with a message that
    /// misleads.
    #[test]
    fn formats_are_told_apart() {
        for (bytes, words) in [
            (&b"\x80\x04q"[..], "pickle"),
            (b"  {\"segments\": 3", "JSON"),
            (b"[1, 2]", "device_traces"),
            (b"Thread,Time,Action,Pointer,Size,Stream\nx", "line 2"),
            (b"\xef\xbb\xbfThread,Time\n", "line 1"),
            (b"b 1 2 3", "neither `a` nor `f`"),
        ] {
            let error = Trace::read(bytes).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(Trace::read(&b""[..]).unwrap(), Trace::default());
    }

    /// Without it an archive of a few bytes could fill the memory.
    #[test]
    fn an_archive_that_unpacks_without_end_is_refused() {
        use std::io::Write as _;
        for start in [&b"a 1 "[..], b"Thread,Time,", b"\x80\x04(", b"{\"a\": \""] {
            let mut archive =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            archive.write_all(start).unwrap();
            for _ in 0..64 {
                archive.write_all(&[b'N'; 1 << 16]).unwrap();
            }
            let archive = archive.finish().unwrap();
            let options = ReadOptions {
                memory: 1 << 20,
                ..ReadOptions::default()
            };
            let error = Trace::read_with(&archive[..], &options).unwrap_err();
            assert!(
                matches!(error, TraceError::TooLarge { .. } | TraceError::Line { .. }),
                "{start:?}: {error}"
            );
        }
    }

    /// Without it an archive of blank lines could keep a reader busy for days.
    #[test]
    fn blank_lines_without_end_are_refused() {
        use std::io::Write as _;
        for start in ["", "Thread,Time,Action,Pointer,Size,Stream\n"] {
            let mut archive =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            archive.write_all(start.as_bytes()).unwrap();
            for _ in 0..32 {
                archive.write_all(&[b'\n'; 1 << 16]).unwrap();
            }
            let archive = archive.finish().unwrap();
            let options = ReadOptions {
                memory: 1 << 20,
                ..ReadOptions::default()
            };
            let refused = Trace::read_with(&archive[..], &options);
            assert!(
                matches!(refused, Err(TraceError::TooLarge { .. })),
                "{refused:?}"
            );
            assert_eq!(Trace::read(&archive[..]).unwrap().blocks(), 0);
        }
    }

    quickcheck::quickcheck! {
        /// Without it some input could panic a reader.
        fn any_bytes_are_a_trace_or_an_error(bytes: Vec<u8>) -> bool {
            let starts = [&b""[..], b"\x80\x04", b"{", b"Thread,Time,Action,Pointer,Size,Stream\n"];
            for start in starts {
                let _ = Trace::read(start.chain(&bytes[..]));
            }
            true
        }
    }
}
