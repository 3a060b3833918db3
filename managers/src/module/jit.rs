//! The buffers that the driver's compiler writes its messages to.

use core::ffi::c_void;
use core::ptr;

use cupola_sys::driver::CUjit_option;

/// Bytes for the messages of each kind; longer ones are cut off.
const SIZE: usize = 8192;

/// The logs of one load, and the options that make the driver write them.
pub(super) struct Logs {
    errors: Box<[u8; SIZE]>,
    /// The compiler's messages on a module that it takes.
    remarks: Box<[u8; SIZE]>,
    options: [CUjit_option; 4],
    values: [*mut c_void; 4],
}

impl Logs {
    pub(super) fn new() -> Self {
        Self {
            errors: Box::new([0; SIZE]),
            remarks: Box::new([0; SIZE]),
            options: [
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                CUjit_option::CU_JIT_INFO_LOG_BUFFER,
                CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            ],
            values: [ptr::null_mut(); 4],
        }
    }

    /// The options and their values; the addresses are good while `self` is not moved.
    pub(super) fn options(&mut self) -> (&mut [CUjit_option], &mut [*mut c_void]) {
        self.values = [
            self.errors.as_mut_ptr().cast(),
            // The header passes numbers in the place of a pointer.
            ptr::without_provenance_mut(SIZE),
            self.remarks.as_mut_ptr().cast(),
            ptr::without_provenance_mut(SIZE),
        ];
        (&mut self.options, &mut self.values)
    }

    /// The errors that the compiler wrote.
    pub(super) fn errors(&self) -> String {
        text(&self.errors)
    }

    /// The messages that the compiler wrote beside errors.
    pub(super) fn remarks(&self) -> String {
        text(&self.remarks)
    }
}

/// Up to the first NUL.
fn text(log: &[u8; SIZE]) -> String {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(SIZE);
    String::from_utf8_lossy(&log[..end]).trim_end().to_owned()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it the driver could be given a size that is not the buffer's, or the log be
    // read beyond its end.
    #[test]
    fn the_log_is_what_was_written_up_to_its_nul() {
        let mut logs = Logs::new();
        assert_eq!(logs.errors(), "");
        let (options, values) = logs.options();
        assert_eq!((options.len(), values.len()), (4, 4));
        assert_eq!((values[1].addr(), values[3].addr()), (SIZE, SIZE));
        let texts = [b"line 3: no\n", b"line 4: hm\n"];
        for (text, log) in texts.iter().zip([values[0], values[2]]) {
            // SAFETY: the value is the address of SIZE bytes.
            unsafe { ptr::copy_nonoverlapping(text.as_ptr(), log.cast(), text.len()) };
        }
        assert_eq!(logs.errors(), "line 3: no");
        assert_eq!(logs.remarks(), "line 4: hm");
        logs.errors.fill(b'x');
        assert_eq!(logs.errors().len(), SIZE);
    }
}
