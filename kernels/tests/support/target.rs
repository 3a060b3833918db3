//! The device of a test: the software device, or with `CUPOLA_TEST_DEVICE=gpu` a GPU.

use cupola_sim::Machine;
use cupola_sys::driver::Driver;

/// Whether the tests are to run on a GPU.
pub(crate) fn is_gpu() -> bool {
    std::env::var_os("CUPOLA_TEST_DEVICE").is_some_and(|value| value == "gpu")
}

/// The driver, which keeps its software device.
pub(crate) fn driver() -> Driver {
    match is_gpu() {
        true => Driver::load().expect("a CUDA driver"),
        false => Machine::builder().build().driver(),
    }
}
