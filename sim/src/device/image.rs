//! Module images: PTX text, alone or inside a fat binary.
//!
//! Machine code is for GPUs; this device takes PTX only and says so.

use std::borrow::Cow;
use std::ffi::CStr;

use cupola_sys::driver::CUresult;

/// Why an image cannot be loaded: the code, and the line for the log.
pub(super) type ImageError = (CUresult, String);

const ELF: &[u8] = b"\x7fELF";
/// A fat binary, and the structure that the compiler wraps around its address.
const FAT: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
const FAT_WRAPPER: [u8; 4] = 0x4662_43b1_u32.to_le_bytes();
const FAT_HEADER: usize = 16;
/// The shortest entry header that has all the fields read here.
const ENTRY_HEADER: usize = 48;
const KIND_PTX: u16 = 1;
/// Flags of an entry whose payload is compressed.
const COMPRESSED: u64 = 0x2000 | 0x8000;

const CUBIN: &str = "the image is a cubin, machine code for GPUs";

fn broken(what: &str) -> ImageError {
    (CUresult::CUDA_ERROR_INVALID_IMAGE, what.into())
}

fn no_ptx(what: &str) -> ImageError {
    let text = format!(
        "{what}; the software device runs PTX only: compile to PTX (for nvcc: -gencode \
         arch=compute_80,code=compute_80; for NVRTC: --gpu-architecture=compute_80)"
    );
    (CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU, text)
}

/// The PTX text of an image in a program's memory.
///
/// # Errors
/// The image has no PTX that can be read.
///
/// # Safety
/// `image` is what `cuModuleLoadData` takes: text that ends with NUL, an ELF object, a
/// fat binary, or a fat binary's wrapper; readable as far as its own headers say, until
/// the text has been used.
pub(super) unsafe fn ptx_at<'a>(image: *const u8) -> Result<Cow<'a, str>, ImageError> {
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
        return unsafe { fat_ptx_at(data) };
    }
    if magic == FAT {
        // SAFETY: the image is a fat binary.
        return unsafe { fat_ptx_at(image) };
    }
    // SAFETY: everything else is text that ends with NUL.
    Ok(unsafe { CStr::from_ptr(image.cast()) }.to_string_lossy())
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
/// As for [`fat_ptx`], with the length that the header says.
unsafe fn fat_ptx_at<'a>(image: *const u8) -> Result<Cow<'a, str>, ImageError> {
    // SAFETY: a fat binary has a header of 16 bytes; the caller's promise.
    let header = unsafe { std::slice::from_raw_parts(image, FAT_HEADER) };
    let len = fat_len(header, usize::MAX - image.addr())?;
    // SAFETY: the header says how long the fat binary is.
    fat_ptx(unsafe { std::slice::from_raw_parts(image, len) })
}

/// The length of a fat binary that its header says, at most `most`.
fn fat_len(header: &[u8], most: usize) -> Result<usize, ImageError> {
    let header_len = usize::from(u16_at(header, 6));
    let body_len = usize::try_from(u64_at(header, 8)).ok();
    let len = body_len.and_then(|body_len| header_len.checked_add(body_len));
    // A slice is at most half of the address space.
    let most = most.min(isize::MAX.cast_unsigned());
    len.filter(|len| header_len >= FAT_HEADER && *len <= most)
        .ok_or_else(|| broken("a broken fat binary"))
}

/// The PTX text of an image that was read from a file. No address in it is followed: a
/// file's bytes are nobody's promise.
///
/// # Errors
/// The image has no PTX that can be read.
pub(super) fn ptx_in(image: &[u8]) -> Result<Cow<'_, str>, ImageError> {
    if image.starts_with(ELF) {
        return Err(no_ptx(CUBIN));
    }
    if image.starts_with(&FAT_WRAPPER) {
        return Err(broken(
            "the file has a fat binary's wrapper, which holds an address and not the binary",
        ));
    }
    if image.starts_with(&FAT) {
        let len = fat_len(image, image.len())?;
        return fat_ptx(&image[..len]);
    }
    let end = image.iter().rposition(|byte| *byte != 0);
    let text = &image[..end.map_or(0, |end| end + 1)];
    if text.contains(&0) {
        return Err(broken("the file is neither text nor a fat binary"));
    }
    Ok(String::from_utf8_lossy(text))
}

