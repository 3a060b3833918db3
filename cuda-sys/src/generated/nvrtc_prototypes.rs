// Written by `cargo xtask bindgen`. Do not edit.
unsafe extern "C" {
    pub fn nvrtcGetErrorString(result: nvrtcResult) -> *const ::core::ffi::c_char;
    pub fn nvrtcVersion(
        major: *mut ::core::ffi::c_int,
        minor: *mut ::core::ffi::c_int,
    ) -> nvrtcResult;
    pub fn nvrtcGetNumSupportedArchs(numArchs: *mut ::core::ffi::c_int) -> nvrtcResult;
    pub fn nvrtcGetSupportedArchs(
        supportedArchs: *mut ::core::ffi::c_int,
    ) -> nvrtcResult;
    pub fn nvrtcCreateProgram(
        prog: *mut nvrtcProgram,
        src: *const ::core::ffi::c_char,
        name: *const ::core::ffi::c_char,
        numHeaders: ::core::ffi::c_int,
        headers: *const *const ::core::ffi::c_char,
        includeNames: *const *const ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcDestroyProgram(prog: *mut nvrtcProgram) -> nvrtcResult;
    pub fn nvrtcCompileProgram(
        prog: nvrtcProgram,
        numOptions: ::core::ffi::c_int,
        options: *const *const ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcGetPTXSize(prog: nvrtcProgram, ptxSizeRet: *mut usize) -> nvrtcResult;
    pub fn nvrtcGetPTX(prog: nvrtcProgram, ptx: *mut ::core::ffi::c_char) -> nvrtcResult;
    pub fn nvrtcGetCUBINSize(
        prog: nvrtcProgram,
        cubinSizeRet: *mut usize,
    ) -> nvrtcResult;
    pub fn nvrtcGetCUBIN(
        prog: nvrtcProgram,
        cubin: *mut ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcGetLTOIRSize(
        prog: nvrtcProgram,
        LTOIRSizeRet: *mut usize,
    ) -> nvrtcResult;
    pub fn nvrtcGetLTOIR(
        prog: nvrtcProgram,
        LTOIR: *mut ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcGetOptiXIRSize(
        prog: nvrtcProgram,
        optixirSizeRet: *mut usize,
    ) -> nvrtcResult;
    pub fn nvrtcGetOptiXIR(
        prog: nvrtcProgram,
        optixir: *mut ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcGetProgramLogSize(
        prog: nvrtcProgram,
        logSizeRet: *mut usize,
    ) -> nvrtcResult;
    pub fn nvrtcGetProgramLog(
        prog: nvrtcProgram,
        log: *mut ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcAddNameExpression(
        prog: nvrtcProgram,
        name_expression: *const ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcGetLoweredName(
        prog: nvrtcProgram,
        name_expression: *const ::core::ffi::c_char,
        lowered_name: *mut *const ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcGetPCHHeapSize(ret: *mut usize) -> nvrtcResult;
    pub fn nvrtcSetPCHHeapSize(size: usize) -> nvrtcResult;
    pub fn nvrtcGetPCHCreateStatus(prog: nvrtcProgram) -> nvrtcResult;
    pub fn nvrtcGetPCHHeapSizeRequired(
        prog: nvrtcProgram,
        size: *mut usize,
    ) -> nvrtcResult;
    pub fn nvrtcSetFlowCallback(
        prog: nvrtcProgram,
        callback: ::core::option::Option<
            unsafe extern "C" fn(
                arg1: *mut ::core::ffi::c_void,
                arg2: *mut ::core::ffi::c_void,
            ) -> ::core::ffi::c_int,
        >,
        payload: *mut ::core::ffi::c_void,
    ) -> nvrtcResult;
    pub fn nvrtcGetTileIRSize(
        prog: nvrtcProgram,
        TileIRSizeRet: *mut usize,
    ) -> nvrtcResult;
    pub fn nvrtcGetTileIR(
        prog: nvrtcProgram,
        TileIR: *mut ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcInstallBundledHeaders(
        installPath: *const ::core::ffi::c_char,
        flags: ::core::ffi::c_uint,
        errorLog: *mut *const ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcGetBundledHeadersInfo(
        info: *mut nvrtcBundledHeadersInfo,
        errorLog: *mut *const ::core::ffi::c_char,
    ) -> nvrtcResult;
    pub fn nvrtcRemoveBundledHeaders(
        installPath: *const ::core::ffi::c_char,
        errorLog: *mut *const ::core::ffi::c_char,
    ) -> nvrtcResult;
}
