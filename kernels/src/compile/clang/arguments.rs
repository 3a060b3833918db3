//! The arguments of clang for a request: each option has an equivalent, or is refused.

use std::ffi::{OsStr, OsString};

use cupola_managers::device::Architecture;

use crate::compile::{
    ClangVersion, CompileError, CompileOption, CompileRequest, CppStandard, Switch, Target,
    TargetArchitecture,
};

/// The least PTX version that is asked for, that of CUDA 11.0: every driver that this crate works
/// with takes it.
const LEAST_PTX: u32 = 70;

/// The first PTX version of each architecture that is newer than [`LEAST_PTX`], from old to new.
const FIRST_PTX: &[(u32, u32)] = &[
    (86, 71),
    (87, 74),
    (89, 78),
    (90, 78),
    (100, 86),
    (103, 88),
    (120, 87),
    (121, 88),
];

/// The first PTX version with instructions of one architecture (`sm_90a`).
const SPECIFIC_PTX: u32 = 80;

/// What of the arithmetic is exact. NVRTC's defaults are these too.
struct Arithmetic {
    fused: Switch,
    flush: Switch,
    division: Switch,
    /// Whether functions such as `sinf` are.
    functions: Switch,
}

/// The arguments, but for those about files, in the order of the request where that means something.
///
/// # Errors
/// [`CompileError::NotInClang`] names the first option or target that clang has no equivalent of.
pub(super) fn translate(
    request: &CompileRequest,
    version: ClangVersion,
) -> Result<Vec<OsString>, CompileError> {
    let not_in_clang = |what: String| CompileError::NotInClang {
        what,
        have: version,
    };
    let Target::Ptx(architecture) = request.target() else {
        return Err(not_in_clang(format!(
            "a target of {} (it makes PTX)",
            request.target().kind()
        )));
    };
    let mut arguments: Vec<OsString> = [
        "-x",
        "cuda",
        "--cuda-device-only",
        "-nocudainc",
        "-nocudalib",
        "-nostdinc",
        "-nostdinc++",
        "-S",
        "-fno-color-diagnostics",
        "-fno-crash-diagnostics",
    ]
    .map(OsString::from)
    .into();
    if version.major >= 16 {
        // A user's file of options is in no key.
        arguments.push("--no-default-config".into());
    }
    arguments.push(format!("--cuda-gpu-arch={}", architecture.real_name()).into());
    let ptx = format!("+ptx{}", ptx_version(architecture));
    let feature = ["-Xclang", "-target-feature", "-Xclang", &ptx];
    arguments.extend(feature.map(OsString::from));

    let mut standard = CppStandard::Cpp17;
    let mut optimization = "-O3";
    let mut arithmetic = Arithmetic {
        fused: Switch::On,
        flush: Switch::Off,
        division: Switch::On,
        functions: Switch::On,
    };
    let mut rest: Vec<OsString> = Vec::new();
    for option in request.options() {
        match option {
            CompileOption::Standard(wanted) => standard = *wanted,
            CompileOption::Define { name, value } => rest.push(match value {
                Some(value) => format!("-D{name}={value}").into(),
                None => format!("-D{name}").into(),
            }),
            CompileOption::Undefine(name) => rest.push(format!("-U{name}").into()),
            CompileOption::PreInclude(header) => {
                rest.extend(["-include".into(), header.clone().into_os_string()]);
            }
            // Square roots stay exact: LLVM has no switch for them alone.
            CompileOption::FastMath => {
                arithmetic = Arithmetic {
                    fused: Switch::On,
                    flush: Switch::On,
                    division: Switch::Off,
                    functions: Switch::Off,
                };
            }
            CompileOption::FusedMultiplyAdd(switch) => arithmetic.fused = *switch,
            CompileOption::FlushToZero(switch) => arithmetic.flush = *switch,
            CompileOption::PreciseDivision(switch) => arithmetic.division = *switch,
            CompileOption::LineInfo => rest.push("-gline-directives-only".into()),
            CompileOption::Debug => {
                optimization = "-O0";
                rest.push("-g".into());
            }
            CompileOption::Relocatable(Switch::On) => rest.push("-fgpu-rdc".into()),
            CompileOption::Relocatable(Switch::Off) => rest.push("-fno-gpu-rdc".into()),
            CompileOption::NoWarnings => rest.push("-w".into()),
            CompileOption::WarningsAreErrors => rest.push("-Werror".into()),
            CompileOption::BriefDiagnostics => rest.push("-fno-caret-diagnostics".into()),
            // clang does so without being told: its roots are exact, it has 128-bit integers, its
            // messages have no numbers, and no driver keeps what it makes.
            CompileOption::PreciseRoot(Switch::On)
            | CompileOption::Int128
            | CompileOption::NoDiagnosticNumbers
            | CompileOption::NoDriverCache => {}
            CompileOption::Other(argument) => rest.push(argument.clone()),
            other => {
                let argument = other.argument();
                return Err(not_in_clang(format!(
                    "the option {}",
                    argument.to_string_lossy()
                )));
            }
        }
    }
    arguments.push(format!("-std={}", standard_name(standard, version)).into());
    arguments.push(optimization.into());
    arguments.extend(arithmetic.arguments().into_iter().map(OsString::from));
    arguments.extend(rest);
    Ok(arguments)
}