/// The newest PTX of a fat binary.
fn fat_ptx<'a>(image: &[u8]) -> Result<Cow<'a, str>, ImageError> {
    let mut best: Option<(u32, &[u8])> = None;
    let mut compressed = false;
    let mut rest = &image[usize::from(u16_at(image, 6)).min(image.len())..];
    while rest.len() >= ENTRY_HEADER {
        let (kind, header_len) = (u16_at(rest, 0), u32_at(rest, 4) as usize);
        let len = usize::try_from(u64_at(rest, 8)).unwrap_or(usize::MAX);
        let Some(payload) = rest.get(header_len..).and_then(|rest| rest.get(..len)) else {
            break;
        };
        if kind == KIND_PTX {
            let (arch, flags) = (u32_at(rest, 28), u64_at(rest, 40));
            if flags & COMPRESSED != 0 {
                compressed = true;
            } else if best.is_none_or(|(other, _)| arch > other) {
                best = Some((arch, payload));
            }
        }
        // Past the end for the last entry; an entry without length would be read for ever.
        rest = &rest[(header_len + len).max(1).min(rest.len())..];
    }
    match best {
        Some((_, payload)) => {
            let text = payload.split(|byte| *byte == 0).next().unwrap_or_default();
            Ok(Cow::Owned(String::from_utf8_lossy(text).into_owned()))
        }
        None if compressed => Err(no_ptx(
            "the PTX in the fat binary is compressed, which is not supported (nvcc: --no-compress)",
        )),
        None => Err(no_ptx(
            "the fat binary has machine code for GPUs and no PTX",
        )),
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes
        .get(at..at + 2)
        .map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: u16, arch: u32, flags: u64, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[0..2].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&64u32.to_le_bytes());
        bytes[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes[28..32].copy_from_slice(&arch.to_le_bytes());
        bytes[40..48].copy_from_slice(&flags.to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes
    }

    fn fat(entries: &[Vec<u8>]) -> Vec<u8> {
        let body = entries.concat();
        let mut bytes = FAT.to_vec();
        bytes.extend_from_slice(&1u16.to_le_bytes());
        bytes.extend_from_slice(&16u16.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Without it, a fat binary could give machine code, or an older PTX than it has.
    #[test]
    fn takes_the_newest_plain_ptx() {
        let image = fat(&[
            entry(2, 90, 0, b"\x7fELF"),
            entry(KIND_PTX, 70, 0, b"old\0\0"),
            entry(KIND_PTX, 80, 0, b"new\0"),
            entry(KIND_PTX, 90, 0x2000, b"compressed"),
        ]);
        assert_eq!(fat_ptx(&image).unwrap(), "new");
    }

    /// Without it, a program that gives a binary without PTX would not learn what to do.
    #[test]
    fn says_what_is_missing() {
        let (code, text) = fat_ptx(&fat(&[entry(2, 90, 0, b"\x7fELF")])).unwrap_err();
        assert_eq!(code, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
        assert!(text.contains("compile to PTX"), "{text}");
        let (_, text) = fat_ptx(&fat(&[entry(KIND_PTX, 80, 0x8000, b"x")])).unwrap_err();
        assert!(text.contains("compressed"), "{text}");
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
            unsafe { ptx_at(wrapper.as_ptr().cast()) }.map(Cow::into_owned)
        };
        let image = fat(&[entry(KIND_PTX, 80, 0, b"text\0")]);
        assert_eq!(wrapped(image.as_ptr()).unwrap(), "text");
        for data in [std::ptr::null(), b"not fat".as_ptr()] {
            let (code, _) = wrapped(data).unwrap_err();
            assert_eq!(code, CUresult::CUDA_ERROR_INVALID_IMAGE);
        }
    }

    /// Without it, a broken image could make the reader run off its end or never stop.
    #[test]
    fn survives_every_truncation() {
        let image = fat(&[entry(KIND_PTX, 80, 0, b"text\0"), entry(2, 80, 0, b"")]);
        for len in 0..image.len() {
            let _ = fat_ptx(&image[..len]);
        }
        let zeros = [0; 256];
        assert!(fat_ptx(&zeros).is_err());
    }
}
