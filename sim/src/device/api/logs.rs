//! The log of what failed.

use std::ffi::{c_char, c_uint};

use cupola_sys::driver::*;

use crate::device::api::functions;
use crate::device::calls::args::{Out, Reply};
use crate::device::calls::call::Call;
use crate::device::calls::logs;

fn current(call: &Call<'_>, place: Out<CUlogIterator>, flags: c_uint) -> Reply {
    check_flags(flags)?;
    place.set(call.machine.logs.end())
}

/// A null iterator is the beginning. The lines are a text with a NUL, which `size` does not count.
fn dump(
    call: &Call<'_>,
    iterator: Out<CUlogIterator>,
    buffer: Out<c_char>,
    size: Out<usize>,
    flags: c_uint,
) -> Reply {
    check_flags(flags)?;
    if buffer.is_null() || size.is_null() {
        logs::say("buffer and size cannot be NULL");
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    let start = if iterator.is_null() {
        0
    } else {
        iterator.get()?
    };
    let room = size.get()?;
    let (text, end, any) = call.machine.logs.since(start, room.saturating_sub(1));
    size.set(text.len())?;
    if any && text.is_empty() {
        logs::say("the buffer is too small for a message");
        return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
    }
    if room > 0 {
        buffer.set_text(i32::try_from(room).unwrap_or(i32::MAX), &text)?;
    }
    iterator.set_if(end);
    Ok(())
}

fn check_flags(flags: c_uint) -> Reply {
    if flags == 0 {
        Ok(())
    } else {
        Err(CUresult::CUDA_ERROR_INVALID_VALUE)
    }
}

functions! {
    Always {
        cuLogsCurrent: (iterator_out: *mut CUlogIterator, flags: c_uint) = current;
        cuLogsDumpToMemory: (iterator: *mut CUlogIterator, buffer: *mut c_char, size: *mut usize,
            flags: c_uint) = dump;
    }
}
