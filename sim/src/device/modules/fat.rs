//! Fat binaries: a header, then entries of machine code and PTX for several GPUs.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

use crate::device::modules::image::{ImageError, broken, no_ptx};

/// The first bytes of a fat binary.
pub(super) const FAT: [u8; 4] = 0xba55_ed50_u32.to_le_bytes();
pub(super) const FAT_HEADER: usize = 16;
/// The shortest entry header that has all the fields of a plain entry.
const ENTRY_HEADER: usize = 48;
/// The shortest that has the size of what is compressed, too.
const COMPRESSED_HEADER: usize = 64;
const KIND_PTX: u16 = 1;
/// Flags of an entry whose payload is compressed.
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;

/// Most bytes of PTX that are decompressed. The largest modules of today have a tenth.
const MOST_TEXT: u64 = 256 << 20;
/// The window that every decoder of zstd should have, in bytes (RFC 8878); larger ones
/// only where the data is.
const MOST_WINDOW: u64 = 8 << 20;
/// A byte of LZ4 stands for at most so many.
const LZ4_RATIO: u64 = 255;

/// The length of a fat binary that its header says, at most `most`.
///
/// # Errors
/// The header is broken or says more.
pub(in crate::device) fn length(header: &[u8], most: usize) -> Result<usize, ImageError> {
    let header_len = usize::from(u16_at(header, 6));
    let body_len = usize::try_from(u64_at(header, 8)).ok();
    let len = body_len.and_then(|body_len| header_len.checked_add(body_len));
    // A slice is at most half of the address space.
    let most = most.min(isize::MAX.cast_unsigned());
    len.filter(|len| header_len >= FAT_HEADER && *len <= most)
        .ok_or_else(|| broken("a broken fat binary"))
}

/// An entry with PTX.
struct Entry<'a> {
    /// The `sm_` number that it is for.
    arch: u32,
    flags: u64,
    /// With the padding after it.
    payload: &'a [u8],
    /// How much of the payload is compressed data.
    packed: u32,
    /// How long that is when unpacked.
    unpacked: u64,
}

/// The PTX for a device: the one for the newest GPU that is no newer than the device.
///
/// # Errors
/// There is none, or it is broken.
pub(in crate::device) fn ptx(image: &[u8], capability: (u32, u32)) -> Result<String, ImageError> {
    let entries = entries(image);
    let device = capability.0 * 10 + capability.1;
    let usable = entries.iter().filter(|entry| entry.arch <= device);
    if let Some(best) = usable.max_by_key(|entry| entry.arch) {
        return best.text();
    }
    Err(match entries.iter().map(|entry| entry.arch).min() {
        Some(oldest) => no_ptx(&format!(
            "the PTX in the fat binary is for sm_{oldest} and newer, the device is sm_{device}"
        )),
        None => no_ptx("the fat binary has machine code for GPUs and no PTX"),
    })
}

fn entries(image: &[u8]) -> Vec<Entry<'_>> {
    let mut found = Vec::new();
    let mut rest = &image[usize::from(u16_at(image, 6)).min(image.len())..];
    while rest.len() >= ENTRY_HEADER {
        let (kind, header_len) = (u16_at(rest, 0), u32_at(rest, 4) as usize);
        let len = usize::try_from(u64_at(rest, 8)).unwrap_or(usize::MAX);
        let Some(payload) = rest.get(header_len..).and_then(|rest| rest.get(..len)) else {
            break;
        };
        if kind == KIND_PTX {
            let long = header_len >= COMPRESSED_HEADER;
            found.push(Entry {
                arch: u32_at(rest, 28),
                flags: u64_at(rest, 40),
                payload,
                packed: u32_at(rest, 16),
                unpacked: if long { u64_at(rest, 56) } else { 0 },
            });
        }
        // Past the end for the last entry; an entry without length would be read for ever.
        rest = &rest[(header_len + len).max(1).min(rest.len())..];
    }
    found
}

impl Entry<'_> {
    fn text(&self) -> Result<String, ImageError> {
        let unpacked;
        let bytes = match (self.flags & LZ4 != 0, self.flags & ZSTD != 0) {
            (false, false) => self.payload,
            (true, false) => {
                unpacked = self.unpack(lz4)?;
                &unpacked
            }
            (false, true) => {
                unpacked = self.unpack(zstd)?;
                &unpacked
            }
            (true, true) => return Err(broken("PTX that is compressed in two ways")),
        };
        let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// Unpacks the payload, to exactly as many bytes as the header says.
    fn unpack(&self, with: fn(&[u8], usize) -> Option<Vec<u8>>) -> Result<Vec<u8>, ImageError> {
        let packed = self.payload.get(..self.packed as usize);
        let packed = packed.filter(|packed| !packed.is_empty());
        let packed = packed.ok_or_else(|| broken("compressed PTX without data"))?;
        if self.unpacked > MOST_TEXT {
            return Err(broken("compressed PTX of more than 256 MiB"));
        }
        let bytes = with(packed, self.unpacked as usize);
        bytes.ok_or_else(|| broken("compressed PTX that does not decompress"))
    }
}

