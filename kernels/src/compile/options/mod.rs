//! [`CompileOption`]: what a compiler can be told.

mod parse;

use std::ffi::OsString;
use std::path::PathBuf;

/// Whether a thing that the compiler can do is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Switch {
    /// It is done.
    On,
    /// It is not done.
    Off,
}

impl Switch {
    const fn truth(self) -> &'static str {
        match self {
            Self::On => "true",
            Self::Off => "false",
        }
    }

    fn parse(truth: &str) -> Option<Self> {
        [Self::On, Self::Off]
            .into_iter()
            .find(|switch| switch.truth() == truth)
    }
}

/// A standard of C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CppStandard {
    /// C++03.
    Cpp03,
    /// C++11.
    Cpp11,
    /// C++14.
    Cpp14,
    /// C++17, which NVRTC takes without the option since CUDA 11.
    Cpp17,
    /// C++20, since CUDA 12.0.
    Cpp20,
    /// C++23, by the newest versions only.
    Cpp23,
}

impl CppStandard {
    const ALL: [Self; 6] = [
        Self::Cpp03,
        Self::Cpp11,
        Self::Cpp14,
        Self::Cpp17,
        Self::Cpp20,
        Self::Cpp23,
    ];

    fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|standard| standard.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Cpp03 => "c++03",
            Self::Cpp11 => "c++11",
            Self::Cpp14 => "c++14",
            Self::Cpp17 => "c++17",
            Self::Cpp20 => "c++20",
            Self::Cpp23 => "c++23",
        }
    }
}

/// What becomes of a diagnostic of the compiler, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiagnosticRule {
    /// It is not said.
    Suppress,
    /// It is a warning.
    Warn,
    /// It is an error.
    Fail,
}

/// How much is optimised for the sake of compile time (CUDA 12.9 and later).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FastCompile {
    /// All is optimised.
    Off,
    /// Little is left out.
    Min,
    /// Some is left out.
    Mid,
    /// Almost all is left out.
    Max,
}

