//! What comes of right and wrong sources and options.

use std::process::Command;

use cupola_kernels::PRELUDE;
use cupola_kernels::compile::{
    ArchitectureFeatures, CompileError, CompileOption, CompileRequest, CppStandard, DiagnosticRule,
    FastCompile, PtxVersion, Severity, Switch, Target, TargetArchitecture,
};
use cupola_kernels::{EMBEDDED, HEADER};
use cupola_managers::device::Architecture;
use cupola_sys::{ErrorClass, Version};

use super::{compiler, newest, request};

// Without it a caller could be sent to the wrong line of a wrong source, or get no message.
#[test]
fn a_wrong_source_is_told_by_file_line_and_column() {
    let Some(compiler) = compiler() else { return };
    let source = "__global__ void k(int* p) {\n  *p = missing;\n  int unused = 1;\n}\n";
    let error = compiler.compile(&request(&compiler, source)).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Program);
    let errors: Vec<_> = error.errors().collect();
    let [only] = errors.as_slice() else {
        panic!("{error}")
    };
    assert_eq!(only.file.as_deref(), Some("k.cu"));
    assert_eq!((only.line, only.column), (Some(2), Some(8)), "{only:?}");
    assert!(only.message.contains("\"missing\" is undefined"), "{only}");
    let CompileError::Source { diagnostics, .. } = &error else {
        panic!("{error}")
    };
    let warning = &diagnostics[1];
    assert_eq!(
        (warning.severity, warning.line),
        (Severity::Warning, Some(3))
    );
    let text = error.to_string();
    assert!(
        text.contains("nvrtcCompileProgram") && text.contains("k.cu(2)"),
        "{text}"
    );
}

// Without it warnings of a compile that succeeds could be lost.
#[test]
fn warnings_are_there_on_success() {
    let Some(compiler) = compiler() else { return };
    let source = "__global__ void k() {\n  int unused = 1;\n}\n";
    let compiled = compiler.compile(&request(&compiler, source)).unwrap();
    assert!(compiled.image().starts_with(b"\x7fELF"));
    let diagnostics = compiled.diagnostics();
    let [warning] = diagnostics.as_slice() else {
        panic!("{}", compiled.log())
    };
    assert_eq!(
        (warning.severity, warning.number),
        (Severity::Warning, Some(177))
    );
    assert_eq!(warning.line, Some(2));
    let suppressed = request(&compiler, source).with(CompileOption::Diagnostic {
        rule: DiagnosticRule::Suppress,
        number: 177,
    });
    assert_eq!(compiler.compile(&suppressed).unwrap().log(), "");
}

// Without it an option that the compiler does not know, or an architecture, could be passed over
// or told as an error of the source.
#[test]
fn wrong_options_are_named() {
    let Some(compiler) = compiler() else { return };
    let wrong = request(&compiler, "").with("--no-such-option");
    let error = compiler.compile(&wrong).unwrap_err();
    assert!(matches!(error, CompileError::Option { .. }), "{error}");
    assert!(error.log().contains("--no-such-option"), "{error}");

    let ancient = TargetArchitecture::new(Architecture::new(3, 0));
    let error = compiler
        .compile(&CompileRequest::new("k.cu", "", Target::Cubin(ancient)))
        .unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error, CompileError::Architecture { .. }),
        "{error}"
    );
    assert!(
        text.contains("sm_30") && text.contains(&newest(&compiler).to_string()),
        "{text}"
    );

    let error = compiler.compile(&request(&compiler, "a\0b")).unwrap_err();
    assert!(matches!(error, CompileError::Nul { .. }), "{error}");
}

/// Set in the process that tries options.
const OPTIONS: &str = "CUPOLA_TEST_OPTIONS";

