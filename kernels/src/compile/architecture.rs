//! [`TargetArchitecture`]: what device code is compiled for, `sm_90a`.

use std::fmt;
use std::str::FromStr;

use cupola_managers::device::Architecture;

/// Which instructions beside the portable ones may be used, and so where the code runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArchitectureFeatures {
    /// Those that every later architecture has too (`sm_90`).
    #[default]
    Portable,
    /// Those of the architecture's family (`sm_100f`): the code runs on this and later members of
    /// the family only.
    Family,
    /// All that the architecture has (`sm_90a`): the code runs on no other.
    Specific,
}

impl ArchitectureFeatures {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Portable => "",
            Self::Family => "f",
            Self::Specific => "a",
        }
    }
}

/// An architecture as compilers and linkers name it: a compute capability, and which instructions
/// may be used.
///
/// ```
/// use cupola_kernels::compile::TargetArchitecture;
///
/// let hopper: TargetArchitecture = "sm_90a".parse()?;
/// assert_eq!(hopper.virtual_name(), "compute_90a");
/// # Ok::<_, cupola_kernels::compile::NoArchitecture>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetArchitecture {
    architecture: Architecture,
    features: ArchitectureFeatures,
}

impl TargetArchitecture {
    /// The portable instructions of an architecture.
    #[must_use]
    pub const fn new(architecture: Architecture) -> Self {
        Self {
            architecture,
            features: ArchitectureFeatures::Portable,
        }
    }

    /// All that the devices of an architecture can do: for code that runs on no other. The first
    /// with instructions of its own is Hopper (`sm_90a`).
    #[must_use]
    pub const fn exact(architecture: Architecture) -> Self {
        let features = match architecture.compute_capability() {
            (9.., _) => ArchitectureFeatures::Specific,
            _ => ArchitectureFeatures::Portable,
        };
        Self {
            architecture,
            features,
        }
    }

    /// The same architecture with other instructions.
    #[must_use]
    pub const fn with(self, features: ArchitectureFeatures) -> Self {
        Self { features, ..self }
    }

    /// From the number in a compiler's list: 90 is compute capability 9.0.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        Self::new(Architecture::new(number / 10, number % 10))
    }

    /// The compute capability as one number: 90 for 9.0.
    #[must_use]
    pub const fn number(self) -> u32 {
        let (major, minor) = self.architecture.compute_capability();
        major.saturating_mul(10).saturating_add(minor)
    }

    /// The generation of GPUs.
    #[must_use]
    pub const fn architecture(self) -> Architecture {
        self.architecture
    }

    /// Which instructions may be used.
    #[must_use]
    pub const fn features(self) -> ArchitectureFeatures {
        self.features
    }

    /// The name of the real architecture, `sm_90a`: the target of a binary.
    #[must_use]
    pub fn real_name(self) -> String {
        format!("sm_{}{}", self.number(), self.features.suffix())
    }

    /// The name of the virtual architecture, `compute_90a`: the target of PTX and of LTO-IR.
    #[must_use]
    pub fn virtual_name(self) -> String {
        format!("compute_{}{}", self.number(), self.features.suffix())
    }
}

impl From<Architecture> for TargetArchitecture {
    fn from(architecture: Architecture) -> Self {
        Self::new(architecture)
    }
}

impl fmt::Display for TargetArchitecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.real_name())
    }
}

/// A text that names no architecture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no architecture: write it as sm_90, sm_90a or sm_100f")]
pub struct NoArchitecture {
    /// The text.
    pub text: String,
}

impl FromStr for TargetArchitecture {
    type Err = NoArchitecture;

    /// Of `sm_90a`, `compute_90a` or `90a`.
    fn from_str(text: &str) -> Result<Self, NoArchitecture> {
        let refused = || NoArchitecture {
            text: text.to_owned(),
        };
        let rest = ["sm_", "compute_"]
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))
            .unwrap_or(text);
        let (digits, features) = if let Some(digits) = rest.strip_suffix('a') {
            (digits, ArchitectureFeatures::Specific)
        } else if let Some(digits) = rest.strip_suffix('f') {
            (digits, ArchitectureFeatures::Family)
        } else {
            (rest, ArchitectureFeatures::Portable)
        };
        // Two digits at the least: a major and a minor number. `parse` would take a sign, and a zero in
        // front, which is in no name.
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        if !(2..=4).contains(&digits.len()) || !is_number || digits.starts_with('0') {
            return Err(refused());
        }
        let number = digits.parse().map_err(|_| refused())?;
        Ok(Self::from_number(number).with(features))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a suffix could be lost between the name and the compiler, and code for one chip
    // be taken for portable code.
    #[test]
    fn names_come_back_as_they_were() {
        for name in ["sm_50", "sm_75", "sm_90", "sm_90a", "sm_100f", "sm_121a"] {
            let parsed: TargetArchitecture = name.parse().unwrap();
            assert_eq!(parsed.to_string(), name);
            assert_eq!(parsed.virtual_name().parse(), Ok(parsed));
        }
        let blackwell: TargetArchitecture = "sm_103".parse().unwrap();
        assert_eq!(blackwell.architecture(), Architecture::new(10, 3));
        assert_eq!(blackwell.number(), 103);
    }

    // Without it a mistyped architecture could become another one.
    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "sm_",
            "sm_9",
            "sm_+90",
            "sm_90b",
            "sm_90aa",
            "gfx90",
            "sm_123456",
            "SM_90",
            "sm_09",
            "sm_00a",
        ] {
            assert!(text.parse::<TargetArchitecture>().is_err(), "{text}");
        }
    }
}
