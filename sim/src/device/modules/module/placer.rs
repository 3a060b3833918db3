//! Memory for the variables of a module that is being loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::device::contexts::context::Context;
use crate::device::memory::{Block, MANAGED_ALIGN, allocate_aligned, allocate_managed};
use crate::device::modules::library::{Counter, Library};
use crate::exec::{Placement, VarSpace};

/// A module's memory while it is loaded; what was placed is freed if loading fails.
pub(super) struct Placer<'a> {
    context: &'a Context,
    /// Set for a library's module: its managed variables are the library's.
    library: Option<&'a Library>,
    /// What was placed, by address.
    blocks: BTreeMap<u64, Arc<Block>>,
    counter: Counter,
    kept: bool,
}

impl<'a> Placer<'a> {
    pub(super) fn new(context: &'a Context, library: Option<&'a Library>) -> Self {
        Self {
            context,
            library,
            blocks: BTreeMap::new(),
            counter: Counter::default(),
            kept: false,
        }
    }

    /// Ends a load that has worked.
    pub(super) fn keep(mut self) -> Vec<Arc<Block>> {
        self.kept = true;
        std::mem::take(&mut self.blocks).into_values().collect()
    }
}

impl Placement for Placer<'_> {
    fn place(&mut self, name: &str, space: VarSpace, size: u64, align: u64) -> Option<u64> {
        // A variable without bytes still has an address of its own.
        let len = usize::try_from(size.max(1)).ok()?;
        let block = match (space, self.library) {
            (VarSpace::Managed, _) if align > MANAGED_ALIGN => return None,
            (VarSpace::Managed, Some(library)) => {
                let block = library.managed_block(&self.counter.next(name))?;
                return Some(block.address);
            }
            (VarSpace::Managed, None) => allocate_managed(self.context, len, Some(false)),
            (VarSpace::Global | VarSpace::Const, _) => {
                let constant = Some(space == VarSpace::Const);
                allocate_aligned(self.context, len, align, constant)
            }
        };
        let block = block.ok()?;
        block.set_name(name);
        let address = block.address;
        self.blocks.insert(address, block);
        (address % align.max(1) == 0).then_some(address)
    }

    /// A library's managed variables have their values since it was loaded.
    fn fill(&mut self, address: u64, bytes: &[u8]) {
        let block = self.blocks.get(&address);
        if let Some(block) = block.filter(|block| block.holds(address, bytes.len() as u64)) {
            // SAFETY: the block holds the bytes from that address, and nothing runs yet
            // that could know the address.
            unsafe {
                block
                    .host(address)
                    .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            };
        }
    }
}

impl Drop for Placer<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.blocks
                .values()
                .for_each(|block| release(self.context, block));
        }
    }
}

pub(super) fn release(context: &Context, block: &Block) {
    if block.doom() {
        context.device.account.give(None, block.charge);
        context.device.space.remove(block);
    }
}
