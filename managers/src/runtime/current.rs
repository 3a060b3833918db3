//! The runtime context that a thread is in.
//!
//! The thread keeps the runtime contexts that it has entered, the current one last, each with a
//! number that its guard has too. So guards may be dropped in any order: each takes its own out. A
//! context that is taken out is dropped only after the list is whole again, because that may end a
//! stream.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::Deref;
use std::rc::Rc;

use super::RuntimeContext;
use crate::error::{Error, Result};

thread_local! {
    static ENTERED: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

struct Entry {
    number: u64,
    /// Not counted across threads: asking for the current one must not contend with them.
    runtime: Rc<RuntimeContext>,
}

impl RuntimeContext {
    /// Makes this the thread's current runtime context until the guard is dropped; then it is
    /// the one before again. Makes no driver call.
    ///
    /// Guards nest. A guard that is dropped out of order takes its own runtime context out, and the
    /// others stay as they are. A guard that is forgotten is undone by the thread's end. In
    /// destructors of thread-locals, at the thread's end, it may have no effect.
    pub fn enter(&self) -> RuntimeGuard {
        let number = NEXT.try_with(|next| next.replace(next.get().wrapping_add(1)));
        let number = number.unwrap_or(u64::MAX);
        let runtime = Rc::new(self.clone());
        // Refused only at the thread's end. A context that is refused is dropped here.
        let _ = ENTERED.try_with(|entered| {
            if let Ok(mut entered) = entered.try_borrow_mut() {
                entered.push(Entry { number, runtime });
            }
        });
        RuntimeGuard {
            number,
            thread: PhantomData,
        }
    }

    /// The runtime context that this thread has entered last. Makes no driver call.
    ///
    /// # Errors
    /// [`Error::NoRuntime`] when it has entered none.
    #[inline]
    pub fn current() -> Result<CurrentRuntime> {
        let found = ENTERED.try_with(|entered| {
            let entered = entered.try_borrow().ok()?;
            Some(CurrentRuntime(Rc::clone(&entered.last()?.runtime)))
        });
        found.ok().flatten().ok_or(Error::NoRuntime)
    }
}

/// The runtime context that was current on this thread when it was asked for. It stays on
/// this thread; a clone of the [`RuntimeContext`] itself may go elsewhere.
#[derive(Debug)]
pub struct CurrentRuntime(Rc<RuntimeContext>);

impl Deref for CurrentRuntime {
    type Target = RuntimeContext;

    fn deref(&self) -> &RuntimeContext {
        &self.0
    }
}

/// Keeps a runtime context current on this thread.
#[derive(Debug)]
#[must_use = "the runtime context before is current again when the guard is dropped"]
pub struct RuntimeGuard {
    number: u64,
    /// A guard stays on its thread.
    thread: PhantomData<*const ()>,
}

impl Drop for RuntimeGuard {
    fn drop(&mut self) {
        let taken = ENTERED.try_with(|entered| {
            let mut entered = entered.try_borrow_mut().ok()?;
            let position = entered
                .iter()
                .rposition(|entry| entry.number == self.number)?;
            Some(entered.remove(position))
        });
        drop(taken);
    }
}
