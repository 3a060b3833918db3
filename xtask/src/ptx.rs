//! `cargo xtask ptx`: compiles `kernels/device/*.cu` to the portable PTX in `kernels/ptx`, and some of them
//! again, to PTX for sm_70 in `kernels/ptx/sm_70` and for sm_90 in `kernels/ptx/sm_90`.
//!
//! The compiler is clang 14 and no other: the files are checked in, and CI proves that
//! they are current by making them again and comparing bytes. No part of a CUDA toolkit
//! is used; `kernels/device/builtins` declares what clang needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};

/// The only major version whose output is accepted.
const CLANG_MAJOR: &str = "14";

/// Debian's package of that compiler, for the messages.
const DEBIAN_PACKAGE: &str = "clang-14";

/// Names another clang 14 binary than `clang-14` on the path.
const CLANG_VARIABLE: &str = "CUPOLA_CLANG";

/// sm_60 is the oldest architecture that has what the kernels use, so every GPU since
/// Pascal can compile the result. PTX 6.0, of CUDA 9, is the first with a barrier of a warp. Contraction is off: a rounding is where the source
/// says it is, under any compiler.
const FLAGS: &[&str] = &[
    "-x",
    "cuda",
    "-std=c++17",
    "--cuda-device-only",
    "--cuda-gpu-arch=sm_60",
    "-Xclang",
    "-target-feature",
    "-Xclang",
    "+ptx60",
    "-nocudainc",
    "-nocudalib",
    "-ffp-contract=off",
    "-O3",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-S",
];

/// What the sources read beside themselves.
const HEADERS: [&str; 4] = [
    "prelude.cuh",
    "cupola.cuh",
    "builtins/language.cuh",
    "builtins/intrinsics.cuh",
];

/// PTX for one architecture and later ones.
struct Variant {
    /// Where the files are in `kernels/ptx`.
    folder: &'static str,
    /// The sources that are compiled for it; `None` for all.
    sources: Option<&'static [&'static str]>,
    /// What the compiler is told beyond [`FLAGS`].
    flags: &'static [&'static str],
    /// The lines that say what the PTX is for, as the compiler writes them, and what they become.
    head: &'static [(&'static str, &'static str)],
}

/// What is compiled for newer architectures too.
const REDUCTIONS: &[&str] = &["extrema.cu", "extrema_index.cu", "reduce.cu"];

const VARIANTS: [Variant; 3] = [
    Variant {
        folder: "",
        sources: None,
        flags: &[],
        head: &[],
    },
    // It writes the instructions that the sources have as `asm`; all else is code for sm_60, which is code for sm_70 and sm_90
    // too. PTX 6.0 has sm_70.
    Variant {
        folder: "sm_70",
        sources: Some(REDUCTIONS),
        flags: &["-DCUPOLA_SM=70"],
        head: &[("\n.target sm_60\n", "\n.target sm_70\n")],
    },
    // clang 14 does not know sm_90. PTX 7.8, of CUDA 11.8, is the first with it.
    Variant {
        folder: "sm_90",
        sources: Some(REDUCTIONS),
        flags: &["-DCUPOLA_SM=90"],
        head: &[
            ("\n.version 6.0\n", "\n.version 7.8\n"),
            ("\n.target sm_60\n", "\n.target sm_90\n"),
        ],
    },
];

/// Writes every `kernels/ptx/NAME.ptx` and those for sm_90, or with `check` compares them with what would be
/// written and fails with the list of those that differ.
///
/// # Errors
/// The compiler is absent (with `check`: a printed notice, not an error) or of another
/// version, a kernel does not compile, a file cannot be read or written, or with `check`
/// a file is stale.
pub(crate) fn run(check: bool) -> Result<()> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("kernels");
    let Some(clang) = Clang::find()? else {
        if check {
            crate::skip(
                "comparing kernels/ptx with its sources",
                &format!("clang 14 was not found (Debian package {DEBIAN_PACKAGE})"),
            )?;
            return Ok(());
        }
        bail!(
            "clang 14 not found: install Debian's package {DEBIAN_PACKAGE} or set {CLANG_VARIABLE}"
        );
    };

    let device = kernels.join("device");
    let headers = HEADERS.map(|name| read_text(&device.join(name)));
    let headers = headers.into_iter().collect::<Result<Vec<_>>>()?;
    let sources = files_with_extension(&device, "cu")?;
    let mut stale = Vec::new();
    for variant in &VARIANTS {
        let output = kernels.join("ptx").join(variant.folder);
        let mut expected = Vec::new();
        for source in &sources {
            let name = file_name(source);
            if variant
                .sources
                .is_some_and(|of| !of.contains(&name.as_str()))
            {
                continue;
            }
            let target = output.join(&name).with_extension("ptx");
            let ptx = compile(&clang, variant, &device, source, &headers)?;
            if !check {
                write_if_changed(&target, &ptx)?;
            } else if read_text(&target).ok().as_deref() != Some(ptx.as_str()) {
                stale.push(variant.name_of(&target));
            }
            expected.push(target);
        }
        let wanted = variant.sources.map_or(1, <[_]>::len);
        ensure!(
            expected.len() >= wanted,
            "{} has {} sources of {wanted} for kernels/ptx/{}",
            device.display(),
            expected.len(),
            variant.folder
        );
        for file in files_with_extension(&output, "ptx")? {
            if expected.contains(&file) {
                continue;
            }
            if check {
                stale.push(format!("{} (has no source)", variant.name_of(&file)));
            } else {
                fs::remove_file(&file).with_context(|| format!("removing {}", file.display()))?;
                println!("removed {}", variant.name_of(&file));
            }
        }
    }
    ensure!(
        stale.is_empty(),
        "stale in kernels/ptx: {}; run `cargo xtask ptx`",
        stale.join(", ")
    );
    Ok(())
}

