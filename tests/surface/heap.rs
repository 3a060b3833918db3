//! The heap that kernels allocate from with `malloc`. Other tests of this process share the
//! context of a GPU and its heap.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cupola_sys::CallError;
use cupola_sys::driver::*;

use crate::raw::Raw;

/// `take`: every thread allocates so many bytes, keeps the address in the table, and writes its
/// number to them if they have room. `give`: every thread reads what is there and frees it.
const CODE: &CStr = c".version 7.0
.target sm_60
.address_size 64
.extern .func (.param .b64 result) malloc (.param .b64 size);
.extern .func free (.param .b64 address);
.visible .entry take(.param .u64 table, .param .u64 bytes) {
    .reg .b32 %t, %b, %n; .reg .b64 %p, %o, %s, %a; .reg .pred %none;
    ld.param.u64 %p, [table];
    ld.param.u64 %s, [bytes];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %t, %b, %n, %t;
    { .param .b64 size; .param .b64 result;
      st.param.b64 [size], %s;
      call.uni (result), malloc, (size);
      ld.param.b64 %a, [result]; }
    mul.wide.u32 %o, %t, 8;
    add.u64 %p, %p, %o;
    st.global.u64 [%p], %a;
    setp.eq.u64 %none, %a, 0;
    @%none ret;
    setp.lt.u64 %none, %s, 4;
    @%none ret;
    st.u32 [%a], %t;
    ret;
}
.visible .entry drop_only(.param .u64 table, .param .u64 unused) {
    .reg .b32 %t; .reg .b64 %p, %o, %a;
    ld.param.u64 %p, [table];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 8;
    add.u64 %p, %p, %o;
    ld.global.u64 %a, [%p];
    { .param .b64 address;
      st.param.b64 [address], %a;
      call.uni free, (address); }
    ret;
}
.visible .entry give(.param .u64 table, .param .u64 out) {
    .reg .b32 %t, %b, %n, %v; .reg .b64 %p, %o, %q, %a; .reg .pred %none;
    ld.param.u64 %p, [table];
    ld.param.u64 %q, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %t, %b, %n, %t;
    mul.wide.u32 %o, %t, 8;
    add.u64 %p, %p, %o;
    ld.global.u64 %a, [%p];
    mul.wide.u32 %o, %t, 4;
    add.u64 %q, %q, %o;
    mov.u32 %v, 0xffffffff;
    setp.eq.u64 %none, %a, 0;
    @!%none ld.u32 %v, [%a];
    st.global.u32 [%q], %v;
    { .param .b64 address;
      st.param.b64 [address], %a;
      call.uni free, (address); }
    ret;
}
";

struct Heap<'a> {
    raw: &'a Raw,
    module: CUmodule,
}

impl<'a> Heap<'a> {
    fn new(raw: &'a Raw) -> Self {
        let mut module = null_mut();
        // SAFETY: the text and the place outlive the call.
        let loaded = unsafe {
            raw.driver
                .cuModuleLoadData(&raw mut module, CODE.as_ptr().cast())
        };
        loaded.expect("a module");
        Self { raw, module }
    }

    fn launch(&self, name: &CStr, (blocks, threads): (u32, u32), mut first: u64, mut second: u64) {
        let mut function = null_mut();
        let mut params: [*mut c_void; 2] = [(&raw mut first).cast(), (&raw mut second).cast()];
        // SAFETY: the places outlive the calls; the tables hold an element for each thread.
        unsafe {
            let d = &self.raw.driver;
            d.cuModuleGetFunction(&raw mut function, self.module, name.as_ptr())
                .expect("a function");
            d.cuLaunchKernel(
                function,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                0,
                null_mut(),
                params.as_mut_ptr(),
                null_mut(),
            )
            .expect("a launch");
            d.cuCtxSynchronize().expect("it runs");
        }
    }

    /// What each thread got.
    fn take(&self, shape: (u32, u32), table: CUdeviceptr, bytes: u64) -> Vec<u64> {
        self.launch(c"take", shape, table, bytes);
        let count = (shape.0 * shape.1) as usize;
        let table = self.raw.download(table, count * 8);
        let words = table.chunks_exact(8);
        words
            .map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes")))
            .collect()
    }

    /// What each thread read before it freed.
    fn give(&self, shape: (u32, u32), table: CUdeviceptr) -> Vec<u32> {
        let count = (shape.0 * shape.1) as usize;
        let out = self.raw.upload(&vec![0; count * 4]);
        self.launch(c"give", shape, table, out);
        let read = self.raw.download(out, count * 4);
        self.raw.free(out);
        let words = read.chunks_exact(4);
        words
            .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
            .collect()
    }
}

impl Drop for Heap<'_> {
    fn drop(&mut self) {
        // SAFETY: loaded in `new`; nothing of it runs.
        let unloaded = unsafe { self.raw.driver.cuModuleUnload(self.module) };
        if !std::thread::panicking() {
            unloaded.expect("unload");
        }
    }
}

