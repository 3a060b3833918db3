//! Embeds the device kernels: writes `embedded_table.rs` from `device/*.cu` and
//! `ptx/*.ptx`, and of some sources others for newer devices, `ptx/sm_70/*.ptx` and `ptx/sm_90/*.ptx`.
//!
//! Each PTX file records the SHA-256 of the sources it was made from. A file that does not
//! match is a build error, so that no program ever runs a kernel that is not in its
//! source tree. Making the files anew (`cargo xtask ptx`) needs clang; building does not.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest, Sha256};

/// What the sources read beside themselves, in the order in which they are hashed.
const HEADERS: [&str; 4] = [
    "prelude.cuh",
    "cupola.cuh",
    "builtins/language.cuh",
    "builtins/intrinsics.cuh",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=device");
    println!("cargo::rerun-if-changed=ptx");
    if let Err(message) = embed() {
        println!("cargo::error={message}");
    }
}

/// PTX for newer devices: folders of `ptx`, and the least compute capabilities, ascending.
const NEWER: [(&str, (u32, u32)); 2] = [("sm_70", (7, 0)), ("sm_90", (9, 0))];

fn embed() -> Result<(), String> {
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let device = root.join("device");
    let headers = HEADERS.map(|name| read_text(&device.join(name)));
    let headers = headers.into_iter().collect::<Result<Vec<_>, _>>()?;
    let sources = names(&root.join("device"), "cu")?;
    let compiled = names(&root.join("ptx"), "ptx")?;
    if sources != compiled {
        return Err(format!(
            "kernels/device has {sources:?} but kernels/ptx has {compiled:?}; \
             run `cargo xtask ptx`"
        ));
    }

    let mut newer = Vec::new();
    for (folder, capability) in NEWER {
        let compiled = names(&root.join("ptx").join(folder), "ptx")?;
        if let Some(stray) = compiled.iter().find(|name| !sources.contains(name)) {
            return Err(format!(
                "kernels/ptx/{folder}/{stray}.ptx has no source in kernels/device; \
                 run `cargo xtask ptx`"
            ));
        }
        newer.push((folder, capability, compiled));
    }

    let mut table = String::from("&[\n");
    for name in &sources {
        let source = read_text(&root.join(format!("device/{name}.cu")))?;
        let mut hasher = Sha256::new();
        for text in headers.iter().chain([&source]) {
            hasher.update(text);
        }
        let hash = format!("{:x}", hasher.finalize());
        let ptx = compiled_text(&root, &format!("ptx/{name}.ptx"), &hash)?;
        let entries = entries(&ptx);
        if entries.is_empty() {
            return Err(format!("kernels/ptx/{name}.ptx has no entry"));
        }
        let mut others = String::new();
        for (folder, capability, _) in newer.iter().filter(|(_, _, of)| of.contains(name)) {
            let text = compiled_text(&root, &format!("ptx/{folder}/{name}.ptx"), &hash)?;
            if self::entries(&text) != entries {
                return Err(format!(
                    "kernels/ptx/{folder}/{name}.ptx has other kernels than \
                     kernels/ptx/{name}.ptx; run `cargo xtask ptx`"
                ));
            }
            write!(
                others,
                "NewerPtx {{ compute_capability: {capability:?}, text: {text:?} }}, "
            )
            .map_err(|error| error.to_string())?;
        }
        writeln!(
            table,
            "    Embedded {{\n        name: {name:?},\n        source: {source:?},\n        \
             ptx: {:?},\n        newer: &[{others}],\n        entries: &{entries:?},\n        \
             source_sha256: {hash:?},\n    }},",
            format!("{ptx}\0")
        )
        .map_err(|error| error.to_string())?;
    }
    table.push_str("]\n");

    let target = PathBuf::from(variable("OUT_DIR")?).join("embedded_table.rs");
    fs::write(&target, table).map_err(|error| format!("{}: {error}", target.display()))
}

/// A PTX text that was made from the sources of this hash.
fn compiled_text(root: &Path, name: &str, hash: &str) -> Result<String, String> {
    let ptx = read_text(&root.join(name))?;
    let recorded = ptx
        .lines()
        .find_map(|line| line.strip_prefix("// source-sha256: "));
    if recorded != Some(hash) {
        return Err(format!(
            "kernels/{name} was not made from the present source and {HEADERS:?} \
             (it records source SHA-256 {}, they have {hash}); run `cargo xtask ptx`",
            recorded.unwrap_or("none")
        ));
    }
    if ptx.contains('\0') {
        return Err(format!("kernels/{name} contains a NUL"));
    }
    Ok(ptx)
}

/// The names of the kernels in a PTX text, in order.
fn entries(ptx: &str) -> Vec<&str> {
    ptx.lines()
        .filter_map(|line| line.strip_prefix(".visible .entry "))
        .map(|rest| rest.trim_end_matches(['(', ')', ' ']))
        .collect()
}

/// File stems of one extension in a folder, sorted.
fn names(folder: &Path, extension: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let listing = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in listing {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|found| found == extension) {
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            names.push(stem.ok_or("a file name is not UTF-8")?.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Text with `\n` line ends, as it was hashed when the PTX was made.
fn read_text(path: &Path) -> Result<String, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.replace("\r\n", "\n"))
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|error| format!("{name}: {error}"))
}
