//! [`ShutdownReport`]: the objects that a shutdown found leased, and its errors.

use std::fmt;

use cupola_core::{Tag, tag};

use crate::driver::{ContextCore, Live};
use crate::error::{Error, Result};
use crate::handle::{ContextHandle, ManagedHandle};

/// An object that a shutdown could not destroy, because it is leased. It is destroyed with its last
/// lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeasedObject {
    /// The kind of object: `"Stream"`, `"Context"` and so on.
    pub kind: &'static str,
    /// Which of its manager's objects it is: the index of the handle that named it.
    pub index: u32,
    /// The handle that named it, as a number.
    pub handle: u64,
    /// Ordinal of the device.
    pub device: Option<u32>,
    /// The context that it is in; a context itself is its own.
    pub context: Option<ContextHandle>,
    /// How many leases it has. A buffer has one, its owner. A context without leases that lives on
    /// counts the objects made in it.
    pub leases: u64,
}

impl LeasedObject {
    pub(crate) fn new<G: Tag>(handle: ManagedHandle<G>, leases: u64) -> Self {
        Self {
            kind: G::NAME,
            index: handle.index(),
            handle: handle.to_bits(),
            device: None,
            context: None,
            leases,
        }
    }

    /// The handle that named it, if it is of this kind.
    #[must_use]
    pub fn handle_as<G: Tag>(&self) -> Option<ManagedHandle<G>> {
        ManagedHandle::from_bits(self.handle).filter(|_| self.kind == G::NAME)
    }
}

impl fmt::Display for LeasedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, leases, .. } = self;
        match ManagedHandle::<tag::Slot>::from_bits(self.handle) {
            Some(handle) => handle.write(kind, f)?,
            None => f.write_str(kind)?,
        }
        if let Some(context) = self.context.filter(|_| *kind != tag::Context::NAME) {
            write!(f, " of {context:?}")?;
        }
        if let Some(device) = self.device.filter(|_| *kind != tag::Device::NAME) {
            write!(f, " of device {device}")?;
        }
        write!(f, " ({leases} leases)")
    }
}

/// The objects that a shutdown destroyed and those that it found leased, and its errors.
///
/// A shutdown has two phases: first every handle becomes stale and nothing new is made, then every
/// object without a lease is destroyed. An object that is leased is listed here, stays good, and is
/// destroyed with its last lease, in any order of those. Of a context whose handle was released and
/// that has no lease, the managers are gone: the objects left in it are listed as that context.
#[derive(Clone, Debug, Default)]
#[must_use = "it says what is still leased, and what the driver refused to destroy"]
pub struct ShutdownReport {
    /// The objects that are still leased.
    pub leased: Vec<LeasedObject>,
    /// Objects that were destroyed.
    pub destroyed: usize,
    /// The errors of objects that the driver refused to destroy.
    pub errors: Vec<Error>,
    /// Counts of the objects alive under the whole execution manager when its shutdown returns,
    /// memory pools and pinned memory included; `None` in reports of the levels below.
    pub alive: Option<Live>,
}

impl ShutdownReport {
    /// No object that the manager made is left.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.leased.is_empty()
            && self.errors.is_empty()
            && self.alive.is_none_or(|alive| alive.is_empty())
    }

    /// The leased objects of one kind: `"Stream"`, `"Context"` and so on.
    pub fn leased_of(&self, kind: &str) -> impl Iterator<Item = &LeasedObject> {
        self.leased.iter().filter(move |object| object.kind == kind)
    }

    /// That of a shutdown that did nothing.
    pub(crate) fn refused(error: Error) -> Self {
        Self {
            errors: vec![error],
            ..Self::default()
        }
    }

    /// One object was destroyed, or could not be.
    pub(crate) fn ended(&mut self, destroyed: Result<()>) {
        self.destroyed += usize::from(destroyed.is_ok());
        self.note(destroyed);
    }

    /// Sets this context as the place of the objects that were listed without one.
    pub(crate) fn locate(&mut self, core: &ContextCore) {
        for object in self.leased.iter_mut().rev() {
            if object.device.is_some() {
                break;
            }
            object.device = Some(core.ordinal());
            object.context = core.handle();
        }
    }

    pub(crate) fn note(&mut self, destroyed: Result<()>) {
        if let Err(error) = destroyed {
            self.errors.push(error);
        }
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} destroyed, {} still leased",
            self.destroyed,
            self.leased.len()
        )?;
        for object in &self.leased {
            write!(f, "; {object}")?;
        }
        for error in &self.errors {
            write!(f, "; {error}")?;
        }
        Ok(())
    }
}
