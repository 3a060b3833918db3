//! The end of a [`ContextCore`]: an execution manager gives a context up.

use std::mem::ManuallyDrop;
use std::thread;
use std::time::{Duration, Instant};

use cupola_sys::driver::DriverError;

use super::ContextCore;
use super::RelaxedCapture;
use super::current_guard;
use super::graveyard::{Grave, PageLocked};
use super::intern;
use super::ledger::Kind;
use super::ownership::forgive_shutdown;
use crate::error::{Error, Result, Site};

impl ContextCore {
    /// Gives the driver's context back.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub(crate) fn end(mut self) -> Result<()> {
        let site = Site::here();
        self.finish(site)
            .map_err(|call| Error::at(call, Some(self.ordinal), site))
    }

    fn finish(&mut self, site: Site) -> Result<(), DriverError> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        self.ledger.remove(Kind::Context, 1);
        if self.ledger.is_forked() {
            // The list stays as it is: another thread may have held its lock at the fork.
            self.ownership.forget();
            return Ok(());
        }
        self.ledger.forget_contexts();
        let graves = self.exhume(site);
        // Before the context may end: no other thread finds one that is ending.
        let leaves_late = mutant!("intern_leaves_after_the_end");
        let inherited = match self.parent {
            None if !leaves_late => intern::leave(&self.shared, &self.member, &mut self.ownership),
            None => None,
            Some(_) => {
                intern::remove_green(&self.shared, self.raw);
                None
            }
        };
        let mut result = Ok(());
        for ownership in inherited.iter().chain([&self.ownership]) {
            // A context in which other code has a share stays current where it is: that code may
            // count on it.
            if ownership.ends_the_context()
                && let Err(call) = current_guard::take_off_thread(self)
            {
                self.note(call, site);
            }
            // SAFETY: every object made in the context held this value, which ends here, or one of
            // another execution manager that has left before.
            let ended = unsafe { ownership.end(&self.driver, self.device, self.raw) };
            let ended = forgive_shutdown(ended);
            if let Err(call) = ended {
                // A green context's loss is that of its primary context, which goes on.
                self.note(call, site);
                self.ledger.add(Kind::Abandoned, 1);
                result = ended;
            }
        }
        if result.is_err() {
            self.ledger.add(Kind::Abandoned, graves.len() as u64);
            // The device may still touch it.
            let _kept = ManuallyDrop::new(graves);
        }
        if leaves_late {
            intern::leave(&self.shared, &self.member, &mut self.ownership);
        }
        result
    }
}

impl ContextCore {
    /// Keeps memory until the context ends. Of a context that this crate has not created, memory of
    /// which it will never be known that it is idle is left to the driver at once.
    pub(crate) fn bury(&self, grave: Grave) {
        if grave.is_idle().is_none() && !self.ownership.ends_the_context() {
            self.ledger.add(Kind::Abandoned, 1);
            let _kept = ManuallyDrop::new(grave);
            return;
        }
        self.ledger.add(Kind::Buried, 1);
        self.graveyard.push(grave);
    }

    /// The context is about to end: gives back the memory that the device leaves alone. Returns what
    /// is left, and is to be dropped when the context has ended. What a call has failed to give back
    /// is among it as a piece of nothing, which ends with the context too.
    fn exhume(&mut self, site: Site) -> Vec<Option<Box<dyn PageLocked>>> {
        let mut left = Vec::new();
        for grave in self.graveyard.take() {
            self.ledger.remove(Kind::Buried, 1);
            if !self.is_left_alone(&grave, site) {
                left.push(Some(grave.into_memory()));
                continue;
            }
            let memory = grave.into_memory();
            let given_back = self.give_back(site, |driver| {
                let _relaxed = RelaxedCapture::uncounted(driver);
                // SAFETY: neither the device nor any code touches the memory.
                unsafe { memory.give_back(driver) }
            });
            if given_back.is_err() {
                left.push(None);
            }
        }
        if !self.ownership.ends_the_context() {
            self.ledger.add(Kind::Abandoned, left.len() as u64);
            let _kept = ManuallyDrop::new(std::mem::take(&mut left));
        }
        left
    }

    /// Waits until the device leaves the memory alone: by looks for a moment, because what is left to
    /// come is one write, then for the whole context.
    fn is_left_alone(&self, grave: &Grave, site: Site) -> bool {
        let end = Instant::now() + Duration::from_millis(1);
        loop {
            match grave.is_idle() {
                Some(true) => return true,
                Some(false) if Instant::now() < end => thread::yield_now(),
                Some(false) => return self.synchronize(site).is_ok(),
                None => return false,
            }
        }
    }
}

impl Drop for ContextCore {
    fn drop(&mut self) {
        // A context whose end failed is counted as abandoned.
        let _ = self.finish(Site::here());
    }
}
