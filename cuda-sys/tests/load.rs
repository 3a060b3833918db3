//! Loading drivers through the system's dynamic loader: what is no driver, and two old
//! drivers played by small libraries that are compiled for the test.
#![cfg(all(feature = "std", target_os = "linux"))]

mod common;

use core::ffi::c_int;
use std::error::Error as _;
use std::path::{Path, PathBuf};

use cupola_sys::driver::{CUresult, Driver, SYMBOLS, id, pfn};
use cupola_sys::{CallError, LoadError, Version};

/// Without it a typing error in a path could read as a broken driver.
#[test]
fn a_wrong_path_does_not_exist() {
    for path in [
        "/nowhere/libcuda.so.1",
        "./libcuda.so.1",
        "",
        "/etc/passwd/libcuda.so.1",
    ] {
        let error = Driver::load_from(Path::new(path)).unwrap_err();
        assert!(
            matches!(error, LoadError::NoSuchFile { .. }),
            "{path}: {error:?}"
        );
        assert_eq!(error.to_string(), format!("\"{path}\" does not exist"));
    }
}

/// Without it a folder, a pipe or a broken file could crash, hang or panic.
#[test]
fn what_is_no_library_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let mut paths: Vec<PathBuf> = vec![
        folder.path().into(),
        Path::new("/").into(),
        pipe,
        "/dev/null".into(),
    ];
    let contents: [(&str, &[u8]); 4] = [
        ("empty.so", b""),
        ("text.so", b"INPUT(libcuda.so.1)\n"),
        ("magic.so", b"\x7fELF"),
        ("noise.so", &[0xa5; 4096]),
    ];
    for (name, bytes) in contents {
        paths.push(folder.path().join(name));
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    for path in paths {
        let error = Driver::load_from(&path).unwrap_err();
        let LoadError::NotALibrary {
            path: named,
            reason,
        } = &error
        else {
            panic!("{}: {error:?}", path.display());
        };
        assert_eq!(*named, path);
        assert!(!reason.is_empty() && error.to_string().contains(reason.as_str()));
    }
}

