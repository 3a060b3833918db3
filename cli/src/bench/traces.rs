//! The allocation traces that suites replay, by name.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::trace::{EMBED13, Trace, TraceError};

/// What the bundled trace is called.
const BUNDLED: &str = "embed13";

/// What may follow a trace's name, one after another: what it is in, and how it is compressed.
const SUFFIXES: [&str; 8] = ["trace", "json", "pickle", "pkl", "csv", "txt", "log", "gz"];

/// Why there are no traces to replay.
#[derive(Debug)]
pub(super) enum Problem {
    /// A trace that cannot be read, and why.
    Unread(String, TraceError),
    /// Two are called the same, and the rows of one would be set beside those of the other.
    Alike(String),
}

/// The bundled trace.
pub(super) fn bundled() -> Result<(String, Trace), Problem> {
    match Trace::read(EMBED13) {
        Ok(trace) => Ok((BUNDLED.into(), trace)),
        Err(error) => Err(Problem::Unread(BUNDLED.into(), error)),
    }
}

/// The traces in these files, each called as its file is, without what says its format. None may
/// be called as another one is, nor, if that is replayed as well, as the bundled one.
pub(super) fn read(paths: &[PathBuf], bundled: bool) -> Result<Vec<(String, Trace)>, Problem> {
    let names: Vec<_> = paths.iter().map(|path| name(path)).collect();
    let mut known = Vec::from_iter(bundled.then_some(BUNDLED));
    for name in &names {
        if known.contains(&&**name) {
            return Err(Problem::Alike(name.clone()));
        }
        known.push(name);
    }
    let traces = paths.iter().map(|path| read_one(path));
    let traces: Vec<_> = traces.collect::<Result<_, _>>()?;
    Ok(names.into_iter().zip(traces).collect())
}

/// What a trace's file is called without the suffixes that say its format.
pub(super) fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let mut name = &*name;
    while let Some((rest, suffix)) = name.rsplit_once('.')
        && !rest.is_empty()
        && SUFFIXES
            .iter()
            .any(|known| suffix.eq_ignore_ascii_case(known))
    {
        name = rest;
    }
    name.to_owned()
}

fn read_one(path: &Path) -> Result<Trace, Problem> {
    let file = File::open(path).map_err(TraceError::from);
    let trace = file.and_then(Trace::read).and_then(Trace::not_empty);
    trace.map_err(|error| Problem::Unread(path.display().to_string(), error))
}

/// What the traces lack, for the notes of a suite.
pub(super) fn lacks(traces: &[(String, Trace)]) -> impl Iterator<Item = String> {
    traces.iter().flat_map(|(name, trace)| {
        let lines = trace.ignored().lines();
        lines
            .into_iter()
            .map(move |line| format!("trace {name}, NOT REPLAYED: {line}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it two traces could be called by what their names have in common, up to a point.
    #[test]
    fn names_are_without_what_says_the_format() {
        for (path, expected) in [
            ("a/m.small.trace", "m.small"),
            ("m.large.trace.gz", "m.large"),
            ("gpt2-1.5b.json.GZ", "gpt2-1.5b"),
            ("rmm_log.csv", "rmm_log"),
            ("snapshot.pickle", "snapshot"),
            ("embed13", "embed13"),
            (".trace", ".trace"),
            ("v1.2", "v1.2"),
        ] {
            assert_eq!(name(Path::new(path)), expected);
        }
    }

    /// Without it the ratio of a row could be to another trace's row of the same name.
    #[test]
    fn two_traces_of_one_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, "a 1 10 0\n").unwrap();
            path
        };
        let [small, large] = ["m.small.trace", "m.large.trace"].map(write);
        let traces = read(&[small.clone(), large], false).unwrap();
        let names = traces.iter().map(|(name, _)| name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["m.small", "m.large"]);
        let alike = |paths: &[PathBuf], bundled| match read(paths, bundled) {
            Err(Problem::Alike(name)) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(alike(&[small, write("m.small.json")], false), "m.small");
        let own = [write("embed13.trace")];
        assert_eq!(alike(&own, true), "embed13");
        assert!(read(&own, false).is_ok());
    }
}
