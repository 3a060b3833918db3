//! A machine, a driver, and the few calls that every test makes.

use std::ffi::{CStr, CString, c_void};
use std::sync::{Arc, Condvar, Mutex};

use cupola_sim::{DeviceConfig, Machine, MachineBuilder};
use cupola_sys::CallError;
use cupola_sys::driver::*;

pub(crate) type Code = CUresult;

/// A machine with a current context on its first device. Dropping it checks that nothing
/// is left.
pub(crate) struct TestBench {
    pub(crate) machine: Machine,
    pub(crate) driver: Driver,
    pub(crate) context: CUcontext,
}

// SAFETY: the one pointer is a handle, which any thread may use and none dereferences.
unsafe impl Send for TestBench {}
// SAFETY: as above.
unsafe impl Sync for TestBench {}

impl TestBench {
    pub(crate) fn new() -> Self {
        Self::with(Machine::builder())
    }

    pub(crate) fn with(builder: MachineBuilder) -> Self {
        let (machine, driver) = started(builder);
        let mut context = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { driver.cuCtxCreate_v2(&raw mut context, 0, 0) }.unwrap();
        Self {
            machine,
            driver,
            context,
        }
    }

    /// A machine whose device has so many bytes.
    pub(crate) fn with_memory(bytes: u64) -> Self {
        Self::with(Machine::builder().device(DeviceConfig::new().memory(bytes)))
    }

    /// Makes the context current on this thread.
    pub(crate) fn attach(&self) {
        // SAFETY: the context lives.
        unsafe { self.driver.cuCtxSetCurrent(self.context) }.unwrap();
    }

    pub(crate) fn stream(&self, flags: CUstream_flags) -> CUstream {
        let mut stream = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { self.driver.cuStreamCreate(&raw mut stream, flags.0) }.unwrap();
        stream
    }

    /// What `cuStreamQuery` says.
    pub(crate) fn query(&self, stream: CUstream) -> Code {
        // SAFETY: a handle, checked by the driver.
        code(unsafe { self.driver.cuStreamQuery(stream) })
    }

    pub(crate) fn wait(&self, stream: CUstream) {
        // SAFETY: a handle, checked by the driver.
        unsafe { self.driver.cuStreamSynchronize(stream) }.unwrap();
    }

    pub(crate) fn destroy(&self, streams: &[CUstream]) {
        for stream in streams {
            // SAFETY: a handle, checked by the driver.
            unsafe { self.driver.cuStreamDestroy_v2(*stream) }.unwrap();
        }
    }

    pub(crate) fn event(&self) -> CUevent {
        let mut event = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { self.driver.cuEventCreate(&raw mut event, 0) }.unwrap();
        event
    }

    pub(crate) fn alloc(&self, len: usize) -> CUdeviceptr {
        let mut address = 0;
        // SAFETY: the place outlives the call.
        unsafe { self.driver.cuMemAlloc_v2(&raw mut address, len) }.unwrap();
        address
    }

    pub(crate) fn free(&self, address: CUdeviceptr) {
        // SAFETY: frees no memory of the host.
        unsafe { self.driver.cuMemFree_v2(address) }.unwrap();
    }

    /// Loads text as a module, or gives the code that it is refused with.
    pub(crate) fn try_load(&self, text: &str) -> Result<CUmodule, Code> {
        let text = CString::new(text).unwrap();
        let mut module = std::ptr::null_mut();
        // SAFETY: the text and the place outlive the call.
        let loaded = unsafe {
            self.driver
                .cuModuleLoadData(&raw mut module, text.as_ptr().cast())
        };
        match code(loaded) {
            Code::CUDA_SUCCESS => Ok(module),
            refused => Err(refused),
        }
    }

    pub(crate) fn load(&self, text: &str) -> CUmodule {
        self.try_load(text).unwrap()
    }

    pub(crate) fn unload(&self, module: CUmodule) {
        // SAFETY: no memory of the host.
        unsafe { self.driver.cuModuleUnload(module) }.unwrap();
    }

    pub(crate) fn function(&self, module: CUmodule, name: &CStr) -> CUfunction {
        let mut function = std::ptr::null_mut();
        // SAFETY: the name and the place outlive the call.
        unsafe {
            self.driver
                .cuModuleGetFunction(&raw mut function, module, name.as_ptr())
        }
        .unwrap();
        function
    }

