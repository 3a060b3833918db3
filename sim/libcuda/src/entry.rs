//! The way from an exported function to the machine of the process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use cupola_sim::Machine;
use cupola_sim::settings::Settings;
use cupola_sys::driver::hooks::MemoryHooks;
use cupola_sys::driver::{CUresult, Driver, DriverError, id};
use cupola_sys::{CallError, SymbolId};

use crate::log::{Line, Log};
use crate::report::Report;
use crate::{exports, process};

/// What a process has of its driver.
pub(crate) struct Global {
    pub(crate) machine: Machine,
    driver: Driver,
    log: Option<Log>,
    pub(crate) report: Option<Report>,
}

static GLOBAL: OnceLock<Option<Global>> = OnceLock::new();

/// The process's machine, if it was made and could be made.
pub(crate) fn made() -> Option<&'static Global> {
    GLOBAL.get().and_then(Option::as_ref)
}

/// The process's machine, made by its first call.
///
/// # Errors
/// The settings cannot be used; said once on standard error.
fn global() -> Result<&'static Global, CUresult> {
    let global = GLOBAL.get_or_init(|| match Global::new() {
        Ok(global) => Some(global),
        Err(reason) => {
            process::write_error(&format!("cupola: software device: {reason}\n"));
            None
        }
    });
    global.as_ref().ok_or(CUresult::CUDA_ERROR_SYSTEM_NOT_READY)
}

impl Global {
    fn new() -> Result<Self, String> {
        process::watch()?;
        let settings = Settings::from_environment().map_err(|error| error.to_string())?;
        let log = settings.log.as_deref().map(Log::open).transpose()?;
        let report = settings.report.as_deref().map(Report::open).transpose()?;
        let mut builder = settings
            .builder()
            .exports(exports::address)
            .kernel_output(process::write_output);
        if let Some(report) = report.clone() {
            builder = builder.on_finding(move |finding| report.finding(finding));
        }
        let machine = builder.build();
        let driver = settings
            .driver(machine.driver())
            .map_err(|error| error.to_string())?;
        Ok(Self {
            driver,
            machine,
            log,
            report,
        })
    }
}

/// A driver for the texts of error codes, which a program asks for when it has been refused
/// everything else.
fn texts() -> &'static Driver {
    static TEXTS: OnceLock<Driver> = OnceLock::new();
    TEXTS.get_or_init(|| Machine::builder().devices(0).build().driver())
}

/// Makes one call of the driver.
pub(crate) fn call(
    function: SymbolId,
    run: impl Fn(&Driver) -> Result<(), DriverError>,
    describe: impl Fn(&mut Line),
) -> CUresult {
    // A panic must not reach a C program. The machine's own functions stop theirs; this is
    // for what lies around them.
    let called = catch_unwind(AssertUnwindSafe(|| {
        let global = match process::refuses() {
            Some(code) => Err(code),
            None => global(),
        };
        let global = match global {
            Err(_) if [id::cuGetErrorName, id::cuGetErrorString].contains(&function) => {
                return Ok(code(run(texts())));
            }
            global => global?,
        };
        let run = || code(run(&global.driver));
        let ended = match &global.log {
            None => run(),
            Some(log) => log.around(function, &global.machine, &run, &describe),
        };
        if function == id::cuInit && ended == CUresult::CUDA_SUCCESS {
            process::initialized();
        }
        Ok::<_, CUresult>(ended)
    }));
    match called {
        Ok(Ok(code) | Err(code)) => code,
        Err(_) => CUresult::CUDA_ERROR_UNKNOWN,
    }
}

fn code(called: Result<(), DriverError>) -> CUresult {
    match called {
        Ok(()) => CUresult::CUDA_SUCCESS,
        Err(CallError::Failed { code, .. }) => code,
        Err(CallError::Missing { .. }) => CUresult::CUDA_ERROR_NOT_SUPPORTED,
    }
}

/// What an allocator of the program tells of its blocks; null when nothing listens.
pub(crate) fn memory_hooks(version: u32) -> *const MemoryHooks {
    static HOOKS: OnceLock<Option<MemoryHooks>> = OnceLock::new();
    // Later versions add fields: an older one is the beginning of this.
    if version == 0 || process::refuses().is_some() {
        return std::ptr::null();
    }
    let hooks = catch_unwind(|| {
        let machine = global().ok().map(|global| &global.machine);
        HOOKS.get_or_init(|| machine.and_then(Machine::memory_hooks))
    });
    let hooks = hooks.ok().and_then(Option::as_ref);
    hooks.map_or(std::ptr::null(), std::ptr::from_ref)
}
