//! What each `nvrtcResult` means and what to do about it, offline.

use super::{SYMBOLS, nvrtcResult};

codes! {
    nvrtcResult, "NVRTC", NVRTC_SUCCESS;

    NVRTC_SUCCESS Success "the call did what it was asked";
    NVRTC_ERROR_OUT_OF_MEMORY Resource "the compiler ran out of host memory; compile fewer programs at once";
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE Programmer "the program could not be made; check the source and header texts";
    NVRTC_ERROR_INVALID_INPUT Programmer "an argument is null or out of range";
    NVRTC_ERROR_INVALID_PROGRAM Programmer "the program handle is null or was destroyed";
    NVRTC_ERROR_INVALID_OPTION Programmer
        "the compiler does not know an option, or not its value; this also is how it refuses an architecture that it \
         no longer, or not yet, supports. The program log names it";
    NVRTC_ERROR_COMPILATION Program "the source has errors; the program log lists them";
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE Environment
        "the compiler did not find its built-in headers; put libnvrtc-builtins of exactly its version beside it";
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION Programmer "add name expressions before compiling, not after";
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION Programmer "ask for lowered names after compiling, not before";
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID Programmer
        "the name expression names nothing in the program, or was not added before compiling";
    NVRTC_ERROR_INTERNAL_ERROR Unknown "the compiler failed inside; try another version, and reduce the source";
    NVRTC_ERROR_TIME_FILE_WRITE_FAILED Environment "the file for the option --time cannot be written; check its path";
    NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED Programmer "no precompiled header was asked for, or none was worth making";
    NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED Resource
        "the heap for precompiled headers is full; ask for the size that it needs, set it and compile again";
    NVRTC_ERROR_PCH_CREATE Environment "the precompiled header was not written; check its folder";
    NVRTC_ERROR_CANCELLED Transient "the flow callback asked to stop the compilation";
    NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED Environment "the time trace cannot be written; check its path";
    NVRTC_ERROR_BUSY Transient "another process or thread has the bundled headers' folder locked; try again";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a new code of the header could stay without a text, or a text be for a
    /// code that does not exist.
    #[test]
    fn every_code_of_the_header_has_a_text() {
        crate::header::check_codes(
            include_str!("../generated/nvrtc.rs"),
            "nvrtcResult",
            nvrtcResult::KNOWN,
        );
    }
}
