//! [`LinkOption`]: what a linker can be told.

/// How much is optimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkOptimization {
    /// Nothing.
    None,
    /// All.
    Full,
}

/// One option of a link. What has no variant is [`Other`](Self::Other), which nvJitLink alone takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LinkOption {
    /// Optimises all inputs together (`-lto`). A request with LTO-IR has it without being told; one
    /// without needs it for fat binaries and objects with LTO-IR in them.
    LinkTimeOptimization,
    /// How much is optimised (`-O`).
    Optimization(LinkOptimization),
    /// The most registers of a thread (`-maxrregcount`).
    MaxRegisters(u32),
    /// Line numbers for profilers (`-lineinfo`).
    LineInfo,
    /// Code for a debugger (`-g`).
    Debug,
    /// More messages (`-verbose`).
    Verbose,
    /// Keeps this kernel; those that are not named, in any option of this kind, may be left out
    /// (`-kernels-used`). By nvJitLink alone.
    KernelUsed(String),
    /// Keeps this variable; those that are not named may be left out (`-variables-used`). By
    /// nvJitLink alone.
    VariableUsed(String),
    /// Leaves variables out that no device code names (`-optimize-unused-variables`). By nvJitLink
    /// alone.
    DropUnusedVariables,
    /// Splits the optimisation over so many threads; 0 is one for each core (`-split-compile`). By
    /// nvJitLink alone.
    SplitCompile(u32),
    /// One argument for the assembler (`-Xptxas`). By nvJitLink alone.
    Ptxas(String),
    /// Keeps nothing in a cache and takes nothing from it (`-no-cache`). By nvJitLink alone.
    NoCache,
    /// Any argument, as nvJitLink takes it.
    Other(String),
}

impl LinkOption {
    /// The argument that nvJitLink is given.
    #[must_use]
    pub fn argument(&self) -> String {
        match self {
            Self::LinkTimeOptimization => "-lto".to_owned(),
            Self::Optimization(LinkOptimization::None) => "-O0".to_owned(),
            Self::Optimization(LinkOptimization::Full) => "-O3".to_owned(),
            Self::MaxRegisters(count) => format!("-maxrregcount={count}"),
            Self::LineInfo => "-lineinfo".to_owned(),
            Self::Debug => "-g".to_owned(),
            Self::Verbose => "-verbose".to_owned(),
            Self::KernelUsed(name) => format!("-kernels-used={name}"),
            Self::VariableUsed(name) => format!("-variables-used={name}"),
            Self::DropUnusedVariables => "-optimize-unused-variables".to_owned(),
            Self::SplitCompile(threads) => format!("-split-compile={threads}"),
            Self::Ptxas(argument) => format!("-Xptxas={argument}"),
            Self::NoCache => "-no-cache".to_owned(),
            Self::Other(argument) => argument.clone(),
        }
    }
}

impl From<&str> for LinkOption {
    /// Any argument, as nvJitLink takes it.
    fn from(argument: &str) -> Self {
        Self::Other(argument.to_owned())
    }
}