impl Arithmetic {
    fn arguments(&self) -> Vec<&'static str> {
        let mut arguments = vec![match self.fused {
            Switch::On => "-ffp-contract=fast",
            Switch::Off => "-ffp-contract=off",
        }];
        if self.flush == Switch::On {
            arguments.push("-fcuda-flush-denormals-to-zero");
            // For the instructions that the built-in functions name.
            arguments.push("-DCUPOLA_FLUSH_TO_ZERO");
        }
        if self.functions == Switch::Off {
            arguments.push("-fcuda-approx-transcendentals");
        }
        if self.division == Switch::Off {
            arguments.extend(["-mllvm", "-nvptx-prec-divf32=1"]);
        }
        arguments
    }
}

fn standard_name(standard: CppStandard, version: ClangVersion) -> &'static str {
    match standard {
        CppStandard::Cpp03 => "c++03",
        CppStandard::Cpp11 => "c++11",
        CppStandard::Cpp14 => "c++14",
        CppStandard::Cpp17 => "c++17",
        CppStandard::Cpp20 => "c++20",
        // Its name before it was a standard.
        CppStandard::Cpp23 if version.major < 17 => "c++2b",
        CppStandard::Cpp23 => "c++23",
    }
}

/// The oldest PTX version that has the architecture, so that every driver for it takes the code.
fn ptx_version(target: TargetArchitecture) -> u32 {
    let number = target.number();
    let newer = FIRST_PTX.iter().rev().find(|(first, _)| number >= *first);
    let ptx = newer.map_or(LEAST_PTX, |(_, ptx)| *ptx);
    match target == TargetArchitecture::new(Architecture::new(number / 10, number % 10)) {
        true => ptx,
        false => ptx.max(SPECIFIC_PTX),
    }
}

/// Whether an argument of a caller's own names no file and writes none, as far as its beginning tells.
pub(super) fn is_transparent(argument: &OsStr) -> bool {
    // Warnings, without those that are arguments of other programs; and what is known of the rest.
    const KNOWN: &[&str] = &[
        "-O",
        "-std=",
        "--std=",
        "-ffp-",
        "-fno-",
        "-ffast-math",
        "-funroll-loops",
        "-fcuda-",
        "-fgpu-",
        "-D",
        "-U",
    ];
    let Some(argument) = argument.to_str() else {
        return false;
    };
    let is_warning = argument.starts_with("-W") && !argument.contains(',');
    // Alone, its value is the next argument.
    let is_whole = !matches!(argument, "-D" | "-U");
    is_warning || is_whole && KNOWN.iter().any(|known| argument.starts_with(known))
}

