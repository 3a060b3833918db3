//! The optional libraries: found or not, where, and what to do about it.

use cupola_sys::{LoadError, Version, nccl, nvjitlink, nvml, nvrtc};
use serde::Serialize;

/// One optional library.
#[derive(Debug, Serialize)]
pub(crate) struct Library {
    /// Its name.
    pub(crate) name: &'static str,
    /// What cupola does with it.
    pub(crate) used_for: &'static str,
    /// The file that it was loaded from, or the name where the file is not known.
    pub(crate) path: Option<String>,
    /// Its own version.
    pub(crate) version: Option<String>,
    /// Functions of its API that it lacks (it is older than the bindings).
    pub(crate) missing: Vec<&'static str>,
    /// Why it cannot be used, with every place that was tried.
    pub(crate) problem: Option<String>,
    /// What to do about it.
    pub(crate) advice: Option<&'static str>,
}

/// Looks for all of them. None is needed to run what is embedded.
pub(crate) fn all() -> Vec<Library> {
    macro_rules! examine {
        ($name:literal, $type:ty, $used_for:literal, $advice:literal) => {
            examine(
                $name,
                $used_for,
                $advice,
                <$type>::load().map(|library| {
                    let missing = library.missing().map(cupola_sys::Symbol::as_str).collect();
                    let path = library
                        .path()
                        .map_or_else(|| library.describe(), |path| path.display().to_string());
                    let version = library.version().map_err(|error| error.to_string());
                    (path, version, missing)
                }),
            )
        };
    }
    vec![
        examine!(
            "NVRTC",
            nvrtc::Nvrtc,
            "compiling CUDA C at run time",
            "install the wheel nvidia-cuda-nvrtc (in a checkout: cargo xtask cuda), or set CUPOLA_NVRTC_LIBRARY"
        ),
        examine!(
            "nvJitLink",
            nvjitlink::NvJitLink,
            "linking device code at run time",
            "install the wheel nvidia-nvjitlink (in a checkout: cargo xtask cuda), or set CUPOLA_NVJITLINK_LIBRARY"
        ),
        examine!(
            "NVML",
            nvml::Nvml,
            "temperatures, power and health",
            "it comes with NVIDIA's driver; set CUPOLA_NVML_LIBRARY if it lies elsewhere"
        ),
        examine!(
            "NCCL",
            nccl::Nccl,
            "collectives between GPUs",
            "install the wheel nvidia-nccl-cu13, or set CUPOLA_NCCL_LIBRARY"
        ),
    ]
}

type Found = (String, Result<Version, String>, Vec<&'static str>);

fn examine(
    name: &'static str,
    used_for: &'static str,
    advice: &'static str,
    found: Result<Found, LoadError>,
) -> Library {
    match found {
        Ok((path, version, missing)) => Library {
            name,
            used_for,
            path: Some(path),
            version: version.as_ref().ok().map(ToString::to_string),
            missing,
            advice: version.is_err().then_some(advice),
            problem: version.err(),
        },
        Err(error) => Library {
            name,
            used_for,
            path: None,
            version: None,
            missing: Vec::new(),
            problem: Some(error.to_string()),
            advice: Some(advice),
        },
    }
}