    /// Launches blocks of threads in x. There is a value for each parameter, of which the
    /// kernel takes as many bytes as the parameter has.
    pub(crate) fn launch(
        &self,
        function: CUfunction,
        blocks: u32,
        threads: u32,
        stream: CUstream,
        values: &[u64],
    ) -> Code {
        let mut values = values.to_vec();
        let pointers = values.iter_mut().map(|value| (&raw mut *value).cast());
        let mut pointers: Vec<*mut c_void> = pointers.collect();
        let (pointers, none) = (pointers.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the values outlive the call, and no parameter has more bytes than one.
        code(unsafe {
            self.driver.cuLaunchKernel(
                function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, none,
            )
        })
    }

    /// Page-locked memory filled with zeros.
    pub(crate) fn pinned(&self, len: usize) -> &'static mut [u8] {
        let mut memory: *mut c_void = std::ptr::null_mut();
        // SAFETY: the place outlives the call, and the memory is `len` zeroed bytes that
        // the test frees when it is done with the slice.
        unsafe {
            self.driver.cuMemHostAlloc(&raw mut memory, len, 0).unwrap();
            std::slice::from_raw_parts_mut(memory.cast(), len)
        }
    }

    pub(crate) fn unpin(&self, memory: &'static mut [u8]) {
        // SAFETY: from `pinned`, and the slice ends here.
        unsafe { self.driver.cuMemFreeHost(memory.as_mut_ptr().cast()) }.unwrap();
    }

    pub(crate) fn upload(&self, to: CUdeviceptr, bytes: &[u8]) {
        // SAFETY: the slice outlives the call.
        unsafe {
            self.driver
                .cuMemcpyHtoD_v2(to, bytes.as_ptr().cast(), bytes.len())
        }
        .unwrap();
    }

    pub(crate) fn download(&self, from: CUdeviceptr, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        // SAFETY: the vector outlives the call.
        unsafe {
            self.driver
                .cuMemcpyDtoH_v2(bytes.as_mut_ptr().cast(), from, len)
        }
        .unwrap();
        bytes
    }

    pub(crate) fn synchronize(&self) {
        // SAFETY: no pointers.
        unsafe { self.driver.cuCtxSynchronize() }.unwrap();
    }

    /// Destroys the context and expects nothing to be left.
    pub(crate) fn finish(self) {
        // SAFETY: the context lives.
        unsafe { self.driver.cuCtxDestroy_v2(self.context) }.unwrap();
        assert_eq!(self.machine.leaks(), None);
    }
}

/// A machine and its driver, which has been initialised and has no context.
pub(crate) fn started(builder: MachineBuilder) -> (Machine, Driver) {
    let machine = builder.build();
    let driver = machine.driver();
    // SAFETY: no pointers.
    unsafe { driver.cuInit(0) }.unwrap();
    (machine, driver)
}

/// The code that a call failed with.
pub(crate) fn code(result: Result<(), DriverError>) -> Code {
    match result {
        Ok(()) => CUresult::CUDA_SUCCESS,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

/// Runs a test's work on a thread of its own, so that work which hangs fails the test. The
/// limit is far beyond what any host needs.
pub(crate) fn without_hanging(work: impl FnOnce() + Send + 'static) {
    let (done, end) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        work();
        // The test waits for this, or has failed already.
        let _ = done.send(());
    });
    let limit = std::time::Duration::from_secs(300);
    if end.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        panic!("it hangs");
    }
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Holds a stream up until it is opened.
pub(crate) struct Gate {
    open: Arc<(Mutex<bool>, Condvar)>,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self {
            open: Arc::default(),
        }
    }

    /// Queues a function that returns when the gate opens.
    pub(crate) fn block(&self, bench: &TestBench, stream: CUstream) {
        unsafe extern "C" fn pass(data: *mut c_void) {
            // SAFETY: made from the `Arc` below, once.
            let open = unsafe { Arc::from_raw(data.cast::<(Mutex<bool>, Condvar)>()) };
            let mut guard = open.0.lock().unwrap();
            while !*guard {
                guard = open.1.wait(guard).unwrap();
            }
        }
        let data = Arc::into_raw(Arc::clone(&self.open)).cast_mut().cast();
        // SAFETY: the function takes this pointer, and runs once.
        unsafe { bench.driver.cuLaunchHostFunc(stream, Some(pass), data) }.unwrap();
    }

    pub(crate) fn open(&self) {
        *self.open.0.lock().unwrap() = true;
        self.open.1.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // A failing test must not hang on its own gate.
        if let Ok(mut open) = self.open.0.lock() {
            *open = true;
        }
        self.open.1.notify_all();
    }
}
