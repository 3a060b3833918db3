//! What each `nvmlReturn_t` means and what to do about it, offline.

use super::{SYMBOLS, nvmlReturn_t};

codes! {
    nvmlReturn_t, "NVML", NVML_SUCCESS;

    NVML_SUCCESS Success "the call did what it was asked";
    NVML_ERROR_UNINITIALIZED Programmer "call nvmlInit_v2 first; after a fork, call it again in the child";
    NVML_ERROR_INVALID_ARGUMENT Programmer "an argument is null or out of range";
    NVML_ERROR_NOT_SUPPORTED Unsupported "this device does not offer it; many data-centre values are missing on others";
    NVML_ERROR_NO_PERMISSION Environment "this needs more rights, mostly those of the administrator";
    NVML_ERROR_ALREADY_INITIALIZED Programmer "an obsolete code: initialising again is no error any more";
    NVML_ERROR_NOT_FOUND Programmer "nothing matches the query";
    NVML_ERROR_INSUFFICIENT_SIZE Programmer "the buffer is too small; the size argument now says how much is needed";
    NVML_ERROR_INSUFFICIENT_POWER Environment "the device's power connectors are not all attached";
    NVML_ERROR_DRIVER_NOT_LOADED Environment "the NVIDIA kernel module is not loaded; load it or install the driver";
    NVML_ERROR_TIMEOUT Transient "the driver did not answer in time; try again";
    NVML_ERROR_IRQ_ISSUE Hardware "the kernel found a problem with the device's interrupt; see the kernel log";
    NVML_ERROR_LIBRARY_NOT_FOUND Environment "NVML did not find a library that it needs; reinstall the driver";
    NVML_ERROR_FUNCTION_NOT_FOUND Unsupported "the installed driver does not have this function; update it";
    NVML_ERROR_CORRUPTED_INFOROM Hardware "the device's configuration memory is corrupted; it needs service";
    NVML_ERROR_GPU_IS_LOST Hardware "the device fell off the bus or cannot be reached; see the kernel log, then reboot";
    NVML_ERROR_RESET_REQUIRED Hardware "the device must be reset before it can be used again";
    NVML_ERROR_OPERATING_SYSTEM Environment "the operating system or its control groups refuse access to the device";
    NVML_ERROR_LIB_RM_VERSION_MISMATCH Environment
        "the library and the kernel module are of different versions; reboot, or match the container's to the host's";
    NVML_ERROR_IN_USE Transient "the device or object is in use; try again when it is idle";
    NVML_ERROR_MEMORY Resource "there is too little memory for this; free some";
    NVML_ERROR_NO_DATA Transient "nothing was recorded for this query yet; ask again later";
    NVML_ERROR_VGPU_ECC_NOT_SUPPORTED Unsupported "this virtual GPU cannot run while ECC is on";
    NVML_ERROR_INSUFFICIENT_RESOURCES Resource "the device has no room for another of these; release one first";
    NVML_ERROR_FREQ_NOT_SUPPORTED Unsupported "the device does not have that clock; list the supported ones";
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH Programmer "the structure's version field is not one that this driver takes";
    NVML_ERROR_DEPRECATED Unsupported "the function has no effect any more; use what replaced it";
    NVML_ERROR_NOT_READY Transient "the system is not ready for this yet; try again";
    NVML_ERROR_GPU_NOT_FOUND Environment "there is no NVIDIA device; check the driver and the container's device access";
    NVML_ERROR_INVALID_STATE Programmer "the object is not in a state that allows this; check the order of the calls";
    NVML_ERROR_RESET_TYPE_NOT_SUPPORTED Unsupported "the device cannot be reset in that way; use another kind of reset";
    NVML_ERROR_UNKNOWN Unknown "the driver gives no cause; look at the kernel log for Xid lines";
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it a new code of the header could stay without a text, or a text be for a
    /// code that does not exist.
    #[test]
    fn every_code_of_the_header_has_a_text() {
        crate::header::check_codes(
            include_str!("../generated/nvml.rs"),
            "nvmlReturn_enum",
            nvmlReturn_t::KNOWN,
        );
    }
}
