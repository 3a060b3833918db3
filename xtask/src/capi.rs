//! `cargo xtask header` and `cargo xtask capi DIR`: the C library's header, and a folder with both.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::root;
use crate::tasks::{cargo, run as step, target};

/// Where the header is committed.
const HEADER: &str = "capi/include/cupola.h";

/// Writes the header, or with `check` fails if the committed one differs.
pub(crate) fn header(check: bool) -> Result<()> {
    eprintln!("\n==== the header of the C library");
    let path = root().join(HEADER);
    let made = made()?;
    let committed = fs::read_to_string(&path).unwrap_or_default();
    if check && committed != made {
        bail!("{HEADER} is not what capi/src says: run `cargo xtask header`");
    }
    if committed != made {
        fs::write(&path, &made).with_context(|| path.display().to_string())?;
    }
    println!("{HEADER}: {} lines", made.lines().count());
    Ok(())
}

/// The header that the sources make: without the crates that they use, so that cargo is not asked.
fn made() -> Result<String> {
    let folder = root().join("capi");
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml"));
    let builder = cbindgen::Builder::new()
        .with_config(config.map_err(anyhow::Error::msg)?)
        .with_src(folder.join("src/lib.rs"));
    let mut header = Vec::new();
    builder.generate()?.write(&mut header);
    let header = String::from_utf8(header)?;
    // A reader that sees no function would find nothing wrong.
    ensure!(
        header.contains("cupola_torch_alloc("),
        "no function was found"
    );
    Ok(header)
}

/// Builds the library for a release, and puts it under its name into `dir`, with the header and the scripts
/// that load it.
pub(crate) fn library(dir: &Path) -> Result<()> {
    if !cfg!(target_os = "linux") {
        bail!("libcupola.so is built on Linux");
    }
    fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    step(
        "libcupola.so",
        &mut cargo(["build", "--release", "--package", "cupola-capi"]),
    )?;
    let copy = |from: PathBuf, name: &Path| {
        let to = dir.join(name);
        fs::copy(&from, &to).with_context(|| format!("{} to {}", from.display(), to.display()))
    };
    copy(
        target().join("release/libcupola_capi.so"),
        Path::new("libcupola.so"),
    )?;
    copy(root().join(HEADER), Path::new("cupola.h"))?;
    for entry in fs::read_dir(root().join("capi/examples"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "py") {
            let name = path.file_name().context("a file without a name")?;
            copy(path.clone(), Path::new(name))?;
        }
    }
    println!(
        "{} has libcupola.so, its header and its examples",
        dir.display()
    );
    Ok(())
}
