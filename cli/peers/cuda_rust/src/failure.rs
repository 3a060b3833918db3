use std::ffi::c_int;
use std::io;
use std::path::PathBuf;

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Open(#[from] cupola::OpenError),
    #[error("cupola: {0}")]
    Cupola(#[from] cupola::Error),
    #[error("cuda-core: {0}")]
    CudaCore(#[from] cuda_core::DriverError),
    #[error("cuda-async: {0}")]
    CudaAsync(#[from] cuda_async::error::DeviceError),
    #[error("the driver: {0}")]
    Library(#[from] libloading::Error),
    #[error("{0} returned {1}")]
    Call(&'static str, c_int),
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    #[error("the figures as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
