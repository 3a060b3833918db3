//! The log of failed calls, by the driver's functions.

use cupola_sys::driver::*;

use crate::support::{Code, TestBench, code};

/// Without it a program could not tell what has failed since a moment, or get a text without an
/// end, or one of lines that its buffer has no room for.
#[test]
fn a_program_reads_what_has_failed_since() {
    let bench = TestBench::new();
    let driver = &bench.driver;
    // SAFETY: frees no memory.
    let fails = || code(unsafe { driver.cuMemFree_v2(8) });
    let dump = |at: &mut CUlogIterator, room: usize| {
        let (mut text, mut size) = (vec![1_u8; room], room);
        // SAFETY: the places outlive the call; there are as many bytes as it says.
        let result =
            unsafe { driver.cuLogsDumpToMemory(at, text.as_mut_ptr().cast(), &raw mut size, 0) };
        let text = text.get(..size).unwrap_or(&[]).to_vec();
        (code(result), String::from_utf8(text).unwrap())
    };
    assert_eq!(fails(), CUresult::CUDA_ERROR_INVALID_VALUE);
    let mut at = 0;
    // SAFETY: the place outlives the call.
    unsafe { driver.cuLogsCurrent(&raw mut at, 0) }.unwrap();
    assert!(at > 0);
    let now = at;
    assert_eq!(dump(&mut at, 512), (Code::CUDA_SUCCESS, String::new()));
    assert_eq!(fails(), CUresult::CUDA_ERROR_INVALID_VALUE);
    let (small, text) = dump(&mut at, 8);
    assert_eq!(
        (small, at, &*text),
        (CUresult::CUDA_ERROR_INVALID_VALUE, now, "")
    );
    let (good, text) = dump(&mut at, 4096);
    assert_eq!(good, Code::CUDA_SUCCESS);
    assert!(text.contains("from cuMemFree_v2\n"), "{text}");
    assert!(text.ends_with('\n') && at > now, "{text}");
    // SAFETY: the place outlives the call.
    let flags = code(unsafe { driver.cuLogsCurrent(&raw mut at, 1) });
    assert_eq!(flags, CUresult::CUDA_ERROR_INVALID_VALUE);
    bench.finish();
}
