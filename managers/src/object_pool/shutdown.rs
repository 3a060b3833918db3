//! How an object pool is shut down, set up again, and ends.

use std::ptr::NonNull;
use std::sync::PoisonError;

use cupola_core::Tag;

use super::node::Node;
use super::stack::{Door, Stack};
use super::word::Word;
use super::{Ended, ObjectPool, Reusable, lease};
use crate::shutdown_report::{LeasedObject, ShutdownReport};
use crate::sync::deferred::DeferCallbacks;
use crate::sync::{MutexGuard, Ordering};

impl<T: Reusable, G: Tag> ObjectPool<T, G> {
    /// Both phases of a shutdown: [`close`](Self::close), then [`drain`](Self::drain).
    #[track_caller]
    pub(crate) fn shut(&self, report: &mut ShutdownReport) {
        // The user's policy for a lost context runs without the lock.
        let _defer = DeferCallbacks::new();
        let _alone = self.door();
        self.close_alone(report);
        self.drain_alone(report);
    }

    /// Ends every name and gives up the manager's own leases. From now on nothing is handed
    /// out, until [`open`](Self::open).
    #[track_caller]
    pub(crate) fn close(&self, report: &mut ShutdownReport) {
        // The user's policy for a lost context runs without the lock.
        let _defer = DeferCallbacks::new();
        let _alone = self.door();
        self.close_alone(report);
    }

    /// Destroys objects that wait, and lists objects that are leased, or that a call which runs
    /// beside this one holds and will give up; an object that is given back later is destroyed
    /// then. Does nothing if the manager was set up again since it was closed.
    #[track_caller]
    pub(crate) fn drain(&self, report: &mut ShutdownReport) {
        // The user's policy for a lost context runs without the lock.
        let _defer = DeferCallbacks::new();
        let _alone = self.door();
        if self.table.is_shut() {
            self.drain_alone(report);
        }
    }

    #[track_caller]
    fn close_alone(&self, report: &mut ShutdownReport) {
        self.table.shut();
        for node in self.nodes() {
            if !mutant!("object_pool_shut_marks_no_word") {
                node.update(Word::closed);
            }
            let ended = Self::end_name(node, |word| word.is_named() || word.is_held());
            // An object that could not have been used again.
            if let Ended::Destroyed(destroyed) = ended {
                report.ended(destroyed);
            }
        }
    }

    #[track_caller]
    fn drain_alone(&self, report: &mut ShutdownReport) {
        for stack in self.idle.idle() {
            for node in self.take_all(stack, Door::Shut) {
                // SAFETY: a node from an idle stack is full, and its lease is ours.
                if let Some(destroyed) = unsafe { lease::give_up(node) } {
                    report.ended(destroyed);
                }
            }
        }
        for node in self.nodes() {
            // Leases in stock are no caller's.
            if let Some(lease) = Self::pin(node) {
                lease.recall();
            }
            // No object waits any more, so a node with a lease is held by a caller.
            let word = node.word();
            if word.leases() > 0 {
                let handle = node.name::<G>(word.life());
                report.leased.push(LeasedObject::new(handle, word.leases()));
            }
        }
    }

    /// Whether [`shut`](Self::shut) was called, and not [`open`](Self::open) after it.
    pub(crate) fn is_shut(&self) -> bool {
        self.table.is_shut()
    }

    /// Ends a shutdown.
    pub(crate) fn open(&self) {
        // The user's policy for a lost context runs without the lock.
        let _defer = DeferCallbacks::new();
        let _alone = self.door();
        for stack in self.idle.idle() {
            stack.open();
        }
        for node in self.nodes() {
            node.update(Word::opened);
        }
        self.table.open();
    }

    fn door(&self) -> Option<MutexGuard<'_, ()>> {
        let alone = || self.door.lock().unwrap_or_else(PoisonError::into_inner);
        (!mutant!("object_pool_shut_while_opened")).then(alone)
    }

    /// Shuts a stack, and gives its nodes, each of which may be freed before the next one.
    fn take_all(&self, stack: &Stack, door: Door) -> impl Iterator<Item = NonNull<Node<T>>> + '_ {
        let mut top = stack.shut(door);
        std::iter::from_fn(move || {
            let node = self.table.get(top.checked_sub(1)? as usize)?;
            // SAFETY: it was taken off the stack, so it is alive and ours.
            top = unsafe { &*node }.below.load(Ordering::Relaxed);
            NonNull::new(node)
        })
    }
}

impl<T: Reusable, G: Tag> Drop for ObjectPool<T, G> {
    /// Nodes without a caller's lease go now, each of the others with its last lease.
    fn drop(&mut self) {
        for node in self.nodes() {
            // A last lease that ends here finds the stacks open: its node is taken below.
            let _ = Self::end_name(node, Word::is_held);
        }
        for stack in self.idle.idle() {
            for node in self.take_all(stack, Door::Gone) {
                // SAFETY: a node from an idle stack is full, and its lease is ours.
                if !unsafe { lease::claim(node) } {
                    // Its last life goes on, and ends without us.
                    continue;
                }
                // SAFETY: claimed, so it is ours alone.
                drop(unsafe { node.as_ref().empty() });
                self.idle.existing.fetch_sub(1, Ordering::Relaxed);
                // SAFETY: it is empty now, and no table leads to it any more.
                unsafe { Node::free(node.as_ptr()) };
            }
        }
        for stack in [&self.idle.vacant, &self.idle.exhausted] {
            for node in self.take_all(stack, Door::Gone) {
                // SAFETY: nodes on these stacks are empty, and it is ours alone.
                unsafe { Node::free(node.as_ptr()) };
            }
        }
    }
}
