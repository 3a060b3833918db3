//! How many objects of a kind a manager may have.

use crate::error::{Error, Result};

/// The most that a capacity can be: the objects that the index of a handle has room for.
pub(crate) const MOST_OBJECTS: usize = 65_472;

/// Refuses a capacity that a manager cannot have, naming the field.
pub(crate) fn check_capacity(field: &'static str, capacity: usize) -> Result<()> {
    if (1..=MOST_OBJECTS).contains(&capacity) {
        return Ok(());
    }
    let problem = format!("{capacity} is not from 1 to {MOST_OBJECTS}");
    Err(Error::invalid(field, problem))
}
