//! The stack of current contexts that each thread has for each machine.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use cupola_sys::driver::CUresult;

use super::args::Reply;
use super::machine::Inner;

thread_local! {
    /// A weak reference keeps the machine's address from being used again, so comparing
    /// addresses tells machines apart.
    static STACKS: RefCell<Vec<(Weak<Inner>, Vec<u64>)>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with this thread's stack for the machine.
fn with<T>(machine: &Arc<Inner>, f: impl FnOnce(&mut Vec<u64>) -> T) -> Reply<T> {
    let ran = STACKS.try_with(|stacks| {
        let mut stacks = stacks.try_borrow_mut().ok()?;
        let here = |(owner, _): &(Weak<Inner>, Vec<u64>)| owner.as_ptr() == Arc::as_ptr(machine);
        if let Some(position) = stacks.iter().position(here) {
            return Some(f(&mut stacks[position].1));
        }
        stacks.retain(|(owner, _)| owner.strong_count() > 0);
        let mut stack = Vec::new();
        let value = f(&mut stack);
        stacks.push((Arc::downgrade(machine), stack));
        Some(value)
    });
    // Not there while the thread ends.
    ran.ok().flatten().ok_or(CUresult::CUDA_ERROR_DEINITIALIZED)
}

/// The handle on top.
pub(super) fn top(machine: &Arc<Inner>) -> Reply<Option<u64>> {
    with(machine, |stack| stack.last().copied())
}

pub(super) fn push(machine: &Arc<Inner>, handle: u64) -> Reply {
    with(machine, |stack| stack.push(handle))
}

pub(super) fn pop(machine: &Arc<Inner>) -> Reply<Option<u64>> {
    with(machine, Vec::pop)
}

/// Puts a handle in the place of the top one; none takes the top away.
pub(super) fn replace(machine: &Arc<Inner>, handle: Option<u64>) -> Reply {
    with(machine, |stack| {
        stack.pop();
        stack.extend(handle);
    })
}
