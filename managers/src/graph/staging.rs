//! `Staging`: pinned memory that a graph copies from and to.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::buffer::{DeviceCopy, PinnedBuffer};
use crate::error::{Error, Result};

/// The pinned buffers of one graph. An executable has them while it exists: the host touches them when
/// its launches are over.
pub(super) struct Staging {
    /// A number that no other one of the process has.
    serial: u64,
    buffers: Vec<Box<dyn Any + Send>>,
}

impl Default for Staging {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            serial: NEXT.fetch_add(1, Ordering::Relaxed),
            buffers: Vec::new(),
        }
    }
}

impl Staging {
    pub(super) fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// Adds a buffer: the graph's serial and the buffer's index.
    pub(super) fn add<T: DeviceCopy>(&mut self, buffer: PinnedBuffer<T>) -> Place {
        self.buffers.push(Box::new(buffer));
        Place {
            serial: self.serial,
            index: self.buffers.len() - 1,
        }
    }

    fn check(&self, place: Place) -> Result<()> {
        match place.serial == self.serial {
            true => Ok(()),
            false => Err(Error::invalid("place", "it is another graph's")),
        }
    }

    pub(super) fn get<T: DeviceCopy>(&self, place: Place) -> Result<&PinnedBuffer<T>> {
        self.check(place)?;
        let buffer = self.buffers.get(place.index);
        let buffer = buffer.and_then(|buffer| buffer.downcast_ref());
        buffer.ok_or_else(|| Error::invalid("place", "it is another graph's"))
    }

    pub(super) fn get_mut<T: DeviceCopy>(&mut self, place: Place) -> Result<&mut PinnedBuffer<T>> {
        self.check(place)?;
        let buffer = self.buffers.get_mut(place.index);
        let buffer = buffer.and_then(|buffer| buffer.downcast_mut());
        buffer.ok_or_else(|| Error::invalid("place", "it is another graph's"))
    }
}

/// A buffer of one graph's pinned memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    serial: u64,
    index: usize,
}

macro_rules! places {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name<T> {
            pub(super) place: Place,
            element: PhantomData<fn() -> T>,
        }

        impl<T> $name<T> {
            pub(super) fn new(place: Place) -> Self {
                Self { place, element: PhantomData }
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.place.index).finish()
            }
        }
    )*};
}

places! {
    /// Names pinned memory that a graph copies to the device: what is in it at a launch. Written by
    /// [`GraphExec::input`](super::GraphExec::input).
    Input;
    /// Names pinned memory that a graph copies from the device. Read by
    /// [`GraphExec::output`](super::GraphExec::output).
    Output;
}
