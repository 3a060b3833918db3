//! The linker.

use std::ffi::{CString, c_char, c_void};

use cupola_sys::CallError;
use cupola_sys::driver::*;

use crate::raw::Raw;

const HEAD: &str = ".version 7.0\n.target sm_60\n.address_size 64\n";

/// Calls `twice`, which another module has to define, and stores the result.
const CALLS: &str = ".extern .func (.param .b32 r) twice(.param .b32 a);
.visible .entry k(.param .u64 out) {
    .reg .b32 %a; .reg .b64 %p;
    ld.param.u64 %p, [out];
    { .param .b32 a; .param .b32 r;
      st.param.b32 [a], 21;
      call.uni (r), twice, (a);
      ld.param.b32 %a, [r]; }
    st.global.b32 [%p], %a;
    ret;
}";
const TWICE: &str = ".visible .func (.param .b32 r) twice(.param .b32 a) {
    .reg .b32 %a;
    ld.param.b32 %a, [a];
    add.s32 %a, %a, %a;
    st.param.b32 [r], %a;
    ret;
}";
/// As `twice`, but it is always 7.
const SEVEN: &str = ".func (.param .b32 r) twice(.param .b32 a) {
    st.param.b32 [r], 7;
    ret;
}";
/// Stores the variable `g`.
const READS: &str = ".visible .entry k(.param .u64 out) {
    .reg .b32 %a; .reg .b64 %p;
    ld.param.u64 %p, [out];
    ld.global.u32 %a, [g];
    st.global.b32 [%p], %a;
    ret;
}";

fn code(result: Result<(), DriverError>) -> CUresult {
    match result {
        Ok(()) => CUresult::CUDA_SUCCESS,
        Err(CallError::Failed { code, .. }) => code,
        Err(missing @ CallError::Missing { .. }) => panic!("{missing}"),
    }
}

/// A link with the logs that it writes to. The boxes do not move while the driver has
/// their addresses.
struct Link<'a> {
    raw: &'a Raw,
    state: CUlinkState,
    errors: Box<[u8; 1024]>,
    /// Only kept for the driver.
    _infos: Box<[u8; 1024]>,
    values: Box<[*mut c_void; 5]>,
}

impl<'a> Link<'a> {
    fn new(raw: &'a Raw) -> Self {
        let (mut errors, mut infos) = (Box::new([0xff; 1024]), Box::new([0xff; 1024]));
        let size = std::ptr::without_provenance_mut(1024);
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER,
            CUjit_option::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            CUjit_option::CU_JIT_WALL_TIME,
        ];
        let mut values = Box::new([
            errors.as_mut_ptr().cast(),
            size,
            infos.as_mut_ptr().cast(),
            size,
            std::ptr::null_mut(),
        ]);
        let mut state = std::ptr::null_mut();
        // SAFETY: the values and buffers live as long as the link.
        let made = unsafe {
            raw.driver
                .cuLinkCreate_v2(5, options.as_mut_ptr(), values.as_mut_ptr(), &raw mut state)
        };
        made.expect("a link");
        Self {
            raw,
            state,
            errors,
            _infos: infos,
            values,
        }
    }

    fn add_as(&mut self, kind: CUjitInputType, name: &str, bytes: &[u8]) -> CUresult {
        let name = CString::new(name).unwrap();
        // SAFETY: the bytes and the name outlive the call, which only reads them.
        code(unsafe {
            self.raw.driver.cuLinkAddData_v2(
                self.state,
                kind,
                bytes.as_ptr().cast_mut().cast(),
                bytes.len(),
                name.as_ptr(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            )
        })
    }

    fn add(&mut self, name: &str, text: &str) -> CUresult {
        let text = format!("{HEAD}{text}\n\0");
        self.add_as(CUjitInputType::CU_JIT_INPUT_PTX, name, text.as_bytes())
    }

    /// The image and its size.
    fn complete(&mut self) -> Result<(*mut c_void, usize), CUresult> {
        let (mut image, mut size) = (std::ptr::null_mut(), 0);
        // SAFETY: the places outlive the call.
        let done = unsafe {
            self.raw
                .driver
                .cuLinkComplete(self.state, &raw mut image, &raw mut size)
        };
        match code(done) {
            CUresult::CUDA_SUCCESS => Ok((image, size)),
            code => Err(code),
        }
    }

    /// The error log: as long as the driver says, and then a NUL.
    fn error_log(&self) -> String {
        let len = self.values[1].addr();
        assert_eq!(self.errors[len], 0, "no NUL after {len} bytes");
        String::from_utf8_lossy(&self.errors[..len]).into_owned()
    }
}

