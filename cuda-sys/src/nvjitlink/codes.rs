//! What each `nvJitLinkResult` means and what to do about it, offline.

use super::{SYMBOLS, nvJitLinkResult};

codes! {
    nvJitLinkResult, "nvJitLink", NVJITLINK_SUCCESS;

    NVJITLINK_SUCCESS Success "the call did what it was asked";
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION Programmer "the linker does not know an option; the error log names it";
    NVJITLINK_ERROR_MISSING_ARCH Programmer "say for which architecture to link, with -arch=sm_NN";
    NVJITLINK_ERROR_INVALID_INPUT Program "an input is not what its type says, or cannot be linked; see the error log";
    NVJITLINK_ERROR_PTX_COMPILE Program "the PTX did not assemble; the error log has the line";
    NVJITLINK_ERROR_NVVM_COMPILE Program "the LTO code did not compile; see the error log";
    NVJITLINK_ERROR_INTERNAL Unknown "the linker failed inside; see the error log and try another version";
    NVJITLINK_ERROR_THREADPOOL Resource "the linker could not start its threads; allow fewer with -split-compile";
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT Program "an input is of no kind that the linker knows";
    NVJITLINK_ERROR_FINALIZE Program "the last step of linking failed; see the error log";
    NVJITLINK_ERROR_NULL_INPUT Programmer "an argument is null";
    NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS Programmer "two options exclude each other; see the error log";
    NVJITLINK_ERROR_INCORRECT_INPUT_TYPE Programmer "the data is of another kind than the input type says";
    NVJITLINK_ERROR_ARCH_MISMATCH Program "an input was compiled for another architecture than -arch says";
    NVJITLINK_ERROR_OUTDATED_LIBRARY Environment
        "an input comes from a newer toolkit than this linker; use a linker at least as new as the compiler";
    NVJITLINK_ERROR_MISSING_FATBIN Program "the input holds no device code";
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH Programmer "the value of -arch is no architecture that this linker knows";
    NVJITLINK_ERROR_UNSUPPORTED_ARCH Unsupported "this version cannot link for that architecture any more, or not yet";
    NVJITLINK_ERROR_LTO_NOT_ENABLED Programmer "the input is LTO code: pass -lto";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a new code of the header could stay without a text, or a text be for a
    /// code that does not exist.
    #[test]
    fn every_code_of_the_header_has_a_text() {
        crate::header::check_codes(
            include_str!("../generated/nvjitlink.rs"),
            "nvJitLinkResult",
            nvJitLinkResult::KNOWN,
        );
    }
}
