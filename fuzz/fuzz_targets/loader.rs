//! Any source of driver functions, called in any order, and any file given as a library:
//! errors are values that can be printed, and nothing panics.
#![no_main]

#[path = "../../cuda-sys/tests/common/functions.rs"]
mod functions;

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use arbitrary::Arbitrary;
use cupola_sys::driver::{CUresult, Driver, SYMBOLS, id};
use cupola_sys::nccl::{Nccl, ncclResult_t};
use cupola_sys::nvjitlink::{NvJitLink, nvJitLinkResult};
use cupola_sys::nvml::{Nvml, nvmlReturn_t};
use cupola_sys::nvrtc::{Nvrtc, nvrtcResult};
use cupola_sys::{CallError, LoadError, Status, SymbolId, Version};
use functions::{CALLS, Set, Source};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Input {
    Source {
        /// Positions in the symbol table.
        present: Vec<u16>,
        has_version: bool,
        version: i32,
        version_code: u32,
        code: u32,
        steps: Vec<Step>,
    },
    File {
        contents: Vec<u8>,
    },
    Path {
        bytes: Vec<u8>,
    },
    Code {
        symbol: u16,
        code: u32,
        have: u32,
    },
}

#[derive(Arbitrary, Debug)]
enum Step {
    Call(u16),
    Has(u16),
    Address(u16),
    Missing,
    Show,
    Clone,
}

fuzz_target!(|input: Input| match input {
    Input::Source {
        present,
        has_version,
        version,
        version_code,
        code,
        steps,
    } => {
        let mut present: HashSet<usize> = present
            .into_iter()
            .map(|index| usize::from(index) % SYMBOLS.len())
            .collect();
        let query = usize::from(id::cuDriverGetVersion.0);
        if has_version {
            present.insert(query);
        } else {
            present.remove(&query);
        }
        let set = Set {
            present: present.clone(),
            version,
            version_code: CUresult(version_code),
            code: CUresult(code),
        };
        // SAFETY: `Source` keeps its contract.
        let made = unsafe { Driver::from_source(Box::new(Source(Box::new(set)))) };
        assert_eq!(made.is_ok(), has_version && version_code == 0);
        match made {
            Ok(driver) => run(driver, &present, version, code, &steps),
            Err(error) => print(&LoadError::Call(error)),
        }
    }
    Input::File { contents } => file(&contents),
    Input::Path { bytes } => path(bytes),
    Input::Code { symbol, code, have } => {
        errors(symbol, CUresult(code), have);
        errors(symbol, nvrtcResult(code), have);
        errors(symbol, nvJitLinkResult(code), have);
        errors(symbol, nvmlReturn_t(code), have);
        errors(symbol, ncclResult_t(code), have);
    }
});

fn run(mut driver: Driver, present: &HashSet<usize>, version: i32, code: u32, steps: &[Step]) {
    let have = Version(u32::try_from(version).unwrap_or(0));
    assert_eq!(driver.driver_version(), have);
    for step in steps {
        match step {
            Step::Call(index) => {
                let index = usize::from(*index) % SYMBOLS.len();
                // SAFETY: the driver is over a `Source`.
                let result = unsafe { CALLS[index](&driver) };
                match result {
                    Ok(()) => assert!(present.contains(&index)),
                    Err(error) => {
                        print(&error);
                        assert_eq!(error.symbol(), &SYMBOLS[index]);
                        let failed = error.status().map(|status| status.0);
                        assert_eq!(failed, present.contains(&index).then_some(code));
                    }
                }
            }
            Step::Has(index) => {
                let index = index % SYMBOLS.len() as u16;
                assert_eq!(
                    driver.has(SymbolId::new(index)),
                    present.contains(&usize::from(index))
                );
            }
            Step::Address(index) => {
                let index = index % SYMBOLS.len() as u16;
                let address = driver.address(SymbolId::new(index));
                assert_eq!(address.is_ok(), present.contains(&usize::from(index)));
            }
            Step::Missing => assert_eq!(driver.missing().count(), SYMBOLS.len() - present.len()),
            Step::Show => assert!(!format!("{driver:?} {}", driver.describe()).is_empty()),
            Step::Clone => driver = driver.clone(),
        }
    }
}

/// Anything but an ELF file: the dynamic loader itself trusts what follows that magic.
fn file(contents: &[u8]) {
    if contents.starts_with(b"\x7fELF") {
        return;
    }
    let Ok(folder) = tempfile::tempdir() else {
        return;
    };
    let path = folder.path().join("library.so");
    if std::fs::write(&path, contents).is_ok() {
        for error in refused(&path) {
            assert!(matches!(error, LoadError::NotALibrary { .. }), "{error:?}");
            print(&error);
        }
    }
}

/// A path that is in no folder: never one of the system's libraries.
fn path(bytes: Vec<u8>) {
    let path = PathBuf::from(OsString::from_vec([b"/nowhere/".to_vec(), bytes].concat()));
    refused(&path).iter().for_each(print);
}

fn refused(path: &Path) -> [LoadError; 5] {
    [
        Driver::load_from(path).expect_err("no library"),
        Nvrtc::load_from(path).expect_err("no library"),
        NvJitLink::load_from(path).expect_err("no library"),
        Nvml::load_from(path).expect_err("no library"),
        Nccl::load_from(path).expect_err("no library"),
    ]
}

fn errors<S: Status>(symbol: u16, code: S, have: u32) {
    let symbol = SymbolId::new(symbol);
    let failed = CallError::Failed { symbol, code };
    print(&failed);
    assert_eq!(failed.class(), code.class());
    print(&CallError::<S>::Missing {
        symbol,
        have: Version(have),
    });
}

fn print(error: &impl std::error::Error) {
    assert!(!error.to_string().is_empty() && !format!("{error:?}").is_empty());
}
