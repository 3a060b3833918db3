//! The beginning of a life: of an object that waits, or of one that is made for it.

use std::ptr::NonNull;

use cupola_core::Tag;

use super::lease::{self, Leased};
use super::node::{Content, Node};
use super::reservation::Reservation;
use super::word::{Unborn, Word};
use super::{CLASSES, ObjectPool, Reusable};
use crate::error::{Error, Result};
use crate::sync::Ordering;

impl<T: Reusable, G: Tag> ObjectPool<T, G> {
    /// An object of this class: one that waits, else one that `make` makes. With `held` the
    /// manager keeps a lease of its own until [`release`](Self::release).
    ///
    /// # Errors
    /// [`Error::Full`] when no object waits and there is no room; an object that another call has
    /// taken off its stack at that moment (such as a [`trim`](Self::trim) that looks it through)
    /// does not wait. [`Error::ShutDown`], or what `make` returned.
    #[inline]
    pub(crate) fn acquire(
        &self,
        class: usize,
        held: bool,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Leased<T, G>> {
        let create = || self.create(class, held, make);
        self.reuse(class, held, |done| done, create)
    }

    /// Begins a life of an object of this class that waits, and returns it through `done`; returns
    /// the result of `none` when no object of the class waits. Each result goes straight to where
    /// the caller returns it.
    #[inline]
    fn reuse<R>(
        &self,
        class: usize,
        held: bool,
        done: impl Fn(Result<Leased<T, G>>) -> R,
        none: impl FnOnce() -> R,
    ) -> R {
        while let Some(node) = self.pop_idle(class) {
            // SAFETY: a node from an idle stack is full, and popped, its lease is ours.
            match unsafe { Self::begin(node, held) } {
                Ok(lease) => return done(Ok(lease)),
                Err(unborn) => {
                    if let Some(outcome) = self.put_away(node, unborn, held) {
                        return done(outcome);
                    }
                }
            }
        }
        none()
    }

    #[cold]
    pub(super) fn create(
        &self,
        class: usize,
        held: bool,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Leased<T, G>> {
        let shut_down = Error::ShutDown { kind: G::NAME };
        let Some(era) = self.table.era() else {
            return Err(shut_down);
        };
        let place = loop {
            let pushes = self.idle.pushes();
            if let Some(place) = self.place(class) {
                break place;
            }
            // An object may have been given back to a stack that was looked at already, before the
            // object on a stack ahead was taken. So it is full only if no object was given back
            // while all stacks were looked at.
            if let Some(done) = self.reuse(class, held, Some, || None) {
                return done;
            }
            if self.idle.pushes() == pushes {
                return Err(Error::Full { kind: G::NAME });
            }
        };
        let value = make()?;
        self.created.fetch_add(1, Ordering::Relaxed);
        self.peak.fetch_max(place.keep(), Ordering::Relaxed);
        let lease = self.settle(Content { class, value }, held)?;
        if self.table.era() == Some(era) {
            return Ok(lease);
        }
        // The manager was shut down meanwhile, even if it is there again.
        let _ = self.release(lease.handle());
        Err(shut_down)
    }

    /// Room for one more object of this class; at the capacity, that of one of another class
    /// that waits.
    fn place(&self, class: usize) -> Option<Reservation<'_>> {
        let capacity = self.capacity.load(Ordering::Relaxed);
        loop {
            if let Some(place) = Reservation::take(&self.idle, capacity) {
                return Some(place);
            }
            let mut others = (0..CLASSES).filter(|&other| other != class);
            let node = others.find_map(|other| self.pop_idle(other))?;
            // SAFETY: a node from an idle stack is full, and its lease is ours. An error of its
            // destruction is no error of this call.
            let _ = unsafe { lease::give_up(node) };
            // Its life may go on, or another thread may have its place: then the next one.
        }
    }

    /// Begins a life for an object that has no node yet.
    #[cold]
    fn settle(&self, content: Content<T>, held: bool) -> Result<Leased<T, G>> {
        let vacant = self.pop(&self.idle.vacant);
        let found = vacant.map_or_else(|| self.table.add(&self.idle), Ok);
        let node = match found {
            Ok(node) => node,
            Err(refused) => {
                self.idle.existing.fetch_sub(1, Ordering::Relaxed);
                return Err(refused.error(G::NAME));
            }
        };
        // SAFETY: a node that is vacant or new is alive, empty and ours alone.
        let lent = unsafe { node.as_ref() };
        // SAFETY: needs an empty node that is ours alone, which a vacant or new one is.
        unsafe { lent.fill(content) };
        // Like a node that waits, it has a lease that no caller holds.
        lent.update(Word::with_lease);
        // SAFETY: it is full now, and still ours.
        match unsafe { Self::begin(node, held) } {
            Ok(lease) => Ok(lease),
            Err(unborn) => self
                .put_away(node, unborn, held)
                .unwrap_or(Err(Error::ShutDown { kind: G::NAME })),
        }
    }

    /// Puts away a node, full and with a lease of ours, that has no next life. `None` when its last
    /// one goes on.
    #[cold]
    #[track_caller]
    fn put_away(
        &self,
        node: NonNull<Node<T>>,
        unborn: Unborn,
        held: bool,
    ) -> Option<Result<Leased<T, G>>> {
        // SAFETY: needs a lease that the caller gives up: the node has one of ours.
        if !unsafe { lease::claim(node) } {
            return None;
        }
        Some(match unborn {
            // Shared, and its other lease ended meanwhile: an object the fewer.
            Unborn::Shared => {
                // SAFETY: claimed, so it is ours alone.
                let content = unsafe { node.as_ref().empty() };
                // SAFETY: it is empty and ours alone.
                unsafe { lease::vacate(node) };
                self.settle_again(content, held)
            }
            Unborn::Closed => {
                // SAFETY: claimed, so it is ours alone. An error of its destruction is no error of
                // this call.
                let _ = unsafe { lease::retire(node) };
                Err(Error::ShutDown { kind: G::NAME })
            }
            Unborn::Worn => {
                // SAFETY: claimed, so it is ours alone.
                let content = unsafe { lease::wear_out(node) };
                self.settle_again(content, held)
            }
        })
    }

    /// As [`settle`](Self::settle), of an object that was in another node.
    #[track_caller]
    fn settle_again(&self, mut content: Content<T>, held: bool) -> Result<Leased<T, G>> {
        content.value.moved();
        self.settle(content, held)
    }

    /// Begins a life.
    ///
    /// # Safety
    /// The node is full, and has a lease of the caller's: it was filled just now, or taken off
    /// an idle stack. After an error it is as before.
    #[inline]
    unsafe fn begin(node: NonNull<Node<T>>, held: bool) -> Result<Leased<T, G>, Unborn> {
        let raw = node;
        // SAFETY: a node with a lease is alive, and this one has the caller's.
        let node = unsafe { raw.as_ref() };
        let mut now = node.word();
        loop {
            let next = now.next_life(held)?;
            if mutant!("object_pool_begin_by_store") {
                node.word.store(next.0, Ordering::Release);
                break;
            }
            // An exchange and not a store: a shutdown marks the word, and a late lease of the last
            // life counts itself, and its uses come before this life.
            match node.word.compare_exchange_weak(
                now.0,
                next.0,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(changed) => now = Word(changed),
            }
        }
        // SAFETY: the word counts this lease.
        let lease = unsafe { Leased::from_node(raw) };
        if !mutant!("event_forgets_late") {
            lease.renew();
        }
        // A thread that uses the name finds the object, and finds it renewed.
        node.asleep.store(false, Ordering::Release);
        if mutant!("event_forgets_late") {
            lease.renew();
        }
        Ok(lease)
    }
}
