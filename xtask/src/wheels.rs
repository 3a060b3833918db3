//! NVIDIA's libraries and headers, fetched as wheels with pip into `.cuda/`.
//!
//! Versions and digests are pinned: pip itself refuses a file whose SHA-256 differs.
//! Nothing fetched is ever committed. The folder is laid out like `site-packages`,
//! so the loaders find a user's own wheels by the same rule.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::root;

/// One pinned wheel; digests by architecture.
pub(crate) struct Wheel {
    name: &'static str,
    version: &'static str,
    x86_64: &'static str,
    /// Absent where only the headers are used, which are the same for both.
    aarch64: Option<&'static str>,
    /// Which files to unpack: the path must contain one of these.
    keep: &'static [&'static str],
}

pub(crate) const NVRTC: Wheel = Wheel {
    name: "nvidia-cuda-nvrtc",
    version: "13.5.37",
    x86_64: "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc",
    aarch64: Some("36e4fa2a8ada293f5693d308e531c196ab6f91cf7a0ff479bf96a537d43a6096"),
    keep: &["/include/nvrtc.h", "/lib/libnvrtc"],
};
pub(crate) const NVJITLINK: Wheel = Wheel {
    name: "nvidia-nvjitlink",
    version: "13.5.37",
    x86_64: "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb",
    aarch64: Some("893f6f9a55b2720ed94913b5ba3332e972da8c78dfa2863d0244403dbd528ffc"),
    keep: &["/include/nvJitLink.h", "/lib/libnvJitLink"],
};
pub(crate) const CUDA_HEADERS: Wheel = Wheel {
    name: "nvidia-cuda-runtime",
    version: "13.5.37",
    x86_64: "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d",
    aarch64: None,
    keep: &["/include/"],
};
pub(crate) const PROFILER: Wheel = Wheel {
    name: "nvidia-cuda-profiler-api",
    version: "13.5.25",
    x86_64: "1b4c77ff668bdb7bc55331b0b3fb853d3cd13810b19a1b77648e71d11cd360f9",
    aarch64: None,
    keep: &["/include/cudaProfiler.h"],
};
pub(crate) const NVML: Wheel = Wheel {
    name: "nvidia-nvml-dev",
    version: "13.5.37",
    x86_64: "7394fcbefa9ba537e8238cbb1caa4cd2db6bbfbff208d217a8a884947113ae6d",
    aarch64: None,
    keep: &["/include/nvml.h"],
};
pub(crate) const NCCL: Wheel = Wheel {
    name: "nvidia-nccl-cu13",
    version: "2.32.3",
    x86_64: "1459723080ac889d73a26edfa3e04383a7928ab31ac8f0ec43b3ea9548b04ff3",
    aarch64: None,
    keep: &["/include/nccl.h"],
};
pub(crate) const LIBCLANG: Wheel = Wheel {
    name: "libclang",
    version: "18.1.1",
    x86_64: "c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b",
    aarch64: Some("54dda940a4a0491a9d1532bf071ea3ef26e6dbaf03b5000ed94dd7174e8f9592"),
    keep: &["/clang/native/libclang"],
};

/// The folder that holds what was fetched: `CUPOLA_WHEELS`, or `.cuda` in the checkout.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("CUPOLA_WHEELS").map_or_else(|| root().join(".cuda"), PathBuf::from)
}

/// Fetches what tests and the command line can use: NVRTC, nvJitLink and the headers.
pub(crate) fn fetch_runtime() -> Result<PathBuf> {
    fetch(&[&NVRTC, &NVJITLINK, &CUDA_HEADERS])
}

/// Fetches `wheels` that are not there yet; returns the folder.
pub(crate) fn fetch(wheels: &[&Wheel]) -> Result<PathBuf> {
    let folder = folder();
    for wheel in wheels {
        let (arch, digest) = wheel.for_this_machine()?;
        let stamp = folder
            .join("stamps")
            .join(format!("{}-{}-{arch}", wheel.name, wheel.version));
        if fs::read_to_string(&stamp).is_ok_and(|found| found == digest) {
            continue;
        }
        eprintln!("fetching {} {} ({arch})", wheel.name, wheel.version);
        let file = download(wheel, arch, digest)?;
        unpack(&file, &folder, wheel.keep)
            .with_context(|| format!("unpacking {}", file.display()))?;
        fs::create_dir_all(folder.join("stamps"))?;
        fs::write(&stamp, digest)?;
        fs::remove_file(&file)?;
    }
    Ok(folder)
}

impl Wheel {
    fn for_this_machine(&self) -> Result<(&'static str, &'static str)> {
        match (std::env::consts::ARCH, self.aarch64) {
            ("x86_64", _) | ("aarch64", None) => Ok(("x86_64", self.x86_64)),
            ("aarch64", Some(digest)) => Ok(("aarch64", digest)),
            (other, _) => bail!("NVIDIA publishes no {} wheel for {other}", self.name),
        }
    }
}

fn download(wheel: &Wheel, arch: &str, digest: &str) -> Result<PathBuf> {
    let dir = folder().join("download").join(wheel.name);
    // A wheel that an interrupted run has left is not taken for this one.
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir)?;
    let requirements = dir.join("requirements.txt");
    fs::write(
        &requirements,
        format!("{}=={} --hash=sha256:{digest}\n", wheel.name, wheel.version),
    )?;
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
    ])
    .args(["--no-deps", "--only-binary=:all:", "--require-hashes"]);
    for tag in [
        "manylinux2014",
        "manylinux2010",
        "manylinux_2_17",
        "manylinux_2_12",
        "manylinux_2_27",
    ] {
        pip.arg("--platform").arg(format!("{tag}_{arch}"));
    }
    let status = pip
        .arg("--dest")
        .arg(&dir)
        .arg("--requirement")
        .arg(&requirements)
        .status();
    match status {
        Err(error) => bail!(
            "python3 with pip is needed to fetch {}: {error}",
            wheel.name
        ),
        Ok(status) if !status.success() => {
            bail!(
                "pip could not fetch {} {} ({status})",
                wheel.name,
                wheel.version
            )
        }
        Ok(_) => {}
    }
    let wheel_file = fs::read_dir(&dir)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"));
    wheel_file.with_context(|| format!("pip left no wheel in {}", dir.display()))
}

fn unpack(wheel: &Path, into: &Path, keep: &[&str]) -> Result<()> {
    let mut archive = zip::ZipArchive::new(fs::File::open(wheel)?)?;
    for index in 0..archive.len() {
        let mut member = archive.by_index(index)?;
        let Some(name) = member.enclosed_name() else {
            bail!("the wheel holds an unsafe path: {:?}", member.name());
        };
        let wanted = name.to_string_lossy();
        if member.is_dir() || !keep.iter().any(|part| wanted.contains(part)) {
            continue;
        }
        let target = into.join(&name);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes)?;
        fs::write(&target, bytes)?;
    }
    Ok(())
}
