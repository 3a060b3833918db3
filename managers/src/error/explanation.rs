//! The driver's own explanation of a call that failed (`cuLogs*`, CUDA 12.9), in words.
//!
//! It is asked for after a failure and never before a call. The log is one of the whole process,
//! so lines of another thread, or of another call of this one, are left out.

use cupola_sys::driver::{CUresult, Driver, DriverError, id};

use crate::lists;

/// The most that the driver keeps, in bytes.
const MOST: usize = 25_600;

/// The driver's explanation of this failure, which was the last call of this thread; `None` when it
/// says no more than its code, or cannot be asked.
///
/// # Errors
/// The error of asking.
#[cold]
pub(super) fn ask(driver: &Driver, call: DriverError) -> Result<Option<String>, DriverError> {
    let DriverError::Failed { code, .. } = call else {
        return Ok(None);
    };
    // For a retryable error the log does not say which memory to free, and a pool may meet one
    // often.
    if code.class().is_retryable() || !driver.has(id::cuLogsDumpToMemory) {
        return Ok(None);
    }
    let mut text = vec![0u8; MOST];
    let mut size = text.len();
    // SAFETY: a null iterator is allowed; the buffer has `size` bytes, and both outlive the call.
    unsafe {
        driver.cuLogsDumpToMemory(
            std::ptr::null_mut(),
            text.as_mut_ptr().cast(),
            &raw mut size,
            0,
        )
    }?;
    text.truncate(size);
    let text = String::from_utf8_lossy(&text);
    Ok(find(&text, thread(), call.symbol().as_str(), code))
}

/// One line of the log: `[time][thread][CUDA][E] message`. Drivers of 12.9 put the name of the
/// function into a fifth pair of brackets, later ones end each failure with a line that has it.
struct Line<'t> {
    thread: &'t str,
    function: Option<&'t str>,
    message: &'t str,
}

impl<'t> Line<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let (_time, rest) = bracket(line)?;
        let (thread, rest) = bracket(rest)?;
        let (_source, rest) = bracket(rest)?;
        let (_severity, rest) = bracket(rest)?;
        let (function, message) = match bracket(rest) {
            Some((function, message)) => (Some(function), message),
            None => (None, rest),
        };
        Some(Self {
            thread,
            function,
            message: message.trim(),
        })
    }

    /// The code and the function of a line that ends a failure.
    fn end(&self) -> Option<(u32, &'t str)> {
        let rest = self.message.strip_prefix("Returning ")?;
        let (code, rest) = rest.split_once(' ')?;
        let (_, function) = rest.rsplit_once(" from ")?;
        Some((code.parse().ok()?, function.trim()))
    }
}

/// The text in the brackets that `text` begins with, and the text after them.
fn bracket(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[')?.split_once(']')
}

/// The reason that the log gives for this thread's last failure, if that was of this function with
/// this code.
fn find(log: &str, thread: Option<usize>, function: &str, code: CUresult) -> Option<String> {
    let thread = thread?.to_string();
    let own = |line: &Line<'_>| line.thread == thread;
    let mut lines = log.lines().rev().filter_map(Line::of).filter(own);
    let last = lines.next()?;
    let mut found: Vec<&str> = Vec::new();
    match last.end() {
        Some(end) if end == (code.0, function) => {
            for line in lines {
                if line.end().is_some() {
                    break;
                }
                found.push(line.message);
            }
        }
        Some(_) => return None,
        None => {
            let mut line = Some(last);
            while let Some(one) = line
                && one
                    .function
                    .is_some_and(|name| !name.is_empty() && function.starts_with(name))
            {
                found.push(one.message);
                line = lines.next();
            }
        }
    }
    let said = lists::join(found.iter().rev(), "; ");
    (!said.is_empty()).then_some(said)
}

/// This thread's number, as the driver writes it.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it is not known")]
fn thread() -> Option<usize> {
    unsafe extern "C" {
        safe fn pthread_self() -> usize;
    }
    Some(pthread_self())
}

#[cfg(not(unix))]
fn thread() -> Option<usize> {
    None
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const VALUE: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;

    // Without it an error could be explained by another one: of another thread, another call or
    // an earlier one. The lines are those of a driver for CUDA 13.0.
    #[test]
    fn an_explanation_is_that_of_this_threads_last_failure() {
        let log = "\
[16:35:28.657][70][CUDA][E] No CUDA context is current to the calling thread
[16:35:28.657][70][CUDA][E] Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuMemAlloc_v2
[16:35:28.804][70][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuStreamCreateWithPriority
[16:35:28.924][70][CUDA][E] Specified size not aligned to minimum granularity (0x200000 bytes)
[16:35:28.924][71][CUDA][E] Sticky error detected
[16:35:28.924][70][CUDA][E] A second line
[16:35:28.924][70][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAddressFree
[16:35:28.924][71][CUDA][E] Returning 700 (CUDA_ERROR_ILLEGAL_ADDRESS) from cuMemAddressFree
";
        let found = |thread, function, code| find(log, Some(thread), function, code);
        let expected =
            "Specified size not aligned to minimum granularity (0x200000 bytes); A second line";
        assert_eq!(
            found(70, "cuMemAddressFree", VALUE).as_deref(),
            Some(expected)
        );
        let sticky = CUresult::CUDA_ERROR_ILLEGAL_ADDRESS;
        assert_eq!(
            found(71, "cuMemAddressFree", sticky).as_deref(),
            Some("Sticky error detected")
        );
        for (thread, function, code) in [
            (70, "cuMemAddressFree", sticky),
            (70, "cuMemAlloc_v2", CUresult::CUDA_ERROR_INVALID_CONTEXT),
            (72, "cuMemAddressFree", VALUE),
        ] {
            assert_eq!(found(thread, function, code), None, "{thread} {function}");
        }
        // No more than the code.
        let bare: Vec<_> = log.lines().take(3).collect();
        let found = find(
            &bare.join("\n"),
            Some(70),
            "cuStreamCreateWithPriority",
            VALUE,
        );
        assert_eq!(found, None);
        assert_eq!(find("", Some(70), "cuInit", VALUE), None);
        assert_eq!(find("no log\n[70] at all", Some(70), "cuInit", VALUE), None);
    }

    // Without it drivers of CUDA 12.9, whose lines have another form, would not be understood.
    #[test]
    fn the_first_form_of_the_log_is_read() {
        let log = "\
[22:21:32.098][25642][CUDA][E][cuMemAlloc] earlier
[22:21:32.099][25642][CUDA][E][cuLogsDumpToMemory] buffer cannot be NULL
";
        let found = |function| find(log, Some(25_642), function, VALUE);
        assert_eq!(
            found("cuLogsDumpToMemory").as_deref(),
            Some("buffer cannot be NULL")
        );
        assert_eq!(found("cuMemAlloc_v2"), None);
    }
}
