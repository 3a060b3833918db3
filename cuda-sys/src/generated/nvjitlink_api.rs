// Written by `cargo xtask bindgen`. Do not edit.

/// Calls a macro with one row for each function of the API:
/// `fn name = c"symbol" c"base" introduced (arguments) -> result;`
#[macro_export]
macro_rules! for_each_nvjitlink_symbol {
    ($($callback:tt)*) => {
        $($callback)* {
            fn nvJitLinkAddData = c"nvJitLinkAddData" c"nvJitLinkAddData" 0 (handle: nvJitLinkHandle, inputType: nvJitLinkInputType, data: *const ::core::ffi::c_void, size: usize, name: *const ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkAddFile = c"nvJitLinkAddFile" c"nvJitLinkAddFile" 0 (handle: nvJitLinkHandle, inputType: nvJitLinkInputType, fileName: *const ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkComplete = c"nvJitLinkComplete" c"nvJitLinkComplete" 0 (handle: nvJitLinkHandle) -> nvJitLinkResult;
            fn nvJitLinkCreate = c"nvJitLinkCreate" c"nvJitLinkCreate" 0 (handle: *mut nvJitLinkHandle, numOptions: u32, options: *const *const ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkDestroy = c"nvJitLinkDestroy" c"nvJitLinkDestroy" 0 (handle: *mut nvJitLinkHandle) -> nvJitLinkResult;
            fn nvJitLinkGetErrorLog = c"nvJitLinkGetErrorLog" c"nvJitLinkGetErrorLog" 0 (handle: nvJitLinkHandle, log: *mut ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkGetErrorLogSize = c"nvJitLinkGetErrorLogSize" c"nvJitLinkGetErrorLogSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkGetInfoLog = c"nvJitLinkGetInfoLog" c"nvJitLinkGetInfoLog" 0 (handle: nvJitLinkHandle, log: *mut ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkGetInfoLogSize = c"nvJitLinkGetInfoLogSize" c"nvJitLinkGetInfoLogSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedCubin = c"nvJitLinkGetLinkedCubin" c"nvJitLinkGetLinkedCubin" 0 (handle: nvJitLinkHandle, cubin: *mut ::core::ffi::c_void) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedCubinSize = c"nvJitLinkGetLinkedCubinSize" c"nvJitLinkGetLinkedCubinSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedLTOIR = c"nvJitLinkGetLinkedLTOIR" c"nvJitLinkGetLinkedLTOIR" 0 (handle: nvJitLinkHandle, ltoir: *mut ::core::ffi::c_void) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedLTOIRSize = c"nvJitLinkGetLinkedLTOIRSize" c"nvJitLinkGetLinkedLTOIRSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedPtx = c"nvJitLinkGetLinkedPtx" c"nvJitLinkGetLinkedPtx" 0 (handle: nvJitLinkHandle, ptx: *mut ::core::ffi::c_char) -> nvJitLinkResult;
            fn nvJitLinkGetLinkedPtxSize = c"nvJitLinkGetLinkedPtxSize" c"nvJitLinkGetLinkedPtxSize" 0 (handle: nvJitLinkHandle, size: *mut usize) -> nvJitLinkResult;
            fn nvJitLinkVersion = c"nvJitLinkVersion" c"nvJitLinkVersion" 0 (major: *mut ::core::ffi::c_uint, minor: *mut ::core::ffi::c_uint) -> nvJitLinkResult;
        }
    };
}
