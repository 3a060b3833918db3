//! The device code that is part of this crate.
//!
//! The table is written by the build script, which has proved that each PTX text was made
//! from the source beside it.

use core::ffi::CStr;

/// One file of device code: its source, its portable PTX, of some others for newer devices, and the kernels in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Embedded {
    name: &'static str,
    source: &'static str,
    /// Ends in NUL, as `cuModuleLoadData` wants it.
    ptx: &'static str,
    newer: &'static [NewerPtx],
    entries: &'static [&'static str],
    source_sha256: &'static str,
}

/// PTX of a file's kernels for newer devices, which is faster there. Results have the same bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NewerPtx {
    compute_capability: (u32, u32),
    text: &'static str,
}

impl NewerPtx {
    /// The least compute capability of a device that runs it.
    #[must_use]
    pub const fn compute_capability(&self) -> (u32, u32) {
        self.compute_capability
    }

    /// The PTX.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.text
    }
}

/// All device code of this crate, sorted by name.
pub static EMBEDDED: &[Embedded] = include!(concat!(env!("OUT_DIR"), "/embedded_table.rs"));

/// What the sources include as `prelude.cuh`: give it to NVRTC as a header of that name.
pub static PRELUDE: &str = include_str!("../device/prelude.cuh");

/// The header of device functions for CUDA C++, `cupola.cuh`: packs of elements, loops over a grid,
/// conversions, operations and reductions. It includes nothing, so a program that is compiled while
/// another runs can include it from memory:
///
/// ```no_run
/// # #[cfg(feature = "compiler")] {
/// use cupola_kernels::HEADER;
/// use cupola_kernels::compile::{CompileRequest, Target};
///
/// # fn example(target: Target) -> CompileRequest {
/// CompileRequest::new("square.cu", "#include <cupola.cuh>\n...", target).header("cupola.cuh", HEADER)
/// # }
/// # }
/// ```
pub static HEADER: &str = include_str!("../device/cupola.cuh");

impl Embedded {
    /// The file `device/NAME.cu`, if there is one of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        EMBEDDED.iter().find(|file| file.name == name)
    }

    /// The file that has the kernel `entry`.
    #[must_use]
    pub fn with_entry(entry: &str) -> Option<&'static Self> {
        EMBEDDED.iter().find(|file| file.entries.contains(&entry))
    }

    /// Name of the file without its extension.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The CUDA C source; it includes [`PRELUDE`] as `prelude.cuh` and may include [`HEADER`] as
    /// `cupola.cuh`.
    #[must_use]
    pub const fn source(&self) -> &'static str {
        self.source
    }

    /// The PTX for sm_60 and later: for every device.
    #[must_use]
    pub fn ptx(&self) -> &'static str {
        self.ptx.trim_end_matches('\0')
    }

    /// The PTX of the same kernels for newer devices, oldest first, of files whose kernels are faster with it. From sm_70 on (PTX
    /// 6.0, CUDA 9) blocks wait for what others leave where those for sm_60 have fences and a count; from sm_90 on (PTX 7.8, CUDA
    /// 11.8) kernels also let the next one on the stream start early and wait for the one before them (`griddepcontrol`), and say
    /// that their input is read once.
    #[must_use]
    pub const fn newer(&self) -> &'static [NewerPtx] {
        self.newer
    }

    /// The PTX that a device of this compute capability runs, fastest first; the last is [`ptx`](Self::ptx). A driver that does not
    /// know the version of one refuses it with `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`.
    pub fn ptx_for(&self, compute_capability: (u32, u32)) -> impl Iterator<Item = &'static str> {
        let newer = self.newer.iter().rev();
        newer
            .filter(move |newer| newer.compute_capability <= compute_capability)
            .map(|newer| newer.text)
            .chain([self.ptx()])
    }

    /// The PTX with its terminating NUL, for `cuModuleLoadData`.
    #[must_use]
    pub fn ptx_c_str(&self) -> &'static CStr {
        // The build script refuses PTX with a NUL and adds one: never the empty default.
        CStr::from_bytes_with_nul(self.ptx.as_bytes()).unwrap_or_default()
    }

    /// Names of the kernels, as `cuModuleGetFunction` takes them.
    #[must_use]
    pub const fn entries(&self) -> &'static [&'static str] {
        self.entries
    }

    /// SHA-256 in hexadecimal of [`PRELUDE`], [`HEADER`], what clang reads before them, and the source.
    #[must_use]
    pub const fn source_sha256(&self) -> &'static str {
        self.source_sha256
    }
}

// Here and below without the texts, which would fill screens.
impl core::fmt::Debug for NewerPtx {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("NewerPtx")
            .field("compute_capability", &self.compute_capability)
            .finish_non_exhaustive()
    }
}

