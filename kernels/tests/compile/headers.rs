//! Headers in memory and in folders, and the list of what a result depends on.

use std::path::{Path, PathBuf};

use cupola_kernels::compile::{CompileOption, Dependencies, PlaceState};

use super::{compiler, request};

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

// Without it a header in memory could lose to a file, or a folder not be searched.
#[test]
fn headers_come_from_memory_first_and_then_from_folders_in_order() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "first/a.h", "#define A 1\n");
    write(folder.path(), "second/a.h", "#error not this one\n");
    write(folder.path(), "second/b.h", "#define B 2\n");
    write(folder.path(), "second/c.h", "#error not this one\n");
    let source = "#include <a.h>\n#include \"b.h\"\n#include <c.h>\n\
                  static_assert(A + B + C == 6, \"\");\n";
    let request = request(&compiler, source)
        .include_folder(folder.path().join("first"))
        .include_folder(folder.path().join("second"))
        .header("c.h", "#define C 3\n");
    let compiled = compiler.compile(&request).unwrap();
    assert!(compiled.dependencies().is_complete());
    assert_eq!(compiled.log(), "");
}

/// The headers that the compiler says it read, from its own trace.
fn processed(trace: &Path) -> Vec<PathBuf> {
    let text = std::fs::read(trace).unwrap();
    let trace: serde_json::Value = serde_json::from_slice(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap().iter();
    events
        .filter(|event| event["name"] == "Processing Header File")
        .map(|event| PathBuf::from(event["args"]["detail"].as_str().unwrap()))
        .collect()
}

// Without it the list could miss a file that the compiler reads, and a cache give old code.
#[test]
fn every_header_that_the_compiler_reads_is_in_the_list() {
    let Some(compiler) = compiler() else { return };
    let root = tempfile::tempdir().unwrap();
    // As the compiler names it, without links.
    let folder = root.path().canonicalize().unwrap();
    write(
        &folder,
        "one/top.h",
        "#include \"near.h\"\n#include <far.h>\n#include NAMED\n",
    );
    write(
        &folder,
        "one/near.h",
        "#if __has_include(<maybe.h>)\n#define MAYBE\n#endif\n",
    );
    write(
        &folder,
        "two/far.h",
        "#inc\\\nlude \"sub/deep.h\"\n#define NAMED <named.h>\n",
    );
    write(&folder, "two/sub/deep.h", "#include \"deeper.h\"\n");
    write(
        &folder,
        "two/sub/deeper.h",
        "/* a comment\n*/ #include <last.h>\n",
    );
    write(&folder, "two/last.h", "");
    write(&folder, "two/named.h", "");
    write(&folder, "two/pre.h", "");
    let trace = folder.join("trace");
    let mut request = request(&compiler, "#include <top.h>\n")
        .include_folder(folder.join("one"))
        .include_folder(folder.join("two"))
        .with(CompileOption::PreInclude("pre.h".into()))
        .with(CompileOption::TimeTrace(trace.clone()));
    let cuda = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(".cuda/nvidia/cu13/include");
    let real = cuda.join("cuda_bf16.h").is_file();
    if real {
        let source = "#include <top.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";
        request = super::request(&compiler, source)
            .include_folder(folder.join("one"))
            .include_folder(folder.join("two"))
            .include_folder(cuda.canonicalize().unwrap())
            .with(CompileOption::PreInclude("pre.h".into()))
            .with(CompileOption::TimeTrace(trace.clone()));
    }
    let compiled = compiler.compile(&request).unwrap();
    let list = compiled.dependencies();
    let read = processed(&trace.with_extension("json"));
    let mine = read.iter().filter(|path| path.starts_with(&folder)).count();
    assert_eq!(mine, 8, "{read:?}");
    for path in read.iter().filter(|path| path.is_absolute()) {
        let place = list.places().iter().find(|place| {
            place
                .path
                .canonicalize()
                .is_ok_and(|found| Ok(found) == path.canonicalize().map_err(drop))
        });
        let is_file = place.is_some_and(|place| matches!(place.state, PlaceState::File { .. }));
        assert!(is_file, "{}", path.display());
    }
    // A header that was only asked for.
    let absent = folder.join("one/maybe.h");
    let asked = list.places().iter().find(|place| place.path == absent);
    assert_eq!(asked.unwrap().state, PlaceState::NoFile);
    assert!(list.is_current());
    write(&folder, "one/maybe.h", "");
    assert!(!list.is_current());
    assert_ne!(&Dependencies::scan(&request), list);
}
