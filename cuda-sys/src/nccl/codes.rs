//! What each `ncclResult_t` means and what to do about it, offline.

use super::{SYMBOLS, ncclResult_t};

codes! {
    ncclResult_t, "NCCL", ncclSuccess;

    ncclSuccess Success "the call did what it was asked";
    ncclUnhandledCudaError Unknown "a CUDA call inside failed; NCCL_DEBUG=WARN shows which, and ncclGetLastError";
    ncclSystemError Environment
        "a system call failed: sockets, shared memory or files; NCCL_DEBUG=WARN shows which. In containers, raise /dev/shm";
    ncclInternalError Unknown "NCCL failed inside, or memory was overwritten; run with NCCL_DEBUG=WARN";
    ncclInvalidArgument Programmer "an argument is wrong; NCCL_DEBUG=WARN says which";
    ncclInvalidUsage Programmer "the calls do not fit together across ranks or threads; check that all ranks make the same";
    ncclRemoteError Environment "another rank failed or left; look at that rank, abort the communicator and rebuild it";
    ncclInProgress Transient "the communicator is non-blocking and not done; ask ncclCommGetAsyncError again";
    ncclTimeout Transient "the operation took longer than allowed; abort the communicator if a peer is gone";
    ncclNumResults Unknown "not a result: the number of codes that the header defines";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a new code of the header could stay without a text, or a text be for a
    /// code that does not exist.
    #[test]
    fn every_code_of_the_header_has_a_text() {
        crate::header::check_codes(
            include_str!("../generated/nccl.rs"),
            "ncclResult_t",
            ncclResult_t::KNOWN,
        );
    }
}
