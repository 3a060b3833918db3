//! Properties of the table over arbitrary sources, against the set itself as the oracle.
#![cfg(feature = "std")]

use core::ffi::{c_int, c_void};
use core::fmt::Display;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use cupola_sys::driver::{Driver, ProcAddress, SYMBOLS, id, pfn, scope};
use cupola_sys::{CallError, Status, Symbol, SymbolId, Version};
use quickcheck::quickcheck;

/// Do-nothing functions, one of each type, that return the code of their source.
mod functions {
    use super::{Set, scope};
    use cupola_sys::driver::*;

    macro_rules! functions {
        ($(fn $name:ident = $symbol:literal $base:literal $introduced:literal
            ($($arg:ident: $ty:ty),*) -> $ret:ty;)*) => {
            $(unsafe extern "C" fn $name($(_: $ty),*) -> $ret {
                // SAFETY: only `Set` hands it out, and is its own scope.
                unsafe { (*scope().cast::<Set>()).code }
            })*

            pub(crate) const ALL: [*const core::ffi::c_void; SYMBOLS.len()] =
                [$($name as pfn::$name as *const core::ffi::c_void),*];

            /// Calls every function with zeros.
            ///
            /// # Safety
            /// The driver's functions come from a `Set`.
            pub(crate) unsafe fn call_all(driver: &Driver) -> Vec<Result<(), DriverError>> {
                // SAFETY: zero is a value of every argument type, and the functions look
                // at none of them; only the version's pointer is written through, and
                // `Set` leaves that one out.
                unsafe { vec![$(if id::$name == id::cuDriverGetVersion { Ok(()) } else {
                    driver.$name($(core::mem::zeroed::<$ty>()),*)
                }),*] }
            }
        };
    }

    #[allow(non_snake_case, clippy::too_many_arguments)]
    mod made {
        use super::*;
        cupola_sys::for_each_driver_symbol!(functions!);
    }
    pub(crate) use made::{ALL, call_all};
}

/// A source with some of the functions.
struct Set {
    present: HashSet<usize>,
    version: c_int,
    code: cupola_sys::driver::CUresult,
}

unsafe extern "C" fn version(into: *mut c_int) -> cupola_sys::driver::CUresult {
    // SAFETY: as for the other functions; `into` is valid by contract.
    unsafe { *into = (*scope().cast::<Set>()).version };
    cupola_sys::driver::CUresult::CUDA_SUCCESS
}

/// A boxed `Set` does not move: its address is the scope.
struct Source(Box<Set>);

// SAFETY: every address is a function of the symbol's own type.
unsafe impl ProcAddress for Source {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        if symbol == &SYMBOLS[usize::from(id::cuDriverGetVersion.0)] {
            return version as pfn::cuDriverGetVersion as *const c_void;
        }
        let index = SYMBOLS.iter().position(|other| other == symbol).unwrap();
        if self.0.present.contains(&index) {
            functions::ALL[index]
        } else {
            core::ptr::null()
        }
    }

    fn scope(&self) -> *const () {
        core::ptr::from_ref(&*self.0).cast()
    }

    fn describe(&self) -> String {
        "a set".into()
    }
}

fn driver(present: &HashSet<usize>, version: c_int, code: u32) -> Driver {
    let set = Set {
        present: present.clone(),
        version,
        code: cupola_sys::driver::CUresult(code),
    };
    // SAFETY: `Source` keeps its contract.
    unsafe { Driver::from_source(Box::new(Source(Box::new(set)))) }.unwrap()
}

fn ids() -> impl Iterator<Item = (usize, SymbolId)> {
    (0..SYMBOLS.len()).map(|index| (index, SymbolId(u16::try_from(index).unwrap())))
}

