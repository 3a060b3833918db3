//! Modules.

/// The loaded modules of a machine.
#[derive(Debug, Default)]
pub(super) struct Modules {}

impl Modules {
    pub(super) fn count(&self) -> usize {
        0
    }
    pub(super) fn remove_context(&self, _context: u64) {}
}