// Without it a typed option could be spelled in a way that the compiler refuses, or one of an earlier
// compile could change the code of a later one, which no key would know.
#[test]
fn the_compiler_takes_every_typed_option_and_forgets_it() {
    let Some(compiler) = compiler() else { return };
    if std::env::var_os(OPTIONS).is_none() {
        // In another process: `InlineInfo` stays in force for the logs of all later compiles.
        let name = "sources::the_compiler_takes_every_typed_option_and_forgets_it";
        let ended = Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact"])
            .env(OPTIONS, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success(), "{text}");
        return;
    }
    let source = "__device__ float f(float x) { return x / 3; }\n\
                  __global__ void k(float* x) { x[0] = f(x[1]) * x[2] + sqrtf(x[3]); }";
    let plain = request(&compiler, source);
    let code = compiler.compile(&plain).unwrap().into_image();
    let folder = tempfile::tempdir().unwrap();
    let pre = folder.path().join("pre.h");
    std::fs::write(&pre, "#define PRE 1\n").unwrap();
    let mut options = vec![
        CompileOption::Define {
            name: "ONE".into(),
            value: None,
        },
        CompileOption::Define {
            name: "TWO".into(),
            value: Some("2".into()),
        },
        CompileOption::Undefine("ONE".into()),
        CompileOption::PreInclude(pre),
        CompileOption::NoSourceInclude,
        CompileOption::FastMath,
        CompileOption::FusedMultiplyAdd(Switch::Off),
        CompileOption::FlushToZero(Switch::On),
        CompileOption::PreciseDivision(Switch::Off),
        CompileOption::PreciseRoot(Switch::On),
        CompileOption::ExtraVectorization,
        CompileOption::Restrict,
        CompileOption::LineInfo,
        CompileOption::Debug,
        CompileOption::MaxRegisters(32),
        CompileOption::Relocatable(Switch::On),
        CompileOption::ExtensibleWholeProgram,
        CompileOption::GenerateLto,
        CompileOption::DefaultDevice,
        CompileOption::Int128,
        CompileOption::Float128,
        CompileOption::Minimal,
        CompileOption::Ptxas("-v".into()),
        CompileOption::SplitCompile(2),
        CompileOption::StackProtector,
        CompileOption::NoWarnings,
        CompileOption::WarningsAreErrors,
        CompileOption::NoDiagnosticNumbers,
        CompileOption::BriefDiagnostics,
        CompileOption::InlineInfo,
        CompileOption::Time,
        CompileOption::TimeTrace(folder.path().join("trace")),
        CompileOption::RandomSeed("7".into()),
        CompileOption::NoDriverCache,
        CompileOption::Pch,
        CompileOption::PchFolder(folder.path().to_owned()),
        CompileOption::PchVerbose,
        CompileOption::PchTemplates(Switch::Off),
    ];
    for standard in [
        CppStandard::Cpp03,
        CppStandard::Cpp11,
        CppStandard::Cpp14,
        CppStandard::Cpp17,
        CppStandard::Cpp20,
    ] {
        options.push(CompileOption::Standard(standard));
    }
    for how in [
        FastCompile::Off,
        FastCompile::Min,
        FastCompile::Mid,
        FastCompile::Max,
    ] {
        options.push(CompileOption::FastCompile(how));
    }
    for rule in [
        DiagnosticRule::Suppress,
        DiagnosticRule::Warn,
        DiagnosticRule::Fail,
    ] {
        options.push(CompileOption::Diagnostic { rule, number: 177 });
    }
    for option in options {
        let one = request(&compiler, "__global__ void k() {}").with(option.clone());
        match compiler.compile(&one) {
            Ok(_) => {}
            Err(CompileError::Option { .. })
                if compiler.version().cuda() < Some(Version::new(13, 5)) =>
            {
                eprintln!("SKIPPED: this compiler is older than {option:?}");
            }
            Err(error) => panic!("{option:?}: {error}"),
        }
        let with = plain.clone().with(option.clone());
        let _ = compiler.compile(&with);
        let again = compiler.compile(&plain).unwrap().into_image();
        assert!(again == code, "{option:?} is in force for the next compile");
    }
    let debug = request(&compiler, "__global__ void k() {}")
        .with(CompileOption::Debug)
        .with(CompileOption::OptimizeDebug);
    compiler.compile(&debug).unwrap();
}

