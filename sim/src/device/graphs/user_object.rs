//! Objects of the program that live as long as the graphs that use them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex};

use cupola_sys::driver::{CUhostFn, CUresult};

use crate::device::calls::args::Reply;
use crate::device::operations::op::{MachineId, UserData, in_user_code};
use crate::device::sync::lock;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

/// An object, which is destroyed when its last holder lets it go: on a thread of its own, because
/// that may be anywhere.
#[derive(Debug)]
pub(in crate::device) struct UserObject {
    destroy: CUhostFn,
    data: UserData,
    machine: MachineId,
}

// SAFETY: the pointer is handed back to the program's function, once, and used for nothing else.
unsafe impl Sync for UserObject {}

impl UserObject {
    pub(in crate::device) fn new(destroy: CUhostFn, data: UserData, machine: MachineId) -> Self {
        Self {
            destroy,
            data,
            machine,
        }
    }
}

impl Drop for UserObject {
    fn drop(&mut self) {
        let Some(destroy) = self.destroy else { return };
        let (data, machine) = (self.data, self.machine);
        let thread = std::thread::Builder::new().name("cupola-objects".into());
        // Without a thread of the host's the object stays: there is no place to say so.
        let _ = thread.spawn(move || {
            let data = data;
            in_user_code(machine, || {
                // SAFETY: the caller of `cuUserObjectCreate` promised that the function may be
                // called with this argument, once, on any thread, when nothing holds the object.
                unsafe { destroy(data.0) }
            });
        });
    }
}

/// References to objects, by the objects' handles.
#[derive(Clone, Debug, Default)]
pub(in crate::device) struct References(HashMap<u64, (Arc<UserObject>, u64)>);

impl References {
    pub(in crate::device) fn add(&mut self, handle: u64, object: &Arc<UserObject>, count: u64) {
        let held = self.0.entry(handle).or_insert((Arc::clone(object), 0));
        held.1 += count;
    }

    /// Gives references up; gives the object if these were the last.
    ///
    /// # Errors
    /// There are not so many.
    pub(in crate::device) fn give_up(&mut self, handle: u64, count: u64) -> Reply<Arc<UserObject>> {
        let Entry::Occupied(mut held) = self.0.entry(handle) else {
            return Err(INVALID);
        };
        let (object, left) = held.get_mut();
        *left = left.checked_sub(count).ok_or(INVALID)?;
        let object = Arc::clone(object);
        if *left == 0 {
            held.remove();
        }
        Ok(object)
    }

    pub(in crate::device) fn get(&self, handle: u64) -> Reply<Arc<UserObject>> {
        let held = self.0.get(&handle).ok_or(INVALID)?;
        Ok(Arc::clone(&held.0))
    }

    pub(in crate::device) fn len(&self) -> usize {
        self.0.len()
    }

    /// Each object once.
    pub(in crate::device) fn objects(&self) -> Vec<Arc<UserObject>> {
        let objects = self.0.values();
        objects.map(|(object, _)| Arc::clone(object)).collect()
    }
}

/// References that the program holds.
pub(in crate::device) type Held = Mutex<References>;

/// A copy of references, for a copy of a graph.
pub(in crate::device) fn copy(from: &Held) -> Held {
    Mutex::new(lock(from).clone())
}
