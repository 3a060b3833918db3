//! From nothing to a context that can be used: each in a process of its own, because a
//! driver starts once a process.

use std::ffi::{c_int, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;
use std::time::Instant;

use cupola_managers::Device;

use super::{Error, Options};
use crate::bench::{Figures, is_system_driver};
use cupola::{Cupola, Select};

/// How a process opens the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With the driver's functions, found by name.
    Raw,
    /// With this crate.
    Ours,
    /// With cudarc.
    Cudarc,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Raw, Self::Ours, Self::Cudarc];

    /// Its word on a command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Ours => "ours",
            Self::Cudarc => "cudarc",
        }
    }
}

const RAW: &str = "open: dlopen, cuInit, primary context";
const OURS: &str = "open: Cupola::open to a current context";

/// The most that opening may take, of what the raw calls take.
const BAR: f64 = 1.05;

pub(super) fn rows(figures: &mut Figures, device: &Device, options: &Options) -> Result<(), Error> {
    let context = device.primary()?;
    let (Some(program), Some(_)) = (&options.program, context.driver().library_path()) else {
        let note = "without the rows that open a device: there is no driver library";
        figures.notes.push(note.into());
        return Ok(());
    };
    let cudarc = cfg!(feature = "peers") && is_system_driver(device)?;
    let ways = if cudarc {
        &Way::ALL[..]
    } else {
        &Way::ALL[..2]
    };
    let rounds = if options.quick { 1 } else { options.rounds };
    let mut times = [const { Vec::new() }; Way::ALL.len()];
    for round in 0..=rounds {
        // Another one begins in each round.
        for n in 0..ways.len() {
            let n = (n + round) % ways.len();
            let time = start(program, ways[n])?;
            if round > 0 {
                times[n].push(time);
            }
        }
    }
    figures.push(RAW, "ms", &times[0], None);
    figures.push(OURS, "ms", &times[1], Some(RAW));
    if cudarc {
        figures.push(
            "open: CudaContext::new, cudarc",
            "ms",
            &times[2],
            Some(OURS),
        );
    }
    figures.want(OURS, BAR, &[RAW]);
    Ok(())
}

/// Milliseconds that a process of this way says it took.
fn start(program: &Path, way: Way) -> Result<f64, Error> {
    let failed = |problem: String| Error::Open {
        way: way.word(),
        problem,
    };
    let output = Command::new(program)
        .args(["bench", "lifecycle", "--opening", way.word()])
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim().parse().map_err(|_| {
        let errors = String::from_utf8_lossy(&output.stderr);
        failed(format!("{}: {said}{errors}", output.status))
    })
}

/// Opens the first device in this process, once, and says how many milliseconds that took.
///
/// # Errors
/// It cannot be opened this way.
pub fn open_once(way: Way) -> Result<f64, Box<dyn std::error::Error>> {
    let start = Instant::now();
    match way {
        Way::Raw => raw()?,
        Way::Ours => {
            let cupola = Cupola::open(Select::Gpu)?;
            let context = cupola.device(0)?.primary()?;
            context.make_current()?;
            let time = start.elapsed();
            drop((context, cupola));
            return Ok(time.as_secs_f64() * 1e3);
        }
        Way::Cudarc => return cudarc(start),
    }
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

#[cfg(feature = "peers")]
fn cudarc(start: Instant) -> Result<f64, Box<dyn std::error::Error>> {
    let context = cudarc::driver::CudaContext::new(0)?;
    let time = start.elapsed();
    drop(context);
    Ok(time.as_secs_f64() * 1e3)
}

#[cfg(not(feature = "peers"))]
fn cudarc(_: Instant) -> Result<f64, Box<dyn std::error::Error>> {
    Err("built without cudarc".into())
}

/// What a C program would do.
fn raw() -> Result<(), Box<dyn std::error::Error>> {
    let named = std::env::var_os("CUPOLA_CUDA_LIBRARY").filter(|path| !path.is_empty());
    let path = named.map_or_else(|| PathBuf::from("libcuda.so.1"), PathBuf::from);
    // SAFETY: the CUDA driver, or what the user named as one.
    let library = unsafe { libloading::Library::new(path) }?;
    // The process ends with it; unloading a driver that started threads would be wrong.
    let library = std::mem::ManuallyDrop::new(library);
    let ok = |code: c_int| match code {
        0 => Ok(()),
        code => Err(format!("the driver returned {code}")),
    };
    // SAFETY: the driver's function of this name has this type.
    let init: libloading::Symbol<'_, unsafe extern "C" fn(u32) -> c_int> =
        unsafe { library.get(b"cuInit\0") }?;
    // SAFETY: as above.
    let get: libloading::Symbol<'_, unsafe extern "C" fn(*mut c_int, c_int) -> c_int> =
        unsafe { library.get(b"cuDeviceGet\0") }?;
    // SAFETY: as above.
    let retain: libloading::Symbol<'_, unsafe extern "C" fn(*mut *mut c_void, c_int) -> c_int> =
        unsafe { library.get(b"cuDevicePrimaryCtxRetain\0") }?;
    // SAFETY: as above.
    let set: libloading::Symbol<'_, unsafe extern "C" fn(*mut c_void) -> c_int> =
        unsafe { library.get(b"cuCtxSetCurrent\0") }?;
    let (mut device, mut context) = (0, ptr::null_mut());
    // SAFETY: the pointers outlive the calls; the context is retained before it is set.
    unsafe {
        ok(init(0))?;
        ok(get(&raw mut device, 0))?;
        ok(retain(&raw mut context, device))?;
        ok(set(context))?;
    }
    Ok(())
}
