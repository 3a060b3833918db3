//! What every client program does: a machine, a context, and raw calls.

use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex};

use cupola_sim::{Finding, FindingKind, Machine, MachineBuilder, Strict};
use cupola_sys::driver::*;

/// The kernels of all client programs. Tests name their lines.
pub(crate) const KERNELS: &str = include_str!("kernels.ptx");

/// The line of the first instruction of `KERNELS` that has this text.
pub(crate) fn line_of(text: &str) -> u32 {
    let position = KERNELS.lines().position(|line| line.contains(text));
    position.expect("an instruction of the kernels") as u32 + 1
}

/// A program on a machine of its own, with a current context on its first device.
pub(crate) struct Client {
    pub(crate) driver: Driver,
    pub(crate) context: CUcontext,
    pub(crate) module: CUmodule,
}

impl Client {
    fn new(driver: Driver) -> Self {
        let mut context = std::ptr::null_mut();
        // SAFETY: the place outlives the calls.
        unsafe {
            driver.cuInit(0).unwrap();
            driver.cuCtxCreate_v2(&raw mut context, 0, 0).unwrap();
        }
        let module = load(&driver);
        Self {
            driver,
            context,
            module,
        }
    }

    pub(crate) fn alloc(&self, len: usize) -> CUdeviceptr {
        let mut address = 0;
        // SAFETY: the place outlives the call.
        unsafe { self.driver.cuMemAlloc_v2(&raw mut address, len) }.unwrap();
        address
    }

    pub(crate) fn alloc_async(&self, len: usize, stream: CUstream) -> CUdeviceptr {
        let mut address = 0;
        // SAFETY: the place outlives the call.
        unsafe {
            self.driver
                .cuMemAllocAsync(&raw mut address, len, stream)
                .unwrap();
        }
        address
    }

    pub(crate) fn free(&self, address: CUdeviceptr) {
        // The bug may have broken the context, or be this.
        // SAFETY: frees no memory of the host.
        let _ = unsafe { self.driver.cuMemFree_v2(address) };
    }

    pub(crate) fn free_async(&self, address: CUdeviceptr, stream: CUstream) {
        // SAFETY: frees no memory of the host.
        let _ = unsafe { self.driver.cuMemFreeAsync(address, stream) };
    }

    /// Page-locked memory.
    pub(crate) fn pinned(&self, len: usize) -> *mut c_void {
        let mut memory = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { self.driver.cuMemHostAlloc(&raw mut memory, len, 0) }.unwrap();
        memory
    }

    /// # Safety
    /// The bytes are page-locked and the program does not use them any more.
    pub(crate) unsafe fn unpin(&self, memory: *mut c_void) {
        // SAFETY: by contract.
        let _ = unsafe { self.driver.cuMemFreeHost(memory) };
    }

    pub(crate) fn upload(&self, to: CUdeviceptr, bytes: &[u8]) {
        // SAFETY: the slice outlives the call.
        let _ = unsafe {
            self.driver
                .cuMemcpyHtoD_v2(to, bytes.as_ptr().cast(), bytes.len())
        };
    }

    pub(crate) fn fill(&self, at: CUdeviceptr, len: usize, stream: CUstream) {
        // SAFETY: writes no memory of the host.
        let _ = unsafe { self.driver.cuMemsetD8Async(at, 1, len, stream) };
    }

    pub(crate) fn stream(&self) -> CUstream {
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING.0;
        let mut stream = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { self.driver.cuStreamCreate(&raw mut stream, flags) }.unwrap();
        stream
    }

    pub(crate) fn event(&self) -> CUevent {
        let mut event = std::ptr::null_mut();
        // SAFETY: the place outlives the call.
        unsafe { self.driver.cuEventCreate(&raw mut event, 0) }.unwrap();
        event
    }

    /// Makes all later work of `second` come after what `first` has now.
    pub(crate) fn order(&self, first: CUstream, second: CUstream) {
        let event = self.event();
        // SAFETY: no pointers.
        unsafe {
            self.driver.cuEventRecord(event, first).unwrap();
            self.driver.cuStreamWaitEvent(second, event, 0).unwrap();
            self.driver.cuEventDestroy_v2(event).unwrap();
        }
    }

    pub(crate) fn destroy(&self, stream: CUstream) {
        // SAFETY: no pointers.
        let _ = unsafe { self.driver.cuStreamDestroy_v2(stream) };
    }

    /// Waits for the stream; the bug may have broken the context.
    pub(crate) fn wait(&self, stream: CUstream) {
        // SAFETY: no pointers.
        let _ = unsafe { self.driver.cuStreamSynchronize(stream) };
    }

    pub(crate) fn function(&self, name: &str) -> CUfunction {
        let name = CString::new(name).unwrap();
        let mut function = std::ptr::null_mut();
        // SAFETY: the place and the text outlive the call.
        unsafe {
            self.driver
                .cuModuleGetFunction(&raw mut function, self.module, name.as_ptr())
                .unwrap();
        }
        function
    }