impl Drop for Link<'_> {
    fn drop(&mut self) {
        // SAFETY: the state is this link's.
        let destroyed = unsafe { self.raw.driver.cuLinkDestroy(self.state) };
        if !std::thread::panicking() {
            destroyed.expect("destroy");
        }
    }
}

/// Loads an image and runs its kernel `k`, which stores one number.
fn run(raw: &Raw, image: *const c_void) -> u32 {
    let out = raw.upload(&[0xff; 4]);
    let (mut module, mut function) = (std::ptr::null_mut(), std::ptr::null_mut());
    let mut argument = out;
    let mut arguments = [(&raw mut argument).cast()];
    // SAFETY: the image is one that the driver made or PTX; the places outlive the calls,
    // and the kernel stores within the memory.
    unsafe {
        let driver = &raw.driver;
        driver
            .cuModuleLoadData(&raw mut module, image)
            .expect("load");
        driver
            .cuModuleGetFunction(&raw mut function, module, c"k".as_ptr())
            .expect("k");
        driver
            .cuLaunchKernel(
                function,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                std::ptr::null_mut(),
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )
            .expect("launch");
        driver.cuCtxSynchronize().expect("synchronize");
        driver.cuModuleUnload(module).expect("unload");
    }
    let bytes = raw.download(out, 4);
    raw.free(out);
    u32::from_le_bytes(bytes.try_into().unwrap())
}

/// Links texts and runs the result.
fn linked(raw: &Raw, texts: &[&str]) -> u32 {
    let mut link = Link::new(raw);
    for (index, text) in texts.iter().enumerate() {
        let added = link.add(&format!("in{index}"), text);
        assert_eq!(added, CUresult::CUDA_SUCCESS, "{}", link.error_log());
    }
    let (image, size) = link.complete().expect("it links");
    assert!(size > 0);
    assert_eq!(link.error_log(), "");
    run(raw, image)
}

/// Without it, a call into another module would find nothing, or a weak function in place
/// of a strong one.
#[test]
fn calls_reach_other_modules() {
    let raw = Raw::open();
    assert_eq!(linked(&raw, &[CALLS, TWICE]), 42);
    assert_eq!(linked(&raw, &[TWICE, CALLS]), 42);
    let weak = format!(".weak {SEVEN}");
    assert_eq!(linked(&raw, &[CALLS, &weak]), 7);
    assert_eq!(linked(&raw, &[CALLS, &weak, TWICE]), 42);
    assert_eq!(linked(&raw, &[CALLS, TWICE, &weak]), 42);
}

/// Without it, a pointer to a function of another module would not call it: one that code
/// takes, or one in a table that is filled when the module is loaded.
#[test]
fn function_pointers_reach_other_modules() {
    let raw = Raw::open();
    let call = "
    { .param .b32 a; .param .b32 r;
      st.param.b32 [a], 21;
      call.uni (r), %f, (a), shape;
      ld.param.b32 %a, [r]; }
    st.global.b32 [%p], %a;
    ret;
}";
    let start = ".extern .func (.param .b32 r) twice(.param .b32 a);
.visible .entry k(.param .u64 out) {
    .reg .b32 %a; .reg .b64 %p, %f;
    shape: .callprototype (.param .b32 _) _ (.param .b32 _);
    ld.param.u64 %p, [out];";
    let taken = format!("{start} mov.u64 %f, twice; {call}");
    assert_eq!(linked(&raw, &[&taken, TWICE]), 42);
    let table = ".extern .func (.param .b32 r) twice(.param .b32 a);
.visible .global .align 8 .u64 table[2] = {0, twice};";
    let listed = format!(
        ".extern .global .align 8 .u64 table[2];\n{start} ld.global.u64 %f, [table+8]; {call}"
    );
    assert_eq!(linked(&raw, &[&listed, table, TWICE]), 42);
}

