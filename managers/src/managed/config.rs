//! Sizes and mode of a managed context.

/// Whether the steps of a managed context overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Each step is waited for, and gives its own telemetry. For a few steps, for debugging, and where
    /// the kernels take far longer than the copies.
    #[default]
    Synchronous,
    /// So many steps are in flight: while one is downloaded, the next one runs and the one after it is
    /// uploaded. 3 is the triple buffer.
    Asynchronous {
        /// Steps in flight.
        depth: usize,
    },
}

/// Sizes and mode of a [`ManagedContext`](super::ManagedContext).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedConfig {
    /// Most elements of a step's configuration.
    pub config_len: usize,
    /// Most elements of a step's telemetry.
    pub telemetry_len: usize,
    /// Whether steps overlap; they do not by default.
    pub mode: Mode,
}

impl ManagedConfig {
    /// Synchronous steps, each from up to `config_len` elements to up to `telemetry_len`.
    #[must_use]
    pub const fn new(config_len: usize, telemetry_len: usize) -> Self {
        Self {
            config_len,
            telemetry_len,
            mode: Mode::Synchronous,
        }
    }

    /// The same in this mode.
    #[must_use]
    pub const fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// The same with three steps in flight.
    #[must_use]
    pub const fn asynchronous(self) -> Self {
        self.mode(Mode::Asynchronous { depth: 3 })
    }
}
