//! `Filling` and `Kept`: an object as its creator has it, and as guests have it when it is sealed.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use cupola_managers::buffer::{DeviceCopy, DeviceSlice, DeviceSliceMut};

use super::opening::Opening;
use crate::error::{KeeperError, Result};
use crate::protocol::{MAX_DESCRIPTION, Rights};

/// An object that its creator fills: mapped here to be written, and nowhere else. Dropping it, as the end of the
/// process does, gives the object up.
pub struct Filling(Arc<Opening>);

impl Filling {
    pub(crate) fn new(opening: Arc<Opening>) -> Self {
        Self(opening)
    }

    /// The first address, in this process.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.0.address()
    }

    /// As many bytes as were asked for.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// The elements in `range` of the object, with any contents as long as nothing was written.
    ///
    /// # Errors
    /// [`KeeperError::Invalid`] when they are not in the object; [`KeeperError::Device`] in a forked child.
    ///
    /// # Safety
    /// Work that is given the slice is over before the object is sealed or dropped.
    pub unsafe fn slice_mut<T: DeviceCopy>(
        &mut self,
        range: Range<usize>,
    ) -> Result<DeviceSliceMut<'_, T>> {
        self.0.not_forked()?;
        let (address, len) = part::<T>(&self.0, range)?;
        // SAFETY: the bytes are mapped until the object is dropped, by the condition of this function, and
        // the borrow is the only one.
        Ok(unsafe { DeviceSliceMut::from_raw(address, len) })
    }

    /// Others may open it from now on, and nothing writes it any more unless it was made for that. The
    /// description, of at most 4096 bytes, is for those: checksums, say, or where its parts are.
    ///
    /// # Errors
    /// [`KeeperError::Invalid`] for a description that is too long; [`KeeperError::Device`],
    /// [`KeeperError::NotHeld`]; those of the connection. The object is given up then.
    #[track_caller]
    pub fn seal(self, description: impl Into<Vec<u8>>) -> Result<Kept> {
        let description = description.into();
        if description.len() > MAX_DESCRIPTION {
            let problem = format!("{} bytes, more than {MAX_DESCRIPTION}", description.len());
            return Err(KeeperError::Invalid {
                field: "description",
                problem,
            });
        }
        self.0.seal(description)?;
        Ok(Kept::new(self.0, Rights::Read))
    }
}

/// A sealed object that is open in this process, at addresses that stay the same as long as this lives.
/// Dropping it lets the object go, which stays the keeper's.
pub struct Kept {
    opening: Arc<Opening>,
    rights: Rights,
}

impl Kept {
    pub(crate) fn new(opening: Arc<Opening>, rights: Rights) -> Self {
        Self { opening, rights }
    }

    /// The object's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.opening.name()
    }

    /// The first address, in this process. It stays the same while the object sleeps, so that captured graphs
    /// and kept pointers are valid when it is awake; the conditions are those of [`slice`](Self::slice).
    #[must_use]
    pub fn address(&self) -> u64 {
        self.opening.address()
    }

    /// As many bytes as its creator has asked for.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.opening.bytes()
    }

    /// What the device may do with it through these addresses.
    #[must_use]
    pub const fn rights(&self) -> Rights {
        self.rights
    }

    /// What was said of the bytes by the guest that has filled them.
    ///
    /// # Errors
    /// [`Error::Forked`](cupola_managers::Error::Forked).
    pub fn description(&self) -> Result<Vec<u8>> {
        self.opening.description()
    }

    /// Whether there is memory behind the addresses. There is none in a forked child.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        self.opening.is_awake().unwrap_or(false)
    }

    /// Has memory behind the addresses again, after the guest has [let it go](crate::Guest::attend). The
    /// keeper wakes the object if that sleeps. Nothing happens to one that is awake.
    ///
    /// # Errors
    /// [`KeeperError::OverLimit`], [`KeeperError::OutOfMemory`], [`KeeperError::Discarded`],
    /// [`KeeperError::Filling`], [`KeeperError::NotFound`] when the object was removed meanwhile;
    /// [`KeeperError::KeeperDriver`], [`KeeperError::Device`]; those of the connection. It sleeps on then, unless
    /// the driver keeps a part of it: [`KeeperError::Stuck`] from then on.
    #[track_caller]
    pub fn wake(&self) -> Result<()> {
        self.opening.wake()
    }

    /// The elements in `range` of the object.
    ///
    /// # Errors
    /// [`KeeperError::Asleep`]; [`KeeperError::Invalid`] when they are not in the object;
    /// [`KeeperError::Device`] in a forked child.
    ///
    /// # Safety
    /// Work that is given the slice is over before the guest [attends](crate::Guest::attend), and before this is
    /// dropped. Where guests write the object, what orders their work is theirs to find.
    pub unsafe fn slice<T: DeviceCopy>(&self, range: Range<usize>) -> Result<DeviceSlice<'_, T>> {
        self.awake()?;
        let (address, len) = part::<T>(&self.opening, range)?;
        // SAFETY: the bytes are mapped as long as work uses them, by the condition of this function.
        Ok(unsafe { DeviceSlice::from_raw(address, len) })
    }

    /// The same, to be written.
    ///
    /// # Errors
    /// [`KeeperError::ReadOnly`] when it was not opened for that; else as [`slice`](Self::slice).
    ///
    /// # Safety
    /// As of [`slice`](Self::slice); other work that uses the elements, of any process, does not run at the same
    /// time.
    pub unsafe fn slice_mut<T: DeviceCopy>(
        &mut self,
        range: Range<usize>,
    ) -> Result<DeviceSliceMut<'_, T>> {
        self.awake()?;
        if self.rights == Rights::Read {
            return Err(KeeperError::ReadOnly {
                name: self.name().to_owned(),
            });
        }
        let (address, len) = part::<T>(&self.opening, range)?;
        // SAFETY: the bytes are mapped and not used otherwise, by the condition of this function.
        Ok(unsafe { DeviceSliceMut::from_raw(address, len) })
    }

    fn awake(&self) -> Result<()> {
        if self.opening.is_awake()? {
            return Ok(());
        }
        Err(KeeperError::Asleep {
            name: self.name().to_owned(),
        })
    }
}

/// The address and the number of elements of a part of an object.
fn part<T>(opening: &Opening, range: Range<usize>) -> Result<(u64, usize)> {
    let size = size_of::<T>();
    let end = range.end.checked_mul(size).map(|end| end as u64);
    let is_inside = range.start <= range.end && end.is_some_and(|end| end <= opening.bytes());
    if !is_inside {
        let problem = format!(
            "elements {range:?} of {size} bytes are not in the {} bytes of {:?}",
            opening.bytes(),
            opening.name()
        );
        return Err(KeeperError::Invalid {
            field: "range",
            problem,
        });
    }
    let address = opening.address() + (range.start * size) as u64;
    Ok((address, range.end - range.start))
}

impl fmt::Debug for Filling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filling")
            .field("name", &self.0.name())
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept")
            .field("name", &self.name())
            .field("bytes", &self.bytes())
            .field("is_awake", &self.is_awake())
            .finish_non_exhaustive()
    }
}
