//! `TuneTask`: what a winner is remembered for.

use std::fmt;

use cupola_managers::DeviceInfo;
use cupola_sys::Version;

use crate::cache::{Digest, Key, KeyBuilder};

/// Goes up whenever the fields or their meaning change.
const SCHEMA: &str = "cupola tune 1";

/// Problems for which one candidate is the fastest. The caller chooses how wide it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProblemClass(String);

impl ProblemClass {
    /// All problems whose sizes have the same powers of two above them: 1000 and 1024 are one class, 1025
    /// is another.
    #[must_use]
    pub fn of_sizes(sizes: &[u64]) -> Self {
        let power = |size: &u64| match size.checked_next_power_of_two() {
            _ if *size == 0 => "0".to_owned(),
            Some(power) => format!("2^{}", power.trailing_zeros()),
            None => "2^64".to_owned(),
        };
        let powers: Vec<_> = sizes.iter().map(power).collect();
        Self(powers.join(" x "))
    }

    /// A class of the caller's own.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for ProblemClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A kernel and a class of problems.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TuneTask {
    kernel: Vec<Vec<u8>>,
    class: ProblemClass,
}

impl TuneTask {
    /// The kernel `entry` of a binary or PTX: other code is measured anew.
    #[must_use]
    pub fn of_code(code: &[u8], entry: &str, class: ProblemClass) -> Self {
        let digest = Digest::of(code).bytes().to_vec();
        Self {
            kernel: vec![b"code".to_vec(), digest, entry.into()],
            class,
        }
    }

    /// A kernel by a name of the caller's own, which is to have another name when its code changes.
    #[must_use]
    pub fn named(kernel: &str, class: ProblemClass) -> Self {
        Self {
            kernel: vec![b"name".to_vec(), kernel.into()],
            class,
        }
    }

    /// The key of the winner among candidates with these labels, on a device.
    pub(super) fn key(&self, device: &TuneDevice, labels: &[String]) -> Key {
        // Taken apart, so that a new field which is not hashed is a warning.
        let TuneDevice {
            name,
            compute_capability: (major, minor),
            multiprocessors,
            driver,
        } = device;
        let mut key = KeyBuilder::new(SCHEMA);
        if !mutant!("tune_key_without_device") {
            key = key.field("device", name.as_bytes());
            let capability = [major.to_le_bytes(), minor.to_le_bytes()];
            key = key.list("compute capability", capability);
            key = key.field("multiprocessors", &multiprocessors.to_le_bytes());
        }
        if !mutant!("tune_key_without_driver") {
            key = key.field("driver", &driver.0.to_le_bytes());
        }
        if !mutant!("tune_key_without_kernel") {
            key = key.list("kernel", &self.kernel);
        }
        if !mutant!("tune_key_without_class") {
            key = key.field("class", self.class.0.as_bytes());
        }
        if !mutant!("tune_key_without_candidates") {
            key = key.list("candidates", labels);
        }
        key.finish()
    }
}

/// What of a device decides who wins. Its UUID is not of it: devices of one kind share a winner.
#[derive(Clone, Debug)]
pub(super) struct TuneDevice {
    pub(super) name: String,
    pub(super) compute_capability: (u32, u32),
    /// Those that kernels of the context run on.
    pub(super) multiprocessors: u32,
    pub(super) driver: Version,
}

impl TuneDevice {
    pub(super) fn new(info: &DeviceInfo, multiprocessors: u32, driver: Version) -> Self {
        Self {
            name: info.name.clone(),
            compute_capability: info.compute_capability,
            multiprocessors,
            driver,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
