//! How little memory the pool needs for a real trace: the one that comes with the crate.

use super::replay;

const PAGE: u64 = 2 << 20;
const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/embed13.trace.gz");

/// Replays the trace; what was alive at most, and the pool's gauge of this name.
fn gauge(limit: &str, name: &str) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--unchecked", "--limit", limit];
    let (code, text, report) = replay(folder.path(), TRACE, &args);
    assert_eq!(code, Some(0), "{limit}: {text}");
    let done = &report["replay"];
    assert_eq!(
        (&done["failures"], &done["untimed_failures"]),
        (&0.into(), &0.into()),
        "{limit}: {text}"
    );
    let number = |value: &serde_json::Value| value.as_u64().expect("a number");
    let (peak, gauge) = (&report["trace"]["peak"], &done["gauges"][name]);
    println!("{limit} of {peak}: {name} {gauge}");
    (number(peak), number(gauge))
}

/// Without it the pool could come to need more memory than the program has alive, or as much only
/// by moving pages all the time.
#[test]
fn a_limit_little_above_what_is_alive_is_enough() {
    let (peak, mapped) = gauge("1.02x", "peak_mapped");
    assert!(mapped <= peak / 100 * 102 + PAGE, "{mapped} of {peak}");
    let (peak, remapped) = gauge("1.05x", "remapped");
    // 573 of 1 605 pages; 0 before places were chosen by the pages that they begin (2026-11-25-tight.md).
    let most = peak.div_ceil(PAGE) * 2 / 5;
    assert!(remapped <= most, "{remapped} pages, of {most} at most");
}

/// Without it a pool without a limit that is in the way could take as much as it likes.
#[test]
fn a_pool_that_may_have_more_does_not_take_it() {
    let (peak, mapped) = gauge("100x", "peak_mapped");
    assert!(mapped <= peak / 100 * 115, "{mapped} of {peak}");
}
