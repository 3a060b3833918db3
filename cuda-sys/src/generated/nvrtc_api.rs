// Written by `cargo xtask bindgen`. Do not edit.

/// Calls a macro with one row for each function of the API:
/// `fn name = c"symbol" c"base" introduced (arguments) -> result;`
#[macro_export]
macro_rules! for_each_nvrtc_symbol {
    ($($callback:tt)*) => {
        $($callback)* {
            fn nvrtcAddNameExpression = c"nvrtcAddNameExpression" c"nvrtcAddNameExpression" 0 (prog: nvrtcProgram, name_expression: *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcCompileProgram = c"nvrtcCompileProgram" c"nvrtcCompileProgram" 0 (prog: nvrtcProgram, numOptions: ::core::ffi::c_int, options: *const *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcCreateProgram = c"nvrtcCreateProgram" c"nvrtcCreateProgram" 0 (prog: *mut nvrtcProgram, src: *const ::core::ffi::c_char, name: *const ::core::ffi::c_char, numHeaders: ::core::ffi::c_int, headers: *const *const ::core::ffi::c_char, includeNames: *const *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcDestroyProgram = c"nvrtcDestroyProgram" c"nvrtcDestroyProgram" 0 (prog: *mut nvrtcProgram) -> nvrtcResult;
            fn nvrtcGetBundledHeadersInfo = c"nvrtcGetBundledHeadersInfo" c"nvrtcGetBundledHeadersInfo" 0 (info: *mut nvrtcBundledHeadersInfo, errorLog: *mut *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetCUBIN = c"nvrtcGetCUBIN" c"nvrtcGetCUBIN" 0 (prog: nvrtcProgram, cubin: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetCUBINSize = c"nvrtcGetCUBINSize" c"nvrtcGetCUBINSize" 0 (prog: nvrtcProgram, cubinSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetErrorString = c"nvrtcGetErrorString" c"nvrtcGetErrorString" 0 (result: nvrtcResult) -> *const ::core::ffi::c_char;
            fn nvrtcGetLTOIR = c"nvrtcGetLTOIR" c"nvrtcGetLTOIR" 0 (prog: nvrtcProgram, LTOIR: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetLTOIRSize = c"nvrtcGetLTOIRSize" c"nvrtcGetLTOIRSize" 0 (prog: nvrtcProgram, LTOIRSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetLoweredName = c"nvrtcGetLoweredName" c"nvrtcGetLoweredName" 0 (prog: nvrtcProgram, name_expression: *const ::core::ffi::c_char, lowered_name: *mut *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetNumSupportedArchs = c"nvrtcGetNumSupportedArchs" c"nvrtcGetNumSupportedArchs" 0 (numArchs: *mut ::core::ffi::c_int) -> nvrtcResult;
            fn nvrtcGetOptiXIR = c"nvrtcGetOptiXIR" c"nvrtcGetOptiXIR" 0 (prog: nvrtcProgram, optixir: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetOptiXIRSize = c"nvrtcGetOptiXIRSize" c"nvrtcGetOptiXIRSize" 0 (prog: nvrtcProgram, optixirSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetPCHCreateStatus = c"nvrtcGetPCHCreateStatus" c"nvrtcGetPCHCreateStatus" 0 (prog: nvrtcProgram) -> nvrtcResult;
            fn nvrtcGetPCHHeapSize = c"nvrtcGetPCHHeapSize" c"nvrtcGetPCHHeapSize" 0 (ret: *mut usize) -> nvrtcResult;
            fn nvrtcGetPCHHeapSizeRequired = c"nvrtcGetPCHHeapSizeRequired" c"nvrtcGetPCHHeapSizeRequired" 0 (prog: nvrtcProgram, size: *mut usize) -> nvrtcResult;
            fn nvrtcGetPTX = c"nvrtcGetPTX" c"nvrtcGetPTX" 0 (prog: nvrtcProgram, ptx: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetPTXSize = c"nvrtcGetPTXSize" c"nvrtcGetPTXSize" 0 (prog: nvrtcProgram, ptxSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetProgramLog = c"nvrtcGetProgramLog" c"nvrtcGetProgramLog" 0 (prog: nvrtcProgram, log: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetProgramLogSize = c"nvrtcGetProgramLogSize" c"nvrtcGetProgramLogSize" 0 (prog: nvrtcProgram, logSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetSupportedArchs = c"nvrtcGetSupportedArchs" c"nvrtcGetSupportedArchs" 0 (supportedArchs: *mut ::core::ffi::c_int) -> nvrtcResult;
            fn nvrtcGetTileIR = c"nvrtcGetTileIR" c"nvrtcGetTileIR" 0 (prog: nvrtcProgram, TileIR: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetTileIRSize = c"nvrtcGetTileIRSize" c"nvrtcGetTileIRSize" 0 (prog: nvrtcProgram, TileIRSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcInstallBundledHeaders = c"nvrtcInstallBundledHeaders" c"nvrtcInstallBundledHeaders" 0 (installPath: *const ::core::ffi::c_char, flags: ::core::ffi::c_uint, errorLog: *mut *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcRemoveBundledHeaders = c"nvrtcRemoveBundledHeaders" c"nvrtcRemoveBundledHeaders" 0 (installPath: *const ::core::ffi::c_char, errorLog: *mut *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcSetFlowCallback = c"nvrtcSetFlowCallback" c"nvrtcSetFlowCallback" 0 (prog: nvrtcProgram, callback: ::core::option::Option< unsafe extern "C" fn( arg1: *mut ::core::ffi::c_void, arg2: *mut ::core::ffi::c_void, ) -> ::core::ffi::c_int, >, payload: *mut ::core::ffi::c_void) -> nvrtcResult;
            fn nvrtcSetPCHHeapSize = c"nvrtcSetPCHHeapSize" c"nvrtcSetPCHHeapSize" 0 (size: usize) -> nvrtcResult;
            fn nvrtcVersion = c"nvrtcVersion" c"nvrtcVersion" 0 (major: *mut ::core::ffi::c_int, minor: *mut ::core::ffi::c_int) -> nvrtcResult;
        }
    };
}
