//! `Loader`: where the bytes of a slot come from.

use crate::error::LoaderError;

/// The contents of a slot: the weights of a model, by offset.
///
/// Where the slot has a [host copy](crate::SlotConfig::host_copy) each byte is read once; without one, each
/// time that its part of the slot is loaded: while the residency's memory is held, so a loader must use neither
/// the residency nor a pool that [shares](crate::Residency::share_with) its memory, which would wait for itself.
pub trait Loader: Send + Sync {
    /// How many bytes there are. Asked once, when the slot is registered.
    ///
    /// # Errors
    /// Why that is not known.
    fn bytes(&self) -> Result<u64, LoaderError>;

    /// Fills `into` with the bytes from `offset` on.
    ///
    /// # Errors
    /// Why they cannot be had. The slot keeps what it has.
    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), LoaderError>;
}

/// Bytes in memory.
impl Loader for Vec<u8> {
    fn bytes(&self) -> Result<u64, LoaderError> {
        Ok(self.len() as u64)
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), LoaderError> {
        let part = usize::try_from(offset)
            .ok()
            .and_then(|offset| self.get(offset..)?.get(..into.len()));
        let part = part.ok_or_else(|| {
            format!(
                "{} bytes from {offset} on are not in these {}",
                into.len(),
                self.len()
            )
        })?;
        into.copy_from_slice(part);
        Ok(())
    }
}

/// A file, read by position.
#[cfg(unix)]
impl Loader for std::fs::File {
    fn bytes(&self) -> Result<u64, LoaderError> {
        Ok(self.metadata()?.len())
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), LoaderError> {
        use std::os::unix::fs::FileExt as _;
        self.read_exact_at(into, offset).map_err(LoaderError::from)
    }
}