quickcheck! {
    /// Without it a function could be called that is not there, or be missing although it
    /// is, and the error could name another one.
    fn every_call_agrees_with_the_set(picks: Vec<u16>, version: i32, code: u32) -> bool {
        let mut present: HashSet<usize> =
            picks.iter().map(|pick| usize::from(*pick) % SYMBOLS.len()).collect();
        present.insert(usize::from(id::cuDriverGetVersion.0));
        let driver = driver(&present, version, code);
        let have = Version(u32::try_from(version).unwrap_or(0));
        assert_eq!(driver.driver_version(), have);

        // SAFETY: the driver is over a `Set`.
        let results = unsafe { functions::call_all(&driver) };
        for ((index, id), result) in ids().zip(results) {
            assert_eq!(driver.has(id), present.contains(&index));
            assert_eq!(driver.address(id).is_ok(), present.contains(&index));
            let symbol = &SYMBOLS[index];
            match result {
                Ok(()) => assert!(present.contains(&index) && (code == 0 || symbol.as_str() == "cuDriverGetVersion")),
                Err(error) => {
                    assert_eq!(error.symbol(), symbol);
                    let text = error.to_string();
                    assert!(text.starts_with(symbol.as_str()));
                    if present.contains(&index) {
                        assert_eq!(error.status().map(|status| status.0), Some(code));
                        assert!(text.contains(&code.to_string()), "{text}");
                    } else {
                        assert_eq!(error, CallError::Missing { symbol: id, have });
                        assert!(text.contains(&format!("needs CUDA {}", symbol.introduced)), "{text}");
                        assert!(text.ends_with(&format!("this one has {have}")), "{text}");
                    }
                }
            }
        }
        let missing: HashSet<&str> = driver.missing().map(Symbol::as_str).collect();
        let expected: HashSet<&str> =
            ids().filter(|(index, _)| !present.contains(index)).map(|(index, _)| SYMBOLS[index].as_str()).collect();
        missing == expected
    }

    /// Without it a code of a newer library could panic where the error is printed.
    fn every_error_can_be_printed(symbol: u16, code: u32, have: u32) -> bool {
        prints(symbol, have, cupola_sys::driver::CUresult(code))
            && prints(symbol, have, cupola_sys::nvrtc::nvrtcResult(code))
            && prints(symbol, have, cupola_sys::nvjitlink::nvJitLinkResult(code))
            && prints(symbol, have, cupola_sys::nvml::nvmlReturn_t(code))
            && prints(symbol, have, cupola_sys::nccl::ncclResult_t(code))
    }

    /// Without it a version could be shown as another, or compare wrongly.
    fn versions_round_trip(major: u8, minor: u8, other: u32) -> bool {
        // The encoding has two digits for the minor part.
        let (major, minor) = (u32::from(major), u32::from(minor) % 100);
        let version = Version::new(major, minor);
        let _ = (Version(other).to_string(), Version::new(other, other).to_string());
        (version.major(), version.minor()) == (major, minor)
            && version.to_string() == format!("{major}.{minor}")
            && Version::new(major, minor + 1) > version
            && Version::new(major + 1, 0) > version
    }
}

/// An error of any position, even one that no table has, says its code and its function.
fn prints<S: Status>(symbol: u16, have: u32, code: S) -> bool {
    let failed: CallError<S> = CallError::Failed {
        symbol: SymbolId(symbol),
        code,
    };
    let missing: CallError<S> = CallError::Missing {
        symbol: SymbolId(symbol),
        have: Version(have),
    };
    let texts = [&failed as &dyn Display, &missing].map(ToString::to_string);
    let known = code.name().is_some();
    texts[0].contains(&code.code().to_string())
        && texts
            .iter()
            .all(|text| text.contains(failed.symbol().as_str()))
        && texts[1].contains(S::LIBRARY)
        && known == code.advice().is_some()
        && code.name().is_none_or(|name| texts[0].contains(name))
}

/// Answers slowly, and counts how often.
struct Slow {
    set: Source,
    asked: Arc<AtomicUsize>,
}

// SAFETY: the addresses are the set's.
unsafe impl ProcAddress for Slow {
    fn proc_address(&self, symbol: &Symbol) -> *const c_void {
        self.asked.fetch_add(1, Ordering::Relaxed);
        std::thread::yield_now();
        self.set.proc_address(symbol)
    }

    fn scope(&self) -> *const () {
        self.set.scope()
    }

    fn describe(&self) -> String {
        "slow".into()
    }
}

/// Without it threads that resolve a function at the same time could get different
/// addresses, or one that is half stored.
#[test]
fn threads_resolve_the_same_addresses() {
    const THREADS: usize = 8;
    let present: HashSet<usize> = (0..SYMBOLS.len()).filter(|index| index % 3 != 0).collect();
    let asked = Arc::new(AtomicUsize::new(0));
    let set = Set {
        present,
        version: 12020,
        code: cupola_sys::driver::CUresult(0),
    };
    let slow = Slow {
        set: Source(Box::new(set)),
        asked: Arc::clone(&asked),
    };
    // SAFETY: `Slow` keeps its contract.
    let driver = unsafe { Driver::from_source(Box::new(slow)) }.unwrap();
    let start = Barrier::new(THREADS);
    let seen: Vec<Vec<usize>> = std::thread::scope(|threads| {
        let spawn = || {
            threads.spawn(|| {
                start.wait();
                ids()
                    .map(|(_, id)| driver.address(id).map_or(0, <*const c_void>::addr))
                    .collect()
            })
        };
        let handles: Vec<_> = (0..THREADS).map(|_| spawn()).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    for (index, _) in ids() {
        let alone = index != usize::from(id::cuDriverGetVersion.0);
        let expected = if alone && index % 3 != 0 {
            functions::ALL[index].addr()
        } else {
            0
        };
        for addresses in &seen {
            assert!(
                addresses[index] == expected || !alone,
                "{}",
                SYMBOLS[index].as_str()
            );
            assert_eq!(addresses[index], seen[0][index]);
        }
    }
    let before = asked.load(Ordering::Relaxed);
    assert!(
        (SYMBOLS.len()..=SYMBOLS.len() * THREADS + 1).contains(&before),
        "{before}"
    );
    assert_eq!(
        driver.missing().count(),
        seen[0].iter().filter(|address| **address == 0).count()
    );
    assert_eq!(
        asked.load(Ordering::Relaxed),
        before,
        "an answer was not kept"
    );
}
