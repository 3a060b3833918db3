//! Initialisation, version, error texts, and the search for functions.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use cupola_sys::driver::*;
use cupola_sys::{Status, Version};

use crate::device::api::functions;
use crate::device::calls::args::{Out, Reply, Text};
use crate::device::calls::call::Call;
use crate::device::machine::Inner;

fn init(call: &Call<'_>, flags: c_uint) -> Reply {
    if flags != 0 {
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    if call.machine.contradictory {
        return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
    }
    if call.machine.devices.is_empty() {
        return Err(CUresult::CUDA_ERROR_NO_DEVICE);
    }
    call.machine.initialized.store(true, Ordering::Release);
    Ok(())
}

fn version(call: &Call<'_>, version: Out<c_int>) -> Reply {
    version.set(c_int::try_from(call.machine.version.0).unwrap_or(c_int::MAX))
}

/// Name and text of every code that `cupola_sys` knows, as C strings; made once, because
/// the caller keeps the pointers for ever.
fn texts(code: CUresult) -> Option<&'static (CString, CString)> {
    static TEXTS: OnceLock<Vec<(CUresult, (CString, CString))>> = OnceLock::new();
    let texts = TEXTS.get_or_init(|| {
        let row = |number| {
            let code = CUresult(number);
            let name = CString::new(code.name()?).ok()?;
            let text = CString::new(code.advice().unwrap_or_default()).ok()?;
            Some((code, (name, text)))
        };
        (0..1000).filter_map(row).collect()
    });
    let position = texts
        .binary_search_by_key(&code.0, |(code, _)| code.0)
        .ok()?;
    Some(&texts[position].1)
}

fn error_name(_: &Call<'_>, code: CUresult, name: Out<*const c_char>) -> Reply {
    give(name, texts(code).map(|(name, _)| name))
}

fn error_string(_: &Call<'_>, code: CUresult, text: Out<*const c_char>) -> Reply {
    give(text, texts(code).map(|(_, text)| text))
}

fn give(place: Out<*const c_char>, text: Option<&'static CString>) -> Reply {
    place.set(text.map_or(std::ptr::null(), |text| text.as_ptr()))?;
    if text.is_some() {
        Ok(())
    } else {
        Err(CUresult::CUDA_ERROR_INVALID_VALUE)
    }
}

/// What `cuGetProcAddress` finds.
enum Found {
    Address(*const c_void),
    /// The name exists, for a newer version than asked for.
    Newer,
    Nothing,
}

/// The newest form of `base` that both the asked version and a driver of the machine's have. An
/// older form of it would have another ABI than the caller expects, so if the newest is not
/// built nothing else is given in its place.
fn find(machine: &Inner, base: &[u8], asked: c_int, flags: u64) -> Found {
    let asked = Version(u32::try_from(asked).unwrap_or(0));
    let rows = SYMBOLS
        .iter()
        .enumerate()
        .filter(|(_, row)| row.base.to_bytes() == base);
    let mut rows: Vec<_> = rows.filter(|(at, _)| machine.knows(*at)).collect();
    // The per-thread form, where there is one, for those who ask for it.
    let per_thread = flags & 2 != 0 && rows.iter().any(|(_, row)| row.is_per_thread());
    rows.retain(|(_, row)| row.is_per_thread() == per_thread);
    let fitting = rows.iter().filter(|(_, row)| row.introduced <= asked);
    // The later row of a base and version is the newer ABI: `_v3` comes after `_v2`.
    match fitting.max_by_key(|(position, row)| (row.introduced, *position)) {
        Some((position, _)) => match machine.exported(*position) {
            address if address.is_null() => Found::Nothing,
            address => Found::Address(address),
        },
        None if rows.is_empty() => Found::Nothing,
        None => Found::Newer,
    }
}

/// The form of before CUDA 12 has no status: what is not found is an error of the call.
fn proc_address(
    call: &Call<'_>,
    name: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: cuuint64_t,
) -> Reply {
    function.check()?;
    check_search(flags)?;
    match find(call.machine, &name.bytes()?, version, flags) {
        Found::Address(address) => function.set(address.cast_mut()),
        Found::Newer | Found::Nothing => Err(CUresult::CUDA_ERROR_NOT_FOUND),
    }
}

/// What is not found is a null function and a status; the call succeeds.
fn proc_address_v2(
    call: &Call<'_>,
    name: Text,
    function: Out<*mut c_void>,
    version: c_int,
    flags: cuuint64_t,
    status: Out<CUdriverProcAddressQueryResult>,
) -> Reply {
    use CUdriverProcAddressQueryResult as Status;
    function.check()?;
    check_search(flags)?;
    let (address, answer) = match find(call.machine, &name.bytes()?, version, flags) {
        Found::Address(address) => (address, Status::CU_GET_PROC_ADDRESS_SUCCESS),
        Found::Newer => (
            std::ptr::null(),
            Status::CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT,
        ),
        Found::Nothing => (
            std::ptr::null(),
            Status::CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
        ),
    };
    status.set_if(answer);
    function.set(address.cast_mut())
}

/// One form of the default stream may be asked for.
fn check_search(flags: u64) -> Reply {
    if flags > 2 {
        Err(CUresult::CUDA_ERROR_INVALID_VALUE)
    } else {
        Ok(())
    }
}

/// The undocumented tables are not emulated: see `docs/design/sim.md`.
fn export_table(_: &Call<'_>, table: Out<*const c_void>, _: *const CUuuid) -> Reply {
    table.set(std::ptr::null())?;
    Err(CUresult::CUDA_ERROR_NOT_FOUND)
}

functions! {
    Always {
        cuInit: (flags: c_uint) = init;
        cuDriverGetVersion: (version: *mut c_int) = version;
        cuGetErrorName: (error: CUresult, name: *mut *const c_char) = error_name;
        cuGetErrorString: (error: CUresult, text: *mut *const c_char) = error_string;
        cuGetProcAddress: (name: *const c_char, function: *mut *mut c_void, version: c_int,
            flags: cuuint64_t) = proc_address;
        cuGetProcAddress_v2: (name: *const c_char, function: *mut *mut c_void, version: c_int,
            flags: cuuint64_t, status: *mut CUdriverProcAddressQueryResult) = proc_address_v2;
        cuGetExportTable: (table: *mut *const c_void, id: *const CUuuid) = export_table;
    }
}