/// Without it any library could be taken for a driver.
#[test]
fn a_library_without_the_query_function_is_no_driver() {
    let error = Driver::load_from(Path::new("libm.so.6")).unwrap_err();
    assert!(
        matches!(
            &error,
            LoadError::WrongLibrary {
                lacks: "cuGetProcAddress",
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "libm.so.6 is not a CUDA driver of 11.3 or later: it exports no cuGetProcAddress"
    );
}

/// Without it the toolkit's link-time stub could pass for a driver, or be reported as
/// missing.
#[test]
fn a_stub_is_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let stub = common::library(
        folder.path(),
        "stub",
        r#"
        #[unsafe(no_mangle)] extern "C" fn cuGetProcAddress_v2() -> u32 { 34 }
        #[unsafe(no_mangle)] extern "C" fn cuDriverGetVersion() -> u32 { 34 }
        "#,
    );
    let error = Driver::load_from(&stub).unwrap_err();
    let LoadError::Call(call) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(call.status(), Some(CUresult::CUDA_ERROR_STUB_LIBRARY));
    assert!(error.source().is_some());
    assert!(
        error.to_string().contains("CUDA_ERROR_STUB_LIBRARY (34)"),
        "{error}"
    );
}

/// A driver of the version that `$VERSION` stands for: it logs what it is asked, answers
/// like NVIDIA's, and exports what the table `known` holds and a few names beyond it.
const DRIVER: &str = r#"
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Mutex;

static LOG: Mutex<String> = Mutex::new(String::new());

type F = extern "C" fn(*mut c_int) -> u32;

extern "C" fn version(v: *mut c_int) -> u32 { unsafe { *v = $VERSION }; 0 }
extern "C" fn one(_: *mut c_int) -> u32 { 101 }
extern "C" fn two(_: *mut c_int) -> u32 { 102 }

// Not known to the query function: found by its exact name only.
#[unsafe(no_mangle)] extern "C" fn cuProfilerStart() -> u32 { 103 }
// Exists, but is never asked for by this name: the old 32-bit form.
#[unsafe(no_mangle)] extern "C" fn cuMemAlloc() -> u32 { 104 }

fn ask(name: *const c_char, found: *mut *mut c_void, asked: c_int, flags: u64) -> u32 {
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap();
    LOG.lock().unwrap().push_str(&format!("{name} {asked} {flags}\n"));
    unsafe { *found = std::ptr::null_mut() };
    if asked > $VERSION { return 1; }
    let entry: F = match (name, asked, flags) {
        ("cuDriverGetVersion", 2020.., _) => version,
        ("cuStreamSynchronize", 7000.., 2) => two,
        ("cuStreamSynchronize", 2000.., 0 | 1) => one,
        ("cuMemAlloc", 3020.., _) => two,
        _ => return $ABSENT,
    };
    unsafe { *found = entry as *mut c_void };
    0
}

#[unsafe(no_mangle)]
extern "C" fn take_log(into: *mut u8, room: usize) -> usize {
    let log = std::mem::take(&mut *LOG.lock().unwrap());
    let length = log.len().min(room);
    unsafe { std::ptr::copy_nonoverlapping(log.as_ptr(), into, length) };
    log.len()
}

#[unsafe(no_mangle)]
extern "C" fn cuGetProcAddress(n: *const c_char, f: *mut *mut c_void, v: c_int, flags: u64) -> u32 {
    ask(n, f, v, flags)
}
"#;

/// What 12.0 added to it.
const QUERY_V2: &str = r#"
#[unsafe(no_mangle)]
extern "C" fn cuGetProcAddress_v2(
    n: *const c_char, f: *mut *mut c_void, v: c_int, flags: u64, status: *mut u32,
) -> u32 {
    let code = ask(n, f, v, flags);
    unsafe { *status = if code == 1 { 2 } else if (*f).is_null() { 1 } else { 0 } };
    code
}
"#;

struct Played {
    driver: Driver,
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Played {
    fn new(version: u32, source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // 11.4 fails for an unknown name, 12.2 succeeds with a null pointer.
        let absent = if version < 12000 { "500" } else { "0" };
        let source = source
            .replace("$VERSION", &version.to_string())
            .replace("$ABSENT", absent);
        let path = common::library(folder.path(), "driver", &source);
        let driver = Driver::load_from(&path).unwrap();
        Self {
            driver,
            path,
            _folder: folder,
        }
    }

    /// What the driver was asked since the last time: name, version and flags.
    fn log(&self) -> Vec<(String, u32, u64)> {
        // SAFETY: the library is loaded already; the function has this type, above.
        let log = unsafe {
            let library = libloading::Library::new(&self.path).unwrap();
            let take = library
                .get::<unsafe extern "C" fn(*mut u8, usize) -> usize>(b"take_log\0")
                .unwrap();
            let mut log = vec![0; 1 << 20];
            let length = take(log.as_mut_ptr(), log.len());
            log.truncate(length);
            String::from_utf8(log).unwrap()
        };
        let entry = |line: &str| {
            let mut words = line.split(' ');
            let mut word = || words.next().unwrap();
            (
                word().to_owned(),
                word().parse().unwrap(),
                word().parse().unwrap(),
            )
        };
        log.lines().map(entry).collect()
    }

    /// What both of them must do.
    fn check(&self, version: Version) {
        let Self { driver, path, .. } = self;
        assert_eq!(driver.driver_version(), version);
        assert_eq!(driver.library_path(), std::fs::canonicalize(path).ok());
        assert_eq!(driver.describe(), path.display().to_string());
        assert_eq!(self.log(), [("cuDriverGetVersion".to_owned(), 2020, 1)]);

        // SAFETY: the functions played here take any arguments.
        unsafe {
            use core::ptr::null_mut as null;
            let code = |code: u32, symbol| {
                Err(CallError::Failed {
                    symbol,
                    code: CUresult(code),
                })
            };
            assert_eq!(
                driver.cuStreamSynchronize(null()),
                code(101, id::cuStreamSynchronize)
            );
            assert_eq!(
                driver.cuStreamSynchronize_ptsz(null()),
                code(102, id::cuStreamSynchronize_ptsz)
            );
            assert_eq!(
                driver.cuMemAlloc_v2(null(), 1),
                code(102, id::cuMemAlloc_v2)
            );
            assert_eq!(driver.cuProfilerStart(), code(103, id::cuProfilerStart));
            assert_eq!(
                self.log(),
                [
                    ("cuStreamSynchronize".to_owned(), 2000, 1),
                    ("cuStreamSynchronize".to_owned(), 7000, 2),
                    ("cuMemAlloc".to_owned(), 3020, 1),
                    ("cuProfilerStart".to_owned(), 4000, 1),
                ]
            );
            // A later call asks nothing.
            assert_eq!(driver.cuProfilerStart(), code(103, id::cuProfilerStart));
            assert_eq!(self.log(), []);
            let error = driver.cuCtxCreate_v4(null(), null(), 0, 0).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(
                    "cuCtxCreate_v4 is not in this CUDA driver: it needs CUDA 12.5, this one has {version}"
                )
            );
            assert_eq!(self.log(), [("cuCtxCreate".to_owned(), 12050, 1)]);
        }
    }

    /// Every question is for one row of the table, with that row's version and form.
    fn check_questions(&self) {
        let driver = Driver::load_from(&self.path).unwrap();
        let missing = driver.missing().count();
        let log = self.log();
        assert_eq!(log.len(), SYMBOLS.len());
        for (name, version, flags) in log {
            let row = SYMBOLS.iter().find(|symbol| {
                symbol.base.to_str() == Ok(&name)
                    && symbol.introduced == Version(version)
                    && flags == if symbol.is_per_thread() { 2 } else { 1 }
            });
            assert!(row.is_some(), "no row is {name} {version} {flags}");
        }
        // What the old driver has: its version, three functions, and two exported names.
        let has: Vec<&str> = (SYMBOLS.iter().enumerate())
            .filter(|(index, _)| {
                driver.has(cupola_sys::SymbolId::new(u16::try_from(*index).unwrap()))
            })
            .map(|(_, symbol)| symbol.as_str())
            .collect();
        for name in [
            "cuDriverGetVersion",
            "cuStreamSynchronize",
            "cuStreamSynchronize_ptsz",
            "cuMemAlloc_v2",
            "cuMemAlloc",
            "cuProfilerStart",
            "cuGetProcAddress",
        ] {
            assert!(has.contains(&name), "{name}");
        }
        assert_eq!(has.len() + missing, SYMBOLS.len());
        assert!(has.len() < 12, "{has:?}");
    }
}

/// Without it drivers of CUDA 11 could fail to load, or be asked for forms that change
/// signatures.
#[test]
fn an_11_4_driver_works() {
    let played = Played::new(11040, DRIVER);
    played.check(Version::new(11, 4));
    played.check_questions();
    assert!(!played.driver.has(id::cuGetProcAddress_v2));
}

/// Without it the status argument of 12.0's query, or its null answers, could be misread.
#[test]
fn a_12_2_driver_works() {
    let played = Played::new(12020, &format!("{DRIVER}{QUERY_V2}"));
    played.check(Version::new(12, 2));
    played.check_questions();
    assert!(played.driver.has(id::cuGetProcAddress_v2));
}

/// Without it the address given out could be another than the one that methods call.
#[test]
fn an_address_is_the_function() {
    let played = Played::new(12020, &format!("{DRIVER}{QUERY_V2}"));
    let address = played.driver.address(id::cuDriverGetVersion).unwrap();
    // SAFETY: the address is the one of a function of this type.
    let function = unsafe {
        core::mem::transmute::<*const core::ffi::c_void, pfn::cuDriverGetVersion>(address)
    };
    let mut version: c_int = 0;
    // SAFETY: the pointer is valid.
    let code = unsafe { function(&raw mut version) };
    assert_eq!(code, CUresult::CUDA_SUCCESS);
    assert_eq!(version, 12020);
}
