//! `Opening`: addresses of this process for an object, and the memory behind them.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cupola_managers::Error;
use cupola_managers::vmm::{Access, AddressRange, ImportCharge};

use super::link::{Given, Link};
use crate::error::{KeeperError, Result};

use crate::protocol::{self, ProtocolError, Request, Rights};

/// What is behind the addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    Memory,
    /// Nothing, and the keeper knows.
    Nothing,
    /// What the driver did not unmap, or did not take back: the keeper counts it until this process ends.
    Stuck,
}

struct Mapping {
    range: AddressRange,
    behind: Behind,
    rights: Rights,
    description: Vec<u8>,
}

pub(crate) struct Opening {
    guest: Arc<Link>,
    object: u64,
    name: String,
    bytes: u64,
    address: u64,
    mapping: Mutex<Mapping>,
}

impl Opening {
    /// Maps what the keeper has given. When that fails the keeper is told that it is not mapped.
    #[track_caller]
    pub(crate) fn map(
        guest: &Arc<Link>,
        name: String,
        rights: Rights,
        given: Given,
    ) -> Result<Self> {
        let Given {
            object,
            bytes,
            description,
            pieces,
        } = given;
        let let_go = || {
            // Where the connection has ended the keeper finds out by itself.
            let opening = protocol::Opening::Mapped;
            let _ = guest.tell(&Request::LetGo { object, opening });
        };
        let pages = pieces
            .iter()
            .try_fold(0u64, |sum, &(bytes, _)| sum.checked_add(bytes));
        let pages = pages.filter(|&pages| pages >= bytes).ok_or_else(|| {
            let_go();
            ProtocolError::Malformed("pieces that are not as large as their object")
        })?;
        let range = guest.memory().reserve(pages).inspect_err(|_| let_go())?;
        let mut mapping = Mapping {
            range,
            behind: Behind::Nothing,
            rights,
            description,
        };
        if let Err(error) = mapping.fill(guest, pieces) {
            if mapping.behind == Behind::Nothing {
                let_go();
            }
            return Err(error.into());
        }
        Ok(Self {
            guest: Arc::clone(guest),
            object,
            name,
            bytes,
            address: mapping.range.address(),
            mapping: Mutex::new(mapping),
        })
    }

    pub(crate) fn object(&self) -> u64 {
        self.object
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn description(&self) -> Result<Vec<u8>> {
        self.guest.not_forked()?;
        Ok(self.mapping().description.clone())
    }

    pub(crate) fn is_awake(&self) -> Result<bool> {
        self.guest.not_forked()?;
        Ok(self.mapping().behind == Behind::Memory)
    }

    pub(crate) fn not_forked(&self) -> Result<()> {
        self.guest.not_forked()
    }

    /// The creator is done: it may not write any more, and has these rights and this description.
    #[track_caller]
    pub(crate) fn seal(&self, description: Vec<u8>) -> Result<()> {
        self.guest.not_forked()?;
        let mut mapping = self.mapping();
        let pages = mapping.range.bytes();
        mapping.range.set_access(0..pages, Access::Read)?;
        let object = self.object;
        let request = Request::Seal {
            object,
            description: description.clone(),
        };
        self.guest.ask(&request, &self.name)?;
        mapping.rights = Rights::Read;
        mapping.description = description;
        Ok(())
    }

    /// Lets the memory go and keeps the addresses. Whether there was any.
    #[track_caller]
    pub(crate) fn sleep(&self) -> Result<bool> {
        self.guest.not_forked()?;
        let mut mapping = self.mapping();
        if mapping.behind != Behind::Memory {
            return Ok(false);
        }
        mapping.empty()?;
        let object = self.object;
        self.guest.tell(&Request::Slept { object })?;
        Ok(true)
    }

    /// Has memory behind the addresses again.
    #[track_caller]
    pub(crate) fn wake(&self) -> Result<()> {
        self.guest.not_forked()?;
        let mut mapping = self.mapping();
        match mapping.behind {
            Behind::Memory => return Ok(()),
            Behind::Nothing => {}
            Behind::Stuck => {
                return Err(KeeperError::Stuck {
                    name: self.name.clone(),
                });
            }
        }
        let object = self.object;
        let given = self
            .guest
            .ask_memory(&Request::Wake { object }, &self.name)?;
        // Should the pieces differ from before they do not fit, which is the driver's or the range's error.
        let filled = mapping.fill(&self.guest, given.pieces);
        if filled.is_err() && mapping.behind == Behind::Nothing {
            self.guest.tell(&Request::Slept { object })?;
        }
        filled?;
        // Another guest may have filled it again.
        mapping.description = given.description;
        Ok(())
    }

    fn mapping(&self) -> MutexGuard<'_, Mapping> {
        self.mapping.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Opening {
    /// As with a range: work that uses the memory is over by then.
    fn drop(&mut self) {
        let object = self.object;
        let mapping = self
            .mapping
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let opening = match mapping.behind {
            Behind::Memory => protocol::Opening::Mapped,
            Behind::Nothing => protocol::Opening::Sleeping,
            Behind::Stuck => return,
        };
        if mapping.empty().is_err() {
            // The keeper counts it until this process has ended.
            return;
        }
        // Where the connection has ended the keeper finds out by itself.
        let _ = self.guest.tell(&Request::LetGo { object, opening });
    }
}

impl Mapping {
    /// Maps these pieces, or none: when that fails there is nothing behind the addresses, unless it is stuck.
    #[track_caller]
    fn fill(&mut self, guest: &Link, pieces: Vec<(u64, OwnedFd)>) -> Result<(), Error> {
        let access = match self.rights {
            Rights::Read => Access::Read,
            Rights::ReadWrite => Access::ReadWrite,
        };
        self.behind = Behind::Memory;
        let mapped = self.map_all(guest, pieces);
        let mapped = mapped.and_then(|bytes| self.range.set_access(0..bytes, access));
        if mapped.is_err() {
            // That it is stuck is noted, and the first error is the reason.
            let _ = self.empty();
        }
        mapped
    }

    #[track_caller]
    fn map_all(&mut self, guest: &Link, pieces: Vec<(u64, OwnedFd)>) -> Result<u64, Error> {
        let mut offset = 0;
        for (bytes, file) in pieces {
            let piece = guest
                .memory()
                .import(file, bytes, ImportCharge::OtherLimit)?;
            if let Err(refused) = self.range.map(offset, piece) {
                if refused.memory.give_back().is_err() {
                    self.behind = Behind::Stuck;
                }
                return Err(refused.error);
            }
            offset += bytes;
        }
        Ok(offset)
    }

    /// Unmaps all pieces and gives them back.
    #[track_caller]
    fn empty(&mut self) -> Result<(), Error> {
        let offsets: Vec<_> = self.range.pieces().map(|(offset, _)| offset).collect();
        for offset in offsets {
            // SAFETY: no work uses the memory, by the conditions of the slices that were given of it.
            let unmapped = unsafe { self.range.unmap(offset) };
            let given_back = unmapped.and_then(|piece| piece.give_back());
            if given_back.is_err() {
                self.behind = Behind::Stuck;
                return given_back;
            }
        }
        if self.behind == Behind::Memory {
            self.behind = Behind::Nothing;
        }
        Ok(())
    }
}
