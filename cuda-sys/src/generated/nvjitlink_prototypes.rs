// Written by `cargo xtask bindgen`. Do not edit.
unsafe extern "C" {
    #[link_name = "\u{1}__nvJitLinkCreate_13_5"]
    pub fn nvJitLinkCreate(
        handle: *mut nvJitLinkHandle,
        numOptions: u32,
        options: *const *const ::core::ffi::c_char,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkDestroy_13_5"]
    pub fn nvJitLinkDestroy(handle: *mut nvJitLinkHandle) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkAddData_13_5"]
    pub fn nvJitLinkAddData(
        handle: nvJitLinkHandle,
        inputType: nvJitLinkInputType,
        data: *const ::core::ffi::c_void,
        size: usize,
        name: *const ::core::ffi::c_char,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkAddFile_13_5"]
    pub fn nvJitLinkAddFile(
        handle: nvJitLinkHandle,
        inputType: nvJitLinkInputType,
        fileName: *const ::core::ffi::c_char,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkComplete_13_5"]
    pub fn nvJitLinkComplete(handle: nvJitLinkHandle) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetLinkedCubinSize_13_5"]
    pub fn nvJitLinkGetLinkedCubinSize(
        handle: nvJitLinkHandle,
        size: *mut usize,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetLinkedCubin_13_5"]
    pub fn nvJitLinkGetLinkedCubin(
        handle: nvJitLinkHandle,
        cubin: *mut ::core::ffi::c_void,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetLinkedPtxSize_13_5"]
    pub fn nvJitLinkGetLinkedPtxSize(
        handle: nvJitLinkHandle,
        size: *mut usize,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetLinkedPtx_13_5"]
    pub fn nvJitLinkGetLinkedPtx(
        handle: nvJitLinkHandle,
        ptx: *mut ::core::ffi::c_char,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetLinkedLTOIRSize_13_5"]
    pub fn nvJitLinkGetLinkedLTOIRSize(
        handle: nvJitLinkHandle,
        size: *mut usize,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetLinkedLTOIR_13_5"]
    pub fn nvJitLinkGetLinkedLTOIR(
        handle: nvJitLinkHandle,
        ltoir: *mut ::core::ffi::c_void,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetErrorLogSize_13_5"]
    pub fn nvJitLinkGetErrorLogSize(
        handle: nvJitLinkHandle,
        size: *mut usize,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetErrorLog_13_5"]
    pub fn nvJitLinkGetErrorLog(
        handle: nvJitLinkHandle,
        log: *mut ::core::ffi::c_char,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetInfoLogSize_13_5"]
    pub fn nvJitLinkGetInfoLogSize(
        handle: nvJitLinkHandle,
        size: *mut usize,
    ) -> nvJitLinkResult;
    #[link_name = "\u{1}__nvJitLinkGetInfoLog_13_5"]
    pub fn nvJitLinkGetInfoLog(
        handle: nvJitLinkHandle,
        log: *mut ::core::ffi::c_char,
    ) -> nvJitLinkResult;
    pub fn nvJitLinkVersion(
        major: *mut ::core::ffi::c_uint,
        minor: *mut ::core::ffi::c_uint,
    ) -> nvJitLinkResult;
}
