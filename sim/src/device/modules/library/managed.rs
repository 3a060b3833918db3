//! Managed variables of libraries: they are there before any context, and all share them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use cupola_sys::driver::CUresult;

use crate::device::machine::Inner;
use crate::device::memory::{Block, MANAGED_ALIGN, Owner, Space};
use crate::device::modules::image::ImageError;
use crate::exec::{Placement, VarSpace};
use crate::ptx::{Init, Module, Var};

/// A managed variable: its name, and how many of that name come before it. Functions may
/// have some of their own.
pub(super) type Variable = (String, usize);

/// Numbers the managed variables of a module as they are placed.
#[derive(Debug, Default)]
pub(in crate::device) struct Counter(HashMap<String, usize>);

impl Counter {
    pub(in crate::device) fn next(&mut self, name: &str) -> Variable {
        let count = self.0.entry(name.to_owned()).or_default();
        *count += 1;
        (name.to_owned(), *count - 1)
    }
}

/// The managed variables of a library.
#[derive(Debug, Default)]
pub(super) struct Managed {
    pub(super) blocks: HashMap<Variable, Arc<Block>>,
}

impl Managed {
    pub(super) fn release(&self, machine: &Inner) {
        for block in self.blocks.values() {
            machine.space.remove(block);
        }
    }
}

/// Places managed variables, and gives others addresses that mean nothing.
pub(super) struct Pretend<'a> {
    next: u64,
    space: &'a Space,
    managed: &'a mut Managed,
    counter: Counter,
    /// The managed variables that have no values yet.
    fresh: BTreeMap<u64, Arc<Block>>,
}

impl<'a> Pretend<'a> {
    pub(super) fn new(space: &'a Space, managed: &'a mut Managed) -> Self {
        Self {
            next: 1 << 20,
            space,
            managed,
            counter: Counter::default(),
            fresh: BTreeMap::new(),
        }
    }

    fn place_managed(&mut self, name: &str, size: u64, align: u64) -> Option<u64> {
        if align > MANAGED_ALIGN {
            return None;
        }
        let key = self.counter.next(name);
        let len = size.max(1);
        if let Some(block) = self.managed.blocks.get(&key) {
            // The code for another kind of device may not declare it differently.
            return (block.len == len).then_some(block.address);
        }
        let owner = Owner {
            device: 0,
            // It belongs to no context, and outlives all.
            context: 0,
            pool: None,
            module: Some(false),
        };
        let block = self.space.allocate_managed(len, owner).ok()?;
        block.set_name(name);
        let address = block.address;
        self.fresh.insert(address, Arc::clone(&block));
        self.managed.blocks.insert(key, block);
        Some(address)
    }
}

impl Placement for Pretend<'_> {
    fn place(&mut self, name: &str, space: VarSpace, size: u64, align: u64) -> Option<u64> {
        if space == VarSpace::Managed {
            return self.place_managed(name, size, align);
        }
        let at = self.next.checked_next_multiple_of(align.max(1))?;
        self.next = at.checked_add(size)?;
        Some(at)
    }

    fn fill(&mut self, address: u64, bytes: &[u8]) {
        let block = self.fresh.get(&address);
        if let Some(block) = block.filter(|block| block.holds(address, bytes.len() as u64)) {
            // SAFETY: the block holds the bytes from that address, and no other code knows
            // the address yet.
            unsafe {
                block
                    .host(address)
                    .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            };
        }
    }
}

/// Refuses a managed variable whose initial value names something that each context has
/// its own of: there is no context yet.
///
/// # Errors
/// Not supported, with the name of the variable.
pub(super) fn check_values(module: &Module<'_>) -> Result<(), ImageError> {
    let managed = |var: &&Var<'_>| var.managed;
    let shared: HashSet<&str> = module.vars.iter().filter(managed).map(|v| v.name).collect();
    for var in module.vars.iter().filter(managed) {
        if let Some(init) = &var.init
            && names_other(init, &shared)
        {
            let text = format!(
                "PTX line {}: the initial value of managed variable {} names what each context \
                 has its own of: not supported in a library",
                var.line, var.name
            );
            return Err((CUresult::CUDA_ERROR_NOT_SUPPORTED, text));
        }
    }
    Ok(())
}

fn names_other(init: &Init<'_>, shared: &HashSet<&str>) -> bool {
    match init {
        Init::Symbol { name, .. } => !shared.contains(name),
        Init::Masked { of, .. } => names_other(of, shared),
        Init::List(items) => items.iter().any(|item| names_other(item, shared)),
        Init::Int(_) | Init::F32(_) | Init::F64(_) => false,
    }
}