impl core::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Embedded")
            .field("name", &self.name)
            .field("entries", &self.entries)
            .field("source_sha256", &self.source_sha256)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a renamed kernel would be found missing only by a launch. Those that macros name are
    // compared with what `ops` asks for.
    #[test]
    fn every_documented_entry_is_embedded() {
        let named = EMBEDDED.iter().flat_map(|file| {
            let is_named = |entry: &&&str| file.source().contains(**entry);
            file.entries().iter().filter(is_named)
        });
        let mut named: Vec<_> = named.collect();
        named.sort();
        assert_eq!(
            named,
            [
                &"cupola_check",
                &"cupola_copy",
                &"cupola_crc32",
                &"cupola_fill",
                &"cupola_histogram",
                &"cupola_saxpy",
                &"cupola_scale",
                &"cupola_stamp",
            ]
        );
        for file in EMBEDDED {
            assert_eq!(Embedded::find(file.name()), Some(file));
            for entry in file.entries() {
                assert_eq!(Embedded::with_entry(entry), Some(file));
            }
        }
        assert_eq!(Embedded::find("nothing"), None);
    }

    // Without it a driver could read past the text, or get an empty one.
    #[test]
    fn ptx_is_terminated_once() {
        for file in EMBEDDED {
            assert_eq!(file.ptx_c_str().to_bytes(), file.ptx().as_bytes());
            assert!(file.ptx().contains(".target sm_60"), "{}", file.name());
        }
    }

    // Without it a device could get kernels that it refuses, or such as are slower than it has.
    #[test]
    fn a_device_gets_the_newest_kernels_that_it_runs() {
        for file in EMBEDDED {
            let texts = |capability| file.ptx_for(capability).collect::<Vec<_>>();
            let [volta, hopper] = match file.newer() {
                [volta, hopper] => [volta, hopper].map(NewerPtx::text),
                newer => {
                    assert_eq!(newer.len(), 0, "{}", file.name());
                    assert_eq!(texts((12, 0)), [file.ptx()]);
                    continue;
                }
            };
            assert!(volta.contains("\n.version 6.0\n.target sm_70\n"));
            assert!(hopper.contains("\n.version 7.8\n.target sm_90\n"));
            for (capability, wanted) in [
                ((6, 1), &[file.ptx()][..]),
                ((7, 0), &[volta, file.ptx()]),
                ((8, 9), &[volta, file.ptx()]),
                ((9, 0), &[hopper, volta, file.ptx()]),
                ((12, 0), &[hopper, volta, file.ptx()]),
            ] {
                assert_eq!(texts(capability), wanted, "{}", file.name());
            }
            // Those for sm_60 have no part of the way of the others.
            let relaxed = [file.ptx(), volta, hopper].map(|ptx| ptx.contains(".relaxed.gpu."));
            assert_eq!(relaxed, [false, true, true], "{}", file.name());
        }
    }

    // Without it a kernel that is launched early could touch memory that the kernel before it still uses.
    #[test]
    fn kernels_for_sm_90_wait_before_they_touch_memory() {
        let mut kernels = 0;
        for file in EMBEDDED {
            let Some(ptx) = file.newer().last().map(NewerPtx::text) else {
                continue;
            };
            let triggers = ptx.matches("griddepcontrol.launch_dependents;");
            assert_eq!(triggers.count(), file.entries().len());
            for entry in file.entries() {
                let declaration = format!(".visible .entry {entry}(");
                let (_, rest) = ptx.split_once(&declaration).expect("the entry");
                let (_, body) = rest.split_once("\n{\n").expect("its body");
                let (before, _) = body
                    .split_once("griddepcontrol.wait;")
                    .expect("it waits for the kernel before it");
                let words = before
                    .lines()
                    .filter_map(|line| line.split_whitespace().next());
                for word in words.filter(|word| *word != "//") {
                    // Each thread comes by the wait, and no memory is touched before. The next kernel is let
                    // start behind it: of kernels that wait for each other one is on the device.
                    let is_allowed = [".reg", ".shared", "ld.param", "cvta.", "mov."];
                    let is_harmless = is_allowed.iter().any(|start| word.starts_with(start));
                    assert!(is_harmless, "{entry}: {word} before the wait");
                }
                kernels += 1;
            }
        }
        assert_eq!(kernels, 4 + 12 + 12, "sums, extrema and their indices");
    }

    // Without it an entry of the table that only chunks of hundreds of megabytes use
    // could be wrong unseen.
    #[test]
    fn powers_in_the_crc_source_are_repeated_squares_of_x() {
        let source = Embedded::find("crc32").expect("crc32 is embedded").source();
        let (_, rest) = source
            .split_once("cupola_crc32_powers[32] = {")
            .expect("table");
        let (list, _) = rest.split_once('}').expect("end of table");
        let table: Vec<u32> = list
            .split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(|item| u32::from_str_radix(item.trim_start_matches("0x"), 16).expect("hex"))
            .collect();
        assert_eq!(table.len(), 32);
        let mut power = 0x4000_0000;
        for entry in table {
            assert_eq!(entry, power);
            power = crate::reference::crc32::product(power, power);
        }
        assert_eq!(power, 0x4000_0000, "x^(2^32) is x again");
    }
}
