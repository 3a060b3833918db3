//! `Buffered<T, N>`: a rotation together with the values of its buffers.

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use super::{Reading, Rotation, Writing};
use crate::sync::{UnsafeCell, cells, const_fn};

/// `N` values, 2 to 8, that go round between producers and consumers as those of a
/// [`Rotation`] do: with three, the triple buffer.
///
/// ```
/// use cupola_core::Buffered;
///
/// static POSITION: Buffered<[f32; 3], 3> = Buffered::new([[0.0; 3]; 3]);
///
/// let mut next = POSITION.begin_over().unwrap();
/// *next = [1.0, 2.0, 3.0];
/// assert_eq!(next.publish(), 1);
/// let now = POSITION.latest().unwrap();
/// assert_eq!(*now, [1.0, 2.0, 3.0]);
/// ```
pub struct Buffered<T, const N: usize> {
    rotation: Rotation<N>,
    values: [UnsafeCell<T>; N],
}

// SAFETY: the rotation gives each value to one guard at a time, and orders what the last
// guard did before what the next one does. So values pass between threads, which `T: Send`
// allows, and no two threads reach one through different guards.
unsafe impl<T: Send, const N: usize> Sync for Buffered<T, N> {}

impl<T, const N: usize> Buffered<T, N> {
    const_fn! {
        /// Nothing published. The values are those that the first producers find.
        #[must_use]
        pub fn new(values: [T; N]) -> Self {
            Self {
                rotation: Rotation::new(),
                values: cells(values),
            }
        }
    }

    /// Takes a free value to write to: [`Rotation::begin`]. It is as its last holder left
    /// it.
    pub fn begin(&self) -> Option<WriteBuffer<'_, T, N>> {
        self.rotation.begin().map(|turn| self.write(turn))
    }

    /// Takes a free value to write to, or else the oldest fresh one:
    /// [`Rotation::begin_over`].
    pub fn begin_over(&self) -> Option<WriteBuffer<'_, T, N>> {
        self.rotation.begin_over().map(|turn| self.write(turn))
    }

    /// Takes the oldest fresh value: [`Rotation::oldest`].
    pub fn oldest(&self) -> Option<ReadBuffer<'_, T, N>> {
        self.rotation.oldest().map(|turn| self.read(turn))
    }

    /// Takes the newest fresh value and skips older ones: [`Rotation::latest`].
    pub fn latest(&self) -> Option<ReadBuffer<'_, T, N>> {
        self.rotation.latest().map(|turn| self.read(turn))
    }

    /// The rotation, to ask it. A buffer that is taken from it directly is kept from
    /// everybody else, and its value cannot be reached. If it is taken for writing it can
    /// still be published: readers then get the value as its last holder left it.
    #[must_use]
    pub fn rotation(&self) -> &Rotation<N> {
        &self.rotation
    }

    fn write<'b>(&'b self, turn: Writing<'b, N>) -> WriteBuffer<'b, T, N> {
        WriteBuffer {
            from: self,
            turn,
            value: PhantomData,
        }
    }

    fn read<'b>(&'b self, turn: Reading<'b, N>) -> ReadBuffer<'b, T, N> {
        ReadBuffer {
            from: self,
            turn,
            value: PhantomData,
        }
    }
}

impl<T, const N: usize> fmt::Debug for Buffered<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Buffered").field(&self.rotation).finish()
    }
}

/// Declares a guard that holds a turn of the rotation, and with it the turn's value.
macro_rules! guard {
    ($(#[$attr:meta])* $name:ident of $turn:ident) => {
        $(#[$attr])*
        pub struct $name<'b, T, const N: usize> {
            from: &'b Buffered<T, N>,
            turn: $turn<'b, N>,
            /// Sent and shared between threads as the one reference to the value would be.
            value: PhantomData<&'b mut T>,
        }

        impl<T, const N: usize> $name<'_, T, N> {
            /// The number of the buffer, below `N`.
            #[must_use]
            pub fn buffer(&self) -> usize {
                self.turn.buffer()
            }
        }

        impl<T, const N: usize> Deref for $name<'_, T, N> {
            type Target = T;

            fn deref(&self) -> &T {
                // SAFETY: the turn holds this buffer alone as long as it lives, this guard
                // is borrowed as long as the reference lives, and whoever writes through
                // this guard borrows it exclusively.
                self.from.values[self.turn.buffer()].with(|value| unsafe { &*value })
            }
        }

        impl<T, const N: usize> DerefMut for $name<'_, T, N> {
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: the turn holds this buffer alone as long as it lives, and this
                // guard is borrowed exclusively as long as the reference lives.
                self.from.values[self.turn.buffer()].with_mut(|value| unsafe { &mut *value })
            }
        }

        impl<T: fmt::Debug, const N: usize> fmt::Debug for $name<'_, T, N> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&**self).finish()
            }
        }
    };
}

guard! {
    /// A value that is being written. Dropped, it is free again and nothing is published.
    #[must_use = "a dropped value is not published"]
    WriteBuffer of Writing
}

guard! {
    /// A published value that is being read. It may be changed too, to take something out
    /// of it for one. Dropped, it is free again.
    #[must_use = "a dropped value is free again"]
    ReadBuffer of Reading
}

impl<T, const N: usize> WriteBuffer<'_, T, N> {
    /// Makes the value the newest, and returns its generation: [`Writing::publish`].
    pub fn publish(self) -> u64 {
        self.turn.publish()
    }

    /// Publishes the value and goes on with another one: [`Writing::turn_over`].
    #[must_use = "nothing is published when no other buffer is to be had"]
    pub fn turn_over(&mut self) -> Option<u64> {
        self.turn.turn_over()
    }

    /// Gives the value up unpublished. The same as dropping.
    pub fn cancel(self) {}
}

impl<T, const N: usize> ReadBuffer<'_, T, N> {
    /// The generation of the value: [`Reading::generation`].
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.turn.generation()
    }

    /// Moves on to the newest fresh value if there is one: [`Reading::refresh`].
    pub fn refresh(&mut self) -> bool {
        self.turn.refresh()
    }
}
