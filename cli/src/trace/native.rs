//! The native format, made to be written by anything and compared by eye.
//!
//! A line is `a ID BYTES STREAM` (allocate), `f ID` (free on the block's own stream) or
//! `f ID STREAM`; `#` starts a comment line. A number may be used again after a free.

use std::io::BufRead;

use super::build::{Builder, Memory, lines};
use super::{ReadOptions, Trace, TraceError};

/// Reads lines of text.
///
/// # Errors
/// [`TraceError::Line`], and what reading takes.
pub fn read(source: impl BufRead, options: &ReadOptions) -> Result<Trace, TraceError> {
    let mut builder: Builder<u64> = Builder::new(Memory::new(options));
    lines(source, options, |_, text| {
        let mut words = text.split_ascii_whitespace();
        let Some(first) = words.next().filter(|word| !word.starts_with('#')) else {
            return Ok(());
        };
        let allocates = match first {
            "a" => true,
            "f" => false,
            _ => return Err("neither `a` nor `f`".into()),
        };
        let id = number(words.next().ok_or("the block number is missing")?)
            .ok_or("the block number is no whole number from 0 to 2^64 - 1")?;
        if allocates {
            let bytes = number(words.next().ok_or("the size is missing")?)
                .ok_or("the size is no whole number from 0 to 2^64 - 1")?;
            let on = stream(words.next().ok_or("the stream number is missing")?)?;
            builder.allocate(id, bytes, on)?;
        } else {
            let on = words.next().map(stream).transpose()?;
            if !builder.free(&id, on)? {
                return Err("the block is not allocated".into());
            }
        }
        match words.next() {
            Some(_) => Err("there is more on the line than the operation takes".into()),
            None => Ok(()),
        }
    })?;
    Ok(builder.finish())
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

fn stream(word: &str) -> Result<u64, &'static str> {
    let stream = word.parse::<u32>();
    stream
        .map(u64::from)
        .map_err(|_| "the stream number is no whole number from 0 to 2^32 - 1")
}

#[cfg(test)]
mod tests {
    use super::super::Operation;
    use super::*;

    /// Without it a block number that is used again could be taken for the first one, or a
    /// free be put on another stream than the trace's.
    #[test]
    fn numbers_may_be_reused_after_a_free() {
        let trace = Trace::read(&b"# comment\na 5 100 0\nf 5\n\na 5 60 7\nf 5 0\n"[..]).unwrap();
        assert_eq!(
            trace.operations(),
            [
                Operation::Allocate {
                    block: 0,
                    bytes: 100,
                    stream: 0
                },
                Operation::Free {
                    block: 0,
                    stream: 0
                },
                Operation::Allocate {
                    block: 1,
                    bytes: 60,
                    stream: 1
                },
                Operation::Free {
                    block: 1,
                    stream: 0
                },
            ]
        );
        assert_eq!((trace.blocks(), trace.peak_bytes()), (2, 100));
        assert_eq!(trace.streams(), 2);
        assert_eq!(
            (trace.time(0), trace.thread(0), trace.site(0)),
            (None, None, None)
        );
    }

    /// Without it a user could look for a fault in a file that only lacks something.
    #[test]
    fn what_is_missing_is_told_from_what_is_wrong() {
        for (text, words) in [
            ("a", "block number is missing"),
            ("a x 5 0", "block number is no whole"),
            ("f 1.5", "block number is no whole"),
            ("a 1", "size is missing"),
            ("a 1 -5 0", "size is no whole"),
            ("a 1 18446744073709551616 0", "size is no whole"),
            ("a 1 5", "stream number is missing"),
            ("a 1 5 4294967296", "stream number is no whole"),
            ("a 1 5 0\nf 1 x", "stream number is no whole"),
        ] {
            let error = Trace::read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    /// Without it a damaged trace could replay as something else.
    #[test]
    fn wrong_lines_are_named() {
        let long = format!("a 1 1 0\na 2 {} 0", "1".repeat(5000));
        for (text, line) in [
            ("a 1 2", 1),
            ("a 1 2 3 4", 1),
            ("f 1", 1),
            ("a 1 2 0\na 1 2 0", 2),
            ("x 1", 1),
            ("a 1 18446744073709551615 0\na 2 1 0", 2),
            ("a 1 -2 0", 1),
            ("a 1 2 0\nf 1 x", 2),
            ("a 1 2 0\nf 1 0 0", 2),
            ("a 1 2 4294967296", 1),
            (&long, 2),
        ] {
            match Trace::read(text.as_bytes()) {
                Err(TraceError::Line {
                    line: found, text, ..
                }) => {
                    assert_eq!(found, line, "{text}");
                    assert!(text.len() <= 120);
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(matches!(
            Trace::read(&b"a 1 \xff 0"[..]),
            Err(TraceError::Line { line: 1, .. })
        ));
    }
}
