//! Sizes, mode, graphs and measurement of a managed context.

use crate::pipeline::{Graphs, PipelineConfig, Sampling};

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

/// Sizes and mode of a [`ManagedContext`](super::ManagedContext), and what its
/// [pipeline](crate::pipeline) does beside: graphs and measurements, in both modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagedConfig {
    /// Most elements of a step's configuration.
    pub config_len: usize,
    /// Most elements of a step's telemetry.
    pub telemetry_len: usize,
    /// Whether steps overlap; they do not by default.
    pub mode: Mode,
    /// Which steps are launched as graphs. A step that is a closure of launches is with
    /// [`Graphs::Steps`] only.
    pub graphs: Graphs,
    /// Of which steps the device times are taken; of none by default.
    pub sampling: Sampling,
}

impl ManagedConfig {
    /// Synchronous steps, each from up to `config_len` elements to up to `telemetry_len`.
    #[must_use]
    pub const fn new(config_len: usize, telemetry_len: usize) -> Self {
        Self {
            config_len,
            telemetry_len,
            mode: Mode::Synchronous,
            graphs: Graphs::Chains,
            sampling: Sampling::Off,
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

    /// The same, with these steps launched as graphs (`cuGraphLaunch`), which
    /// [`graph_report`](super::ManagedContext::graph_report) tells of. With [`Graphs::Steps`] the kernel
    /// must repeat, as said there: it is called for the first steps of each length only.
    #[must_use]
    pub const fn graphs(self, graphs: Graphs) -> Self {
        Self { graphs, ..self }
    }

    /// The same, with the device times of these steps taken, for
    /// [`report`](super::ManagedContext::report). No step is launched as a graph whose times are.
    #[must_use]
    pub const fn sampling(self, sampling: Sampling) -> Self {
        Self { sampling, ..self }
    }

    /// Steps in flight.
    pub(super) const fn depth(self) -> usize {
        match self.mode {
            Mode::Synchronous => 1,
            Mode::Asynchronous { depth } => depth,
        }
    }

    /// The pipeline that it is.
    pub(super) const fn pipeline(self) -> PipelineConfig {
        PipelineConfig::new(self.config_len, self.telemetry_len)
            .depth(self.depth())
            .graphs(self.graphs)
            .sampling(self.sampling)
    }
}