/// Whether a log without a place in a source is about an option.
pub(super) fn is_about_options(log: &str) -> bool {
    const ABOUT: &[&str] = &[
        "unknown argument",
        "unsupported option",
        "unsupported argument",
        "Unknown command line argument",
        "invalid value",
        "invalid argument",
        "argument unused",
        "argument to '",
        "unknown warning option",
        "option '",
    ];
    ABOUT.iter().any(|about| log.contains(about))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLANG: ClangVersion = ClangVersion {
        major: 14,
        minor: 0,
        patch: 6,
    };

    fn target(name: &str) -> TargetArchitecture {
        name.parse().unwrap()
    }

    // Without it a driver could be given PTX of a version that it does not take, or clang be asked for
    // an architecture that the version does not have.
    #[test]
    fn the_ptx_is_the_oldest_that_has_the_architecture() {
        for (name, ptx) in [
            ("sm_60", 70),
            ("sm_80", 70),
            ("sm_86", 71),
            ("sm_90", 78),
            ("sm_90a", 80),
            ("sm_101", 86),
            ("sm_120", 87),
        ] {
            assert_eq!(ptx_version(target(name)), ptx, "{name}");
        }
    }

    // Without it an option could be left out silently, and the code round otherwise than was asked.
    #[test]
    fn every_option_is_translated_or_refused() {
        let of = |options: &[CompileOption]| {
            let request = CompileRequest::new("k.cu", "", Target::Ptx(target("sm_80")));
            let request = options.iter().cloned().fold(request, CompileRequest::with);
            translate(&request, CLANG).map(|arguments| {
                let arguments: Vec<_> = arguments.iter().map(|it| it.to_string_lossy()).collect();
                format!("{} ", arguments.join(" "))
            })
        };
        let plain = of(&[]).unwrap();
        for part in ["-ffp-contract=fast ", "-std=c++17 ", "-O3 ", "+ptx70 "] {
            assert!(plain.contains(part), "{plain}");
        }
        let fast = of(&[CompileOption::FastMath]).unwrap();
        for part in ["flush-denormals", "divf32=1", "transcendentals"] {
            assert!(fast.contains(part) && !plain.contains(part), "{fast}");
        }
        let exact = of(&[
            CompileOption::FastMath,
            CompileOption::PreciseDivision(Switch::On),
            CompileOption::FusedMultiplyAdd(Switch::Off),
        ]);
        let exact = exact.unwrap();
        assert!(!exact.contains("divf32"), "the last word counts: {exact}");
        assert!(exact.contains("-ffp-contract=off "), "{exact}");
        for option in [
            CompileOption::MaxRegisters(32),
            CompileOption::Restrict,
            CompileOption::PreciseRoot(Switch::Off),
            CompileOption::Pch,
            CompileOption::GenerateLto,
            CompileOption::Time,
            CompileOption::Ptxas("-v".into()),
        ] {
            let refused = of(&[option]).unwrap_err();
            assert!(
                matches!(refused, CompileError::NotInClang { .. }),
                "{refused}"
            );
        }
        for target in [
            Target::Cubin(target("sm_80")),
            Target::LtoIr(target("sm_80")),
        ] {
            let request = CompileRequest::new("k.cu", "", target);
            assert!(translate(&request, CLANG).is_err());
        }
    }

    // Without it a result could be kept that depends on a file that no key has.
    #[test]
    fn arguments_that_may_name_files_are_told() {
        for argument in ["-O1", "-Wall", "-fno-inline", "-DX=1", "-std=c++20"] {
            assert!(is_transparent(argument.as_ref()), "{argument}");
        }
        for argument in [
            "-isystem",
            "-Wp,-MD,file",
            "-fplugin=x.so",
            "-fprofile-use=x",
            "-Xclang",
            "@file",
            "-D",
            "-include",
        ] {
            assert!(!is_transparent(argument.as_ref()), "{argument}");
        }
    }
}
