//! What a pipeline measures, and what is made of it: reports, histograms, traces, pictures.
//!
//! [`Sampling`] says of which items the device times are taken. The engine's `Clock` takes them; an
//! `Account` adds them up item by item, [`StepTimes`] counts them, and a [`Timeline`] keeps the last
//! ones. All of it is in memory that is made with the pipeline and does not grow.

mod account;
mod asymptote;
mod chrome;
mod clock;
mod diagnosis;
mod histogram;
mod nvtx;
mod report;
mod sampling;
pub(super) mod scope;
mod steps;
mod svg;
mod sweep;
mod timeline;

pub use asymptote::Asymptote;
pub(super) use clock::{Clock, Marks};
pub use diagnosis::{Bound, Diagnosis};
pub use histogram::Histogram;
pub use report::{Measured, OverlapReport, Report, StageTimes, Utilisation};
pub use sampling::Sampling;
pub use steps::StepTimes;
pub use timeline::{Sample, Timeline};