impl Variant {
    /// A file's name in `kernels/ptx`.
    fn name_of(&self, file: &Path) -> String {
        let name = Path::new(self.folder).join(file_name(file));
        name.display().to_string()
    }

    /// The text that the compiler wrote, for what this is for.
    fn for_its_architecture(&self, mut ptx: String) -> Result<String> {
        for (written, wanted) in self.head {
            ensure!(
                ptx.matches(written).count() == 1,
                "the compiler did not write {:?} once",
                written.trim()
            );
            ptx = ptx.replace(written, wanted);
        }
        Ok(ptx)
    }
}

/// A compiler of the right version.
struct Clang {
    program: String,
    version: String,
}

impl Clang {
    /// `None` when there is none to run; another major version is an error.
    fn find() -> Result<Option<Self>> {
        let named = std::env::var(CLANG_VARIABLE).ok();
        let program = named.clone().unwrap_or_else(|| "clang-14".to_owned());
        let answer = match Command::new(&program).arg("--version").output() {
            Ok(answer) => answer,
            // A compiler that was asked for by name has to be there.
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(error).with_context(|| format!("running {program}")),
        };
        let text = String::from_utf8_lossy(&answer.stdout);
        let version = clang_version(&text)
            .with_context(|| format!("{program} --version says {:?}", text.trim()))?;
        ensure!(
            version.split('.').next() == Some(CLANG_MAJOR),
            "{program} is clang {version}; only clang {CLANG_MAJOR} gives the bytes that are \
             checked in (Debian package {DEBIAN_PACKAGE})"
        );
        Ok(Some(Self {
            program,
            version: version.to_owned(),
        }))
    }
}

/// "14.0.6" out of "Debian clang version 14.0.6".
fn clang_version(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("clang version ")?;
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'));
    Some(&rest[..end.unwrap_or(rest.len())]).filter(|version| !version.is_empty())
}

/// The text of the .ptx file of `source`.
fn compile(
    clang: &Clang,
    variant: &Variant,
    device: &Path,
    source: &Path,
    headers: &[String],
) -> Result<String> {
    let flags = [FLAGS, variant.flags].concat();
    let name = file_name(source);
    // Run in the folder, with a relative name, so that no path can reach the output.
    let answer = Command::new(&clang.program)
        .current_dir(device)
        .args(&flags)
        .arg(&name)
        .args(["-o", "-"])
        .output()
        .with_context(|| format!("running {}", clang.program))?;
    ensure!(
        answer.status.success(),
        "{name} does not compile:\n{}",
        String::from_utf8_lossy(&answer.stderr)
    );
    let ptx = String::from_utf8(answer.stdout).with_context(|| format!("the PTX of {name}"))?;
    let ptx = (variant.for_its_architecture(ptx)).with_context(|| format!("the PTX of {name}"))?;
    let hash = source_hash(headers, &read_text(source)?);
    Ok(format!(
        "// Generated by `cargo xtask ptx`; do not edit.\n\
         // source: kernels/device/{name}\n\
         // source-sha256: {hash}\n\
         // compiler: clang {} {}\n\
         {}",
        clang.version,
        flags.join(" "),
        ptx.trim_start_matches('\n')
    ))
}

/// SHA-256 in hexadecimal of the headers followed by the source: what the build script of
/// the kernels crate recomputes to find stale PTX.
fn source_hash(headers: &[String], source: &str) -> String {
    let mut hasher = Sha256::new();
    for header in headers {
        hasher.update(header);
    }
    hasher.update(source);
    format!("{:x}", hasher.finalize())
}

/// Text with `\n` line ends, so that a checkout with others has the same hash.
fn read_text(path: &Path) -> Result<String> {
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(text.replace("\r\n", "\n"))
}

/// The files of `folder` with that extension, sorted. A folder that does not exist is empty.
fn files_with_extension(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if read_text(path).ok().as_deref() == Some(text) {
        println!("current {}", file_name(path));
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    println!("wrote   {}", file_name(path));
    Ok(())
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a vendor's prefix or suffix would make every clang "not clang 14".
    #[test]
    fn version_is_read_from_vendor_texts() {
        let debian = "Debian clang version 14.0.6\nTarget: x86_64-pc-linux-gnu\n";
        assert_eq!(clang_version(debian), Some("14.0.6"));
        assert_eq!(
            clang_version("Ubuntu clang version 14.0.0-1ubuntu1.1"),
            Some("14.0.0")
        );
        assert_eq!(clang_version("gcc 14.0"), None);
        assert_eq!(clang_version("clang version "), None);
    }

    // Without it a change of a file could leave the recorded hash as it was.
    #[test]
    fn hash_covers_headers_and_source_in_order() {
        let hash = source_hash(&["a".into(), "b".into()], "c");
        assert_eq!(
            hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            "SHA-256 of abc"
        );
        assert_ne!(hash, source_hash(&["b".into(), "a".into()], "c"));
    }
}
