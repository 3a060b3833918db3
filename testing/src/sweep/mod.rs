//! The k-th-call sweep: a scenario is run once for every driver call that it makes and every
//! code, with that one call failing.
//!
//! Of each case this is demanded: no panic and no hang; nothing is left of what the driver
//! could give back; strict mode finds nothing; the scenario returns the injected error, or the
//! failure is one that may go unreported; a context that was lost names that first cause; and
//! the scenario succeeds on the same machine afterwards.
//!
//! ```
//! use cupola_managers::{PoolConfig, ops};
//! use cupola_testing::{Machine, Sweep};
//!
//! let table = Sweep::new(Machine::builder().worker_threads(1), |stage| {
//!     let context = stage.context()?;
//!     let stream = context.streams().acquire(Default::default())?;
//!     let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
//!     let mut zeros = pool.allocate::<u8>(100, &stream)?;
//!     ops::zero(&mut zeros, &stream)?;
//!     Ok(ops::synchronize(&stream)?)
//! })
//! .codes([2, 719])
//! .run();
//! assert!(table.problems().is_empty(), "{table}");
//! ```

mod life;
mod rules;
mod table;
mod watchdog;

use std::fmt;
use std::time::Duration;

use cupola_managers::ExecutionConfig;
use cupola_managers::testing::TestConfig;
use cupola_sim::fault::FaultTable;
use cupola_sim::{MachineBuilder, Usage};
use cupola_sys::SymbolId;
use cupola_sys::driver::{CUresult, id};

pub use life::Stage;
use life::live;
use table::name;
pub use table::{Case, SweepTable, Word};
use watchdog::Watchdog;

/// What a scenario returns. An error of the scenario's own type has cupola's error among its
/// [sources](std::error::Error::source).
pub type Outcome = Result<(), Box<dyn std::error::Error>>;

type Scenario<'s> = dyn Fn(&Stage) -> Outcome + 's;
type MayRemain<'s> = Box<dyn Fn(&Usage) -> bool + 's>;
type MayAbsorb<'s> = Box<dyn Fn(SymbolId, CUresult) -> bool + 's>;

/// How execution managers are set up.
#[derive(Clone, Copy, Debug, Default)]
struct Setup {
    config: ExecutionConfig,
    test: Option<TestConfig>,
}

/// A sweep over a scenario: the module says what it does.
///
/// A scenario makes the same driver calls each time as long as none fails; a machine with one
/// worker thread helps.
#[must_use = "nothing is run before `run`"]
pub struct Sweep<'s> {
    machine: MachineBuilder,
    scenario: Box<Scenario<'s>>,
    title: String,
    setup: Setup,
    codes: Vec<CUresult>,
    functions: Box<dyn Fn(SymbolId) -> bool + 's>,
    may_remain: Vec<(SymbolId, MayRemain<'s>)>,
    may_absorb: Vec<MayAbsorb<'s>>,
    patience: Duration,
}

impl<'s> Sweep<'s> {
    /// Out of memory, shut down, not ready, illegal address, launch failure, unknown.
    pub const CODES: [u32; 6] = [2, 4, 600, 700, 719, 999];

    /// A sweep of `scenario` over all functions, with [`CODES`](Self::CODES). Each case gets a
    /// machine of its own.
    pub fn new(machine: MachineBuilder, scenario: impl Fn(&Stage) -> Outcome + 's) -> Self {
        Self {
            machine,
            scenario: Box::new(scenario),
            title: "sweep".into(),
            setup: Setup::default(),
            codes: Self::CODES.map(CUresult).into(),
            functions: Box::new(|_| true),
            may_remain: Vec::new(),
            may_absorb: Vec::new(),
            patience: Duration::from_secs(60),
        }
    }

    /// What the table is headed with.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// How the execution manager of each life is set up.
    pub fn config(mut self, config: ExecutionConfig) -> Self {
        self.setup.config = config;
        self
    }

    /// Small managers, soon worn out, in each life.
    pub fn test_config(mut self, config: TestConfig) -> Self {
        self.setup.test = Some(config);
        self
    }

    /// The codes (`CUresult`) that each call fails with.
    pub fn codes(mut self, codes: impl IntoIterator<Item = u32>) -> Self {
        self.codes = codes.into_iter().map(CUresult).collect();
        self
    }

    /// Only calls of functions for which this is true fail.
    pub fn functions(mut self, wanted: impl Fn(SymbolId) -> bool + 's) -> Self {
        self.functions = Box::new(wanted);
        self
    }

    /// A failed call of `function`, which gives something back that the scenario made by
    /// itself, may leave what `may_remain` is true of. What cupola's own destroying calls may
    /// leave, one object each, is known.
    pub fn may_remain(
        mut self,
        function: SymbolId,
        may_remain: impl Fn(&Usage) -> bool + 's,
    ) -> Self {
        self.may_remain.push((function, Box::new(may_remain)));
        self
    }

    /// The scenario may succeed although a call failed for which this is true. Which of
    /// cupola's own calls may fail unreported is known: cleanup, which has no caller to tell,
    /// and what is tried again.
    pub fn may_absorb(mut self, may_absorb: impl Fn(SymbolId, CUresult) -> bool + 's) -> Self {
        self.may_absorb.push(Box::new(may_absorb));
        self
    }

