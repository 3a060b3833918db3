//! Properties of the table over arbitrary sources, against the set itself as the oracle.
#![cfg(all(
    feature = "std",
    feature = "nvrtc",
    feature = "nvjitlink",
    feature = "nvml",
    feature = "nccl"
))]

#[path = "common/functions.rs"]
#[allow(unreachable_pub, reason = "shared with the fuzz target")]
mod functions;

use core::ffi::{c_int, c_void};
use core::fmt::Display;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use cupola_sys::driver::{CUresult, Driver, ProcAddress, SYMBOLS, id};
use cupola_sys::{CallError, Status, Symbol, SymbolId, Version};
use functions::{ALL, CALLS, Set, Source};
use quickcheck::quickcheck;

fn set(present: HashSet<usize>, version: c_int, code: u32) -> Source {
    let version_code = CUresult::CUDA_SUCCESS;
    Source(Box::new(Set {
        present,
        version,
        version_code,
        code: CUresult(code),
    }))
}

fn ids() -> impl Iterator<Item = (usize, SymbolId)> {
    (0..SYMBOLS.len()).map(|index| (index, SymbolId::new(u16::try_from(index).unwrap())))
}

quickcheck! {
    /// Without it a function could be called that is not there, or be missing although it
    /// is, and the error could name another one.
    fn every_call_agrees_with_the_set(picks: Vec<u16>, version: i32, code: u32) -> bool {
        let mut present: HashSet<usize> =
            picks.iter().map(|pick| usize::from(*pick) % SYMBOLS.len()).collect();
        present.insert(usize::from(id::cuDriverGetVersion.0));
        // SAFETY: `Source` keeps its contract.
        let driver = unsafe { Driver::from_source(Box::new(set(present.clone(), version, code))) }.unwrap();
        let have = Version(u32::try_from(version).unwrap_or(0));
        assert_eq!(driver.driver_version(), have);

        for ((index, id), call) in ids().zip(CALLS) {
            // SAFETY: the driver is over a `Source`.
            let result = unsafe { call(&driver) };
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
        prints(symbol, have, CUresult(code))
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
        symbol: SymbolId::new(symbol),
        code,
    };
    let missing: CallError<S> = CallError::Missing {
        symbol: SymbolId::new(symbol),
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
    let version = usize::from(id::cuDriverGetVersion.0);
    let present = |index: usize| !index.is_multiple_of(3) || index == version;
    let asked = Arc::new(AtomicUsize::new(0));
    let set = set(
        (0..SYMBOLS.len()).filter(|index| present(*index)).collect(),
        12020,
        0,
    );
    // SAFETY: `Slow` keeps its contract.
    let driver = unsafe {
        Driver::from_source(Box::new(Slow {
            set,
            asked: Arc::clone(&asked),
        }))
    }
    .unwrap();
    let start = Barrier::new(THREADS);
    let resolve = || {
        start.wait();
        ids()
            .map(|(_, id)| driver.address(id).map_or(0, <*const c_void>::addr))
            .collect::<Vec<_>>()
    };
    let seen: Vec<Vec<usize>> = std::thread::scope(|threads| {
        let handles: Vec<_> = (0..THREADS).map(|_| threads.spawn(resolve)).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect()
    });
    for (index, symbol) in SYMBOLS.iter().enumerate() {
        let expected = if present(index) { ALL[index].addr() } else { 0 };
        for addresses in &seen {
            let own = index == version && addresses[index] != 0;
            assert!(addresses[index] == expected || own, "{}", symbol.as_str());
        }
    }
    let before = asked.load(Ordering::Relaxed);
    assert!(
        (SYMBOLS.len()..=SYMBOLS.len() * THREADS).contains(&before),
        "{before}"
    );
    let absent = (0..SYMBOLS.len()).filter(|index| !present(*index)).count();
    assert_eq!(driver.missing().count(), absent);
    assert_eq!(
        asked.load(Ordering::Relaxed),
        before,
        "an answer was not kept"
    );
}
