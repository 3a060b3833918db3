//! The tables of functions that a listener of NVTX fills, as `nvtxTypes.h` of NVTX 3 describes them.
//!
//! For each module there are variables, one a function, and a table of pointers to them. A listener is
//! given [`export_table`], asks it for the callbacks' table, asks that for each module's table of
//! pointers, and writes its functions to the variables. What it leaves alone stays null.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of a listener's, or null.
type Function = AtomicPtr<c_void>;

/// The variables of a module with the identifiers 1 to `N - 1`; the first is not used.
struct Functions<const N: usize>([Function; N]);

impl<const N: usize> Functions<N> {
    const fn new() -> Self {
        Self([const { AtomicPtr::new(ptr::null_mut()) }; N])
    }
}

/// A module's table: null, the addresses of its functions' variables, and null.
struct Table<const M: usize>([*const Function; M]);

// SAFETY: the addresses are of statics, of which every part is atomic.
unsafe impl<const M: usize> Sync for Table<M> {}

impl<const M: usize> Table<M> {
    const fn of<const N: usize>(functions: &'static Functions<N>) -> Self {
        let mut table = [ptr::null(); M];
        let mut at = 1;
        while at < N {
            table[at] = &raw const functions.0[at];
            at += 1;
        }
        Self(table)
    }
}

static CORE: Functions<16> = Functions::new();
static CUDA: Functions<9> = Functions::new();
static OPENCL: Functions<15> = Functions::new();
static CUDART: Functions<7> = Functions::new();
static CORE2: Functions<16> = Functions::new();
static SYNC: Functions<7> = Functions::new();

static CORE_TABLE: Table<17> = Table::of(&CORE);
static CUDA_TABLE: Table<10> = Table::of(&CUDA);
static OPENCL_TABLE: Table<16> = Table::of(&OPENCL);
static CUDART_TABLE: Table<8> = Table::of(&CUDART);
static CORE2_TABLE: Table<17> = Table::of(&CORE2);
static SYNC_TABLE: Table<8> = Table::of(&SYNC);

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    bytes: usize,
    module_table: extern "system" fn(c_int, *mut *const *const Function, *mut c_uint) -> c_int,
}

/// `NvtxExportTableVersionInfo`.
#[repr(C)]
struct VersionInfo {
    bytes: usize,
    version: u32,
    reserved: u32,
    set_listener_version: extern "system" fn(u32),
}

static CALLBACKS: Callbacks = Callbacks {
    bytes: size_of::<Callbacks>(),
    module_table,
};

static VERSION_INFO: VersionInfo = VersionInfo {
    bytes: size_of::<VersionInfo>(),
    version: VERSION as u32,
    reserved: 0,
    set_listener_version,
};

/// `NVTX_VERSION`.
const VERSION: u16 = 3;

/// `nvtxGetExportTable`: the table of this number, or null.
pub(super) extern "system" fn export_table(number: u32) -> *const c_void {
    match number {
        1 => (&raw const CALLBACKS).cast(),
        3 => (&raw const VERSION_INFO).cast(),
        _ => ptr::null(),
    }
}

/// `GetModuleFunctionTable`: the table of a module, and how many entries it has, the unused first one
/// included. 1, or 0 for a module that there is none of.
extern "system" fn module_table(
    module: c_int,
    table: *mut *const *const Function,
    entries: *mut c_uint,
) -> c_int {
    let (found, count) = match module {
        1 => (CORE_TABLE.0.as_ptr(), CORE.0.len()),
        2 => (CUDA_TABLE.0.as_ptr(), CUDA.0.len()),
        3 => (OPENCL_TABLE.0.as_ptr(), OPENCL.0.len()),
        4 => (CUDART_TABLE.0.as_ptr(), CUDART.0.len()),
        5 => (CORE2_TABLE.0.as_ptr(), CORE2.0.len()),
        6 => (SYNC_TABLE.0.as_ptr(), SYNC.0.len()),
        _ => return 0,
    };
    if !table.is_null() {
        // SAFETY: the listener passes null or a place for the table's address.
        unsafe { table.write(found) };
    }
    if !entries.is_null() {
        // SAFETY: the listener passes null or a place for the number; no table has more than 17.
        unsafe { entries.write(count as c_uint) };
    }
    1
}

/// `SetInjectionNvtxVersion`: what listeners say of themselves is of no use here.
extern "system" fn set_listener_version(_: u32) {}

