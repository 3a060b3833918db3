//! What clang does not compile, and how a caller is told.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use cupola_kernels::compile::{
    Cancellation, ClangCompiler, CompileError, CompileOption, Compiler, Severity, Target,
};
use cupola_sys::ErrorClass;

use super::{clang, clangs, request};

// Without it a caller could be sent to the wrong line, or into a folder that is gone.
#[test]
fn a_wrong_source_has_its_messages_with_their_places() {
    for clang in clangs() {
        let compiler = Compiler::from(clang);
        let source = "#include \"own/a.h\"\n__global__ void k(int* x) {\n  *x = unknown;\n}\n";
        let wrong = request(source).header("own/a.h", "\nint f() { return 1 }\n");
        let error = compiler.compile(&wrong).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Program);
        let places: Vec<_> = error
            .errors()
            .map(|it| (it.file.clone().unwrap(), it.line.unwrap()))
            .collect();
        let expected = [("own/a.h".to_owned(), 2), ("k.cu".to_owned(), 3)];
        assert_eq!(places, expected, "{error}");
        assert!(error.errors().all(|it| it.column.is_some()), "{error}");
        assert!(!error.to_string().contains("cupola-clang-"), "{error}");
        // A warning is in the log of what compiles.
        let odd = request("__global__ void k(int* x) { *x == 1; }");
        let compiled = compiler.compile(&odd).unwrap();
        let found = compiled.diagnostics();
        assert_eq!(found[0].severity, Severity::Warning, "{}", compiled.log());
        assert_eq!(found[0].line, Some(1));
        let strict = odd.with(CompileOption::WarningsAreErrors);
        let error = compiler.compile(&strict).unwrap_err();
        assert!(matches!(error, CompileError::Source { .. }), "{error}");
    }
}

// Without it an option that means nothing to clang could be left out, or pass for a fault of the source.
#[test]
fn wrong_options_targets_and_names_are_told_as_such() {
    for clang in clangs() {
        let version = clang.version();
        let compiler = Compiler::from(clang);
        let plain = request("__global__ void k() {}\n__device__ int v;\n");
        let refused = |request| compiler.compile(&request).unwrap_err();
        let error = refused(plain.clone().with("--bogus-option"));
        assert!(matches!(error, CompileError::Option { .. }), "{error}");
        assert!(error.log().contains("--bogus-option"), "{error}");
        assert_eq!(error.class(), ErrorClass::Programmer);
        let error = refused(plain.clone().with("-mllvm").with("-bogus-option"));
        assert!(matches!(error, CompileError::Option { .. }), "{error}");
        let error = refused(plain.clone().with(CompileOption::MaxRegisters(32)));
        let text = error.to_string();
        assert!(matches!(error, CompileError::NotInClang { .. }), "{text}");
        assert!(
            text.contains("maxrregcount") && text.contains("NVRTC"),
            "{text}"
        );
        assert_eq!(error.class(), ErrorClass::Unsupported);
        let cubin = plain
            .clone()
            .for_target(Target::Cubin("sm_80".parse().unwrap()));
        let error = refused(cubin);
        assert!(matches!(error, CompileError::NotInClang { .. }), "{error}");
        let future = plain
            .clone()
            .for_target(Target::Ptx("sm_191".parse().unwrap()));
        let CompileError::Architecture { supported, .. } = refused(future) else {
            panic!("clang {version} has no sm_191");
        };
        assert!(supported.contains(&"sm_80".parse().unwrap()));
        for name in ["none", "v", "k<int>", "1"] {
            let error = refused(plain.clone().name_expression("k").name_expression(name));
            let CompileError::Name { expression, .. } = &error else {
                panic!("{name}: {error}");
            };
            assert_eq!(expression, name);
        }
        let error = refused(plain.header("../a.h", ""));
        assert!(matches!(error, CompileError::NotInClang { .. }), "{error}");
    }
}

/// A source that clang needs seconds for.
fn long_request() -> cupola_kernels::compile::CompileRequest {
    let source = "template<int N> struct S { static constexpr long v = S<N-1>::v * 3 + S<N-2>::v; };\n\
        template<> struct S<0> { static constexpr long v = 1; };\n\
        template<> struct S<1> { static constexpr long v = 1; };\n\
        constexpr long f(int n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); }\n\
        static_assert(f(60) > 0, \"\");\n";
    request(source).with("-fconstexpr-steps=2147483647")
}

// Without it a cancelled compile could go on, or one that never ends hold its caller for ever.
#[test]
fn a_compile_that_is_cancelled_or_takes_too_long_is_stopped() {
    let Some(clang) = clang() else { return };
    let request = long_request();
    let compiler = Compiler::from(clang.clone());
    let cancellation = Cancellation::new();
    let begin = Instant::now();
    thread::scope(|scope| {
        let compile = scope.spawn(|| compiler.compile_until(&request, &cancellation));
        thread::sleep(Duration::from_millis(100));
        assert!(!compile.is_finished(), "{:?}", compile.join());
        cancellation.cancel();
        let ended = compile.join().unwrap();
        assert!(matches!(ended, Err(CompileError::Cancelled)), "{ended:?}");
    });
    // The compile would take minutes.
    assert!(begin.elapsed() < Duration::from_secs(60));
    let limit = Duration::from_millis(50);
    let hasty = Compiler::from(clang.with_time_limit(limit));
    let error = hasty.compile(&request).unwrap_err();
    assert!(matches!(error, CompileError::TimedOut { .. }), "{error}");
    assert_eq!(error.class(), ErrorClass::Resource);
}

// Without it a machine without clang could get words about a file that is not there, and not what to
// install; or one that is told to take a clang take another.
#[test]
fn a_missing_clang_is_told_with_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let ended = |configure: &dyn Fn(&mut Command)| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = "refused::in_a_process_without_clang";
        command.args([name, "--exact", "--nocapture"]);
        command.env("PATH", folder.path()).env(CHILD, "1");
        command.env_remove(ClangCompiler::VARIABLE);
        configure(&mut command);
        let ended = command.output().unwrap();
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success(), "{text}");
        text
    };
    let text = ended(&|_| ());
    for part in [
        "TOLD",
        "clang: not found",
        "clang-14 to clang-",
        "apt install clang-19",
        "dnf install clang",
        "brew install llvm",
        ClangCompiler::VARIABLE,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let named = folder.path().join("of-another-name");
    let text = ended(&|command| {
        command.env(ClangCompiler::VARIABLE, &named);
    });
    assert!(text.contains("of-another-name: not found"), "{text}");
    assert!(!text.contains("clang-14 to"), "{text}");
    // What is there and is no clang is told too.
    let other = folder.path().join("clang-17");
    std::fs::write(&other, "#!/bin/sh\necho clang version 3.9.1\n").unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let text = ended(&|_| ());
    assert!(text.contains("clang 3.9.1 is older than 14"), "{text}");
}

const CHILD: &str = "CUPOLA_TEST_NO_CLANG";

/// What the test above starts; by itself it checks nothing.
#[test]
fn in_a_process_without_clang() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let error = Compiler::find_clang().unwrap_err();
    assert!(
        matches!(error, CompileError::ClangNotFound { .. }),
        "{error}"
    );
    assert_eq!(error.class(), ErrorClass::Environment);
    println!("TOLD {error}");
}
