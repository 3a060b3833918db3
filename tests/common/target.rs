//! Where tests run: `CUPOLA_TEST_DEVICE`.

/// Where the tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// The software device, in process.
    Sim,
    /// The driver library that `CUPOLA_CUDA_LIBRARY` names: the software device's.
    Library,
    /// The system's driver.
    Gpu,
}

/// What `CUPOLA_TEST_DEVICE` says.
pub(crate) fn target() -> Where {
    match std::env::var("CUPOLA_TEST_DEVICE").as_deref() {
        Ok("gpu") => Where::Gpu,
        Ok("library") => Where::Library,
        Ok("sim") | Err(_) => Where::Sim,
        Ok(name) => panic!("CUPOLA_TEST_DEVICE is {name}, not sim, library or gpu"),
    }
}