/// Without it, variables that modules share would be two, and their own would be one.
#[test]
fn variables_are_shared_or_kept_apart() {
    let raw = Raw::open();
    let extern_g = format!(".extern .global .u32 g;\n{READS}");
    assert_eq!(
        linked(&raw, &[&extern_g, ".visible .global .u32 g = 5;"]),
        5
    );
    let common = format!(".common .global .u32 g;\n{READS}");
    assert_eq!(linked(&raw, &[&common, ".common .global .u32 g;"]), 0);
    assert_eq!(linked(&raw, &[&common, ".visible .global .u32 g = 6;"]), 6);
    let own = format!(".global .u32 g = 3;\n{READS}");
    let other = ".global .u32 g = 4;
.visible .entry k2(.param .u64 out) {
    .reg .b32 %a; .reg .b64 %p;
    ld.param.u64 %p, [out];
    ld.global.u32 %a, [g];
    st.global.b32 [%p], %a;
    ret;
}";
    assert_eq!(linked(&raw, &[&own, other]), 3);
    let swapped = other.replace("k2", "k");
    let own = own.replace("entry k(", "entry k2(");
    assert_eq!(linked(&raw, &[&own, &swapped]), 4);
}

/// Without it, an address of another module's variable in an initial value would be
/// wrong.
#[test]
fn initial_values_name_other_modules() {
    let raw = Raw::open();
    let points = ".extern .global .u32 g[4];
.visible .global .align 8 .u64 p = g + 8;
.visible .entry k(.param .u64 out) {
    .reg .b32 %a; .reg .b64 %p, %q;
    ld.param.u64 %p, [out];
    ld.global.u64 %q, [p];
    ld.global.u32 %a, [%q];
    st.global.b32 [%p], %a;
    ret;
}";
    let numbers = ".visible .global .u32 g[4] = {10, 11, 12, 13};";
    assert_eq!(linked(&raw, &[points, numbers]), 12);
    assert_eq!(linked(&raw, &[numbers, points]), 12);
}

/// Without it, a function of another module would have shared memory of its own.
#[test]
fn shared_memory_is_shared() {
    let raw = Raw::open();
    let owner = ".visible .shared .b32 s[4];
.extern .func fill();
.visible .entry k(.param .u64 out) {
    .reg .b32 %a; .reg .b64 %p;
    ld.param.u64 %p, [out];
    call.uni fill;
    ld.shared.u32 %a, [s+4];
    st.global.b32 [%p], %a;
    ret;
}";
    let user = ".extern .shared .b32 s[4];
.visible .func fill() { st.shared.u32 [s+4], 77; ret; }";
    assert_eq!(linked(&raw, &[owner, user]), 77);
    let constant = ".visible .const .u32 c = 9;";
    let reads = ".extern .const .u32 c;
.visible .entry k(.param .u64 out) {
    .reg .b32 %a; .reg .b64 %p;
    ld.param.u64 %p, [out];
    ld.const.u32 %a, [c];
    st.global.b32 [%p], %a;
    ret;
}";
    assert_eq!(linked(&raw, &[reads, constant]), 9);
}

/// Without it, modules that contradict each other would link, and programs would not
/// learn which.
#[test]
fn contradictions_spoil_the_link() {
    let raw = Raw::open();
    let refused = |first: &str, second: &str, symbol: &str| {
        let mut link = Link::new(&raw);
        assert_eq!(link.add("first", first), CUresult::CUDA_SUCCESS);
        // Drivers do not agree on the code.
        let spoilt = link.add("second", second);
        assert_ne!(spoilt, CUresult::CUDA_SUCCESS);
        let log = link.error_log();
        let names = [symbol, "first", "second"];
        assert!(names.iter().all(|name| log.contains(name)), "{log}");
        assert!(link.complete().is_err());
    };
    refused(TWICE, TWICE, "twice");
    refused(
        ".visible .global .u32 g = 1;",
        ".visible .global .u32 g = 2;",
        "g",
    );
    refused(
        ".visible .entry k() { ret; }",
        ".visible .entry k() { ret; }",
        "k",
    );
    let extern_g = format!(".extern .global .u32 g;\n{READS}");
    refused(&extern_g, ".visible .global .u64 g = 5;", "g");
    refused(&extern_g, ".visible .const .u32 g = 5;", "g");
}

