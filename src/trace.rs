//! Allocation traces: what a real program asked of its allocator, in order.
//!
//! A text line is `a ID BYTES STREAM` (allocate) or `f ID` (free); `#` starts a comment.
//! Files may be gzip-compressed. The bundled trace is 13 transformer encoders served
//! behind one memory budget, recorded under PyTorch.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};

use flate2::read::GzDecoder;

/// The bundled trace, compressed as it is committed.
pub const EMBED13: &[u8] = include_bytes!("../data/embed13.trace.gz");

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
    },
}

/// A parsed trace: every block is allocated once, and freed at most once after that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    operations: Vec<Operation>,
    blocks: usize,
    peak: u64,
}

/// Why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read or is damaged.
    #[error("the trace cannot be read: {0}")]
    Read(#[from] io::Error),
    /// A line that is no operation, or makes no sense where it stands.
    #[error("line {line} of the trace: {problem}: {text:?}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        problem: &'static str,
        /// The line.
        text: String,
    },
}

impl Trace {
    /// Reads a trace, compressed or not.
    ///
    /// # Errors
    /// The bytes cannot be read, or a line is wrong.
    pub fn read(source: impl Read) -> Result<Self, TraceError> {
        let mut source = BufReader::new(source);
        if source.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
            Self::parse(BufReader::new(GzDecoder::new(source)))
        } else {
            Self::parse(source)
        }
    }

    fn parse(source: impl BufRead) -> Result<Self, TraceError> {
        let mut trace = Self::default();
        // Live blocks by the trace's own numbers, which may be reused after a free.
        let mut live: HashMap<u64, (usize, u64)> = HashMap::new();
        let mut bytes_live = 0_u64;
        for (index, line) in source.lines().enumerate() {
            let text = line?;
            let wrong = |problem| TraceError::Line {
                line: index + 1,
                problem,
                text: text.clone(),
            };
            let mut words = text.split_ascii_whitespace();
            let Some(first) = words.next().filter(|word| !word.starts_with('#')) else {
                continue;
            };
            let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
            let id = number().ok_or_else(|| wrong("a block number is missing"))?;
            match first {
                "a" => {
                    let bytes = number().ok_or_else(|| wrong("a size is missing"))?;
                    let stream = number()
                        .and_then(|stream| u32::try_from(stream).ok())
                        .ok_or_else(|| wrong("a stream number is missing"))?;
                    let block = trace.blocks;
                    if live.insert(id, (block, bytes)).is_some() {
                        return Err(wrong("the block is already allocated"));
                    }
                    bytes_live = bytes_live
                        .checked_add(bytes)
                        .ok_or_else(|| wrong("the live bytes exceed 64 bits"))?;
                    trace.peak = trace.peak.max(bytes_live);
                    trace.blocks += 1;
                    trace.operations.push(Operation::Allocate {
                        block,
                        bytes,
                        stream,
                    });
                }
                "f" => {
                    let (block, bytes) = live
                        .remove(&id)
                        .ok_or_else(|| wrong("the block is not allocated"))?;
                    bytes_live -= bytes;
                    trace.operations.push(Operation::Free { block });
                }
                _ => return Err(wrong("neither `a` nor `f`")),
            }
            if words.next().is_some() {
                return Err(wrong("there is more on the line than the operation takes"));
            }
        }
        Ok(trace)
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

    /// The most bytes that are live at once.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        self.peak
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
    }

    /// Without it a block number that is used again could be taken for the first one.
    #[test]
    fn numbers_may_be_reused_after_a_free() {
        let trace = Trace::read(&b"# comment\na 5 100 0\nf 5\n\na 5 60 1\n"[..]).unwrap();
        assert_eq!(
            trace.operations(),
            [
                Operation::Allocate {
                    block: 0,
                    bytes: 100,
                    stream: 0
                },
                Operation::Free { block: 0 },
                Operation::Allocate {
                    block: 1,
                    bytes: 60,
                    stream: 1
                },
            ]
        );
        assert_eq!((trace.blocks(), trace.peak_bytes()), (2, 100));
    }

    /// Without it a damaged trace could replay as something else.
    #[test]
    fn wrong_lines_are_named() {
        for (text, line) in [
            ("a 1 2", 1),
            ("a 1 2 3 4", 1),
            ("f 1", 1),
            ("a 1 2 0\na 1 2 0", 2),
            ("x 1", 1),
            ("a 1 18446744073709551615 0\na 2 1 0", 2),
            ("a 1 -2 0", 1),
        ] {
            match Trace::read(text.as_bytes()) {
                Err(TraceError::Line { line: found, .. }) => assert_eq!(found, line, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        let truncated = &EMBED13[..EMBED13.len() / 2];
        assert!(matches!(Trace::read(truncated), Err(TraceError::Read(_))));
    }

    quickcheck::quickcheck! {
        /// Without it some input could panic the parser.
        fn any_bytes_are_a_trace_or_an_error(bytes: Vec<u8>) -> bool {
            let _ = Trace::read(&bytes[..]);
            true
        }
    }
}
