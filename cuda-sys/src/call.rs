//! The outcome of one call into a library.
//!
//! [`CallError`] is eight bytes and `Copy`: a raw call returns `Result<(), CallError>`
//! in one register, and yet the error knows which function failed. Texts are looked up
//! when the error is printed.

use core::fmt;

use crate::{ErrorClass, Symbol, SymbolId, Version};

/// The status type of a library: `CUresult`, `nvrtcResult`, ...
pub trait Status: Copy + Eq + fmt::Debug + Send + Sync + 'static {
    /// What people call the library.
    const LIBRARY: &'static str;

    /// The library's functions.
    fn symbols() -> &'static [Symbol];

    /// Whether the code says that the call succeeded.
    fn is_success(self) -> bool;

    /// The code as the C library returns it.
    fn code(self) -> i64;

    /// The constant's name in the header, `CUDA_ERROR_OUT_OF_MEMORY`; `None` if this
    /// crate does not know the code.
    fn name(self) -> Option<&'static str>;

    /// What the code means and what to do about it, in our words.
    fn advice(self) -> Option<&'static str>;

    /// What a caller can do about the code.
    fn class(self) -> ErrorClass;
}

/// Why a call into a library did not succeed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallError<S> {
    /// The function ran and returned a code other than success.
    Failed {
        /// Which function.
        symbol: SymbolId<S>,
        /// What it returned.
        code: S,
    },
    /// The library does not have the function.
    Missing {
        /// Which function.
        symbol: SymbolId<S>,
        /// The version that the library says it is.
        have: Version,
    },
}

static_assertions::const_assert_eq!(
    size_of::<Result<(), CallError<crate::driver::CUresult>>>(),
    8
);

/// What an id beyond the table names.
static NO_SYMBOL: Symbol = Symbol {
    name: c"(no function of this library)",
    base: c"(no function of this library)",
    introduced: Version(0),
};

impl<S: Status> CallError<S> {
    /// The function that was called.
    #[must_use]
    pub fn symbol(&self) -> &'static Symbol {
        let (Self::Failed { symbol, .. } | Self::Missing { symbol, .. }) = self;
        S::symbols()
            .get(usize::from(symbol.0))
            .unwrap_or(&NO_SYMBOL)
    }

    /// What a caller can do about the error; a missing function is
    /// [`Unsupported`](ErrorClass::Unsupported).
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Failed { code, .. } => code.class(),
            Self::Missing { .. } => ErrorClass::Unsupported,
        }
    }

    /// The code that the function returned, if it ran.
    #[must_use]
    pub fn status(&self) -> Option<S> {
        match self {
            Self::Failed { code, .. } => Some(*code),
            Self::Missing { .. } => None,
        }
    }
}

impl<S: Status> fmt::Display for CallError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symbol = self.symbol();
        match self {
            Self::Failed { code, .. } => {
                write!(f, "{} failed: ", symbol.as_str())?;
                match code.name() {
                    Some(name) => write!(f, "{name} ({})", code.code())?,
                    None => write!(f, "code {}, which is newer than this crate", code.code())?,
                }
                match code.advice() {
                    Some(advice) => write!(f, ": {advice}"),
                    None => Ok(()),
                }
            }
            Self::Missing { have, .. } => {
                write!(f, "{} is not in this {}", symbol.as_str(), S::LIBRARY)?;
                match (symbol.introduced, have) {
                    (Version(0), Version(0)) => Ok(()),
                    (Version(0), have) => write!(f, " (version {have})"),
                    (needs, have) => write!(f, ": it needs CUDA {needs}, this one has {have}"),
                }
            }
        }
    }
}

impl<S: Status> fmt::Debug for CallError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<S: Status> core::error::Error for CallError<S> {}

/// How the return value of a function becomes a result: the return type of every
/// generated method goes through this.
#[cfg(feature = "std")]
pub trait Outcome<S> {
    /// What a successful call gives.
    type Value;
    /// Success, or the error of `symbol`.
    ///
    /// # Errors
    /// The code, if it is not success.
    fn outcome(self, symbol: SymbolId<S>) -> Result<Self::Value, CallError<S>>;
}

#[cfg(feature = "std")]
impl<S: Status> Outcome<S> for S {
    type Value = ();

    #[inline(always)]
    fn outcome(self, symbol: SymbolId<S>) -> Result<(), CallError<S>> {
        if self.is_success() {
            Ok(())
        } else {
            seldom();
            Err(CallError::Failed { symbol, code: self })
        }
    }
}

/// Tells the compiler that this branch is taken seldom: a jump, where it would compute both results and choose.
#[cfg(feature = "std")]
#[cold]
#[inline(always)]
fn seldom() {}

/// The functions that return a text (`nvrtcGetErrorString`, ...).
#[cfg(feature = "std")]
impl<S: Status> Outcome<S> for *const core::ffi::c_char {
    type Value = *const core::ffi::c_char;

    #[inline(always)]
    fn outcome(self, _: SymbolId<S>) -> Result<Self::Value, CallError<S>> {
        Ok(self)
    }
}

/// The functions that return nothing.
#[cfg(feature = "std")]
impl<S: Status> Outcome<S> for () {
    type Value = ();

    #[inline(always)]
    fn outcome(self, _: SymbolId<S>) -> Result<(), CallError<S>> {
        Ok(())
    }
}