/// Without it, a symbol that no input defines would be null when the code runs.
#[test]
fn what_is_missing_is_named() {
    let raw = Raw::open();
    let mut link = Link::new(&raw);
    assert_eq!(link.add("caller", CALLS), CUresult::CUDA_SUCCESS);
    // Drivers do not agree on the code.
    assert!(link.complete().is_err());
    let log = link.error_log();
    assert!(log.contains("twice") && log.contains("caller"), "{log}");

    // Without a link, the module cannot be loaded.
    let text = CString::new(format!("{HEAD}{CALLS}")).unwrap();
    let mut log = [0xff_u8; 256];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    let mut values: [*mut c_void; 2] = [
        log.as_mut_ptr().cast(),
        std::ptr::without_provenance_mut(256),
    ];
    let mut module = std::ptr::null_mut();
    // SAFETY: the text, the values and the buffer outlive the call.
    let loaded = unsafe {
        raw.driver.cuModuleLoadDataEx(
            &raw mut module,
            text.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    assert_eq!(code(loaded), CUresult::CUDA_ERROR_INVALID_PTX);
    let log = String::from_utf8_lossy(&log[..values[1].addr()]).into_owned();
    assert!(log.contains("twice"), "{log}");
}

/// Without it, a variable that only another module could define would fail a module that
/// is loaded alone; compilers take it to be defined there.
#[test]
fn a_module_alone_defines_its_extern_variables() {
    let raw = Raw::open();
    let text = CString::new(format!("{HEAD}.extern .global .u32 g;\n{READS}")).unwrap();
    assert_eq!(run(&raw, text.as_ptr().cast()), 0);
}

/// Without it, an input that is refused would spoil the ones that are good.
#[test]
fn a_broken_input_is_left_out() {
    let raw = Raw::open();
    let mut link = Link::new(&raw);
    let broken = ".visible .entry broken() { no_such_thing.b32 %a } }";
    assert_eq!(link.add("broken", broken), CUresult::CUDA_ERROR_INVALID_PTX);
    assert_ne!(link.error_log(), "");
    let strange = CUjitInputType(99);
    assert_eq!(
        link.add_as(strange, "strange", b"x\0"),
        CUresult::CUDA_ERROR_INVALID_VALUE
    );
    assert_eq!(link.add("calls", CALLS), CUresult::CUDA_SUCCESS);
    assert_eq!(link.add("twice", TWICE), CUresult::CUDA_SUCCESS);
    let (image, _) = link.complete().expect("it links");
    assert_eq!(run(&raw, image), 42);
}

/// Without it, a link would go on after its end, or end where it must not.
#[test]
fn a_link_ends_once() {
    let raw = Raw::open();
    let mut link = Link::new(&raw);
    assert!(link.complete().is_ok(), "nothing links to nothing");
    assert_eq!(
        link.complete(),
        Err(CUresult::CUDA_ERROR_INVALID_HANDLE),
        "twice"
    );
    assert_eq!(link.add("late", TWICE), CUresult::CUDA_ERROR_INVALID_VALUE);
    let time = f32::from_bits(link.values[4].addr() as u32);
    assert!(time.is_finite() && time >= 0.0, "{time}");
    let mut option = [CUjit_option(99)];
    let mut value = [std::ptr::null_mut()];
    let mut state = std::ptr::null_mut();
    // SAFETY: the places outlive the call.
    let made = unsafe {
        raw.driver
            .cuLinkCreate_v2(1, option.as_mut_ptr(), value.as_mut_ptr(), &raw mut state)
    };
    assert_eq!(code(made), CUresult::CUDA_ERROR_INVALID_VALUE);
    let path: *const c_char = c"/no/such/file.ptx".as_ptr();
    let other = Link::new(&raw);
    // SAFETY: the path outlives the call.
    let added = unsafe {
        raw.driver.cuLinkAddFile_v2(
            other.state,
            CUjitInputType::CU_JIT_INPUT_PTX,
            path,
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        )
    };
    assert_eq!(code(added), CUresult::CUDA_ERROR_FILE_NOT_FOUND);
}
