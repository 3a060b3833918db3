//! `cupola compile`: what it writes and says, with the compiler and without.

use std::process::Command;

use super::cli::{cupola, output};

const SOURCE: &str = "template<class T> __global__ void scale(T* x) { x[0] *= FACTOR; }\n";

/// The command with NVIDIA's libraries as the checkout has them; `None` after saying that there are
/// none.
fn compile(args: &[&str]) -> Option<Command> {
    let wheels = std::env::var_os("CUPOLA_WHEELS")?;
    let libraries = std::path::Path::new(&wheels).join("nvidia/cu13/lib");
    if !libraries.is_dir() {
        let required = std::env::var_os("CUPOLA_REQUIRE_WHEELS").is_some();
        assert!(!required, "no NVRTC in {}", libraries.display());
        eprintln!("SKIPPED: no NVRTC in {}", libraries.display());
        return None;
    }
    let mut command = cupola(&[&["compile"], args].concat());
    command.env("CUPOLA_WHEELS", wheels);
    Some(command)
}

/// Without it the command could write something else than it says, or lose the symbols.
#[test]
fn a_source_becomes_a_file_of_each_kind() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("scale.cu");
    std::fs::write(&source, format!("#include <two.h>\n{SOURCE}")).unwrap();
    std::fs::write(folder.path().join("two.h"), "#define TWO 2\n").unwrap();
    let source = source.display().to_string();
    let include = folder.path().display().to_string();
    for (target, start) in [("cubin", &b"\x7fELF"[..]), ("ptx", b"//"), ("ltoir", b"")] {
        let file = folder.path().join(format!("out.{target}"));
        let name = file.display().to_string();
        let Some(mut command) = compile(&[
            &source,
            "--arch",
            "sm_90a",
            "--target",
            target,
            "-I",
            &include,
            "-D",
            "FACTOR=TWO",
            "--name-expression",
            "scale<float>",
            "--option=--use_fast_math",
            "-o",
            &name,
        ]) else {
            return;
        };
        let (code, stdout, stderr) = output(&mut command);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(
            stdout.contains("_Z5scaleIfEvPT_") && stdout.contains("sm_90a"),
            "{stdout}"
        );
        let code = std::fs::read(&file).unwrap();
        assert!(!code.is_empty() && code.starts_with(start), "{target}");
    }
}

/// Without it a wrong source could end as a success, or its messages be lost.
#[test]
fn a_wrong_source_option_or_architecture_has_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("scale.cu");
    std::fs::write(&source, SOURCE).unwrap();
    let source = source.display().to_string();
    for (args, exit, word) in [
        (
            &["--arch", "sm_90", "--name-expression", "scale<int>"][..],
            1,
            "scale.cu(1)",
        ),
        (&["--arch", "sm_90", "--option=--no-such"], 2, "--no-such"),
        (&["--arch", "sm_30"], 2, "makes no code for sm_30"),
        (&["--arch", "gfx90"], 2, "sm_100f"),
        (&[], 2, "name an architecture with --arch"),
    ] {
        let written = folder.path().join("none").display().to_string();
        let Some(mut command) = compile(&[&[&*source, "-o", &written], args].concat()) else {
            return;
        };
        command.env("CUPOLA_CUDA_LIBRARY", "/no/such/libcuda.so.1");
        let (code, _, stderr) = output(&mut command);
        assert_eq!(code, Some(exit), "{args:?}: {stderr}");
        assert!(stderr.contains(word), "{stderr}");
        assert!(!std::path::Path::new(&written).exists());
    }
}

/// Without it a user without NVRTC would not learn how to get it.
#[test]
fn without_the_compiler_it_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("scale.cu");
    std::fs::write(&source, SOURCE).unwrap();
    let mut command = cupola(&["compile", "--arch", "sm_90", &source.display().to_string()]);
    command.env("CUPOLA_NVRTC_LIBRARY", "/no/such/libnvrtc.so");
    let (code, stdout, stderr) = output(&mut command);
    assert_eq!((code, stdout.as_str()), (Some(5), ""), "{stderr}");
    for word in [
        "/no/such/libnvrtc.so",
        "pip install nvidia-cuda-nvrtc",
        "cargo xtask cuda",
    ] {
        assert!(stderr.contains(word), "{stderr}");
    }
}

/// Without it the command could ask another compiler than it was told to, or not say which it asked.
#[test]
fn clang_makes_ptx_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("scale.cu");
    std::fs::write(&source, SOURCE).unwrap();
    let source = source.display().to_string();
    let written = folder.path().join("scale.ptx");
    let output_name = written.display().to_string();
    let run = |more: &[&str]| {
        let args = ["compile", &source, "--compiler", "clang", "--arch", "sm_80"];
        let mut command = cupola(&[&args[..], &["-o", &output_name], more].concat());
        output(&mut command)
    };
    let expression = ["-D", "FACTOR=2", "--name-expression", "scale<float>"];
    let (code, stdout, stderr) = run(&expression);
    if code == Some(5) && stderr.contains("not found") {
        let strict = std::env::var_os("CUPOLA_STRICT").is_some_and(|value| value == "1");
        assert!(!strict, "{stderr}");
        eprintln!("SKIPPED: {stderr}");
        return;
    }
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("by clang"), "{stdout}");
    assert!(stdout.contains("is _Z5scaleIfEvPT_"), "{stdout}");
    let ptx = std::fs::read_to_string(&written).unwrap();
    assert!(ptx.contains(".target sm_80"), "{ptx}");
    for (more, exit, word) in [
        (&["--name-expression", "scale<int>"][..], 1, "scale.cu:1"),
        (&["--option=--no-such"], 2, "--no-such"),
        (&["--target", "cubin"], 2, "compile with NVRTC"),
    ] {
        let (code, _, stderr) = run(more);
        assert_eq!(code, Some(exit), "{more:?}: {stderr}");
        assert!(stderr.contains(word), "{stderr}");
    }
}