/// `nvtxEventAttributes_t`: what a range is called, and what it is of.
#[repr(C)]
pub(super) struct EventAttributes {
    version: u16,
    bytes: u16,
    category: u32,
    colour_type: c_int,
    colour: u32,
    payload_type: c_int,
    reserved: c_int,
    payload: u64,
    message_type: c_int,
    message: *const c_char,
}

impl EventAttributes {
    /// Of a name and a number.
    pub(super) fn new(name: &'static std::ffi::CStr, number: u64) -> Self {
        Self {
            version: VERSION,
            bytes: size_of::<Self>() as u16,
            category: 0,
            colour_type: 0,
            colour: 0,
            // An unsigned integer of 64 bits.
            payload_type: 1,
            reserved: 0,
            payload: number,
            // Characters that end with 0.
            message_type: 1,
            message: name.as_ptr(),
        }
    }
}

/// `nvtxDomainCreateA`.
pub(super) type DomainCreate = unsafe extern "system" fn(*const c_char) -> *mut c_void;
/// `nvtxDomainRangePushEx`.
pub(super) type RangePush = unsafe extern "system" fn(*mut c_void, *const EventAttributes) -> c_int;
/// `nvtxDomainRangePop`.
pub(super) type RangePop = unsafe extern "system" fn(*mut c_void) -> c_int;
/// `nvtxNameCuStreamA`.
pub(super) type NameStream = unsafe extern "system" fn(*mut c_void, *const c_char);

/// The functions of a listener that are used here, each if it has it.
pub(super) struct Found {
    pub(super) domain_create: Option<DomainCreate>,
    pub(super) range_push: Option<RangePush>,
    pub(super) range_pop: Option<RangePop>,
    pub(super) name_stream: Option<NameStream>,
}

impl Found {
    /// What the listener has written.
    ///
    /// # Safety
    /// The listener has been given [`export_table`] and has returned, and each function that it has
    /// written is of the type of its identifier, and stays.
    pub(super) unsafe fn read() -> Self {
        // `NVTX_CBID_CORE2_DomainCreateA`, `..._DomainRangePushEx`, `..._DomainRangePop` and
        // `NVTX_CBID_CUDA_NameCuStreamA`.
        let [create, push, pop, name] =
            [&CORE2.0[12], &CORE2.0[4], &CORE2.0[5], &CUDA.0[5]].map(|f| f.load(Ordering::Relaxed));
        // SAFETY: null is `None`; what is not null has this type, by this function's condition.
        unsafe {
            Self {
                domain_create: std::mem::transmute::<*mut c_void, Option<DomainCreate>>(create),
                range_push: std::mem::transmute::<*mut c_void, Option<RangePush>>(push),
                range_pop: std::mem::transmute::<*mut c_void, Option<RangePop>>(pop),
                name_stream: std::mem::transmute::<*mut c_void, Option<NameStream>>(name),
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a listener could write beside a table, or a function to another one's place.
    #[test]
    fn tables_have_the_sizes_of_nvtx_3() {
        assert_eq!(size_of::<EventAttributes>(), 48);
        assert_eq!(std::mem::offset_of!(EventAttributes, payload), 24);
        assert_eq!(std::mem::offset_of!(EventAttributes, message), 40);
        assert!(export_table(0).is_null() && export_table(2).is_null());
        let callbacks = export_table(1).cast::<Callbacks>();
        // SAFETY: the table is a static of this type.
        let callbacks = unsafe { &*callbacks };
        assert_eq!(callbacks.bytes, 16);
        // SAFETY: the table is a static of this type.
        let info = unsafe { &*export_table(3).cast::<VersionInfo>() };
        assert_eq!((info.bytes, info.version), (24, 3));
        for (module, expected) in [
            (0, None),
            (1, Some(16)),
            (2, Some(9)),
            (3, Some(15)),
            (4, Some(7)),
            (5, Some(16)),
            (6, Some(7)),
            (7, None),
        ] {
            let (mut table, mut entries) = (ptr::null(), 0);
            let found = (callbacks.module_table)(module, &raw mut table, &raw mut entries);
            assert_eq!(found == 1, expected.is_some());
            let Some(expected) = expected else {
                continue;
            };
            assert_eq!(entries, expected);
            // SAFETY: a table has an entry more than it says, which is null.
            let entries = unsafe { std::slice::from_raw_parts(table, expected as usize + 1) };
            let null: Vec<bool> = entries.iter().map(|entry| entry.is_null()).collect();
            let ends = |at: usize| at == 0 || at == expected as usize;
            assert!(null.iter().enumerate().all(|(at, &null)| null == ends(at)));
            assert_eq!(
                (callbacks.module_table)(module, ptr::null_mut(), ptr::null_mut()),
                1
            );
        }
    }
}
