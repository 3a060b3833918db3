//! What allocators tell of their blocks: the functions behind
//! [`MemoryHooks`](cupola_sys::driver::hooks::MemoryHooks).

use std::ffi::{c_char, c_void};
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cupola_sys::driver::hooks::{MemoryHooks, MemoryRegion, VERSION};

use crate::device::contexts::context::Context;
use crate::device::machine::{Inner, Machine};
use crate::device::streams::stream::Stream;
use crate::device::strict::{Told, set_own_order};
use crate::device::sync::read;

impl Machine {
    /// What allocators tell a machine that looks for anything: for a library that exports it.
    /// Callable as long as the machine is there.
    #[must_use]
    pub fn memory_hooks(&self) -> Option<MemoryHooks> {
        self.inner().memory_hooks()
    }
}

impl Inner {
    pub(super) fn memory_hooks(self: &Arc<Self>) -> Option<MemoryHooks> {
        self.strict.hears_allocators().then(|| MemoryHooks {
            version: VERSION,
            listener: Arc::as_ptr(self).cast(),
            region_register,
            region_unregister,
            region_share,
            region_behind,
            own_order,
            host_access,
        })
    }

    /// A stream that an allocator names, and its context.
    fn region_stream(
        self: &Arc<Self>,
        region: &MemoryRegion,
    ) -> Option<(Arc<Context>, Arc<Stream>)> {
        let handle = region.stream.addr() as u64;
        if handle > 2 {
            return read(&self.streams).get(&handle).cloned();
        }
        let context = self.context_or_primary(region.context.addr() as u64).ok()?;
        let stream = match handle {
            2 => context.per_thread(None, || self.new_ids()).ok()?,
            _ => context.legacy(),
        };
        Some((context, stream))
    }
}

/// # Safety
/// Null, or so many bytes of UTF-8.
unsafe fn text(start: *const c_char, len: usize) -> Option<String> {
    if start.is_null() || len == 0 {
        return None;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) };
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// # Safety
/// The strings are what [`MemoryRegion`] says.
unsafe fn told(region: &MemoryRegion) -> Told {
    // SAFETY: the caller's promise.
    let (file, name) = unsafe {
        let file = text(region.file, region.file_len);
        (file, text(region.name, region.name_len))
    };
    Told {
        address: region.address,
        bytes: region.bytes,
        name,
        source: file.map(|file| format!("{file}:{}", region.line)),
    }
}

/// Runs a hook for the machine behind a listener. It must not unwind.
///
/// # Safety
/// The listener is one of [`Inner::memory_hooks`] whose machine is there; the region is null or
/// what [`MemoryRegion`] says.
unsafe fn enter(
    listener: *const c_void,
    region: *const MemoryRegion,
    name: &'static str,
    run: impl FnOnce(&Arc<Inner>, &MemoryRegion),
) {
    if listener.is_null() {
        return;
    }
    // SAFETY: the listener is `Arc::as_ptr` of a machine that is there. The count is not touched:
    // the copy is never dropped.
    let machine = ManuallyDrop::new(unsafe { Arc::from_raw(listener.cast::<Inner>()) });
    // SAFETY: the caller's promise.
    let Some(region) = (unsafe { region.as_ref() }) else {
        return;
    };
    let _here = machine.strict.enter(name);
    // What a panic leaves behind is a machine that knows less of the block.
    let _ = catch_unwind(AssertUnwindSafe(|| run(&machine, region)));
}

unsafe extern "C" fn region_register(listener: *const c_void, region: *const MemoryRegion) {
    // SAFETY: the contract of `MemoryHooks`.
    unsafe {
        enter(listener, region, "region_register", |machine, region| {
            if let Some((context, stream)) = machine.region_stream(region) {
                let told = told(region);
                let strict = &machine.strict;
                strict.region_begins(&machine.space, told, context.handle, &stream);
            }
        });
    }
}

unsafe extern "C" fn region_unregister(listener: *const c_void, region: *const MemoryRegion) {
    // SAFETY: the contract of `MemoryHooks`.
    unsafe {
        enter(listener, region, "region_unregister", |machine, region| {
            if let Some((context, stream)) = machine.region_stream(region) {
                let told = told(region);
                let strict = &machine.strict;
                strict.region_ends(&machine.space, &told, context.handle, &stream);
            }
        });
    }
}

unsafe extern "C" fn region_share(listener: *const c_void, region: *const MemoryRegion) {
    // SAFETY: the contract of `MemoryHooks`.
    unsafe {
        enter(listener, region, "region_share", |machine, region| {
            if let Some((_, stream)) = machine.region_stream(region) {
                machine.strict.region_shared(region.address, &stream);
            }
        });
    }
}

unsafe extern "C" fn region_behind(listener: *const c_void, region: *const MemoryRegion) {
    // SAFETY: the contract of `MemoryHooks`.
    unsafe {
        enter(listener, region, "region_behind", |machine, region| {
            if let Some((_, stream)) = machine.region_stream(region) {
                machine.strict.region_behind(region.address, &stream);
            }
        });
    }
}

unsafe extern "C" fn own_order(_: *const c_void, own: u32) {
    set_own_order(own != 0);
}

unsafe extern "C" fn host_access(
    listener: *const c_void,
    region: *const MemoryRegion,
    writes: u32,
) {
    // SAFETY: the contract of `MemoryHooks`.
    unsafe {
        enter(listener, region, "host_access", |machine, region| {
            let told = told(region);
            let bytes = (told.address, told.bytes);
            let strict = &machine.strict;
            strict.host_touches(&machine.space, bytes, writes != 0, told.source);
        });
    }
}
