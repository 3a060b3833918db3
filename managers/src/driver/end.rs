//! The end of a [`ContextCore`]: an execution manager gives a context up.

use cupola_sys::driver::DriverError;

use super::ContextCore;
use super::current_guard;
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
        self.note_end_of_graves(graves, result);
        if leaves_late {
            intern::leave(&self.shared, &self.member, &mut self.ownership);
        }
        result
    }
}

impl Drop for ContextCore {
    fn drop(&mut self) {
        // A context whose end failed is counted as abandoned.
        let _ = self.finish(Site::here());
    }
}
