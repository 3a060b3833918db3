// Written by `cargo xtask bindgen`. Do not edit.
pub const NVRTC_INSTALL_HEADERS_SKIP_IF_EXISTS: u32 = 0;
pub const NVRTC_INSTALL_HEADERS_FORCE_OVERWRITE: u32 = 1;
pub const NVRTC_INSTALL_HEADERS_NO_WAIT: u32 = 2;
impl nvrtcResult {
    pub const NVRTC_SUCCESS: nvrtcResult = nvrtcResult(0);
    pub const NVRTC_ERROR_OUT_OF_MEMORY: nvrtcResult = nvrtcResult(1);
    pub const NVRTC_ERROR_PROGRAM_CREATION_FAILURE: nvrtcResult = nvrtcResult(2);
    pub const NVRTC_ERROR_INVALID_INPUT: nvrtcResult = nvrtcResult(3);
    pub const NVRTC_ERROR_INVALID_PROGRAM: nvrtcResult = nvrtcResult(4);
    pub const NVRTC_ERROR_INVALID_OPTION: nvrtcResult = nvrtcResult(5);
    pub const NVRTC_ERROR_COMPILATION: nvrtcResult = nvrtcResult(6);
    pub const NVRTC_ERROR_BUILTIN_OPERATION_FAILURE: nvrtcResult = nvrtcResult(7);
    pub const NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION: nvrtcResult = nvrtcResult(
        8,
    );
    pub const NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION: nvrtcResult = nvrtcResult(
        9,
    );
    pub const NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID: nvrtcResult = nvrtcResult(10);
    pub const NVRTC_ERROR_INTERNAL_ERROR: nvrtcResult = nvrtcResult(11);
    pub const NVRTC_ERROR_TIME_FILE_WRITE_FAILED: nvrtcResult = nvrtcResult(12);
    pub const NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED: nvrtcResult = nvrtcResult(13);
    pub const NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED: nvrtcResult = nvrtcResult(14);
    pub const NVRTC_ERROR_PCH_CREATE: nvrtcResult = nvrtcResult(15);
    pub const NVRTC_ERROR_CANCELLED: nvrtcResult = nvrtcResult(16);
    pub const NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED: nvrtcResult = nvrtcResult(17);
    pub const NVRTC_ERROR_BUSY: nvrtcResult = nvrtcResult(18);
}
#[repr(transparent)]
#[derive(Debug, Copy, Clone, Hash, PartialEq, Eq)]
pub struct nvrtcResult(pub ::core::ffi::c_uint);
#[repr(C)]
#[derive(Debug)]
pub struct _nvrtcProgram {
    _unused: [u8; 0],
}
pub type nvrtcProgram = *mut _nvrtcProgram;
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq)]
pub struct nvrtcBundledHeadersInfo {
    pub available: ::core::ffi::c_int,
    pub compressedSize: usize,
    pub uncompressedSize: usize,
    pub cudaVersionMajor: ::core::ffi::c_int,
    pub cudaVersionMinor: ::core::ffi::c_int,
    pub numFiles: ::core::ffi::c_uint,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of nvrtcBundledHeadersInfo",
    ][::core::mem::size_of::<nvrtcBundledHeadersInfo>() - 40usize];
    [
        "Alignment of nvrtcBundledHeadersInfo",
    ][::core::mem::align_of::<nvrtcBundledHeadersInfo>() - 8usize];
    [
        "Offset of field: nvrtcBundledHeadersInfo::available",
    ][::core::mem::offset_of!(nvrtcBundledHeadersInfo, available) - 0usize];
    [
        "Offset of field: nvrtcBundledHeadersInfo::compressedSize",
    ][::core::mem::offset_of!(nvrtcBundledHeadersInfo, compressedSize) - 8usize];
    [
        "Offset of field: nvrtcBundledHeadersInfo::uncompressedSize",
    ][::core::mem::offset_of!(nvrtcBundledHeadersInfo, uncompressedSize) - 16usize];
    [
        "Offset of field: nvrtcBundledHeadersInfo::cudaVersionMajor",
    ][::core::mem::offset_of!(nvrtcBundledHeadersInfo, cudaVersionMajor) - 24usize];
    [
        "Offset of field: nvrtcBundledHeadersInfo::cudaVersionMinor",
    ][::core::mem::offset_of!(nvrtcBundledHeadersInfo, cudaVersionMinor) - 28usize];
    [
        "Offset of field: nvrtcBundledHeadersInfo::numFiles",
    ][::core::mem::offset_of!(nvrtcBundledHeadersInfo, numFiles) - 32usize];
};
