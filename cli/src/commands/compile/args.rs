//! What `cupola compile` can be asked.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use cupola::kernels::compile::TargetArchitecture;

/// Which compiler is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompilerChoice {
    /// NVIDIA's, for GPUs
    #[default]
    Nvrtc,
    /// LLVM's, which makes PTX, for the software device above all
    Clang,
}

/// What is made of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetChoice {
    /// A binary for one architecture
    Cubin,
    /// Assembly text, for this architecture and later ones
    Ptx,
    /// Code for link-time optimisation
    Ltoir,
}

impl TargetChoice {
    /// The extension of files of this kind.
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Cubin => "cubin",
            Self::Ptx => "ptx",
            Self::Ltoir => "ltoir",
        }
    }
}

#[derive(Args, Debug, Clone)]
pub(crate) struct CompileArgs {
    /// The source, in CUDA C++; `-` is standard input
    pub(crate) file: PathBuf,

    /// The architecture: sm_90, sm_90a, sm_100f; that of the first GPU if none is named
    #[arg(long, value_name = "SM")]
    pub(crate) arch: Option<TargetArchitecture>,

    /// The compiler
    #[arg(long, value_enum, default_value_t)]
    pub(crate) compiler: CompilerChoice,

    /// What to make; a binary by NVRTC and PTX by clang if nothing is named
    #[arg(long, value_enum)]
    pub(crate) target: Option<TargetChoice>,

    /// Where to write it; the name of the source with another extension, in the current folder, if no
    /// other is named; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// A folder to look for headers in; more than one are searched in order
    #[arg(short = 'I', long = "include", value_name = "FOLDER")]
    pub(crate) include: Vec<PathBuf>,

    /// A macro to define, as 1 without a value
    #[arg(short = 'D', long = "define", value_name = "NAME[=VALUE]")]
    pub(crate) define: Vec<String>,

    /// A kernel or variable by its C++ name, `scale<float>`, whose symbol is printed
    #[arg(long, value_name = "NAME")]
    pub(crate) name_expression: Vec<String>,

    /// Any option, as the compiler takes it: `--option=--use_fast_math` of NVRTC
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    pub(crate) option: Vec<String>,
}

impl CompileArgs {
    /// What to make.
    pub(super) fn target(&self) -> TargetChoice {
        self.target.unwrap_or(match self.compiler {
            CompilerChoice::Nvrtc => TargetChoice::Cubin,
            CompilerChoice::Clang => TargetChoice::Ptx,
        })
    }
}
