//! Precompiled headers in one process.

use cupola_kernels::compile::{CompileOption, CompileRequest, PchOutcome};

use super::{compiler, request};

fn header() -> String {
    (0..4000)
        .map(|n| {
            format!(
                "__device__ inline int f{n}(int x) {{ return x * {n} + f{}(x); }}\n",
                n.max(1) - 1
            )
        })
        .skip(1)
        .collect::<String>()
}

// Without it a header that is too large for the heap would never be precompiled, or a second
// compile make the header again.
#[test]
fn the_heap_is_raised_once_and_the_header_is_taken_again() {
    let Some(compiler) = compiler() else { return };
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "__device__ inline int f0(int x) {{ return x; }}\n{}",
        header()
    );
    std::fs::write(folder.path().join("large.h"), text).unwrap();
    let ask = |kernel: &str| -> CompileRequest {
        let source = format!(
            "#include \"large.h\"\n#pragma nv_hdrstop\n\
             __global__ void {kernel}(int* p) {{ *p = f3(*p); }}\n"
        );
        request(&compiler, &source)
            .include_folder(folder.path())
            .with(CompileOption::Pch)
            .with(CompileOption::PchFolder(folder.path().to_owned()))
    };
    let plain = request(&compiler, "__global__ void k() {}");
    assert_eq!(compiler.compile(&plain).unwrap().pch(), None);

    let small = 1 << 16;
    compiler.nvrtc().unwrap().set_pch_heap_size(small).unwrap();
    let made = compiler.compile(&ask("first")).unwrap();
    let Some(PchOutcome::Created {
        heap_raised_to: Some(raised),
    }) = made.pch()
    else {
        panic!("{:?}: {}", made.pch(), made.log());
    };
    assert!(raised > small);
    assert!(compiler.nvrtc().unwrap().pch_heap_size().unwrap() >= raised);
    let taken = compiler.compile(&ask("second")).unwrap();
    assert_eq!(taken.pch(), Some(PchOutcome::NotNeeded), "{}", taken.log());
    assert!(
        taken.log().contains("using precompiled header"),
        "{}",
        taken.log()
    );
}
