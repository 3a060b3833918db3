// Written by `cargo xtask bindgen`. Do not edit.

/// Calls a macro with one row for each function of the API:
/// `fn name = "symbol" "base" introduced (arguments) -> result;`
#[macro_export]
macro_rules! for_each_nvrtc_symbol {
    ($($callback:tt)*) => {
        $($callback)* {
            fn nvrtcAddNameExpression = "nvrtcAddNameExpression" "nvrtcAddNameExpression" 0 (prog: nvrtcProgram, name_expression: *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcCompileProgram = "nvrtcCompileProgram" "nvrtcCompileProgram" 0 (prog: nvrtcProgram, numOptions: ::core::ffi::c_int, options: *const *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcCreateProgram = "nvrtcCreateProgram" "nvrtcCreateProgram" 0 (prog: *mut nvrtcProgram, src: *const ::core::ffi::c_char, name: *const ::core::ffi::c_char, numHeaders: ::core::ffi::c_int, headers: *const *const ::core::ffi::c_char, includeNames: *const *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcDestroyProgram = "nvrtcDestroyProgram" "nvrtcDestroyProgram" 0 (prog: *mut nvrtcProgram) -> nvrtcResult;
            fn nvrtcGetBundledHeadersInfo = "nvrtcGetBundledHeadersInfo" "nvrtcGetBundledHeadersInfo" 0 (info: *mut nvrtcBundledHeadersInfo, errorLog: *mut *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetCUBIN = "nvrtcGetCUBIN" "nvrtcGetCUBIN" 0 (prog: nvrtcProgram, cubin: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetCUBINSize = "nvrtcGetCUBINSize" "nvrtcGetCUBINSize" 0 (prog: nvrtcProgram, cubinSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetErrorString = "nvrtcGetErrorString" "nvrtcGetErrorString" 0 (result: nvrtcResult) -> *const ::core::ffi::c_char;
            fn nvrtcGetLTOIR = "nvrtcGetLTOIR" "nvrtcGetLTOIR" 0 (prog: nvrtcProgram, LTOIR: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetLTOIRSize = "nvrtcGetLTOIRSize" "nvrtcGetLTOIRSize" 0 (prog: nvrtcProgram, LTOIRSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetLoweredName = "nvrtcGetLoweredName" "nvrtcGetLoweredName" 0 (prog: nvrtcProgram, name_expression: *const ::core::ffi::c_char, lowered_name: *mut *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetNumSupportedArchs = "nvrtcGetNumSupportedArchs" "nvrtcGetNumSupportedArchs" 0 (numArchs: *mut ::core::ffi::c_int) -> nvrtcResult;
            fn nvrtcGetOptiXIR = "nvrtcGetOptiXIR" "nvrtcGetOptiXIR" 0 (prog: nvrtcProgram, optixir: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetOptiXIRSize = "nvrtcGetOptiXIRSize" "nvrtcGetOptiXIRSize" 0 (prog: nvrtcProgram, optixirSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetPCHCreateStatus = "nvrtcGetPCHCreateStatus" "nvrtcGetPCHCreateStatus" 0 (prog: nvrtcProgram) -> nvrtcResult;
            fn nvrtcGetPCHHeapSize = "nvrtcGetPCHHeapSize" "nvrtcGetPCHHeapSize" 0 (ret: *mut usize) -> nvrtcResult;
            fn nvrtcGetPCHHeapSizeRequired = "nvrtcGetPCHHeapSizeRequired" "nvrtcGetPCHHeapSizeRequired" 0 (prog: nvrtcProgram, size: *mut usize) -> nvrtcResult;
            fn nvrtcGetPTX = "nvrtcGetPTX" "nvrtcGetPTX" 0 (prog: nvrtcProgram, ptx: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetPTXSize = "nvrtcGetPTXSize" "nvrtcGetPTXSize" 0 (prog: nvrtcProgram, ptxSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetProgramLog = "nvrtcGetProgramLog" "nvrtcGetProgramLog" 0 (prog: nvrtcProgram, log: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetProgramLogSize = "nvrtcGetProgramLogSize" "nvrtcGetProgramLogSize" 0 (prog: nvrtcProgram, logSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcGetSupportedArchs = "nvrtcGetSupportedArchs" "nvrtcGetSupportedArchs" 0 (supportedArchs: *mut ::core::ffi::c_int) -> nvrtcResult;
            fn nvrtcGetTileIR = "nvrtcGetTileIR" "nvrtcGetTileIR" 0 (prog: nvrtcProgram, TileIR: *mut ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcGetTileIRSize = "nvrtcGetTileIRSize" "nvrtcGetTileIRSize" 0 (prog: nvrtcProgram, TileIRSizeRet: *mut usize) -> nvrtcResult;
            fn nvrtcInstallBundledHeaders = "nvrtcInstallBundledHeaders" "nvrtcInstallBundledHeaders" 0 (installPath: *const ::core::ffi::c_char, flags: ::core::ffi::c_uint, errorLog: *mut *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcRemoveBundledHeaders = "nvrtcRemoveBundledHeaders" "nvrtcRemoveBundledHeaders" 0 (installPath: *const ::core::ffi::c_char, errorLog: *mut *const ::core::ffi::c_char) -> nvrtcResult;
            fn nvrtcSetFlowCallback = "nvrtcSetFlowCallback" "nvrtcSetFlowCallback" 0 (prog: nvrtcProgram, callback: ::core::option::Option< unsafe extern "C" fn( arg1: *mut ::core::ffi::c_void, arg2: *mut ::core::ffi::c_void, ) -> ::core::ffi::c_int, >, payload: *mut ::core::ffi::c_void) -> nvrtcResult;
            fn nvrtcSetPCHHeapSize = "nvrtcSetPCHHeapSize" "nvrtcSetPCHHeapSize" 0 (size: usize) -> nvrtcResult;
            fn nvrtcVersion = "nvrtcVersion" "nvrtcVersion" 0 (major: *mut ::core::ffi::c_int, minor: *mut ::core::ffi::c_int) -> nvrtcResult;
        }
    };
}