// Without it a kernel could be looked for by a name that it does not have.
#[test]
fn name_expressions_give_the_symbols_of_templates() {
    let Some(compiler) = compiler() else { return };
    let source = "template<class T> __global__ void t(T* p) { *p = 1; }\n\
                  namespace n { __device__ int v; }\n";
    let named = CompileRequest::new("k.cu", source, Target::Ptx(newest(&compiler)))
        .name_expression("t<float>")
        .name_expression("&n::v")
        .name_expression("t<int>");
    let compiled = compiler.compile(&named).unwrap();
    let symbols: Vec<_> = compiled
        .lowered_names()
        .iter()
        .map(|name| name.symbol.as_str())
        .collect();
    assert_eq!(symbols, ["_Z1tIfEvPT_", "_ZN1n1vE", "_Z1tIiEvPT_"]);
    assert_eq!(compiled.lowered_name("t<int>"), Some("_Z1tIiEvPT_"));
    let ptx = compiled.ptx().unwrap();
    assert!(symbols.iter().all(|symbol| ptx.contains(symbol)));

    let wrong = request(&compiler, source).name_expression("nothing<int>");
    let error = compiler.compile(&wrong).unwrap_err();
    assert!(error.log().contains("nothing"), "{error}");
}

// Without it code could be of another kind or architecture than was asked for, or PTX of another
// version than the rule for old drivers counts on.
#[test]
fn each_target_is_what_it_says() {
    let Some(compiler) = compiler() else { return };
    let source = "__global__ void k(int* p) { *p = 1; }";
    let make = |target| {
        compiler
            .compile(&CompileRequest::new("k.cu", source, target))
            .unwrap()
    };
    let newest = newest(&compiler);
    let ptx = make(Target::Ptx(newest));
    let text = ptx.ptx().unwrap();
    assert!(text.contains(&format!(".target {newest}")), "{text}");
    let written = PtxVersion::of_text(text).unwrap();
    assert_eq!(
        written,
        PtxVersion::of_cuda(compiler.version().cuda().unwrap())
    );
    assert!(!text.contains('\0'));

    let specific = newest.with(ArchitectureFeatures::Specific);
    let text = make(Target::Ptx(specific));
    assert!(text.ptx().unwrap().contains(&format!(".target {specific}")));
    assert!(
        make(Target::Cubin(specific))
            .image()
            .starts_with(b"\x7fELF")
    );

    let lto = make(Target::LtoIr(newest));
    assert!(!lto.image().is_empty() && !lto.image().starts_with(b"\x7fELF"));
    assert_eq!(lto.ptx(), None);

    let device = newest.architecture();
    let chosen = compiler
        .target_for(device, compiler.version().cuda().unwrap())
        .unwrap();
    let exact = TargetArchitecture::exact(device);
    assert_eq!(chosen, Target::Cubin(exact));
    assert!(make(chosen).image().starts_with(b"\x7fELF"));
}

// Without it the same request could give other bytes, and a cache other code than a compile.
#[test]
fn the_same_request_gives_the_same_bytes() {
    let Some(compiler) = compiler() else { return };
    for file in EMBEDDED {
        let request = CompileRequest::new(
            format!("{}.cu", file.name()),
            file.source(),
            Target::Cubin(newest(&compiler)),
        )
        .header("prelude.cuh", PRELUDE)
        .header("cupola.cuh", HEADER);
        let [first, second] = [0, 1].map(|_| compiler.compile(&request).unwrap());
        assert_eq!(first.log(), "", "{}", file.name());
        assert_eq!(first.image(), second.image(), "{}", file.name());
    }
}
