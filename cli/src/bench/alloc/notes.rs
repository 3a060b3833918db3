//! What figures of this suite say of how they were measured.

use super::{Options, TRACE_ROUNDS, live, names};
use crate::bench::clock;

/// Notes for figures by `options`.
pub(super) fn notes(options: &Options) -> Vec<String> {
    let mut notes = vec![format!(
        "{} rounds ({} of each trace), {:?} a sample, by the clock; single operations are \
         without a look at the clock, whose time is measured before each round",
        options.rounds,
        options.rounds.min(TRACE_ROUNDS),
        options.sample,
    )];
    notes.push(format!(
        "{}: begins in the steady state, after {} steps of every allocator of this program that are \
         not measured",
        names::live(),
        live::BEFORE,
    ));
    notes.push(
        "traces: a block is freed on the stream that it was allocated on, whatever the trace says"
            .into(),
    );
    if !options.peer_output.is_empty() {
        notes.push(
            "rows of programs in other languages are as those printed them: they may have warmed \
             up in another way, and it is not known here whether a look at the clock is in their \
             latencies"
                .into(),
        );
    }
    if options.threads > clock::parallelism() {
        notes.push(format!(
            "THERE ARE ONLY {} PROCESSORS: the rows of more threads say little",
            clock::parallelism()
        ));
    }
    if cfg!(debug_assertions) {
        notes.push("NOT OPTIMISED: the figures mean nothing".into());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it figures could be compared that were not measured in the same way, and nothing
    /// in their file would say so.
    #[test]
    fn notes_say_how_rows_were_measured() {
        let mut options = Options::default();
        let all = |options: &Options| notes(options).join("\n");
        let text = all(&options);
        for words in [
            "single operations are without a look at the clock, whose time is measured before each round",
            "1000 live blocks, 256 B to 32 MiB, free + allocate: begins in the steady state",
            "after 65536 steps of every allocator of this program",
            "freed on the stream that it was allocated on",
        ] {
            assert!(text.contains(words), "{text}");
        }
        assert!(!text.contains("printed"), "{text}");
        options.peer_output.push("rmm.txt".into());
        let text = all(&options);
        for words in [
            "as those printed them",
            "warmed up in another way",
            "latencies",
        ] {
            assert!(text.contains(words), "{text}");
        }
    }
}