/// Allocates no more than the data can become.
fn lz4(packed: &[u8], len: usize) -> Option<Vec<u8>> {
    if len as u64 > packed.len() as u64 * LZ4_RATIO {
        return None;
    }
    let mut bytes = vec![0; len];
    let written = lz4_flex::block::decompress_into(packed, &mut bytes).ok()?;
    (written == len).then_some(bytes)
}

/// Allocates a window at once, and the result as the data comes, up to `len`.
fn zstd(packed: &[u8], len: usize) -> Option<Vec<u8>> {
    let window = MOST_WINDOW.max(len as u64);
    let decoder = StreamingDecoder::new_with_max_window_size(packed, window).ok()?;
    let mut bytes = Vec::new();
    decoder.take(len as u64 + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() == len).then_some(bytes)
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
pub(in crate::device) mod tests {
    use super::*;
    use cupola_sys::driver::CUresult;

    pub(in crate::device) const KIND_PTX: u16 = super::KIND_PTX;
    const DEVICE: (u32, u32) = (8, 0);

    /// A plain entry.
    pub(in crate::device) fn entry(kind: u16, arch: u32, flags: u64, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; COMPRESSED_HEADER];
        bytes[0..2].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&64u32.to_le_bytes());
        bytes[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        bytes[28..32].copy_from_slice(&arch.to_le_bytes());
        bytes[40..48].copy_from_slice(&flags.to_le_bytes());
        bytes.extend_from_slice(payload);
        bytes
    }

    /// An entry with compressed PTX, padded as compilers do, that unpacks to `len` bytes.
    fn packed(arch: u32, flags: u64, payload: &[u8], len: u64) -> Vec<u8> {
        let mut padded = payload.to_vec();
        padded.resize(payload.len().next_multiple_of(8), 0);
        let mut bytes = entry(KIND_PTX, arch, flags, &padded);
        bytes[16..20].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        bytes[56..64].copy_from_slice(&len.to_le_bytes());
        bytes
    }

    pub(in crate::device) fn fat(entries: &[Vec<u8>]) -> Vec<u8> {
        let body = entries.concat();
        let mut bytes = FAT.to_vec();
        bytes.extend_from_slice(&1u16.to_le_bytes());
        bytes.extend_from_slice(&16u16.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    const TEXT: &str = ".version 7.0\n.target sm_60\n.address_size 64
.visible .entry packed() { ret; }\n.visible .entry packed_twice() { ret; }\n";
    /// `TEXT` with a NUL, as the lz4 program packs it (`lz4 -9`, the frame's only block).
    const TEXT_LZ4: [u8; 97] = [
        0xff, 0x3e, 0x2e, 0x76, 0x65, 0x72, 0x73, 0x69, 0x6f, 0x6e, 0x20, 0x37, 0x2e, 0x30, 0x0a,
        0x2e, 0x74, 0x61, 0x72, 0x67, 0x65, 0x74, 0x20, 0x73, 0x6d, 0x5f, 0x36, 0x30, 0x0a, 0x2e,
        0x61, 0x64, 0x64, 0x72, 0x65, 0x73, 0x73, 0x5f, 0x73, 0x69, 0x7a, 0x65, 0x20, 0x36, 0x34,
        0x0a, 0x2e, 0x76, 0x69, 0x73, 0x69, 0x62, 0x6c, 0x65, 0x20, 0x2e, 0x65, 0x6e, 0x74, 0x72,
        0x79, 0x20, 0x70, 0x61, 0x63, 0x6b, 0x65, 0x64, 0x28, 0x29, 0x20, 0x7b, 0x20, 0x72, 0x65,
        0x74, 0x3b, 0x20, 0x7d, 0x22, 0x00, 0x04, 0x64, 0x5f, 0x74, 0x77, 0x69, 0x63, 0x65, 0x28,
        0x00, 0x50, 0x3b, 0x20, 0x7d, 0x0a, 0x00,
    ];
    /// The same, as the zstd program packs it (`zstd -19 --no-check`).
    const TEXT_ZSTD: [u8; 95] = [
        0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x77, 0xb5, 0x02, 0x00, 0x42, 0x85, 0x12, 0x17, 0x90, 0xbb,
        0x01, 0x40, 0x6b, 0x59, 0x28, 0x86, 0x75, 0x47, 0x57, 0x92, 0xa8, 0xdd, 0xc5, 0x92, 0x55,
        0x64, 0xb7, 0x4f, 0x5e, 0xe6, 0xfc, 0xc0, 0x3a, 0x6e, 0x9e, 0x45, 0x59, 0xfc, 0x76, 0x42,
        0x29, 0x04, 0x6f, 0x11, 0xd7, 0x98, 0x74, 0xfa, 0xe1, 0x6a, 0x6e, 0x62, 0xb0, 0x73, 0xd4,
        0x34, 0xac, 0xdc, 0x87, 0x9d, 0xb9, 0x6f, 0xbf, 0xd7, 0x34, 0xa9, 0xc5, 0x14, 0xcf, 0xdf,
        0xa3, 0xdb, 0x6b, 0x52, 0x4a, 0x24, 0x5c, 0xd8, 0x7b, 0xa3, 0x06, 0x02, 0x00, 0x4b, 0x71,
        0xd5, 0x94, 0x5a, 0x99, 0x01,
    ];

    /// Without it, what real compressors make could not be read.
    #[test]
    fn unpacks_what_compressors_pack() {
        let len = TEXT.len() as u64 + 1;
        let lz4 = fat(&[packed(80, 0x2000, &TEXT_LZ4, len)]);
        assert_eq!(ptx(&lz4, DEVICE).unwrap(), TEXT);
        let zstd = fat(&[packed(80, 0x8000, &TEXT_ZSTD, len)]);
        assert_eq!(ptx(&zstd, DEVICE).unwrap(), TEXT);
    }

    /// Without it, a fat binary could give machine code, PTX that is too new for the
    /// device, or an older one than it has.
    #[test]
    fn takes_the_best_ptx_for_the_device() {
        let image = fat(&[
            entry(2, 80, 0, b"\x7fELF"),
            entry(KIND_PTX, 70, 0, b"old\0\0"),
            entry(KIND_PTX, 80, 0, b"new\0"),
            entry(KIND_PTX, 90, 0, b"too new\0"),
        ]);
        assert_eq!(ptx(&image, (8, 0)).unwrap(), "new");
        assert_eq!(ptx(&image, (8, 9)).unwrap(), "new");
        assert_eq!(ptx(&image, (7, 5)).unwrap(), "old");
        assert_eq!(ptx(&image, (9, 0)).unwrap(), "too new");
        let (code, text) = ptx(&image, (6, 0)).unwrap_err();
        assert_eq!(code, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
        assert!(text.contains("sm_70 and newer"), "{text}");
    }

    /// Without it, a program that gives a binary without PTX would not learn what to do.
    #[test]
    fn says_what_is_missing() {
        let (code, text) = ptx(&fat(&[entry(2, 90, 0, b"\x7fELF")]), DEVICE).unwrap_err();
        assert_eq!(code, CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
        assert!(text.contains("compile to PTX"), "{text}");
    }

    /// Without it, a few hostile bytes could take all memory, or end the process.
    #[test]
    fn hostile_sizes_are_refused() {
        let len = TEXT.len() as u64 + 1;
        let refused = |flags: u64, payload: &[u8], len: u64| {
            let result = ptx(&fat(&[packed(80, flags, payload, len)]), DEVICE);
            assert_eq!(result.unwrap_err().0, CUresult::CUDA_ERROR_INVALID_IMAGE);
        };
        for (flags, payload) in [(0x2000, &TEXT_LZ4[..]), (0x8000, &TEXT_ZSTD[..])] {
            for wrong in [0, 1, len - 1, len + 1, MOST_TEXT, MOST_TEXT + 1, u64::MAX] {
                refused(flags, payload, wrong);
            }
            refused(flags, b"", len);
            refused(0xa000, payload, len);
            for end in 0..payload.len() {
                refused(flags, &payload[..end], len);
            }
        }
        // A header without the field for the size.
        let mut short = packed(80, 0x2000, &TEXT_LZ4, len);
        short[4..8].copy_from_slice(&48u32.to_le_bytes());
        assert!(ptx(&fat(&[short]), DEVICE).is_err());
    }

    /// Without it, some change of a byte could make a decompressor panic.
    #[test]
    fn every_changed_byte_is_survived() {
        let len = TEXT.len() as u64 + 1;
        for (flags, payload) in [(0x2000, &TEXT_LZ4[..]), (0x8000, &TEXT_ZSTD[..])] {
            for at in 0..payload.len() {
                for change in [0x01, 0x40, 0x80, 0xff] {
                    let mut bytes = payload.to_vec();
                    bytes[at] ^= change;
                    let _ = ptx(&fat(&[packed(80, flags, &bytes, len)]), DEVICE);
                }
            }
        }
    }

    /// Without it, a broken image could make the reader run off its end or never stop.
    #[test]
    fn survives_every_truncation() {
        let image = fat(&[entry(KIND_PTX, 80, 0, b"text\0"), entry(2, 80, 0, b"")]);
        for len in 0..image.len() {
            let _ = ptx(&image[..len], DEVICE);
        }
        let zeros = [0; 256];
        assert!(ptx(&zeros, DEVICE).is_err());
    }
}
