//! The effects of a failed call: the error of the caller, and the loss of the context.

use std::sync::Arc;

use cupola_sys::driver::{CUresult, DriverError};

use super::ContextCore;
use super::current;
use super::intern;
use super::ledger::Ledger;
use crate::error::{Blame, Cause, Error, Loss, OnLoss, PoisonPolicy, Result, Site};

/// Ends a call in `own` that names the context `other` too. An error that a context is lost to may be
/// that of either: it is the other one's if a question of `own`'s is answered.
#[track_caller]
pub(crate) fn check_between<T>(
    own: &ContextCore,
    other: &ContextCore,
    result: Result<T, DriverError>,
) -> Result<T> {
    match result {
        Err(call) if call.class().is_sticky() && !own.shares_objects(other) && own.answers() => {
            other.check(Err(call))
        }
        result => own.check(result),
    }
}

impl ContextCore {
    /// Whether the driver answers a question about the context, as it does for none that is lost.
    #[cold]
    fn answers(&self) -> bool {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both outlive the call, and the context is current.
        self.enter().is_ok_and(|driver| unsafe {
            driver
                .cuMemGetInfo_v2(&raw mut free, &raw mut total)
                .is_ok()
        })
    }

    /// Ends an operation: an error after which the context is lost sets the latch, and any
    /// error after that one is reported as that one.
    #[inline]
    #[track_caller]
    pub(crate) fn check<T>(&self, result: Result<T, DriverError>) -> Result<T> {
        match result {
            Ok(value) => Ok(value),
            Err(call) => Err(self.failed(call)),
        }
    }

    /// Ends an operation of a caller at `site`: a closure, unlike [`check`](Self::check), does not
    /// know its caller's caller.
    #[inline]
    pub(crate) fn check_at<T>(&self, result: Result<T, DriverError>, site: Site) -> Result<T> {
        result.map_err(|call| self.failed_as(Cause::new(call, self.on_device(site))))
    }

    #[cold]
    #[track_caller]
    pub(crate) fn failed(&self, call: DriverError) -> Error {
        self.failed_as(Cause::new(call, self.site()))
    }

    /// Notes a failed call whose error is reported to no caller: the context may be lost all the
    /// same.
    #[cold]
    pub(crate) fn note(&self, call: DriverError, site: Site) {
        if call.class().is_sticky() || says_nothing_of_ours(&call) {
            let _told_by_the_next = self.failed_as(Cause::new(call, self.on_device(site)));
        }
    }

    /// The caller's place in the program, on this device.
    #[track_caller]
    pub(crate) fn site(&self) -> Site {
        self.on_device(Site::here())
    }

    /// A place in the program, on this device.
    pub(crate) fn on_device(&self, site: Site) -> Site {
        Site {
            device: Some(self.ordinal),
            ..site
        }
    }

    /// The error of a failed call, which unlike that of [`failed`](Self::failed) has all that is
    /// known of the cause, and the driver's explanation.
    #[cold]
    pub(crate) fn failed_as(&self, mut cause: Cause) -> Error {
        if let Err(call) = cause.explain(&self.driver)
            && call.class().is_sticky()
        {
            // Told by the next operation.
            let _ = self.failed_of(Cause::new(call, cause.site));
        }
        self.failed_of(cause)
    }

    fn failed_of(&self, mut cause: Cause) -> Error {
        if says_nothing_of_ours(&cause.call) && self.latch().get().is_none() {
            current::forget();
            return Error::of_cause(cause);
        }
        let sticky = cause.call.class().is_sticky();
        if sticky && self.latch().get().is_none() && cause.blame.is_none() {
            cause.blame = self.launches().blame(&cause.site, false);
        }
        // An error that the process was lost to comes out of the next call, in every context.
        if self.ledger.lost().is_some()
            && let Some(Blame::Launch(launch)) = cause.blame.as_deref()
        {
            cause.blame = Some(Arc::new(Blame::OneOf(vec![launch.clone()])));
        }
        match self.latch().note(cause) {
            Ok(cause) => {
                if !sticky {
                    return Error::of_cause(cause);
                }
                self.launches().close_gates();
                let first = self.latch().get();
                if let Some(first) = first {
                    self.ledger.lose(first);
                }
                self.announce();
                match first.filter(|first| self.lost_before(first).is_some()) {
                    Some(first) => self.lost_to(first),
                    None => Error::of_cause(cause),
                }
            }
            Err(first) => {
                // The thread that lost it may not have done so yet.
                if !mutant!("launches_gates_left_open_by_a_later_failure") {
                    self.launches().close_gates();
                }
                let lost = self.lost_to(first);
                if mutant!("policy_by_every_failing_thread") {
                    self.announce();
                }
                lost
            }
        }
    }

    /// The latch was set just now: carries out the policies of the execution managers that
    /// have the context, and tells the watchers.
    #[cold]
    fn announce(&self) {
        let Some(first) = self.latch().get() else {
            return;
        };
        let tell = |policy, watchers, error| {
            let loss = Loss {
                policy,
                watchers,
                error,
            };
            loss.tell();
        };
        tell(self.member.policy(), Vec::new(), self.lost_to(first));
        for other in intern::others(&self.shared, &self.ledger) {
            if mutant!("loss_of_one_manager") {
                break;
            }
            other.ledger.lose(first);
            let error = lost_to(first, other.ordinal, &other.ledger);
            tell(other.policy(), Vec::new(), error);
        }
        let watchers = self.latch().take_watchers();
        tell(PoisonPolicy::Keep, watchers, self.lost_to(first));
    }

    /// Tells `watcher` when the context is lost, or now if it is.
    pub(crate) fn watch(&self, watcher: Arc<dyn OnLoss>) {
        if self.latch().watch(Arc::downgrade(&watcher))
            && let Some(error) = self.poison()
        {
            let loss = Loss {
                policy: PoisonPolicy::Keep,
                watchers: vec![watcher],
                error,
            };
            loss.tell();
        }
    }

    pub(crate) fn set_poison_policy(&self, policy: PoisonPolicy) {
        self.member.set_policy(policy);
    }

    #[cold]
    pub(super) fn lost_to(&self, first: &Arc<Cause>) -> Error {
        lost_to(first, self.ordinal, &self.ledger)
    }

    /// The error that the process was lost to before this context was lost to another such
    /// error, which may have followed from it.
    fn lost_before(&self, first: &Arc<Cause>) -> Option<&Arc<Cause>> {
        lost_before(first, &self.ledger)
    }
}

fn lost_before<'l>(first: &Arc<Cause>, ledger: &'l Ledger) -> Option<&'l Arc<Cause>> {
    let lost = ledger.lost();
    lost.filter(|lost| !Arc::ptr_eq(lost, first))
}

/// The error of each operation from now on, of the execution manager that this ledger is of.
fn lost_to(first: &Arc<Cause>, device: u32, ledger: &Ledger) -> Error {
    Error::Poisoned {
        first: Arc::clone(first),
        device,
        before: lost_before(first, ledger).cloned(),
    }
}

/// Whether the error says that the *thread's* current context is destroyed, or a primary one that
/// nothing retains. A context of ours is alive as long as its core, so another one was current,
/// which other code made so meanwhile. The exception is a primary context that other code has reset
/// (`cuDevicePrimaryCtxReset`): the objects made in it are gone, every call in it returns this
/// code, and its latch stays open, as the two cannot be told apart.
fn says_nothing_of_ours(call: &DriverError) -> bool {
    call.status() == Some(CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED)
}
