//! Where tests run: `CUPOLA_TEST_DEVICE`, and `CUPOLA_SIM_PROFILE` for the software device.

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

/// The kind of device that `CUPOLA_SIM_PROFILE` says, which the software device's library reads
/// too.
#[cfg(feature = "sim")]
pub(crate) fn profile() -> cupola_sim::Profile {
    match std::env::var("CUPOLA_SIM_PROFILE").as_deref() {
        Ok("") | Err(_) => cupola_sim::Profile::default(),
        Ok(name) => name.parse().expect("CUPOLA_SIM_PROFILE"),
    }
}
