//! Module images: PTX text, alone or inside a fat binary.
//!
//! Machine code is for GPUs; this device takes PTX only and says so.

use std::borrow::Cow;
use std::ffi::CStr;

use cupola_sys::driver::CUresult;

use crate::device::modules::fat::{self, FAT, FAT_HEADER};

/// Why an image cannot be loaded: the code, and the line for the log.
pub(in crate::device) type ImageError = (CUresult, String);

const ELF: &[u8] = b"\x7fELF";
/// The structure that the compiler wraps around a fat binary's address.
const FAT_WRAPPER: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();

const CUBIN: &str = "the image is a cubin, machine code for GPUs";

pub(in crate::device) fn broken(what: &str) -> ImageError {
    (CUresult::CUDA_ERROR_INVALID_IMAGE, what.into())
}

/// There is no PTX: what there is instead, and how to get PTX.
pub(in crate::device) fn no_ptx(what: &str) -> ImageError {
    let text = format!(
        "{what}; the software device runs PTX only: compile to PTX (for nvcc: -gencode \
         arch=compute_80,code=compute_80; for NVRTC: --gpu-architecture=compute_80)"
    );
    (CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU, text)
}

/// An image that may have PTX.
#[derive(Debug)]
pub(in crate::device) enum Image<'a> {
    Text(Cow<'a, str>),
    /// A fat binary, with its header.
    Fat(&'a [u8]),
}

impl Image<'_> {
    /// The PTX for a device of this compute capability.
    ///
    /// # Errors
    /// The image has none that can be read.
    pub(in crate::device) fn ptx(
        &self,
        capability: (u32, u32),
    ) -> Result<Cow<'_, str>, ImageError> {
        match self {
            Self::Text(text) => Ok(Cow::Borrowed(text)),
            Self::Fat(bytes) => fat::ptx(bytes, capability).map(Cow::Owned),
        }
    }
}

/// An image in a program's memory.
///
/// # Errors
/// The image is of a kind that has no PTX.
///
/// # Safety
/// `image` is what `cuModuleLoadData` takes: text that ends with NUL, an ELF object, a
/// fat binary, or a fat binary's wrapper; readable as far as its own headers say, until
/// the result has been used.
pub(in crate::device) unsafe fn image_at<'a>(image: *const u8) -> Result<Image<'a>, ImageError> {
    if image.is_null() {
        return Err((CUresult::CUDA_ERROR_INVALID_VALUE, "no image".into()));
    }
    // SAFETY: the shortest image is an empty text, one NUL. Bytes after a NUL are not read.
    let magic = unsafe { magic(image) };
    if magic == ELF {
        return Err(no_ptx(CUBIN));
    }
    if magic == FAT_WRAPPER {
        // SAFETY: a wrapper is magic, version and the address of the fat binary.
        let data = unsafe { image.add(8).cast::<*const u8>().read_unaligned() };
        // SAFETY: an address in a wrapper is that of a fat binary, which begins with its
        // magic, or null.
        if data.is_null() || unsafe { self::magic(data) } != FAT {
            return Err(broken("a fat binary's wrapper without a fat binary"));
        }
        // SAFETY: the address is that of a fat binary.
        return unsafe { fat_at(data) };
    }
    if magic == FAT {
        // SAFETY: the image is a fat binary.
        return unsafe { fat_at(image) };
    }
    // SAFETY: everything else is text that ends with NUL.
    Ok(Image::Text(
        unsafe { CStr::from_ptr(image.cast()) }.to_string_lossy(),
    ))
}

/// The first four bytes, zeros from the first NUL on.
///
/// # Safety
/// The bytes up to the first NUL or the fourth are readable.
unsafe fn magic(image: *const u8) -> [u8; 4] {
    let mut magic = [0; 4];
    for (offset, byte) in magic.iter_mut().enumerate() {
        // SAFETY: no byte before was NUL.
        *byte = unsafe { image.add(offset).read() };
        if *byte == 0 {
            break;
        }
    }
    magic
}

