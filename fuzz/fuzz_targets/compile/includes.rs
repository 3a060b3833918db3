//! Any text before an include hides it from no list of dependencies.
#![no_main]

use std::path::Path;

use cupola_kernels::compile::{CompileRequest, Dependencies, Target, TargetArchitecture};
use libfuzzer_sys::fuzz_target;

/// No folder of this name exists, so that no file is read by the first place of each include.
const FOLDER: &str = "/nonexistent/folder";

fuzz_target!(|bytes: &[u8]| {
    let before = String::from_utf8_lossy(bytes).replace('/', "|");
    for include in [
        "#include <marked.h>",
        " /* why */ # include \"marked.h\"",
        "%:include <marked.h>",
        "#inc\\\nlude <marked.h>",
        "#if __has_include(<marked.h>)",
    ] {
        let target = Target::Ptx(TargetArchitecture::from_number(90));
        // Two ends of a line: the first may be taken by a backslash.
        let text = format!("{before}\n\n{include}\n");
        let request = CompileRequest::new("k.cu", text, target).include_folder(FOLDER);
        let list = Dependencies::scan(&request);
        let marked = Path::new(FOLDER).join("marked.h");
        assert!(list.places().iter().any(|place| place.path == marked));
        assert_eq!(list, Dependencies::scan(&request));
    }
});
