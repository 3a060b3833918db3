//! The side of a framework: streams and work by the driver's own calls, in the primary context.

use std::ffi::{CStr, c_void};
use std::process::Command;
use std::ptr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use cupola_capi::{CupolaStatus, CupolaUsage};
use cupola_sys::driver::{CUcontext, CUstream, Driver};
use tempfile::TempDir;

/// Names the test whose process this is.
pub(crate) const ALONE: &str = "CUPOLA_CAPI_TEST";

/// The folder that cargo builds libraries beside this program into.
pub(crate) fn built(name: &str) -> std::path::PathBuf {
    let program = std::env::current_exe().expect("this program's path");
    let library = program.parent().expect("its folder").join(name);
    assert!(library.is_file(), "{} is not built", library.display());
    library
}

/// Gives a command the driver of these tests. The report of the software device goes to the file.
pub(crate) fn with_driver(command: &mut Command, report: &std::path::Path) {
    if std::env::var_os("CUPOLA_TEST_DEVICE").is_none_or(|device| device != "gpu") {
        for (name, _) in cupola_sim::settings::VARIABLES {
            command.env_remove(name);
        }
        command
            .env("CUPOLA_CUDA_LIBRARY", built("libcupola_libcuda.so"))
            .env("CUPOLA_SIM_REPORT", report);
    }
    command.env_remove("CUPOLA_LIMIT");
}

/// Does the work in a process of its own, with these variables: the library keeps a pool for each device
/// until the process ends. It must succeed, and the software device find nothing wrong, but memory that
/// the process had at its end. Returns what it printed; in that process nothing.
#[track_caller]
pub(crate) fn alone(
    test: &str,
    variables: &[(&str, &str)],
    work: impl FnOnce(&Framework),
) -> Option<String> {
    if std::env::var_os(ALONE).is_some() {
        work(&Framework::start());
        return None;
    }
    let folder = TempDir::new().expect("a folder");
    let report = folder.path().join("report");
    let mut command = Command::new(std::env::current_exe().expect("this program's path"));
    command
        .args(["--exact", "--nocapture", test])
        .env(ALONE, test);
    with_driver(&mut command, &report);
    let output = command
        .envs(variables.iter().copied())
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(
        text.contains("1 passed"),
        "no test is called {test}: {text}"
    );
    let report = std::fs::read_to_string(&report).unwrap_or_default();
    let findings: Vec<_> = report
        .lines()
        .filter(|line| !line.starts_with("leak: "))
        .collect();
    assert!(findings.is_empty(), "{findings:#?}\n{text}");
    Some(text)
}

/// The driver and a device's primary context, current on this thread.
pub(crate) struct Framework {
    pub(crate) driver: Driver,
    pub(crate) context: CUcontext,
}

// SAFETY: a CUcontext may be used from any thread.
unsafe impl Sync for Framework {}

/// A stream as a framework hands it over.
#[derive(Clone, Copy)]
pub(crate) struct RawStream(pub(crate) CUstream);

// SAFETY: a CUstream may be used from any thread.
unsafe impl Send for RawStream {}
// SAFETY: a CUstream may be used from any thread.
unsafe impl Sync for RawStream {}

impl RawStream {
    pub(crate) fn void(self) -> *mut c_void {
        self.0.cast()
    }
}

impl Framework {
    /// A call that is made to fail by a test is made once more.
    pub(crate) fn start() -> Self {
        let driver = Driver::load().expect("a driver");
        let mut context = ptr::null_mut();
        // SAFETY: the place outlives the calls.
        unsafe {
            let init = driver.cuInit(0);
            init.or_else(|_| driver.cuInit(0)).unwrap();
            let retained = driver.cuDevicePrimaryCtxRetain(&raw mut context, 0);
            retained
                .or_else(|_| driver.cuDevicePrimaryCtxRetain(&raw mut context, 0))
                .unwrap();
        }
        let framework = Self { driver, context };
        framework.use_here();
        framework
    }

    /// Makes the context current on this thread.
    pub(crate) fn use_here(&self) {
        // SAFETY: the context is retained as long as the process.
        let set = || unsafe { self.driver.cuCtxSetCurrent(self.context) };
        set().or_else(|_| set()).unwrap();
    }

    pub(crate) fn current(&self) -> CUcontext {
        let mut current = ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { self.driver.cuCtxGetCurrent(&raw mut current) }.unwrap();
        current
    }

    /// A non-blocking stream.
    pub(crate) fn stream(&self) -> RawStream {
        let mut stream = ptr::null_mut();
        // SAFETY: the place outlives the call, and the context is current.
        let mut create = || unsafe { self.driver.cuStreamCreate(&raw mut stream, 1) };
        create().or_else(|_| create()).unwrap();
        RawStream(stream)
    }

