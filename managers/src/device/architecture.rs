//! `Architecture`: the name of a generation of GPUs, by compute capability.
//!
//! The name is all that a table may say about a device: every figure comes from the driver.

use std::fmt;

/// A generation of GPUs, known by its compute capability. A generation that is newer than this
/// crate has no name and is shown by its number.
///
/// ```
/// use cupola_managers::device::Architecture;
///
/// assert_eq!(Architecture::new(9, 0).to_string(), "Hopper");
/// assert_eq!(Architecture::new(31, 4).to_string(), "compute capability 31.4");
/// assert!(Architecture::new(8, 9) > Architecture::new(8, 6));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Architecture {
    major: u32,
    minor: u32,
}

impl Architecture {
    /// That of compute capability `major.minor`.
    #[must_use]
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// The compute capability, major and minor.
    #[must_use]
    pub const fn compute_capability(self) -> (u32, u32) {
        (self.major, self.minor)
    }

    /// NVIDIA's name of the generation, if this crate knows it.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match (self.major, self.minor) {
            (3, 0 | 2 | 5 | 7) => "Kepler",
            (5, 0 | 2 | 3) => "Maxwell",
            (6, 0..=2) => "Pascal",
            (7, 0 | 2) => "Volta",
            (7, 5) => "Turing",
            (8, 0 | 6 | 7) => "Ampere",
            (8, 9) => "Ada Lovelace",
            (9, 0) => "Hopper",
            (10, 0 | 1 | 3) | (11, 0) | (12, 0 | 1) => "Blackwell",
            _ => return None,
        })
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "compute capability {}.{}", self.major, self.minor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a device of tomorrow could be given the name of a generation of today.
    #[test]
    fn unknown_capabilities_have_no_name() {
        for (major, minor) in [
            (0, 0),
            (2, 1),
            (7, 9),
            (8, 99),
            (9, 1),
            (13, 0),
            (u32::MAX, 1),
        ] {
            let unknown = Architecture::new(major, minor);
            assert_eq!(unknown.name(), None);
            let text = unknown.to_string();
            assert_eq!(text, format!("compute capability {major}.{minor}"));
        }
        assert_eq!(Architecture::new(7, 5).name(), Some("Turing"));
        assert_eq!(Architecture::new(8, 9).name(), Some("Ada Lovelace"));
    }
}
