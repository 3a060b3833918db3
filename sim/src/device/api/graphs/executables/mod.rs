//! What is instantiated from graphs: launches, and new parameters.

pub(in crate::device::api) mod enabled;
pub(in crate::device::api) mod instantiate;
pub(in crate::device::api) mod params;
pub(in crate::device::api) mod update;
