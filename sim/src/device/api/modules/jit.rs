//! The options of what would be a just-in-time compiler: its logs and its time. All
//! others tune a compiler that does not exist, and are only checked.

use std::ffi::{c_char, c_uint, c_void};
use std::time::Duration;

use cupola_sys::driver::*;

use crate::device::calls::args::{In, Out, Reply, Slots};

/// Where a call, or a link in all its calls, writes what it has to say.
pub(in crate::device) struct Jit {
    info: Log,
    error: Log,
    /// The option that takes the time.
    time: Option<usize>,
    spent: Duration,
    values: Slots<*mut c_void>,
}

// SAFETY: the pointers are the program's. For a link, `cuLinkCreate` demands that they stay
// good until the link is destroyed, whichever thread works on it, and the link's lock lets
// one thread at a time use them.
unsafe impl Send for Jit {}

impl std::fmt::Debug for Jit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jit")
            .field("info", &self.info.text)
            .field("error", &self.error.text)
            .field("spent", &self.spent)
            .finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Log {
    buffer: Option<Out<c_char>>,
    /// The option that holds the buffer's size, and the size.
    size: Option<(usize, usize)>,
    text: String,
}

impl Jit {
    /// # Errors
    /// An option that there is not.
    pub(in crate::device::api) fn read(
        count: c_uint,
        options: In<CUjit_option>,
        values: Slots<*mut c_void>,
    ) -> Reply<Self> {
        use CUjit_option as O;
        let mut jit = Self {
            info: Log::default(),
            error: Log::default(),
            time: None,
            spent: Duration::ZERO,
            values,
        };
        for index in 0..count as usize {
            let option = options.at(index)?;
            if option.0 >= O::CU_JIT_NUM_OPTIONS.0 {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            let value = values.at(index)?;
            // The value itself is a 32-bit number.
            let size = Some((index, value.addr() & 0xffff_ffff));
            match option {
                O::CU_JIT_WALL_TIME => jit.time = Some(index),
                O::CU_JIT_INFO_LOG_BUFFER => jit.info.buffer = Some(Out::to(value.cast())),
                O::CU_JIT_ERROR_LOG_BUFFER => jit.error.buffer = Some(Out::to(value.cast())),
                O::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES => jit.info.size = size,
                O::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => jit.error.size = size,
                _ => {}
            }
        }
        Ok(jit)
    }

    /// Adds a line to the log of what may be of interest.
    pub(super) fn note(&mut self, text: &str) {
        self.info.add(text);
    }

    /// Adds a line to the log of errors.
    pub(super) fn complain(&mut self, text: &str) {
        self.error.add(text);
    }

    /// Adds to the time that was spent.
    pub(in crate::device) fn spent(&mut self, time: Duration) {
        self.spent += time;
    }

    /// Gives the program the logs and the time, as they are now.
    pub(in crate::device::api) fn report(&self) -> Reply {
        self.info.write(self.values)?;
        self.error.write(self.values)?;
        if let Some(index) = self.time {
            let milliseconds = (self.spent.as_secs_f64() * 1e3) as f32;
            let bits = milliseconds.to_bits() as usize;
            self.values
                .put(index, std::ptr::without_provenance_mut(bits))?;
        }
        Ok(())
    }
}

impl Log {
    fn add(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    /// Writes the text, cut where the buffer ends, and how long it is without its NUL.
    fn write(&self, values: Slots<*mut c_void>) -> Reply {
        let Some((index, size)) = self.size else {
            return Ok(());
        };
        let mut written = 0;
        if let Some(buffer) = self.buffer
            && !buffer.is_null()
            && size > 0
        {
            buffer.set_text(i32::try_from(size).unwrap_or(i32::MAX), &self.text)?;
            written = self.text.len().min(size - 1);
        }
        values.put(index, std::ptr::without_provenance_mut(written))
    }
}
