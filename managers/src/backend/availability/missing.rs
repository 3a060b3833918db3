//! `Missing`: the part that a GPU needs and that was not found, and the remedy.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use cupola_sys::LoadError;
use cupola_sys::driver::LIBRARY_VARIABLE;

use crate::error::Error;

/// The first part that is missing for a GPU to be used. `Display` names it,
/// [`advice`](Self::advice) says what to do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Missing {
    /// The driver was initialised in a process of which this one is a fork.
    Forked,
    /// The variable `CUDA_VISIBLE_DEVICES` hides every device.
    Hidden {
        /// Its value.
        value: String,
    },
    /// The driver's library.
    Library {
        /// Why it could not be loaded, with every place that was tried.
        error: Arc<LoadError>,
        /// Whether `CUPOLA_CUDA_LIBRARY` names it, so that no other is taken.
        named: bool,
    },
    /// The driver's kernel module.
    KernelModule {
        /// The file that shows it.
        looked_at: PathBuf,
    },
    /// The device's file.
    DeviceNode {
        /// The file, or the folder that has none.
        path: PathBuf,
    },
    /// The permission to use a device's file.
    Permission {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
    /// The driver would not start.
    Start(Error),
    /// The driver started and shows no device.
    Devices,
}

impl Missing {
    /// The remedy, as advice for a user.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Forked => "start worker processes with exec instead of fork",
            Self::Hidden { .. } => {
                "unset CUDA_VISIBLE_DEVICES, or list the devices that are wanted"
            }
            Self::Library { named, .. } => Self::library_advice(*named),
            Self::KernelModule { .. } => {
                "load it with `modprobe nvidia`; after an update of the driver or the kernel, \
                 restart the machine"
            }
            Self::DeviceNode { .. } => {
                "in a container, pass the devices in; elsewhere run `nvidia-smi` once as root, \
                 which makes the files"
            }
            Self::Permission { .. } => {
                "give this user read and write access to the file, often by a group; in a \
                 container, allow the device"
            }
            Self::Start(_) | Self::Devices => {
                "see `nvidia-smi`; in a container, pass the devices in"
            }
        }
    }
}

impl Missing {
    /// The advice about a library that cannot be loaded.
    pub(in crate::backend) fn library_advice(named: bool) -> &'static str {
        if named {
            "CUPOLA_CUDA_LIBRARY names this library: correct it, or unset it to use the \
             system's"
        } else {
            "install NVIDIA's driver, or set CUPOLA_CUDA_LIBRARY if it lies elsewhere"
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forked => f.write_str(
                "this process was forked after CUDA was initialised, and CUDA works in the \
                 parent only",
            ),
            Self::Hidden { value } => {
                write!(
                    f,
                    "CUDA_VISIBLE_DEVICES is {value:?}, which hides every device"
                )
            }
            Self::Library { error, named: true } => write!(f, "{LIBRARY_VARIABLE}: {error}"),
            Self::Library {
                error,
                named: false,
            } => error.fmt(f),
            Self::KernelModule { looked_at } => write!(
                f,
                "NVIDIA's kernel module is not loaded: there is no {}",
                looked_at.display()
            ),
            Self::DeviceNode { path } => {
                write!(f, "there is no device file {}", path.display())
            }
            Self::Permission { path, reason } => {
                write!(f, "{} may not be used: {reason}", path.display())
            }
            Self::Start(error) => error.fmt(f),
            Self::Devices => f.write_str("the driver shows no device"),
        }
    }
}

impl std::error::Error for Missing {}