/// One test at a time: on one driver they all have one context, and so one heap, which one of
/// them fills.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn limit(raw: &Raw) -> usize {
    let mut bytes = 0;
    // SAFETY: the place outlives the call.
    let asked = unsafe {
        raw.driver
            .cuCtxGetLimit(&raw mut bytes, CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE)
    };
    asked.expect("a limit");
    bytes
}

/// Without it, what one kernel allocates could overlap, be lost to the next kernel, or be
/// less aligned than any type needs.
#[test]
fn another_kernel_reads_and_frees_what_threads_allocated() {
    let _alone = alone();
    let raw = Raw::open();
    let heap = Heap::new(&raw);
    let shape = (8, 64);
    let table = raw.upload(&[0; 8 * 512]);
    let mut got = heap.take(shape, table, 40);
    assert!(got.iter().all(|at| *at != 0 && at % 16 == 0), "{got:x?}");
    assert_eq!(heap.give(shape, table), (0..512).collect::<Vec<_>>());
    got.sort_unstable();
    assert!(got.windows(2).all(|two| two[1] - two[0] >= 40), "{got:x?}");
    raw.free(table);
}

/// Without it, a heap that is full could give memory that it does not have, or keep what
/// was freed.
#[test]
fn a_full_heap_gives_null_until_something_is_freed() {
    let _alone = alone();
    let raw = Raw::open();
    let heap = Heap::new(&raw);
    let shape = (1, 64);
    let table = raw.upload(&[0; 8 * 64]);
    // Twice what is there, even if the driver has rounded the size up.
    let share = limit(&raw) as u64 / 32;
    let first = heap.take(shape, table, share);
    assert!(first.contains(&0), "{first:x?}");
    assert!(first.iter().any(|at| *at != 0), "{first:x?}");
    let read = heap.give(shape, table);
    for (thread, (at, read)) in (0u32..).zip(first.iter().zip(read)) {
        assert_eq!(read, if *at == 0 { u32::MAX } else { thread });
    }
    let all = heap.take((1, 1), table, share);
    assert_ne!(all[0], 0, "nothing came back");
    heap.give((1, 1), table);
    let more = heap.take((1, 1), table, 1 << 40);
    assert_eq!(more[0], 0);
    raw.free(table);
}

/// Without it, a program could change the size of a heap that is there, or copy from memory
/// that only kernels reach.
#[test]
fn the_host_cannot_touch_the_heap() {
    let _alone = alone();
    let raw = Raw::open();
    let heap = Heap::new(&raw);
    let table = raw.upload(&[0; 8]);
    let at = heap.take((1, 1), table, 64)[0];
    assert_ne!(at, 0);
    let size = limit(&raw);
    let mut bytes = [0u8; 4];
    let d = &raw.driver;
    // SAFETY: the place outlives the calls.
    let (set, copied) = unsafe {
        (
            d.cuCtxSetLimit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, 2 * size),
            d.cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), at, bytes.len()),
        )
    };
    let code = |result| match result {
        Err(CallError::Failed { code, .. }) => code,
        other => panic!("{other:?}"),
    };
    assert_eq!(code(set), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(code(copied), CUresult::CUDA_ERROR_INVALID_VALUE);
    assert_eq!(limit(&raw), size);
    heap.give((1, 1), table);
    raw.free(table);
}

/// Without it, `malloc(0)` could give the address of another allocation, and a free of
/// null could end the kernel.
#[test]
fn no_bytes_have_addresses_and_null_can_be_freed() {
    let _alone = alone();
    let raw = Raw::open();
    let heap = Heap::new(&raw);
    let (shape, table) = ((1, 2), raw.upload(&[0; 16]));
    heap.launch(c"drop_only", shape, table, 0);
    let got = heap.take(shape, table, 0);
    assert!(got[0] != got[1] && !got.contains(&0), "{got:x?}");
    heap.launch(c"drop_only", shape, table, 0);
    raw.free(table);
}

/// Without it, a program could ask for a heap that is smaller than any GPU's, and be told
/// that it has that.
#[test]
fn a_limit_is_rounded_up() {
    let _alone = alone();
    let raw = Raw::open();
    let mut context = null_mut();
    let d = &raw.driver;
    // SAFETY: the places outlive the calls.
    unsafe {
        d.cuCtxCreate_v2(&raw mut context, 0, raw.device)
            .expect("a context");
        for (wanted, given) in [(0, 4 << 20), (5 << 20 | 1, (5 << 20) + (64 << 10))] {
            d.cuCtxSetLimit(CUlimit::CU_LIMIT_MALLOC_HEAP_SIZE, wanted)
                .expect("a limit");
            assert_eq!(limit(&raw), given);
        }
        d.cuCtxDestroy_v2(context).expect("destroy");
    }
}
