//! What kind of trouble a code is: what a program can sensibly do next.
//!
//! The classes follow what NVIDIA's documentation demands of the caller (start a new
//! process, destroy the context, nothing), not how severe a code sounds.

/// What a caller can do about a code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorClass {
    /// No error.
    Success,
    /// The same call may succeed later, with nothing changed.
    Transient,
    /// Something finite ran out: free some of it, then try again.
    Resource,
    /// The call was wrong: its arguments, its order or its thread.
    Programmer,
    /// The program that was given (PTX, cubin, source) is at fault.
    Program,
    /// This driver, device or platform does not offer what was asked.
    Unsupported,
    /// The installation or the machine's configuration is at fault.
    Environment,
    /// A stream capture is at fault: it is invalid, the context is not.
    Capture,
    /// The process can do no more work on the device: start a new one.
    StickyProcess,
    /// The device itself failed; its context is lost too.
    Hardware,
    /// The driver is shutting down, as it does when the process exits.
    Shutdown,
    /// The code says nothing about the cause, or is newer than this crate.
    Unknown,
}

/// What a caller can do about a code, in the few words that most programs tell apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum ErrorGroup {
    /// No error.
    Success,
    /// Try again.
    Transient,
    /// Free something, then try again.
    Resource,
    /// Correct the program: the call, what it was given, or its order.
    Programmer,
    /// Correct the installation, or do without: this machine cannot do it.
    Platform,
    /// Start again: the context is lost, and the process can make no other one.
    Fatal,
    /// The code does not tell.
    Unknown,
}

impl ErrorClass {
    /// The class among fewer.
    #[must_use]
    pub const fn group(self) -> ErrorGroup {
        match self {
            Self::Success => ErrorGroup::Success,
            Self::Transient => ErrorGroup::Transient,
            Self::Resource => ErrorGroup::Resource,
            Self::Programmer | Self::Program | Self::Capture => ErrorGroup::Programmer,
            Self::Unsupported | Self::Environment => ErrorGroup::Platform,
            Self::StickyProcess | Self::Hardware | Self::Shutdown => ErrorGroup::Fatal,
            Self::Unknown => ErrorGroup::Unknown,
        }
    }

    /// Whether every later call in the context fails as well.
    #[must_use]
    pub const fn is_sticky(self) -> bool {
        matches!(self, Self::StickyProcess | Self::Hardware)
    }

    /// Whether the same call may succeed later, at once or after freeing something.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Transient | Self::Resource)
    }
}

/// Makes the offline texts of a library's status type from rows
/// `CONSTANT Class "meaning and remedy";`.
macro_rules! codes {
    ($status:ty, $library:literal, $success:ident; $($name:ident $class:ident $advice:literal;)*) => {
        impl $status {
            /// Every code that this crate knows.
            pub const KNOWN: &'static [Self] = &[$(Self::$name),*];

            /// What a caller can do about the code.
            #[must_use]
            pub const fn class(self) -> crate::ErrorClass {
                match self {
                    $(Self::$name => crate::ErrorClass::$class,)*
                    _ => crate::ErrorClass::Unknown,
                }
            }

            /// Whether every later call in the context fails as well.
            #[must_use]
            pub const fn is_sticky(self) -> bool {
                self.class().is_sticky()
            }
        }

        impl crate::Status for $status {
            const LIBRARY: &'static str = $library;

            fn symbols() -> &'static [crate::Symbol] {
                SYMBOLS
            }

            #[inline(always)]
            fn is_success(self) -> bool {
                self == Self::$success
            }

            fn code(self) -> i64 {
                i64::from(self.0)
            }

            fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }

            fn advice(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($advice),)*
                    _ => None,
                }
            }

            fn class(self) -> crate::ErrorClass {
                self.class()
            }
        }
    };
}