/// # Safety
/// `image` is a fat binary, readable as far as its header says.
unsafe fn fat_at<'a>(image: *const u8) -> Result<Image<'a>, ImageError> {
    // SAFETY: a fat binary has a header of 16 bytes; the caller's promise.
    let header = unsafe { std::slice::from_raw_parts(image, FAT_HEADER) };
    let len = fat::length(header, usize::MAX - image.addr())?;
    // SAFETY: the header says how long the fat binary is.
    Ok(Image::Fat(unsafe {
        std::slice::from_raw_parts(image, len)
    }))
}

/// An image of which all bytes are given, as in a file. No address in it is followed: a
/// file's bytes promise nothing of memory.
///
/// # Errors
/// The image is of a kind that has no PTX.
pub(in crate::device) fn image_in(image: &[u8]) -> Result<Image<'_>, ImageError> {
    if image.starts_with(ELF) {
        return Err(no_ptx(CUBIN));
    }
    if image.starts_with(&FAT_WRAPPER) {
        return Err(broken(
            "the file has a fat binary's wrapper, which holds an address and not the binary",
        ));
    }
    if image.starts_with(&FAT) {
        let len = fat::length(image, image.len())?;
        return Ok(Image::Fat(&image[..len]));
    }
    let end = image.iter().rposition(|byte| *byte != 0);
    let text = &image[..end.map_or(0, |end| end + 1)];
    if text.contains(&0) {
        return Err(broken("the file is neither text nor a fat binary"));
    }
    Ok(Image::Text(String::from_utf8_lossy(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::modules::fat::tests::{KIND_PTX, entry, fat};

    const DEVICE: (u32, u32) = (8, 0);

    fn ptx_in(image: &[u8]) -> Result<String, ImageError> {
        image_in(image)?.ptx(DEVICE).map(Cow::into_owned)
    }

    /// Without it, a file's bytes could be taken for an address or for a length beyond
    /// its end.
    #[test]
    fn files_are_read_within_their_bytes() {
        let whole = fat(&[entry(KIND_PTX, 80, 0, b"text\0")]);
        assert_eq!(ptx_in(&whole).unwrap(), "text");
        assert_eq!(ptx_in(b"text\0").unwrap(), "text");
        assert_eq!(ptx_in(b"").unwrap(), "");
        let refused = |image: &[u8]| ptx_in(image).unwrap_err().0;
        for len in FAT.len()..whole.len() {
            assert_eq!(refused(&whole[..len]), CUresult::CUDA_ERROR_INVALID_IMAGE);
        }
        // No NUL in sight: the length would be beyond any memory.
        let endless = [&FAT[..], &[0xff; 60]].concat();
        assert_eq!(refused(&endless), CUresult::CUDA_ERROR_INVALID_IMAGE);
        let wrapper = [&FAT_WRAPPER[..], &[0xff; 60]].concat();
        assert_eq!(refused(&wrapper), CUresult::CUDA_ERROR_INVALID_IMAGE);
        assert_eq!(refused(&FAT_WRAPPER), CUresult::CUDA_ERROR_INVALID_IMAGE);
        assert_eq!(refused(b"a\0b"), CUresult::CUDA_ERROR_INVALID_IMAGE);
        assert_eq!(refused(ELF), CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
    }

    /// Without it, a wrapper without a binary would be a read of address null, or of
    /// what lies there instead.
    #[test]
    fn a_wrapper_must_lead_to_a_fat_binary() {
        let wrapped = |data: *const u8| {
            let mut wrapper = [std::ptr::null::<u8>(); 3];
            let magic = u32::from_le_bytes(FAT_WRAPPER) as usize;
            wrapper[0] = std::ptr::without_provenance(magic);
            wrapper[1] = data;
            // SAFETY: the wrapper outlives the call; what it leads to is null or has at
            // least a magic.
            unsafe { image_at(wrapper.as_ptr().cast()) }?
                .ptx(DEVICE)
                .map(Cow::into_owned)
        };
        let image = fat(&[entry(KIND_PTX, 80, 0, b"text\0")]);
        assert_eq!(wrapped(image.as_ptr()).unwrap(), "text");
        for data in [std::ptr::null(), b"not fat".as_ptr()] {
            let (code, _) = wrapped(data).unwrap_err();
            assert_eq!(code, CUresult::CUDA_ERROR_INVALID_IMAGE);
        }
    }
}
