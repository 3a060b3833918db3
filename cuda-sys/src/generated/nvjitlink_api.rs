// Written by `cargo xtask bindgen`. Do not edit.

/// Calls a macro with one row for each function of the API:
/// `fn name = "symbol" "base" introduced (arguments) -> result;`
#[macro_export]
macro_rules! for_each_nvjitlink_symbol {
    ($($callback:tt)*) => {
        $($callback)* {
            fn nvJitLinkAddData = "nvJitLinkAddData" "nvJitLinkAddData" 0 (handle: nvJitLinkHandle, inputType: nvJitLinkInputType, data: *const ::core::ffi::c_void, size: usize, name: *const ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkAddFile = "nvJitLinkAddFile" "nvJitLinkAddFile" 0 (handle: nvJitLinkHandle, inputType: nvJitLinkInputType, fileName: *const ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkComplete = "nvJitLinkComplete" "nvJitLinkComplete" 0 (handle: nvJitLinkHandle) -> nvJitLinkResult;
            fn nvJitLinkCreate = "nvJitLinkCreate" "nvJitLinkCreate" 0 (handle: *mut nvJitLinkHandle, numOptions: u32, options: *const *const ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkDestroy = "nvJitLinkDestroy" "nvJitLinkDestroy" 0 (handle: *mut nvJitLinkHandle) -> nvJitLinkResult;
            fn nvJitLinkGetErrorLog = "nvJitLinkGetErrorLog" "nvJitLinkGetErrorLog" 0 (handle: nvJitLinkHandle, log: *mut ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkGetErrorLogSize = "nvJitLinkGetErrorLogSize" "nvJitLinkGetErrorLogSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkGetInfoLog = "nvJitLinkGetInfoLog" "nvJitLinkGetInfoLog" 0 (handle: nvJitLinkHandle, log: *mut ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkGetInfoLogSize = "nvJitLinkGetInfoLogSize" "nvJitLinkGetInfoLogSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedCubin = "nvJitLinkGetLinkedCubin" "nvJitLinkGetLinkedCubin" 0 (handle: nvJitLinkHandle, cubin: *mut ::core::ffi::c_void) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedCubinSize = "nvJitLinkGetLinkedCubinSize" "nvJitLinkGetLinkedCubinSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedLTOIR = "nvJitLinkGetLinkedLTOIR" "nvJitLinkGetLinkedLTOIR" 0 (handle: nvJitLinkHandle, ltoir: *mut ::core::ffi::c_void) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedLTOIRSize = "nvJitLinkGetLinkedLTOIRSize" "nvJitLinkGetLinkedLTOIRSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedPtx = "nvJitLinkGetLinkedPtx" "nvJitLinkGetLinkedPtx" 0 (handle: nvJitLinkHandle, ptx: *mut ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedPtxSize = "nvJitLinkGetLinkedPtxSize" "nvJitLinkGetLinkedPtxSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkVersion = "nvJitLinkVersion" "nvJitLinkVersion" 0 (major: *mut ::core::ffi::c_uint, minor: *mut ::core::ffi::c_uint) -> nvJitLinkResult;
        }
    };
}
