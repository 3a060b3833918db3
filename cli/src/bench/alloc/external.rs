//! Rows of programs in other languages, from the lines that they printed in the same run on
//! the same machine: RMM's resources and PyTorch's caching allocator.
//!
//! A line is `NAME KIND... pair BYTES ns N`, `... random_live1000 free+alloc ns N`,
//! `... threads T Mpairs/s N` (blocks of 1 MiB), `... misses T live L free+alloc ns N` (the programs in
//! `cli/peers`), `... replay FILE ops N ns/op N ...` or
//! `... latency TRACE allocate|free POINT ns N` (a point of a distribution: `p99`, `max`), with
//! `rmm` or `torch` for NAME. Other lines are left out, and the notes say how many.

use std::fs;
use std::path::Path;

use super::{Error, names};
use crate::bench::{Figures, traces};

/// Size of the blocks that the programs' threads allocate.
const THREADS_BYTES: u64 = 1 << 20;

/// What a line's figure is of.
const VERBS: &[&str] = &[
    "pair",
    "random_live1000",
    "threads",
    "misses",
    "replay",
    "latency",
];

/// One figure of a program.
#[derive(Debug, PartialEq)]
struct Found {
    /// The words of ours for the same work.
    work: String,
    who: String,
    /// Nanoseconds of an operation on one thread.
    nanoseconds: f64,
    /// Pairs of all threads, in millions a second.
    rate: Option<f64>,
}

/// Adds the rows of what the programs printed into `path`, compared with those of `ours`.
pub(super) fn rows(figures: &mut Figures, path: &Path, ours: &str) -> Result<(), Error> {
    let text = fs::read_to_string(path);
    let text = text.map_err(|error| Error::Output(path.to_owned(), error))?;
    let (mut taken, mut left) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let Some(found) = parse(line) else {
            left += 1;
            continue;
        };
        taken += 1;
        let name = names::row(&found.work, &found.who);
        let against = names::row(&found.work, ours);
        let against = figures.row(&against).map(|row| row.name.clone());
        let row = figures.push(&name, "ns", &[found.nanoseconds], against.as_deref());
        row.million_per_second = found.rate;
    }
    let file = path.file_name().unwrap_or(path.as_os_str());
    figures.notes.push(format!(
        "{}: {taken} lines are rows, medians of their own program; {left} other lines",
        file.display()
    ));
    Ok(())
}

/// The figure in a line, if there is one.
fn parse(line: &str) -> Option<Found> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (program, rest) = words.split_first()?;
    let is_verb = |word: &&str| VERBS.contains(word);
    let verb = rest.iter().position(is_verb)?;
    let (kind, rest) = rest.split_at(verb);
    let who = match *program {
        "rmm" => format!("RMM {}", kind.join(" ")),
        "torch" => format!("PyTorch {}", kind.join(" ")),
        _ => return None,
    };
    let figure = |word: &str| word.parse::<f64>().ok().filter(|number| number.is_finite());
    let number = |word: &str| figure(word).filter(|number| *number > 0.0);
    let (work, nanoseconds, rate) = match rest {
        ["pair", bytes, "ns", time] => (names::pair(bytes.parse().ok()?), number(time)?, None),
        ["random_live1000", _, "ns", time] => (names::live(), number(time)?, None),
        ["threads", threads, "Mpairs/s", rate] => {
            let threads: u16 = threads.parse().ok()?;
            let rate = number(rate)?;
            let time = f64::from(threads) * 1e3 / rate;
            let work = names::threads(threads.into(), THREADS_BYTES);
            (work, time, (threads > 1).then_some(rate))
        }
        ["misses", threads, "live", live, "free+alloc", "ns", time] => {
            let work = names::misses(threads.parse().ok()?, live.parse().ok()?);
            (work, number(time)?, None)
        }
        // What follows are other figures with their names, and nothing that says how it ended.
        ["replay", file, "ops", _, "ns/op", time, more @ ..]
            if more
                .chunks(2)
                .all(|pair| pair.len() == 2 && figure(pair[1]).is_some()) =>
        {
            let trace = traces::name(Path::new(file));
            (names::replay(&trace), number(time)?, None)
        }
        ["latency", trace, kind, point, "ns", time] => {
            (names::operation(trace, kind, point), number(time)?, None)
        }
        _ => return None,
    };
    Some(Found {
        work,
        who,
        nanoseconds,
        rate,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(work: String, who: &str, nanoseconds: f64, rate: Option<f64>) -> Found {
        Found {
            work,
            who: who.into(),
            nanoseconds,
            rate,
        }
    }

    /// Without it a peer's figure could be set beside other work of ours, or be misread.
    #[test]
    fn lines_of_the_programs_are_rows() {
        for (line, row) in [
            (
                "rmm pool pair 1024 ns 435",
                found(names::pair(1 << 10), "RMM pool", 435.0, None),
            ),
            (
                "torch default random_live1000 free+alloc ns 1382",
                found(names::live(), "PyTorch default", 1382.0, None),
            ),
            (
                "rmm arena threads 16 Mpairs/s 2.00",
                found(names::threads(16, 1 << 20), "RMM arena", 8e3, Some(2.0)),
            ),
            (
                "torch expandable_segments:True threads 1 Mpairs/s 1.00",
                found(
                    names::threads(1, 1 << 20),
                    "PyTorch expandable_segments:True",
                    1e3,
                    None,
                ),
            ),
            (
                "rmm arena misses 16 live 1000 free+alloc ns 1006260",
                found(names::misses(16, 1000), "RMM arena", 1_006_260.0, None),
            ),
            (
                "rmm async replay traces/embed13.trace ops 198798 ns/op 1150 peak_live 5 reserved 0",
                found(names::replay("embed13"), "RMM async", 1150.0, None),
            ),
            (
                "rmm async replay m.large.trace ops 8 ns/op 50",
                found(names::replay("m.large"), "RMM async", 50.0, None),
            ),
            (
                "torch default latency embed13 free p99.9 ns 42",
                found(
                    names::operation("embed13", "free", "p99.9"),
                    "PyTorch default",
                    42.0,
                    None,
                ),
            ),
        ] {
            assert_eq!(parse(line), Some(row), "{line}");
        }
    }

    /// Without it a failure could be published as a figure.
    #[test]
    fn other_lines_are_no_rows() {
        for line in [
            "",
            "rmm",
            "rmm pool pair 1024",
            "rmm pool pair 1024 ns nan",
            "rmm pool threads 16 Mpairs/s 0.00",
            "rmm pool replay a.trace FAILED out of memory",
            "rmm pool replay a.trace ops 5 ns/op 9 FAILED",
            "rmm pool replay a.trace ops 5 ns/op 9 peak_live 5 FAILED memory",
            "rmm pool replay a.trace ops 5 ns/op inf",
            "torch default latency embed13 free max ns inf",
            "jemalloc pool pair 1024 ns 5",
            "Traceback (most recent call last):",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