    pub(crate) fn synchronize(&self, stream: RawStream) {
        // SAFETY: the stream is alive.
        unsafe { self.driver.cuStreamSynchronize(stream.0) }.unwrap();
    }

    /// Writes a word to all of a block.
    pub(crate) fn fill(&self, block: *mut c_void, word: u32, words: usize, stream: RawStream) {
        if words == 0 {
            return;
        }
        let address = block.addr() as u64;
        // SAFETY: the block is the caller's and has so many words.
        unsafe { self.driver.cuMemsetD32Async(address, word, words, stream.0) }.unwrap();
    }

    /// The words of a block, after all work on the stream.
    pub(crate) fn read(&self, block: *mut c_void, words: usize, stream: RawStream) -> Vec<u32> {
        let mut read = vec![0; words];
        let (to, from) = (read.as_mut_ptr().cast(), block.addr() as u64);
        self.synchronize(stream);
        if words == 0 {
            return read;
        }
        // SAFETY: the block is the caller's and has so many words, as `read` has.
        unsafe {
            self.driver
                .cuMemcpyDtoHAsync_v2(to, from, words * 4, stream.0)
        }
        .unwrap();
        self.synchronize(stream);
        read
    }

    /// Holds up what is put on the stream from now on, until the sender is dropped.
    pub(crate) fn hold(&self, stream: RawStream) -> Sender<()> {
        unsafe extern "C" fn wait(held: *mut c_void) {
            // SAFETY: the receiver that `hold` boxed, which is passed once.
            let held = unsafe { Box::from_raw(held.cast::<Receiver<()>>()) };
            let _ended = held.recv();
        }
        let (hold, held) = channel::<()>();
        let held = Box::into_raw(Box::new(held)).cast();
        // SAFETY: the function takes the box; the stream is alive.
        unsafe { self.driver.cuLaunchHostFunc(stream.0, Some(wait), held) }.unwrap();
        hold
    }
}

/// The figures of device 0's pool.
pub(crate) fn usage() -> CupolaUsage {
    let mut usage = CupolaUsage::default();
    // SAFETY: the place can be written.
    let status = unsafe { cupola_capi::cupola_usage(0, &raw mut usage) };
    assert_eq!(status, CupolaStatus::CupolaOk, "{}", last_error());
    usage
}

/// Gives everything back that nothing uses, until all that the device has is that: the driver may need a
/// moment to see that work is complete.
#[track_caller]
pub(crate) fn trim_all() {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        assert_eq!(
            cupola_capi::cupola_trim(0),
            CupolaStatus::CupolaOk,
            "{}",
            last_error()
        );
        let usage = usage();
        assert_eq!(
            (usage.live, usage.blocks, usage.returned),
            (0, 0, 0),
            "{usage:?}"
        );
        if usage.mapped == 0 {
            return;
        }
        assert!(Instant::now() < until, "{usage:?}");
    }
}

/// The text of this thread's last error.
pub(crate) fn last_error() -> String {
    let text = cupola_capi::cupola_last_error();
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the text is there until the next error of this thread.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

/// The last errors of all threads.
pub(crate) fn errors() -> String {
    let mut buffer = vec![0_u8; 1 << 16];
    // SAFETY: the buffer has as much room.
    let needed = unsafe { cupola_capi::cupola_errors(buffer.as_mut_ptr().cast(), buffer.len()) };
    assert!(needed <= buffer.len());
    assert_eq!(buffer[needed - 1], 0);
    String::from_utf8(buffer[..needed - 1].to_vec()).unwrap()
}

/// `cupola_allocate_on` of device 0.
#[track_caller]
pub(crate) fn allocate_on(bytes: usize, stream: RawStream) -> *mut c_void {
    // SAFETY: the streams of these tests are alive until their processes end, or are released.
    let block = unsafe { cupola_capi::cupola_allocate_on(0, bytes, stream.void()) };
    assert!(!block.is_null(), "{}", last_error());
    block
}

/// `cupola_free_on`, of a block whose work is on its streams.
pub(crate) fn free_on(block: *mut c_void, stream: RawStream) -> CupolaStatus {
    // SAFETY: as above, and the work of the test is on these streams.
    unsafe { cupola_capi::cupola_free_on(block, stream.void()) }
}

/// `cupola_use_on`.
pub(crate) fn use_on(block: *mut c_void, stream: RawStream) -> CupolaStatus {
    // SAFETY: as above.
    unsafe { cupola_capi::cupola_use_on(block, stream.void()) }
}
