// Written by `cargo xtask bindgen`. Do not edit.
impl nvJitLinkResult {
    pub const NVJITLINK_SUCCESS: nvJitLinkResult = nvJitLinkResult(0);
    pub const NVJITLINK_ERROR_UNRECOGNIZED_OPTION: nvJitLinkResult = nvJitLinkResult(1);
    pub const NVJITLINK_ERROR_MISSING_ARCH: nvJitLinkResult = nvJitLinkResult(2);
    pub const NVJITLINK_ERROR_INVALID_INPUT: nvJitLinkResult = nvJitLinkResult(3);
    pub const NVJITLINK_ERROR_PTX_COMPILE: nvJitLinkResult = nvJitLinkResult(4);
    pub const NVJITLINK_ERROR_NVVM_COMPILE: nvJitLinkResult = nvJitLinkResult(5);
    pub const NVJITLINK_ERROR_INTERNAL: nvJitLinkResult = nvJitLinkResult(6);
    pub const NVJITLINK_ERROR_THREADPOOL: nvJitLinkResult = nvJitLinkResult(7);
    pub const NVJITLINK_ERROR_UNRECOGNIZED_INPUT: nvJitLinkResult = nvJitLinkResult(8);
    pub const NVJITLINK_ERROR_FINALIZE: nvJitLinkResult = nvJitLinkResult(9);
    pub const NVJITLINK_ERROR_NULL_INPUT: nvJitLinkResult = nvJitLinkResult(10);
    pub const NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS: nvJitLinkResult = nvJitLinkResult(
        11,
    );
    pub const NVJITLINK_ERROR_INCORRECT_INPUT_TYPE: nvJitLinkResult = nvJitLinkResult(
        12,
    );
    pub const NVJITLINK_ERROR_ARCH_MISMATCH: nvJitLinkResult = nvJitLinkResult(13);
    pub const NVJITLINK_ERROR_OUTDATED_LIBRARY: nvJitLinkResult = nvJitLinkResult(14);
    pub const NVJITLINK_ERROR_MISSING_FATBIN: nvJitLinkResult = nvJitLinkResult(15);
    pub const NVJITLINK_ERROR_UNRECOGNIZED_ARCH: nvJitLinkResult = nvJitLinkResult(16);
    pub const NVJITLINK_ERROR_UNSUPPORTED_ARCH: nvJitLinkResult = nvJitLinkResult(17);
    pub const NVJITLINK_ERROR_LTO_NOT_ENABLED: nvJitLinkResult = nvJitLinkResult(18);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct nvJitLinkResult(pub ::core::ffi::c_uint);
impl nvJitLinkInputType {
    pub const NVJITLINK_INPUT_NONE: nvJitLinkInputType = nvJitLinkInputType(0);
    pub const NVJITLINK_INPUT_CUBIN: nvJitLinkInputType = nvJitLinkInputType(1);
    pub const NVJITLINK_INPUT_PTX: nvJitLinkInputType = nvJitLinkInputType(2);
    pub const NVJITLINK_INPUT_LTOIR: nvJitLinkInputType = nvJitLinkInputType(3);
    pub const NVJITLINK_INPUT_FATBIN: nvJitLinkInputType = nvJitLinkInputType(4);
    pub const NVJITLINK_INPUT_OBJECT: nvJitLinkInputType = nvJitLinkInputType(5);
    pub const NVJITLINK_INPUT_LIBRARY: nvJitLinkInputType = nvJitLinkInputType(6);
    pub const NVJITLINK_INPUT_INDEX: nvJitLinkInputType = nvJitLinkInputType(7);
    pub const NVJITLINK_INPUT_ANY: nvJitLinkInputType = nvJitLinkInputType(10);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct nvJitLinkInputType(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug)]
pub struct nvJitLink {
    _unused: [u8; 0],
}
pub type nvJitLinkHandle = *mut nvJitLink;