    /// How long a case may take until it counts as a hang, which aborts the process after
    /// naming the case on standard error. 60 s unless told.
    pub fn hang_after(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Runs every case on this thread (a second one watches for hangs). If
    /// `CUPOLA_SWEEP_TABLE` names a file, the table is written there too.
    #[must_use]
    pub fn run(&self) -> SweepTable {
        let watchdog = Watchdog::start(self.patience);
        let mut table = SweepTable {
            title: self.title.clone(),
            ..SweepTable::default()
        };
        for (function, calls) in self.count(&mut table.problems) {
            for k in 1..=calls {
                for &code in &self.codes {
                    let fault = (function, k, code);
                    let what = format!("{} call {k} code {}", name(function), code.0);
                    watchdog.enter(what.clone());
                    let (word, problems) = self.case(fault);
                    let problems = problems.into_iter();
                    table
                        .problems
                        .extend(problems.map(|problem| format!("{what}: {problem}")));
                    table.cases.push(Case {
                        function,
                        k,
                        calls,
                        code,
                        word,
                    });
                }
            }
        }
        if table.cases.is_empty() {
            table.problems.push("there was no case".into());
        }
        if let Err(error) = table.keep() {
            let problem = format!("CUPOLA_SWEEP_TABLE cannot be written: {error}");
            table.problems.push(problem);
        }
        table
    }

    /// The functions that a life without a fault calls, each with its number of calls.
    fn count(&self, problems: &mut Vec<String>) -> Vec<(SymbolId, u64)> {
        let machine = self.machine.clone().build();
        let faults = FaultTable::new(machine.driver());
        let outcome = live(faults.driver(), &self.setup, &self.scenario);
        if !outcome.is_clean() {
            problems.push(format!("without a fault: {outcome}"));
        }
        if let Some(leaks) = machine.leaks() {
            problems.push(format!("without a fault: it leaks {leaks}"));
        }
        let findings = machine.findings().into_iter();
        problems.extend(findings.map(|finding| format!("without a fault: {finding}")));
        if !problems.is_empty() {
            return Vec::new();
        }
        // The version is asked for when the driver is made, before there is a scenario.
        let calls = faults.counts().into_iter();
        calls
            .filter(|&(function, _)| function != id::cuDriverGetVersion)
            .filter(|&(function, _)| (self.functions)(function))
            .collect()
    }

    /// One life with the fault, then one without on the same machine.
    fn case(&self, (function, k, code): (SymbolId, u64, CUresult)) -> (Word, Vec<String>) {
        let mut problems = Vec::new();
        let machine = self.machine.clone().build();
        let faults = FaultTable::new(machine.driver());
        let driver = faults.driver();
        faults.fail(function, k, code);
        let outcome = live(driver.clone(), &self.setup, &self.scenario);
        let mut note = |problem: &str| problems.push(format!("{problem}; {outcome}"));
        let made = faults.count(function) >= k;
        if !made && !rules::polls(function) {
            note("the call was not made");
        }
        if let Some(problem) = outcome.problem(code) {
            note(problem);
        }
        let ours = rules::may_remain(function);
        let theirs = self.may_remain.iter().find(|(known, _)| *known == function);
        let left = machine.usage();
        let explained = left.is_empty()
            || ours.is_some_and(|may| may(&left))
            || theirs.is_some_and(|(_, may)| may(&left));
        if !explained {
            note(&format!("leaked {left}"));
        }
        // A driver that has shut down has taken everything back itself.
        let refused = ours.is_some() && code != CUresult::CUDA_ERROR_DEINITIALIZED;
        let (abandoned, expected) = (outcome.live.abandoned, u64::from(refused));
        // What the scenario destroys by itself, the managers do not count; in a lost context
        // the driver refuses to destroy more than that one object.
        let later = left.is_empty() && rules::tries_again(function);
        let fewer = abandoned < expected && theirs.is_none() && !later;
        // One that a driver has not made, and says that it has shut down, is made for no one.
        let more = abandoned > expected + u64::from(rules::tries_again(function));
        if fewer || (more && !code.is_sticky()) {
            note("not the objects counted as abandoned that the driver refused to destroy");
        }
        let word = outcome.word(ours.is_some() || theirs.is_some());
        let untold = made
            && word == Word::Absorbed
            && !rules::may_absorb(function, code)
            && !self.may_absorb.iter().any(|may| may(function, code));
        if untold {
            note("the failure was not reported");
        }
        faults.reset();
        let again = live(driver, &self.setup, &self.scenario);
        if !again.is_clean() {
            problems.push(format!("the next attempt: {again}"));
        }
        let after = machine.usage();
        if after != left {
            problems.push(format!("the next attempt left {after} of {left}"));
        }
        let findings = machine.findings().into_iter();
        let findings = findings.filter(|finding| !rules::explained(finding.kind, code));
        problems.extend(findings.map(|finding| finding.to_string()));
        (word, problems)
    }
}

impl fmt::Debug for Sweep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweep")
            .field("title", &self.title)
            .field("codes", &self.codes)
            .finish_non_exhaustive()
    }
}
