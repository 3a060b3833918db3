//! What a launch costs besides its kernel, through the driver's functions, and what
//! loading a module costs.

use std::ffi::CString;
use std::ptr::null_mut;
use std::time::Instant;

use cupola_sim::Machine;
use cupola_sys::driver::{CUcontext, CUfunction, CUmodule, Driver, DriverError};

use super::{Error, Figures, Options, PTX};
use crate::bench::nanoseconds;

/// Launches in a row for each round.
const BATCH: u32 = 1000;

/// Microseconds that an empty launch may take.
const BAR: f64 = 5.0;

/// A context with the kernels' module, destroyed when dropped.
struct Loaded<'d> {
    driver: &'d Driver,
    context: CUcontext,
    empty: CUfunction,
}

impl<'d> Loaded<'d> {
    fn new(driver: &'d Driver, image: &CString) -> Result<Self, DriverError> {
        let mut loaded = Self {
            driver,
            context: null_mut(),
            empty: null_mut(),
        };
        let mut module: CUmodule = null_mut();
        // SAFETY: the places outlive the calls; the image and the name end with a NUL.
        unsafe {
            driver.cuInit(0)?;
            driver.cuCtxCreate_v2(&raw mut loaded.context, 0, 0)?;
            driver.cuModuleLoadData(&raw mut module, image.as_ptr().cast())?;
            driver.cuModuleGetFunction(&raw mut loaded.empty, module, c"empty".as_ptr())?;
        }
        Ok(loaded)
    }

    fn launch(&self) -> Result<(), DriverError> {
        let (params, extra) = (null_mut(), null_mut());
        // SAFETY: the function lives as long as the context and has no parameters.
        unsafe {
            self.driver
                .cuLaunchKernel(self.empty, 1, 1, 1, 1, 1, 1, 0, null_mut(), params, extra)
        }
    }

    fn synchronize(&self) -> Result<(), DriverError> {
        // SAFETY: no pointers.
        unsafe { self.driver.cuCtxSynchronize() }
    }
}

impl Drop for Loaded<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is this value's own. What it returns says how its work
        // ended, which the calls before have said.
        let _ = unsafe { self.driver.cuCtxDestroy_v2(self.context) };
    }
}

/// Adds the rows of launches and module loads.
pub(super) fn run(figures: &mut Figures, options: &Options) -> Result<(), Error> {
    // The comments have no NUL.
    let image = CString::new(PTX).unwrap_or_default();
    let machine = Machine::builder().worker_threads(options.workers).build();
    let driver = machine.driver();
    let loaded = Loaded::new(&driver, &image)?;

    let (mut calls, mut batches, mut alone, mut loads) = (vec![], vec![], vec![], vec![]);
    for round in 0..=options.runs {
        let batch = Instant::now();
        for _ in 0..BATCH {
            loaded.launch()?;
        }
        let called = batch.elapsed();
        loaded.synchronize()?;
        let ended = batch.elapsed();

        let mut result = Ok(());
        let pair = nanoseconds(1, BATCH, || {
            result = result
                .and_then(|()| loaded.launch())
                .and_then(|()| loaded.synchronize());
        });
        result?;

        let start = Instant::now();
        let mut module: CUmodule = null_mut();
        // SAFETY: the place outlives the call, and the image ends with a NUL.
        unsafe { driver.cuModuleLoadData(&raw mut module, image.as_ptr().cast()) }?;
        let load = start.elapsed();
        // SAFETY: nothing of the module is used.
        unsafe { driver.cuModuleUnload(module) }?;

        if round > 0 {
            let each = |time: std::time::Duration| time.as_secs_f64() * 1e6 / f64::from(BATCH);
            calls.push(each(called));
            batches.push(each(ended));
            alone.extend(pair.iter().map(|ns| ns / 1e3));
            loads.push(load.as_secs_f64() * 1e6);
        }
    }
    let batch = format!("empty launch: {BATCH} and one synchronisation");
    for (name, times) in [
        ("empty launch: the call", &calls),
        (&batch, &batches),
        ("empty launch: with a synchronisation each", &alone),
    ] {
        figures.push(name, "us", times, None).want(BAR);
    }
    figures.push("module load, 10 kernels", "us", &loads, None);
    Ok(())
}
