//! Hooks for tests (feature `test-utils`): managers that are small and soon worn out, and counts of
//! their slots.
//!
//! Production limits (65 472 objects, 2^39 lives of a slot) are out of a test's reach. A
//! [`TestConfig`] brings them near, so that a test of a crate above this one meets in seconds the
//! cases that users meet in years: [`Error::Full`], and slots that are retired because their names
//! are used up.

use cupola_core::Tag;

use crate::error::{Error, Result};
use crate::object_pool::{MOST_LIVES, ObjectPool, ROOM, Reusable};

/// How a manager is set up for a test. A value that is not set stays as it is in production.
///
/// `configure_for_test` of an [`ExecutionManager`](crate::ExecutionManager) holds for all
/// contexts below it, that of a [`ContextManager`](crate::ContextManager) for its contexts,
/// that of a [`StreamManager`](crate::stream::StreamManager) or
/// [`EventManager`](crate::event::EventManager) for itself. It is refused once the manager has made
/// an object, and it changes no handle that is out.
///
/// The driver objects that this crate makes for itself count too: ordering two streams takes
/// an event, and a pipeline three streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use = "it is only a description"]
pub struct TestConfig {
    objects: Option<usize>,
    slots: Option<usize>,
    lives: Option<u64>,
}

impl TestConfig {
    /// The limits of production.
    pub const fn new() -> Self {
        Self {
            objects: None,
            slots: None,
            lives: None,
        }
    }

    /// The most objects of each kind that exist at a time, waiting ones included: contexts of
    /// a device, streams and events of a context. One more is [`Error::Full`]. A later
    /// `configure` of a manager replaces it there.
    pub const fn pool_size(mut self, objects: usize) -> Self {
        self.objects = Some(objects);
        self
    }

    /// The most slots that streams and events of a context ever get. A slot whose lives are used up
    /// is not replaced beyond these, and an object for which there is no slot is [`Error::Full`].
    pub const fn slots(mut self, slots: usize) -> Self {
        self.slots = Some(slots);
        self
    }

    /// How many lives each slot of streams and events has until its names are used up: the
    /// generation starts that near to its end.
    pub const fn lives(mut self, lives: u64) -> Self {
        self.lives = Some(lives);
        self
    }

    pub(crate) fn most_objects(self) -> Option<usize> {
        self.objects
    }

    /// Sets an object pool up, before it has a slot.
    pub(crate) fn apply<T: Reusable, G: Tag>(self, to: &ObjectPool<T, G>) -> Result<()> {
        let config = self.check()?;
        if to.limit_for_test(config.objects, config.slots, config.lives) {
            Ok(())
        } else {
            Err(Self::too_late(G::NAME))
        }
    }

    /// Refuses a value that cannot be, naming the field.
    pub(crate) fn check(self) -> Result<Self> {
        let most = ROOM as u64;
        let check = |field, value: Option<u64>, most| match value {
            Some(value) if !(1..=most).contains(&value) => Err(Error::invalid(
                field,
                format!("{value} is not from 1 to {most}"),
            )),
            _ => Ok(()),
        };
        check("pool_size", self.objects.map(|size| size as u64), most)?;
        check("slots", self.slots.map(|slots| slots as u64), most)?;
        check("lives", self.lives, MOST_LIVES)?;
        Ok(self)
    }

    /// The refusal of a manager that has made an object of this kind.
    pub(crate) fn too_late(kind: &'static str) -> Error {
        let problem = format!("a {kind} was made already; configure for the test before that");
        Error::invalid("configure_for_test", problem)
    }
}

/// The slots of a stream or event manager; those of one instant only while no other thread uses the
/// manager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SlotCounts {
    /// Slots so far.
    pub slots: usize,
    /// Slots whose object is leased, or held by the manager.
    pub alive: usize,
    /// Slots that a handle names.
    pub named: usize,
    /// Objects that wait to be used again.
    pub idle: usize,
    /// Slots that are not alive and have no name left.
    pub worn: usize,
}

impl SlotCounts {
    pub(crate) fn of<T: Reusable, G: Tag>(objects: &ObjectPool<T, G>) -> Self {
        let mut counts = Self {
            idle: objects.stats().idle,
            ..Self::default()
        };
        for slot in objects.slots_for_test() {
            counts.slots += 1;
            counts.alive += usize::from(slot.alive);
            counts.named += usize::from(slot.named);
            counts.worn += usize::from(slot.exhausted);
        }
        counts
    }
}
