//! The stack of current contexts that each thread has for each machine.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use cupola_sys::driver::CUresult;

use crate::device::calls::args::Reply;
use crate::device::machine::Inner;
use crate::device::strict::Thread;

/// One thread's contexts of one machine.
struct Stack {
    /// A weak reference keeps the machine's address from being used again, so comparing
    /// addresses tells machines apart.
    machine: Weak<Inner>,
    handles: Vec<u64>,
    thread: Thread,
}

thread_local! {
    static STACKS: RefCell<Vec<Stack>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` with this thread's stack for the machine.
fn with<T>(machine: &Arc<Inner>, f: impl FnOnce(&mut Stack) -> T) -> Reply<T> {
    let ran = STACKS.try_with(|stacks| {
        let mut stacks = stacks.try_borrow_mut().ok()?;
        let here = |stack: &Stack| stack.machine.as_ptr() == Arc::as_ptr(machine);
        if let Some(position) = stacks.iter().position(here) {
            return Some(f(&mut stacks[position]));
        }
        stacks.retain(|stack| stack.machine.strong_count() > 0);
        let mut stack = Stack {
            machine: Arc::downgrade(machine),
            handles: Vec::new(),
            thread: Thread::default(),
        };
        let value = f(&mut stack);
        stacks.push(stack);
        Some(value)
    });
    // Not there while the thread ends.
    ran.ok().flatten().ok_or(CUresult::CUDA_ERROR_DEINITIALIZED)
}

/// Calls `f` with this thread's handles for the machine, and tells green contexts whether they
/// are current.
fn change<T>(machine: &Arc<Inner>, f: impl FnOnce(&mut Vec<u64>) -> T) -> Reply<T> {
    let (value, before, after, thread) = with(machine, |stack| {
        let before = stack.handles.last().copied();
        let value = f(&mut stack.handles);
        let after = stack.handles.last().copied();
        (value, before, after, stack.thread.clone())
    })?;
    if before == after {
        return Ok(value);
    }
    // One that is destroyed is current nowhere.
    let green = |handle: Option<u64>| machine.green(handle?).ok().flatten();
    if let Some(green) = green(before) {
        green.current_on.leave(&thread);
    }
    if let Some(green) = green(after)
        && green.current_on.enter(&thread)
    {
        machine.strict.green_on_two_threads(&green.made);
    }
    Ok(value)
}

/// The handle on top.
pub(in crate::device) fn top(machine: &Arc<Inner>) -> Reply<Option<u64>> {
    with(machine, |stack| stack.handles.last().copied())
}

pub(in crate::device) fn push(machine: &Arc<Inner>, handle: u64) -> Reply {
    change(machine, |handles| handles.push(handle))
}

pub(in crate::device) fn pop(machine: &Arc<Inner>) -> Reply<Option<u64>> {
    change(machine, Vec::pop)
}

/// Puts a handle in the place of the top one; none takes the top away.
pub(in crate::device) fn replace(machine: &Arc<Inner>, handle: Option<u64>) -> Reply {
    change(machine, |handles| {
        handles.pop();
        handles.extend(handle);
    })
}
