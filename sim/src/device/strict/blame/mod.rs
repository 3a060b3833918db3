//! Who is to blame for a fault: what a kernel missed, and what was there before.

pub(super) mod history;
pub(super) mod kernel;
pub(super) mod locate;
