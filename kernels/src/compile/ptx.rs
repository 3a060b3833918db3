//! [`PtxVersion`]: which PTX a driver takes, and what to make for a device therefore.
//!
//! A compiler writes the PTX version of its own CUDA, and a driver refuses PTX that is newer than
//! itself, whatever is in it (`CUDA_ERROR_UNSUPPORTED_PTX_VERSION`). No option makes NVRTC write an
//! older one. A binary does not have that trouble: within a major version of CUDA, old drivers load
//! those of newer compilers. So the rule is:
//!
//! 1. A binary for exactly the device's architecture and all its instructions (`sm_90a`), where the
//!    compiler makes one and the driver is of its major version or later.
//! 2. Else (the device is newer than the compiler, or too old for it) PTX for the newest
//!    architecture that the compiler knows and the device runs, if the driver takes its version.
//! 3. Else a typed error that says what to do.
//!
//! clang makes no binaries, and PTX of the oldest version that has the architecture: of it only the
//! second half of rule 2 is left.

use std::fmt;

use cupola_managers::device::Architecture;
use cupola_sys::Version;

use super::{CompileError, Compiler, CompilerVersion, Target, TargetArchitecture};

/// A version of the PTX language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// Its major number.
    pub major: u32,
    /// Its minor number.
    pub minor: u32,
}

impl PtxVersion {
    /// What a compiler of this CUDA writes, and the newest that a driver for it takes.
    ///
    /// PTX followed CUDA with a minor number of its own until CUDA 12.9. Since 13.0 both count
    /// alike, which is taken to go on.
    #[must_use]
    pub const fn of_cuda(cuda: Version) -> Self {
        let (major, minor) = match (cuda.major(), cuda.minor()) {
            (11, minor) => (7, minor),
            // CUDA 12.6 brought no new one.
            (12, minor @ 0..=5) => (8, minor),
            (12, minor) => (8, minor - 1),
            (major @ 13.., minor) => (major - 4, minor),
            // Older than any driver that this crate works with.
            _ => (6, 0),
        };
        Self { major, minor }
    }

    /// What a PTX text says that it is (`.version 9.0`).
    #[must_use]
    pub fn of_text(ptx: &str) -> Option<Self> {
        let line = ptx
            .lines()
            .map(str::trim_start)
            .find_map(|line| line.strip_prefix(".version"))?;
        let (major, minor) = line.split_whitespace().next()?.split_once('.')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Compiler {
    /// What to make for a device of this architecture under a driver for this CUDA: a binary where
    /// that is possible, else PTX; by clang always PTX. The rule is in full with [`PtxVersion`].
    ///
    /// # Errors
    /// [`CompileError::PtxTooNew`]; [`CompileError::Architecture`] when the compiler knows no
    /// architecture that the device runs; an error of asking it.
    pub fn target_for(
        &self,
        device: Architecture,
        driver: Version,
    ) -> Result<Target, CompileError> {
        target_for(self.version(), &self.architectures()?, device, driver)
    }
}

/// What a compiler of this version, which knows these architectures, is to make.
pub(super) fn target_for(
    compiler: CompilerVersion,
    supported: &[TargetArchitecture],
    device: Architecture,
    driver: Version,
) -> Result<Target, CompileError> {
    match compiler {
        CompilerVersion::Nvrtc(version) => choose(supported, version, device, driver),
        have @ CompilerVersion::Clang(_) => newest_ptx(supported, have, device),
    }
}

fn choose(
    supported: &[TargetArchitecture],
    compiler: Version,
    device: Architecture,
    driver: Version,
) -> Result<Target, CompileError> {
    let own = TargetArchitecture::new(device);
    // Binaries do not cross a major version backwards.
    if supported.contains(&own) && driver.major() >= compiler.major() {
        return Ok(Target::Cubin(TargetArchitecture::exact(device)));
    }
    let newest = newest_ptx(supported, CompilerVersion::Nvrtc(compiler), device)?;
    let (writes, takes) = (PtxVersion::of_cuda(compiler), PtxVersion::of_cuda(driver));
    if writes > takes {
        return Err(CompileError::PtxTooNew {
            writes,
            takes,
            driver,
            have: compiler,
        });
    }
    Ok(newest)
}

/// PTX for the newest architecture that the compiler knows and the device runs.
fn newest_ptx(
    supported: &[TargetArchitecture],
    have: CompilerVersion,
    device: Architecture,
) -> Result<Target, CompileError> {
    let wanted = TargetArchitecture::new(device);
    match supported.iter().filter(|one| **one <= wanted).max() {
        Some(newest) => Ok(Target::Ptx(*newest)),
        None => Err(CompileError::Architecture {
            wanted,
            supported: supported.to_vec(),
            have,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it PTX could be given to a driver that refuses it, or a binary be refused that it
    // takes.
    #[test]
    fn versions_are_those_of_the_toolkits() {
        for (cuda, ptx) in [
            ((11, 0), "7.0"),
            ((11, 8), "7.8"),
            ((12, 5), "8.5"),
            ((12, 6), "8.5"),
            ((12, 8), "8.7"),
            ((12, 9), "8.8"),
            ((13, 0), "9.0"),
        ] {
            let version = Version::new(cuda.0, cuda.1);
            assert_eq!(PtxVersion::of_cuda(version).to_string(), ptx);
        }
        let text = "//\n// x\n\n.version 8.7\n.target sm_90\n";
        assert_eq!(
            PtxVersion::of_text(text),
            Some(PtxVersion { major: 8, minor: 7 })
        );
        assert_eq!(PtxVersion::of_text(".version eight"), None);
    }

    // Without it a device could get code that it or its driver cannot load.
    #[test]
    fn a_binary_first_then_ptx_then_a_reason() {
        let known = [75, 80, 90].map(TargetArchitecture::from_number);
        let (old, new) = (Version::new(13, 0), Version::new(13, 5));
        let hopper = Architecture::new(9, 0);
        let chosen = |compiler, device, driver| choose(&known, compiler, device, driver);
        let binary = Target::Cubin(TargetArchitecture::exact(hopper));
        assert_eq!(chosen(new, hopper, old).unwrap(), binary);
        assert_eq!(binary.architecture().to_string(), "sm_90a");
        let ampere = Architecture::new(8, 0);
        assert_eq!(
            chosen(new, ampere, old).unwrap(),
            Target::Cubin(ampere.into())
        );
        let newer = Architecture::new(10, 0);
        assert_eq!(chosen(old, newer, new).unwrap(), Target::Ptx(hopper.into()));
        assert!(matches!(
            chosen(new, newer, old),
            Err(CompileError::PtxTooNew { .. })
        ));
        // A driver of the major version before.
        let before = Version::new(12, 9);
        assert!(matches!(
            chosen(new, hopper, before),
            Err(CompileError::PtxTooNew { .. })
        ));
        assert!(matches!(
            chosen(new, Architecture::new(6, 1), new),
            Err(CompileError::Architecture { .. })
        ));
    }
}
