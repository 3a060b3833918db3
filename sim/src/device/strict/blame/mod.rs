//! Who is to blame for a fault: what a kernel missed, and what was there before.

pub(super) mod history;
mod kernel;
pub(super) mod locate;