    /// The kernels as a library, and one of its functions in the current context.
    pub(crate) fn library_function(&self, name: &str) -> (CUlibrary, CUfunction) {
        use std::ptr::null_mut;
        let text = CString::new(KERNELS).unwrap();
        let name = CString::new(name).unwrap();
        let (mut library, mut kernel, mut function) = (null_mut(), null_mut(), null_mut());
        // SAFETY: the places and the texts outlive the calls; there are no options.
        unsafe {
            let driver = &self.driver;
            let image = text.as_ptr().cast();
            driver
                .cuLibraryLoadData(
                    &raw mut library,
                    image,
                    null_mut(),
                    null_mut(),
                    0,
                    null_mut(),
                    null_mut(),
                    0,
                )
                .unwrap();
            driver
                .cuLibraryGetKernel(&raw mut kernel, library, name.as_ptr())
                .unwrap();
            driver
                .cuKernelGetFunction(&raw mut function, kernel)
                .unwrap();
        }
        (library, function)
    }

    /// Address and size of a variable.
    pub(crate) fn global(&self, name: &str) -> (CUdeviceptr, usize) {
        let name = CString::new(name).unwrap();
        let (mut address, mut size) = (0, 0);
        // SAFETY: the places and the text outlive the call.
        unsafe {
            self.driver
                .cuModuleGetGlobal_v2(&raw mut address, &raw mut size, self.module, name.as_ptr())
                .unwrap();
        }
        (address, size)
    }

    /// Launches one block of a kernel whose parameters are 64-bit numbers.
    pub(crate) fn launch(&self, kernel: &str, threads: u32, stream: CUstream, params: &[u64]) {
        let function = self.function(kernel);
        let _ = self.launch_function(function, threads, stream, params);
    }

    pub(crate) fn launch_function(
        &self,
        function: CUfunction,
        threads: u32,
        stream: CUstream,
        params: &[u64],
    ) -> Result<(), DriverError> {
        let mut params = params.to_vec();
        let mut pointers: Vec<*mut c_void> = params
            .iter_mut()
            .map(|param| std::ptr::from_mut(param).cast())
            .collect();
        // SAFETY: there is a pointer to each parameter's value.
        unsafe {
            self.driver.cuLaunchKernel(
                function,
                1,
                1,
                1,
                threads,
                1,
                1,
                0,
                stream,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
    }

    fn finish(self) {
        // SAFETY: no pointers.
        unsafe {
            // A broken context unloads nothing, and the bug may be that it is unloaded.
            let _ = self.driver.cuModuleUnload(self.module);
            self.driver.cuCtxDestroy_v2(self.context).unwrap();
        }
    }
}

/// Loads the kernels into the current context.
pub(crate) fn load(driver: &Driver) -> CUmodule {
    let text = CString::new(KERNELS).unwrap();
    let mut module = std::ptr::null_mut();
    // SAFETY: the place and the text outlive the call.
    unsafe {
        driver
            .cuModuleLoadData(&raw mut module, text.as_ptr().cast())
            .unwrap();
    }
    module
}

fn run(builder: MachineBuilder, program: impl FnOnce(&Client)) -> Vec<Finding> {
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&told);
    let builder = builder.on_finding(move |finding| sink.lock().unwrap().push(finding.clone()));
    let machine = builder.build();
    let client = Client::new(machine.driver());
    program(&client);
    client.finish();
    // With the machine: what is left at its end is reported then.
    let kept = machine.findings();
    drop(machine);
    let told = Arc::into_inner(told)
        .map(|told| told.into_inner().unwrap())
        .expect("the machine is gone");
    assert_eq!(&told[..kept.len()], kept, "the sink is told what is kept");
    told
}

/// Runs the program with its bug and without. Gives the one finding.
pub(crate) fn found(program: impl Fn(&Client, bool)) -> Finding {
    found_with(Machine::builder(), program)
}

/// The same for options that are not among the cheap ones.
pub(crate) fn found_if(options: Strict, program: impl Fn(&Client, bool)) -> Finding {
    found_with(Machine::builder().strict(Strict::CHEAP | options), program)
}

pub(crate) fn found_with(builder: MachineBuilder, program: impl Fn(&Client, bool)) -> Finding {
    let clean = run(builder.clone(), |client| program(client, false));
    assert_eq!(clean, [], "of the program without the bug");
    let mut findings = run(builder, |client| program(client, true));
    let text: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(findings.len(), 1, "{text:#?}");
    let finding = findings.remove(0);
    let json = finding.to_json();
    let code = format!("\"kind\":\"{}\"", finding.kind.code());
    assert!(json.contains(&code) && !json.contains('\n'), "{json}");
    finding
}

/// Checks what a finding says of its memory: the size, the call that made it, and the
/// call that freed it, if any.
pub(crate) fn expect_memory(finding: &Finding, size: u64, made: &str, freed: Option<&str>) {
    let memory = finding.allocation.as_ref().expect("an allocation");
    let freed_by = memory.freed.as_ref().map(|call| call.function);
    assert_eq!(
        (memory.size, memory.allocated.function, freed_by),
        (size, made, freed),
        "{finding}"
    );
}

/// Checks what a finding says of a kernel: its name, the line with that instruction, and
/// the thread's index in x.
pub(crate) fn expect_kernel(finding: &Finding, kernel: &str, instruction: &str, thread: u32) {
    let site = finding.kernel.as_ref().expect("a kernel");
    assert_eq!(
        (site.kernel.as_str(), site.line, site.block, site.thread),
        (kernel, line_of(instruction), [0; 3], [thread, 0, 0]),
        "{finding}"
    );
}

/// Checks the kind, and the function whose call did it.
pub(crate) fn expect(finding: &Finding, kind: FindingKind, function: &str) {
    let call = finding.call.as_ref().expect("a call");
    assert_eq!((finding.kind, call.function), (kind, function), "{finding}");
}
