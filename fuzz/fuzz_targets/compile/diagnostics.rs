//! Any text as a compiler's log: no more messages than lines, and no word of one that is not there.
#![no_main]

use cupola_kernels::compile::Diagnostic;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let log = String::from_utf8_lossy(bytes);
    let found = Diagnostic::parse_log(&log);
    assert!(found.len() <= log.lines().count());
    for diagnostic in &found {
        assert!(log.contains(&diagnostic.message));
        let file = diagnostic.file.as_deref();
        assert!(file.is_none_or(|file| log.contains(file)));
        assert!(!diagnostic.to_string().is_empty());
        for line in diagnostic.context.lines() {
            assert!(log.contains(line));
        }
    }
});