/// One option of a compile.
///
/// Each is one argument of `nvrtcCompileProgram`, in the order of the request. A version that does
/// not know one refuses the compile with [`CompileError::Option`](super::CompileError::Option), whose
/// log names it. What has no variant is [`Other`](Self::Other).
///
/// clang is given its equivalent; of what has none it refuses the compile with
/// [`CompileError::NotInClang`](super::CompileError::NotInClang).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CompileOption {
    /// The standard of C++ (`--std`).
    Standard(CppStandard),
    /// Defines a macro, as 1 without a value (`--define-macro`).
    Define {
        /// The macro.
        name: String,
        /// Its text.
        value: Option<String>,
    },
    /// Takes a macro's definition back (`--undefine-macro`).
    Undefine(String),
    /// Includes a header before the source (`--pre-include`).
    PreInclude(PathBuf),
    /// Looks for no header beside the file that includes it (`--no-source-include`; CUDA 12.8).
    NoSourceInclude,
    /// Fused multiplications, flushed subnormals, approximate division and roots
    /// (`--use_fast_math`).
    FastMath,
    /// Whether a multiplication and an addition become one operation with one rounding (`--fmad`).
    FusedMultiplyAdd(Switch),
    /// Whether subnormal numbers become zero (`--ftz`).
    FlushToZero(Switch),
    /// Whether division is rounded as IEEE 754 says (`--prec-div`).
    PreciseDivision(Switch),
    /// Whether square roots are rounded as IEEE 754 says (`--prec-sqrt`).
    PreciseRoot(Switch),
    /// More vectorised memory accesses (`--extra-device-vectorization`).
    ExtraVectorization,
    /// Pointers of kernel parameters do not overlap (`--restrict`).
    Restrict,
    /// Line numbers for profilers (`--generate-line-info`).
    LineInfo,
    /// Code for a debugger, hardly optimised (`--device-debug`).
    Debug,
    /// Whether code with [`Debug`](Self::Debug) is optimised (`--dopt=on`).
    OptimizeDebug,
    /// The most registers of a thread (`--maxrregcount`).
    MaxRegisters(u32),
    /// Whether other code can be linked to it (`--relocatable-device-code`).
    Relocatable(Switch),
    /// Whether all that a kernel calls is in this source, though it is linked
    /// (`--extensible-whole-program`).
    ExtensibleWholeProgram,
    /// Code for link-time optimisation beside PTX (`--gen-opt-lto`).
    GenerateLto,
    /// Functions without an execution space are device functions
    /// (`--device-as-default-execution-space`).
    DefaultDevice,
    /// 128-bit integers (`--device-int128`).
    Int128,
    /// 128-bit floating point (`--device-float128`; CUDA 12.8).
    Float128,
    /// Leaves the built-in declarations out that few sources use, which compiles faster
    /// (`--minimal`; CUDA 12.4).
    Minimal,
    /// One argument for the assembler (`--ptxas-options`).
    Ptxas(String),
    /// Splits the optimisation over so many threads; 0 is one for each core (`--split-compile`;
    /// CUDA 12.1). It multiplies with the width of a [queue](super::CompileQueue).
    SplitCompile(u32),
    /// How much is optimised for the sake of compile time (`--Ofast-compile`; CUDA 12.9).
    FastCompile(FastCompile),
    /// Protects stacks against overruns (`--device-stack-protector=true`).
    StackProtector,
    /// Says no warnings (`--disable-warnings`).
    NoWarnings,
    /// Every warning fails the compile (`--warning-as-error=all-warnings`; after CUDA 13.0).
    WarningsAreErrors,
    /// What becomes of the diagnostic with this number.
    Diagnostic {
        /// What becomes of it.
        rule: DiagnosticRule,
        /// Its number: 177 for `#177-D`.
        number: u32,
    },
    /// Diagnostics have no numbers (`--no-display-error-number`).
    NoDiagnosticNumbers,
    /// Diagnostics have neither the source line nor a column (`--brief-diagnostics=true`; CUDA 12.4).
    BriefDiagnostics,
    /// Says what was inlined (`--optimization-info=inline`). NVRTC 13.5 says it of every later compile of
    /// the process too.
    InlineInfo,
    /// The time that each phase took, in the log (`--time=-`).
    Time,
    /// The time of each part, into a file that `chrome://tracing` opens
    /// (`--fdevice-time-trace`; CUDA 12.7). The compiler puts `.json` behind the name.
    TimeTrace(PathBuf),
    /// A fixed seed for names that would be random (`--frandom-seed`).
    RandomSeed(String),
    /// Keeps nothing in the driver's compile cache and takes nothing from it (`--no-cache`;
    /// CUDA 12.9).
    NoDriverCache,
    /// Takes precompiled headers where there are any that fit, and else makes them (`--pch`;
    /// CUDA 12.8). See [`PchOutcome`](super::PchOutcome).
    Pch,
    /// The folder of precompiled headers (`--pch-dir`).
    PchFolder(PathBuf),
    /// Makes a precompiled header in this file (`--create-pch`).
    CreatePch(PathBuf),
    /// Takes the precompiled header in this file (`--use-pch`).
    UsePch(PathBuf),
    /// Says why a precompiled header was not taken (`--pch-verbose=true`).
    PchVerbose,
    /// Instantiates templates when a precompiled header is made
    /// (`--instantiate-templates-in-pch`).
    PchTemplates(Switch),
    /// The folder that NVRTC's own headers were put in (`--use-bundled-headers`; CUDA 13.3).
    BundledHeaders(PathBuf),
    /// Any argument, as the compiler that is asked takes it: NVRTC's and clang's differ. An option whose value is an argument of its own needs two.
    Other(OsString),
}

