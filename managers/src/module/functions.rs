//! `FunctionManager`: the functions of a module, by name and by handle.
//!
//! The driver gives a function no end of its own: it goes with its module. So there is
//! nothing to destroy here; a release drops the module's record of a function.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cupola_core::tag;

use super::function::FunctionInner;
use super::{Function, Module};
use crate::error::{Error, Result, Site};
use crate::handle::ManagedHandle;
use crate::registry::Registry;
use crate::stats::{ManagerStats, State};

/// Names a function of a [`FunctionManager`].
///
/// Every module has a manager of its own, so a program that loads many modules has many: a handle
/// that is kept while 255 more are loaded may be taken by the last of them for its own.
pub type FunctionHandle = ManagedHandle<tag::Function>;

/// The functions of a module that are known, by handle and by name.
#[derive(Debug)]
pub(super) struct FunctionStore {
    functions: Registry<FunctionInner, tag::Function>,
    /// Never locked across a driver call.
    names: Mutex<HashMap<CString, FunctionHandle>>,
}

impl FunctionStore {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            functions: Registry::new(capacity),
            names: Mutex::new(HashMap::new()),
        }
    }

    fn names(&self) -> MutexGuard<'_, HashMap<CString, FunctionHandle>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The handle of this name, new if it has none.
    fn handle(&self, name: &CStr) -> Result<FunctionHandle> {
        let mut names = self.names();
        if let Some(&handle) = names.get(name) {
            return Ok(handle);
        }
        let handle = self.functions.reserve()?;
        names.insert(name.to_owned(), handle);
        Ok(handle)
    }

    /// Forgets a handle that names nothing.
    fn forget(&self, name: &CStr, handle: FunctionHandle) {
        let mut names = self.names();
        if names.get(name) == Some(&handle) && !self.functions.is_alive(handle) {
            names.remove(name);
            // If another thread has just made it, it is asked of the driver once more.
            let _ = self.functions.take(handle);
        }
    }

    /// Ends every handle and refuses new ones; the functions with the leases of each.
    pub(super) fn close(&self) -> Vec<(FunctionHandle, Arc<FunctionInner>)> {
        let functions = self.functions.shut();
        self.names().clear();
        functions
    }
}

/// The functions of a module that were asked for. A view: [`Module::functions`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct FunctionManager<'m> {
    module: &'m Module,
}

impl<'m> FunctionManager<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        Self { module }
    }

    fn store(self) -> &'m FunctionStore {
        &self.module.0.functions
    }

    /// The function of this name: the same as [`Module::function`]. One of several threads that ask
    /// for the same at once asks the driver.
    ///
    /// # Errors
    /// As [`Module::function`]; nothing is kept then, and the next call asks again.
    #[track_caller]
    pub fn get(self, name: &str) -> Result<Function> {
        let site = Site::here();
        self.module.core().not_forked()?;
        let name = CString::new(name)
            .map_err(|_| Error::invalid("function name", "it has a NUL inside"))?;
        let store = self.store();
        loop {
            let handle = store.handle(&name)?;
            if let Ok(known) = self.lease(handle) {
                return Ok(known);
            }
            let module = &self.module.0.raw;
            module.core().enter()?;
            let make = |seat| FunctionInner::get(module, (handle, seat), &name, site);
            match store.functions.ensure_alive(handle, make) {
                Ok(function) => return Ok(Function::new(function, self.module.clone())),
                // Released meanwhile: the name gets another handle.
                Err(Error::StaleHandle { .. }) if !store.functions.is_shut() => {
                    store.forget(&name, handle);
                }
                Err(error) => {
                    store.forget(&name, handle);
                    return Err(error);
                }
            }
        }
    }

    /// Leases the function that `handle` names.
    ///
    /// # Errors
    /// [`Error::StaleHandle`].
    pub fn lease(self, handle: FunctionHandle) -> Result<Function> {
        let function = self.store().functions.lease(handle)?;
        Ok(Function::new(function, self.module.clone()))
    }

    /// Forgets the function: the handle is stale from now on, and its name is asked of the
    /// driver again when it is next wanted. Leases stay good.
    ///
    /// # Errors
    /// [`Error::StaleHandle`].
    pub fn release(self, handle: FunctionHandle) -> Result<()> {
        self.module.core().not_forked()?;
        let store = self.store();
        store.functions.release(handle)?;
        store.names().retain(|_, known| *known != handle);
        Ok(())
    }

    /// Handles of the functions that are known now.
    pub fn handles(self) -> impl Iterator<Item = FunctionHandle> + 'm {
        self.store().functions.handles()
    }

    /// Names of the functions that are known now, in no particular order.
    #[must_use]
    pub fn names(self) -> Vec<CString> {
        let functions = &self.store().functions;
        let mut names = Vec::new();
        for handle in functions.handles() {
            if let Ok(function) = functions.lease(handle) {
                names.push(function.name().to_owned());
            }
        }
        names
    }

    /// Number of functions that are known now.
    #[must_use]
    pub fn live(self) -> usize {
        self.store().functions.live()
    }

    /// Figures so far.
    #[must_use]
    pub fn stats(self) -> ManagerStats {
        self.store().functions.stats()
    }

    /// Whether functions can be had: not after the module's manager was shut down.
    #[must_use]
    pub fn state(self) -> State {
        State::of(self.store().functions.is_shut())
    }
}
