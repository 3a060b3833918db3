//! One life: the scenario run once from opening the driver to its end, and what came of it.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use cupola_managers::{Context, Device, Error, ExecutionManager, Live, Result};
use cupola_sys::driver::{CUresult, Driver, DriverError};

use super::{Scenario, Setup, Word};

/// What a scenario works with.
#[derive(Debug)]
pub struct Stage {
    execution: ExecutionManager,
    kept: Mutex<Vec<Context>>,
}

impl Stage {
    /// The execution manager of this life.
    #[must_use]
    pub fn execution(&self) -> &ExecutionManager {
        &self.execution
    }

    /// The first device.
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub fn device(&self) -> Result<Device> {
        self.execution.devices().get(0)
    }

    /// The first device's primary context, [kept](Self::keep).
    ///
    /// # Errors
    /// What the driver returned.
    #[track_caller]
    pub fn context(&self) -> Result<Context> {
        let context = self.device()?.primary()?;
        self.keep(&context);
        Ok(context)
    }

    /// Leases the context until the scenario has ended. If it was lost, it is asked to work
    /// once more then, and must answer with the first cause.
    pub fn keep(&self, context: &Context) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(context.clone());
    }
}

/// The error that ended a life.
#[derive(Debug)]
pub(super) struct Failure {
    text: String,
    root: Root,
}

/// What is known of an error by its chain of sources.
#[derive(Debug)]
enum Root {
    /// A driver call returned this.
    Call(CUresult),
    /// Cupola refused something in words, as what the driver says that it cannot do.
    Refusal,
    /// Another error of cupola's.
    Other,
    /// No error of cupola's.
    Foreign,
}

impl Failure {
    fn of(error: &(dyn std::error::Error + 'static)) -> Self {
        let mut chain = std::iter::successors(Some(error), |error| error.source());
        let root = chain.find_map(|error| {
            if let Some(call) = error.downcast_ref::<DriverError>() {
                return call.status().map(Root::Call);
            }
            let error = error.downcast_ref::<Error>()?;
            Some(match (error.status(), error) {
                (Some(status), _) => Root::Call(status),
                (None, Error::Invalid { .. }) => Root::Refusal,
                (None, _) => Root::Other,
            })
        });
        Self {
            text: error.to_string(),
            root: root.unwrap_or(Root::Foreign),
        }
    }
}

/// What came of a life.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    failure: Option<Failure>,
    panic: Option<String>,
    /// Of each context that was lost: to what, and what it answered later.
    lost: Vec<(Error, Option<Error>)>,
    /// What the managers count when everything was dropped.
    pub(super) live: Live,
}

/// Runs the scenario on this driver.
pub(super) fn live(driver: Driver, setup: &Setup, scenario: &Scenario) -> Outcome {
    let mut outcome = Outcome::default();
    let opened = ExecutionManager::with_config(driver, setup.config).and_then(|execution| {
        if let Some(test) = setup.test {
            execution.configure_for_test(test)?;
        }
        Ok(execution)
    });
    let execution = match opened {
        Ok(execution) => execution,
        Err(error) => {
            outcome.failure = Some(Failure::of(&error));
            return outcome;
        }
    };
    let watch = execution.watch();
    let stage = Stage {
        execution,
        kept: Mutex::new(Vec::new()),
    };
    // What a panic leaves half done is what is looked at.
    match catch_unwind(AssertUnwindSafe(|| scenario(&stage))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => outcome.failure = Some(Failure::of(&*error)),
        Err(panic) => outcome.panic = Some(said(&*panic)),
    }
    let Stage { execution, kept } = stage;
    for context in kept.into_inner().unwrap_or_else(PoisonError::into_inner) {
        if let Some(poison) = context.poison() {
            let later = context.streams().acquire(Default::default()).err();
            outcome.lost.push((poison, later));
        }
    }
    drop(execution);
    outcome.live = watch.live();
    outcome
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "something that is no text".into())
}

impl Outcome {
    /// Nothing went wrong, and nothing is left.
    pub(super) fn is_clean(&self) -> bool {
        self.failure.is_none()
            && self.panic.is_none()
            && self.lost.is_empty()
            && self.live.is_empty()
    }

    /// What is wrong with it, after a fault of this code.
    pub(super) fn problem(&self, code: CUresult) -> Option<&'static str> {
        let mut counted = self.live;
        (counted.abandoned, counted.abandoned_bytes) = (0, 0);
        if self.panic.is_some() {
            return Some("it panicked");
        }
        if !counted.is_empty() {
            return Some("the managers still count something");
        }
        if let Some(failure) = &self.failure {
            match failure.root {
                Root::Call(status) if status != code => {
                    return Some("another code than the one injected");
                }
                Root::Call(_) | Root::Refusal => {}
                Root::Other => return Some("an error without its call"),
                Root::Foreign => {
                    return Some("no error of cupola's among the sources of the scenario's");
                }
            }
        }
        let first_cause = |(lost, later): &(Error, Option<Error>)| match (lost, later) {
            (Error::Poisoned { first, .. }, Some(Error::Poisoned { first: later, .. }))
                if first == later && first.call.status() == Some(code) =>
            {
                None
            }
            (_, Some(_)) => Some("not the first cause"),
            (_, None) => Some("a lost context still works"),
        };
        self.lost.iter().find_map(first_cause)
    }

    /// For the table; `destroyer`: of a function that gives something back.
    pub(super) fn word(&self, destroyer: bool) -> Word {
        match (&self.failure, self.lost.is_empty()) {
            _ if self.panic.is_some() => Word::Panicked,
            (Some(_), false) => Word::Lost,
            (Some(_), true) => Word::Error,
            (None, false) => Word::LostQuietly,
            (None, true) if destroyer => Word::Kept,
            (None, true) => Word::Absorbed,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.panic, &self.failure) {
            (Some(said), _) => write!(f, "panicked: {said}")?,
            (_, Some(failure)) => write!(f, "error: {}", failure.text)?,
            _ => f.write_str("success")?,
        }
        for (lost, later) in &self.lost {
            write!(f, "; lost: {lost}; later: ")?;
            match later {
                Some(later) => write!(f, "{later}")?,
                None => f.write_str("success")?,
            }
        }
        if !self.live.is_empty() {
            write!(f, "; counted: {:?}", self.live)?;
        }
        Ok(())
    }
}