impl CompileOption {
    /// The argument that NVRTC is given.
    #[must_use]
    pub fn argument(&self) -> OsString {
        let path = |option: &str, path: &PathBuf| {
            let mut argument = OsString::from(option);
            argument.push(path);
            argument
        };
        let word = |text: &str| OsString::from(text);
        match self {
            Self::Standard(standard) => format!("--std={}", standard.name()).into(),
            Self::Define { name, value: None } => format!("--define-macro={name}").into(),
            Self::Define {
                name,
                value: Some(value),
            } => format!("--define-macro={name}={value}").into(),
            Self::Undefine(name) => format!("--undefine-macro={name}").into(),
            Self::PreInclude(header) => path("--pre-include=", header),
            Self::NoSourceInclude => word("--no-source-include"),
            Self::FastMath => word("--use_fast_math"),
            Self::FusedMultiplyAdd(switch) => format!("--fmad={}", switch.truth()).into(),
            Self::FlushToZero(switch) => format!("--ftz={}", switch.truth()).into(),
            Self::PreciseDivision(switch) => format!("--prec-div={}", switch.truth()).into(),
            Self::PreciseRoot(switch) => format!("--prec-sqrt={}", switch.truth()).into(),
            Self::ExtraVectorization => word("--extra-device-vectorization"),
            Self::Restrict => word("--restrict"),
            Self::LineInfo => word("--generate-line-info"),
            Self::Debug => word("--device-debug"),
            Self::OptimizeDebug => word("--dopt=on"),
            Self::MaxRegisters(count) => format!("--maxrregcount={count}").into(),
            Self::Relocatable(switch) => {
                format!("--relocatable-device-code={}", switch.truth()).into()
            }
            Self::ExtensibleWholeProgram => word("--extensible-whole-program"),
            Self::GenerateLto => word("--gen-opt-lto"),
            Self::DefaultDevice => word("--device-as-default-execution-space"),
            Self::Int128 => word("--device-int128"),
            Self::Float128 => word("--device-float128"),
            Self::Minimal => word("--minimal"),
            Self::Ptxas(argument) => format!("--ptxas-options={argument}").into(),
            Self::SplitCompile(threads) => format!("--split-compile={threads}").into(),
            Self::FastCompile(how) => word(match how {
                FastCompile::Off => "--Ofast-compile=0",
                FastCompile::Min => "--Ofast-compile=min",
                FastCompile::Mid => "--Ofast-compile=mid",
                FastCompile::Max => "--Ofast-compile=max",
            }),
            Self::StackProtector => word("--device-stack-protector=true"),
            Self::NoWarnings => word("--disable-warnings"),
            Self::WarningsAreErrors => word("--warning-as-error=all-warnings"),
            Self::Diagnostic { rule, number } => match rule {
                DiagnosticRule::Suppress => format!("--diag-suppress={number}").into(),
                DiagnosticRule::Warn => format!("--diag-warn={number}").into(),
                DiagnosticRule::Fail => format!("--diag-error={number}").into(),
            },
            Self::NoDiagnosticNumbers => word("--no-display-error-number"),
            Self::BriefDiagnostics => word("--brief-diagnostics=true"),
            Self::InlineInfo => word("--optimization-info=inline"),
            Self::Time => word("--time=-"),
            Self::TimeTrace(file) => path("--fdevice-time-trace=", file),
            Self::RandomSeed(seed) => format!("--frandom-seed={seed}").into(),
            Self::NoDriverCache => word("--no-cache"),
            Self::Pch => word("--pch"),
            Self::PchFolder(folder) => path("--pch-dir=", folder),
            Self::CreatePch(file) => path("--create-pch=", file),
            Self::UsePch(file) => path("--use-pch=", file),
            Self::PchVerbose => word("--pch-verbose=true"),
            Self::PchTemplates(switch) => {
                format!("--instantiate-templates-in-pch={}", switch.truth()).into()
            }
            Self::BundledHeaders(folder) => path("--use-bundled-headers=", folder),
            Self::Other(argument) => argument.clone(),
        }
    }

    /// Whether what it names, or what is made with it, may depend on the current folder.
    #[cfg(unix)]
    pub(crate) fn may_name_folders(&self) -> bool {
        use CompileOption as O;
        !matches!(
            self,
            O::Standard(_)
                | O::Define { .. }
                | O::Undefine(_)
                | O::NoSourceInclude
                | O::FastMath
                | O::FusedMultiplyAdd(_)
                | O::FlushToZero(_)
                | O::PreciseDivision(_)
                | O::PreciseRoot(_)
                | O::ExtraVectorization
                | O::Restrict
                | O::MaxRegisters(_)
                | O::Relocatable(_)
                | O::ExtensibleWholeProgram
                | O::GenerateLto
                | O::DefaultDevice
                | O::Int128
                | O::Float128
                | O::Minimal
                | O::SplitCompile(_)
                | O::FastCompile(_)
                | O::StackProtector
                | O::NoWarnings
                | O::WarningsAreErrors
                | O::Diagnostic { .. }
                | O::NoDiagnosticNumbers
                | O::BriefDiagnostics
                | O::NoDriverCache
        )
    }

    /// Whether the compile does something besides its result: it writes a file, says how long it took, or
    /// changes what later compiles say.
    #[cfg(unix)]
    pub(crate) fn has_effects(&self) -> bool {
        let argument = self.argument();
        let argument = argument.to_string_lossy();
        let name = argument.trim_start_matches('-');
        [
            "time",
            "fdevice-time-trace",
            "create-pch",
            "optimization-info",
        ]
        .iter()
        .any(|effect| name.starts_with(effect))
    }

    /// Whether it is about precompiled headers, so that the compile uses their heap.
    pub(super) fn is_pch(&self) -> bool {
        let argument = self.argument();
        let argument = argument.to_string_lossy();
        let name = argument.trim_start_matches('-');
        name == "pch" || name.starts_with("create-pch") || name.starts_with("use-pch")
    }
}

impl From<OsString> for CompileOption {
    /// Any argument, as NVRTC takes it.
    fn from(argument: OsString) -> Self {
        Self::Other(argument)
    }
}

impl From<&str> for CompileOption {
    /// Any argument, as NVRTC takes it.
    fn from(argument: &str) -> Self {
        Self::Other(argument.into())
    }
}
