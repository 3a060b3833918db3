//! What each `CUresult` means and what to do about it, offline.
//!
//! Written from what the codes mean to a developer who has to act on them; the driver's own
//! texts need a loaded driver and say less.

use super::{CUresult, SYMBOLS};

codes! {
    CUresult, "CUDA driver", CUDA_SUCCESS;

    CUDA_SUCCESS Success "the call did what it was asked; for a query, the work is complete";
    CUDA_ERROR_INVALID_VALUE Programmer
        "an argument is outside of what the function takes; check sizes, null pointers, flags and ranges";
    CUDA_ERROR_OUT_OF_MEMORY Resource
        "the device, or the host's pinned memory, has too little left; free memory, trim pools or ask for less";
    CUDA_ERROR_NOT_INITIALIZED Programmer
        "the driver is not initialised in this process; call cuInit first. A process forked after cuInit gets this \
         for ever: start it with exec instead";
    CUDA_ERROR_DEINITIALIZED Shutdown
        "the driver is shutting down because the process is exiting; treat it as success in cleanup code";
    CUDA_ERROR_PROFILER_DISABLED Environment
        "a profiling tool is attached and owns the profiler; leave starting and stopping to it";
    CUDA_ERROR_PROFILER_NOT_INITIALIZED Unsupported
        "an obsolete code: starting the profiler needs no initialisation any more; ignore it";
    CUDA_ERROR_PROFILER_ALREADY_STARTED Unsupported
        "an obsolete code: starting the profiler twice is no error any more; ignore it";
    CUDA_ERROR_PROFILER_ALREADY_STOPPED Unsupported
        "an obsolete code: stopping the profiler twice is no error any more; ignore it";
    CUDA_ERROR_STUB_LIBRARY Environment
        "the library that was loaded is the toolkit's link-time stub, not a driver; take the stubs folder out of the \
         library path, and install the NVIDIA driver";
    CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER Unsupported
        "the installed driver is too old for this call; update it or use an older form of the call";
    CUDA_ERROR_DEVICE_UNAVAILABLE Transient
        "another process has the device to itself, or the device is being reset; try again later or use another device";
    CUDA_ERROR_MULTICAST_RESOURCE_FULL Resource
        "the system has no room for another multicast object; release some before creating more";
    CUDA_ERROR_NO_DEVICE Environment
        "no CUDA device is visible; check the driver with nvidia-smi, CUDA_VISIBLE_DEVICES, and the container's device access";
    CUDA_ERROR_INVALID_DEVICE Programmer
        "the device number is not below the device count, or the device cannot do this operation";
    CUDA_ERROR_DEVICE_NOT_LICENSED Environment
        "the virtual GPU has no licence; check the guest's licence client";

    CUDA_ERROR_INVALID_IMAGE Program
        "the bytes are no PTX, cubin or fatbin; check that the file is whole and that PTX text ends with a NUL";
    CUDA_ERROR_INVALID_CONTEXT Programmer
        "no context is current on this thread, or the one that is was destroyed; make a live one current";
    CUDA_ERROR_CONTEXT_ALREADY_CURRENT Unsupported
        "an obsolete code: pushing the current context again is no error any more; ignore it";
    CUDA_ERROR_MAP_FAILED Programmer
        "mapping memory or a graphics resource failed; check that the address range is free and reserved";
    CUDA_ERROR_UNMAP_FAILED Programmer
        "unmapping memory or a graphics resource failed; check that exactly this range or resource is mapped";
    CUDA_ERROR_ARRAY_IS_MAPPED Programmer
        "the array is mapped; unmap it before destroying it";
    CUDA_ERROR_ALREADY_MAPPED Programmer
        "the resource or range is mapped already; unmap it first";
    CUDA_ERROR_NO_BINARY_FOR_GPU Program
        "the module has code for other architectures only; compile for this device's or include PTX";
    CUDA_ERROR_ALREADY_ACQUIRED Programmer
        "the resource was acquired already; release it first";
    CUDA_ERROR_NOT_MAPPED Programmer
        "the resource or range is not mapped; map it before use";
    CUDA_ERROR_NOT_MAPPED_AS_ARRAY Programmer
        "the graphics resource is mapped, but not as an array; ask for its pointer instead";
    CUDA_ERROR_NOT_MAPPED_AS_POINTER Programmer
        "the graphics resource is mapped, but not as linear memory; ask for its array instead";
    CUDA_ERROR_ECC_UNCORRECTABLE Hardware
        "memory errors that ECC could not repair; results are lost. Restart the process, and look at nvidia-smi -q for \
         remapped rows and a pending reset";
    CUDA_ERROR_UNSUPPORTED_LIMIT Unsupported
        "this device does not have the limit that was asked for; skip it";
    CUDA_ERROR_CONTEXT_ALREADY_IN_USE Programmer
        "the context may be used by one thread at a time, and another one has it; pop it there first";
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED Unsupported
        "these two devices cannot read each other's memory; copy through the host, and ask cuDeviceCanAccessPeer first";
    CUDA_ERROR_INVALID_PTX Program
        "the PTX did not compile; the JIT error log has the line and the reason";
    CUDA_ERROR_INVALID_GRAPHICS_CONTEXT Programmer
        "the OpenGL or Direct3D context does not fit; make it current, on this device, before the call";
    CUDA_ERROR_NVLINK_UNCORRECTABLE Hardware
        "an NVLink failed while work was running; restart the process and look at nvidia-smi nvlink and the kernel log";
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND Environment
        "the driver's PTX compiler library is missing; install the driver's libnvidia-ptxjitcompiler, or load a cubin";
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION Program
        "the PTX was made by a newer toolkit than the driver understands; compile to a cubin for this device, compile \
         with an older toolkit or update the driver";
    CUDA_ERROR_JIT_COMPILATION_DISABLED Environment
        "compiling PTX is switched off (CUDA_DISABLE_PTX_JIT); unset that or load a cubin";
    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY Unsupported
        "this device does not support that kind of execution affinity; create the context without it";
    CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC Program
        "the kernel calls cudaDeviceSynchronize, which device code may not do any more; restructure its child launches";
    CUDA_ERROR_CONTAINED StickyProcess
        "a memory error on the device was contained to this process; its results are lost. Start a new process";
    CUDA_ERROR_INSUFFICIENT_LOADER_VERSION Program
        "the device runtime that the code was linked with needs a newer driver; update it or link with an older toolkit";

    CUDA_ERROR_INVALID_SOURCE Program
        "the device kernel source or image is not valid; check what was loaded";
    CUDA_ERROR_FILE_NOT_FOUND Environment
        "the file cannot be opened; check the path and the permissions";
    CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND Environment
        "a library that the driver loads lacks a symbol; the driver's files are of different versions: reinstall it";
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED Environment
        "a library that the driver loads did not initialise; reinstall the driver and check the container's mounts";
    CUDA_ERROR_OPERATING_SYSTEM Environment
        "the operating system refused a call; check limits (locked memory, open files), /dev/nvidia* and the kernel log";

    CUDA_ERROR_INVALID_HANDLE Programmer
        "the handle is not, or no longer, a live object of this context; look for a use after destroy or a wrong context";
    CUDA_ERROR_ILLEGAL_STATE Programmer
        "the object is not in a state that allows this; check the order of the calls";
    CUDA_ERROR_LOSSY_QUERY Unsupported
        "the object has properties that this older query cannot describe; use the query's newer version";
    CUDA_ERROR_NOT_FOUND Programmer
        "nothing has that name; check the spelling, and the mangled form of C++ names";
    CUDA_ERROR_NOT_READY Transient
        "the work is not finished: for a query this is an answer, not a failure; ask again later";

    CUDA_ERROR_ILLEGAL_ADDRESS StickyProcess
        "a kernel touched memory that is not mapped for it; find it with compute-sanitizer. No later call in this \
         process works";
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES Programmer
        "the launch needs more registers, shared memory, threads or argument bytes than the device has; use smaller \
         blocks, or allow more dynamic shared memory";
    CUDA_ERROR_LAUNCH_TIMEOUT StickyProcess
        "the kernel ran longer than this device's watchdog allows; shorten it or use a device without a display. No \
         later call in this process works";
    CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING Programmer
        "the kernel's texture mode does not match the texture that is bound; use the same mode on both sides";
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED Programmer
        "access to that peer is enabled already; it can be used as it is";
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED Programmer
        "access to that peer is not enabled, so there is nothing to disable";
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE Programmer
        "the primary context exists already; set its flags before anything retains it";
    CUDA_ERROR_CONTEXT_IS_DESTROYED Programmer
        "the current context was destroyed, or its primary context was reset; make another one current";
    CUDA_ERROR_ASSERT StickyProcess
        "an assert in a kernel failed; its message is on stdout. Start a new process: a driver makes no other context in this one";
    CUDA_ERROR_TOO_MANY_PEERS Resource
        "the hardware has no room for one more peer; disable access to another one first";
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED Programmer
        "part of this host memory is registered already; unregister it or leave it registered";
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED Programmer
        "no registered host memory starts at this address; pass the pointer that was registered";
    CUDA_ERROR_HARDWARE_STACK_ERROR StickyProcess
        "a kernel overran or corrupted its call stack; raise CU_LIMIT_STACK_SIZE or reduce recursion. No later call in \
         this process works";
    CUDA_ERROR_ILLEGAL_INSTRUCTION StickyProcess
        "the device met an instruction that it does not have; check which architecture the code was compiled for. No \
         later call in this process works";
    CUDA_ERROR_MISALIGNED_ADDRESS StickyProcess
        "a kernel read or wrote at an address that its access size does not divide; check vector types and offsets. No \
         later call in this process works";
    CUDA_ERROR_INVALID_ADDRESS_SPACE StickyProcess
        "an instruction for one kind of memory got an address of another; check casts of shared or local pointers. No \
         later call in this process works";
    CUDA_ERROR_INVALID_PC StickyProcess
        "a kernel jumped outside of its code; check function pointers and memory overruns. No later call in this \
         process works";
    CUDA_ERROR_LAUNCH_FAILED StickyProcess
        "a kernel failed, mostly by a bad access to shared or generic memory; find it with compute-sanitizer. No later \
         call in this process works";
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE Programmer
        "a cooperative grid must fit on the device all at once; ask the occupancy functions for the largest size";
    CUDA_ERROR_TENSOR_MEMORY_LEAK StickyProcess
        "a kernel ended with tensor memory still allocated; free it on every path. No later call in this process works";

    CUDA_ERROR_NOT_PERMITTED Programmer
        "the operation is forbidden here: inside a host function or callback, on memory of another kind, or for this user";
    CUDA_ERROR_NOT_SUPPORTED Unsupported
        "this device, driver or platform does not have the feature; query the attribute before using it";
    CUDA_ERROR_SYSTEM_NOT_READY Environment
        "the system is still starting or a service is missing; on NVSwitch machines start the fabric manager";
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH Environment
        "the kernel module and the user-space driver are of different versions; reboot, or match the container's to the host's";
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE Environment
        "the forward-compatibility libraries do not work on this device; take them out of the library path";
    CUDA_ERROR_MPS_CONNECTION_FAILED Environment
        "the client cannot reach the MPS control daemon; start it, and check CUDA_MPS_PIPE_DIRECTORY";
    CUDA_ERROR_MPS_RPC_FAILURE Environment
        "the MPS server answered with a failure; its log says why";
    CUDA_ERROR_MPS_SERVER_NOT_READY Transient
        "the MPS server is restarting or recovering; try again in a moment";
    CUDA_ERROR_MPS_MAX_CLIENTS_REACHED Resource
        "the MPS server has as many clients as it can serve; end one, then try again";
    CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED Resource
        "the device has no MPS connection left; end a client, or lower CUDA_DEVICE_MAX_CONNECTIONS";
    CUDA_ERROR_MPS_CLIENT_TERMINATED StickyProcess
        "the MPS server ended this client, perhaps for the fault of another one; start a new process";
    CUDA_ERROR_CDP_NOT_SUPPORTED Unsupported
        "the module launches kernels from device code, which this device or mode does not support";
    CUDA_ERROR_CDP_VERSION_MISMATCH Program
        "the module mixes two versions of launching from device code; compile all of it the same way";

    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED Capture
        "this operation cannot be captured into a graph; move it out of the capture";
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED Capture
        "an earlier error made the capture invalid; end it, throw the graph away and capture again";
    CUDA_ERROR_STREAM_CAPTURE_MERGE Capture
        "the call would have joined two separate captures; keep their streams and events apart";
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED Capture
        "this stream did not begin the capture; end it on the stream where it began";
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED Capture
        "a stream that was forked off during the capture never came back; make the first stream wait for its event";
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION Capture
        "captured work would depend on work outside of the capture; wait for that before the capture begins";
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT Capture
        "the call would make the legacy default stream wait for a capture; use non-blocking streams while capturing";
    CUDA_ERROR_CAPTURED_EVENT Capture
        "the event's last record is part of a capture, so it cannot be queried or waited for by the host";
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD Capture
        "only the thread that began this capture may end it, unless the mode is relaxed";

    CUDA_ERROR_TIMEOUT Transient
        "the wait ended before the work did; wait again or longer";
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE Programmer
        "the graph changed in a way that an update cannot express; instantiate it anew";
    CUDA_ERROR_EXTERNAL_DEVICE StickyProcess
        "another device that takes part in the work reported an error; start a new process and look at that device";
    CUDA_ERROR_INVALID_CLUSTER_SIZE Programmer
        "the cluster does not fit this kernel on this device; ask cuOccupancyMaxPotentialClusterSize";
    CUDA_ERROR_FUNCTION_NOT_LOADED Programmer
        "the function is loaded lazily and is not loaded yet; call cuFuncLoad first";
    CUDA_ERROR_INVALID_RESOURCE_TYPE Programmer
        "the resource's type is not one that this call takes; pass another type of resource";
    CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION Programmer
        "the resources do not add up to a valid partition; check counts and alignment against the device's";
    CUDA_ERROR_KEY_ROTATION Transient
        "confidential computing is exchanging its keys; finish or drop running work, then try again";
    CUDA_ERROR_STREAM_DETACHED Programmer
        "the stream's green or execution context is gone; create a stream in a live one";
    CUDA_ERROR_GRAPH_RECAPTURE_FAILURE Capture
        "the work captured now does not fit the graph that it should update; capture a new graph";
    CUDA_ERROR_FABRIC_NOT_READY Transient
        "the NVLink fabric is still coming up; try again, and if it lasts look at the fabric manager";
    CUDA_ERROR_UNKNOWN Unknown
        "the driver gives no cause; look at the kernel log for Xid lines, and treat the context as lost if the next \
         call fails too";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ErrorClass, Status};

    /// Without it a new code of the header could stay without a text, or a text be for a
    /// code that does not exist.
    #[test]
    fn every_code_of_the_header_has_a_text() {
        crate::header::check_codes(
            include_str!("../generated/driver.rs"),
            "cudaError_enum",
            CUresult::KNOWN,
        );
    }

    /// Without it a process could go on after an error that NVIDIA's documentation says
    /// ends it, or give up on one that passes.
    #[test]
    fn classes_follow_the_documented_consequences() {
        let of = |code: u32| CUresult(code).class();
        for code in [
            226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911,
        ] {
            assert_eq!(of(code), ErrorClass::StickyProcess, "{code}");
        }
        // It is the thread's current context that is gone, and another one can be made current.
        assert_eq!(of(709), ErrorClass::Programmer);
        for code in [214, 220] {
            assert_eq!(of(code), ErrorClass::Hardware, "{code}");
        }
        for code in [46, 600, 807, 909, 919] {
            assert_eq!(of(code), ErrorClass::Transient, "{code}");
        }
        for code in 900..=908 {
            assert_eq!(of(code), ErrorClass::Capture, "{code}");
        }
        assert_eq!(of(0), ErrorClass::Success);
        assert_eq!(of(2), ErrorClass::Resource);
        assert_eq!(of(4), ErrorClass::Shutdown);
        let sticky: Vec<u32> = CUresult::KNOWN
            .iter()
            .filter(|code| code.is_sticky())
            .map(|code| code.0)
            .collect();
        assert_eq!(
            sticky,
            [
                214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911
            ]
        );
    }

    /// Without it a code of a newer driver could get another one's meaning.
    #[test]
    fn unknown_codes_stay_unknown() {
        for code in [9, 225 + 3, 998, 1000, u32::MAX] {
            let code = CUresult(code);
            assert_eq!(
                (code.name(), code.advice(), code.class()),
                (None, None, ErrorClass::Unknown)
            );
        }
    }
}
