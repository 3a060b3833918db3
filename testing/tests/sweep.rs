//! The sweep finds what must not be, each kind of it, and names the case.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::process::Command;
use std::ptr;
use std::time::Duration;

use cupola_managers::ops::LaunchConfig;
use cupola_managers::{PoolConfig, ops};
use cupola_sys::driver::CUstream;
use cupola_testing::sweep::{Outcome, Word};
use cupola_testing::{CUresult, Machine, Stage, Sweep, SweepTable, TestConfig, id};

/// A sweep with two codes: one after which the context is lost, and one after which it is not.
fn sweep<'s>(scenario: impl Fn(&Stage) -> Outcome + 's) -> Sweep<'s> {
    Sweep::new(Machine::builder().worker_threads(1), scenario).codes([2, 719])
}

fn fill(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().acquire(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let mut words = pool.allocate::<u32>(16, &stream)?;
    ops::fill(&mut words, 7, &stream)?;
    Ok(ops::synchronize(&stream)?)
}

fn found(table: &SweepTable, problem: &str) -> bool {
    table.problems().iter().any(|said| said.contains(problem))
}

// Without it a correct scenario could have problems, or its cases no place in the table.
#[test]
fn a_correct_scenario_has_no_problems() {
    let table = sweep(fill).title("fill").run();
    assert!(table.problems().is_empty(), "{table}");
    let of = |function, code| {
        let mut cases = table.cases().iter();
        let case = cases.find(|case| case.function == function && case.code == CUresult(code));
        case.map(|case| (case.word, case.k, case.calls)).unwrap()
    };
    assert_eq!(of(id::cuInit, 2), (Word::Error, 1, 1));
    assert_eq!(of(id::cuMemsetD32Async, 2), (Word::Error, 1, 1));
    assert_eq!(of(id::cuMemsetD32Async, 719), (Word::Lost, 1, 1));
    assert_eq!(of(id::cuStreamDestroy_v2, 2), (Word::Kept, 1, 1));
    assert_eq!(of(id::cuMemCreate, 2), (Word::Absorbed, 1, 1));
    let counted: usize = table.counts().values().sum();
    assert_eq!(counted, table.cases().len());
    let text = table.to_string();
    let row = "cuMemsetD32Async                   1 of   1  2:error 719:lost";
    assert!(text.starts_with("fill: ") && text.contains(row), "{text}");
}

// Without it a crate that loads code in the obvious way would be told that it swallows errors: the
// wait before the code is unloaded would come when nothing is left to return them.
#[test]
fn a_correct_scenario_with_code_has_no_problems() {
    const PTX: &str = ".version 6.0\n.target sm_60\n.address_size 64\n\
        .visible .entry nothing() { ret; }\n";
    let table = sweep(|stage| {
        let context = stage.context()?;
        let function = context.modules().load_ptx(PTX)?.function("nothing")?;
        let stream = context.streams().create(Default::default())?;
        // SAFETY: the kernel takes no arguments and touches no memory.
        unsafe { ops::launch(&function, LaunchConfig::linear(1, 1), (), &stream) }?;
        Ok(ops::synchronize(&stream)?)
    })
    .codes([2, 700, 719])
    .run();
    assert!(table.problems().is_empty(), "{table}");
    let mut cases = table.cases().iter();
    assert!(cases.any(|case| case.function == id::cuModuleUnload));
}

// Without it a sweep over nothing would be a sweep without problems.
#[test]
fn a_sweep_without_cases_is_a_problem() {
    let table = sweep(fill)
        .functions(|function| function == id::cuLinkCreate_v2)
        .run();
    assert!(found(&table, "there was no case"), "{table}");
}

// Without it an error could be swallowed, and success reported.
#[test]
fn an_error_that_nobody_is_told_of_is_a_problem() {
    let deaf = |stage: &Stage| {
        let context = stage.context()?;
        let _ = context.memory_info();
        Ok(())
    };
    let asked = |function| function == id::cuMemGetInfo_v2;
    let table = sweep(deaf).functions(asked).codes([999, 719]).run();
    assert_eq!(table.problems().len(), 1, "{table}");
    assert!(
        found(
            &table,
            "cuMemGetInfo_v2 call 1 code 999: the failure was not reported"
        ),
        "{table}"
    );
    // The user's rule: that is meant.
    let meant = sweep(deaf)
        .codes([999, 719])
        .functions(asked)
        .may_absorb(|function, _| asked(function));
    assert!(meant.run().problems().is_empty());
}

/// Makes a stream by hand, and destroys it; the context takes it if that fails.
fn careless(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    context.make_current()?;
    let driver = stage.execution().driver();
    let mut raw: CUstream = ptr::null_mut();
    // SAFETY: `raw` outlives the call.
    unsafe { driver.cuStreamCreate(&raw mut raw, 0) }?;
    // SAFETY: made above, and no work uses it.
    Ok(unsafe { driver.cuStreamDestroy_v2(raw) }?)
}

// Without it what only leaks when something fails would pass.
#[test]
fn a_leak_on_the_way_out_is_a_problem() {
    let table = sweep(|stage| {
        let context = stage.context()?;
        let pinned = context.buffers().pinned::<u8>(1)?;
        if let Err(error) = context.memory_info() {
            let _lost = ManuallyDrop::new(pinned);
            return Err(error.into());
        }
        Ok(())
    })
    .functions(|function| function == id::cuMemGetInfo_v2)
    .codes([2])
    .run();
    assert!(found(&table, "leaked"), "{table}");
    assert!(
        found(&table, "the managers still count something"),
        "{table}"
    );
    assert!(found(&table, "cuMemGetInfo_v2 call 1 code 2"), "{table}");
}

// Without it a raw call's error would be no error of cupola's, or a stream that went with its
// context be taken for a leak.
#[test]
fn raw_calls_of_a_scenario_are_told_by_their_codes() {
    let asked = |function| [id::cuStreamCreate, id::cuStreamDestroy_v2].contains(&function);
    let table = sweep(careless).functions(asked).run();
    // The managers count no stream of the scenario's as abandoned, until it says so.
    let problems = table.problems().iter();
    let own = |problem: &String| problem.starts_with("cuStreamDestroy_v2 call 1 code");
    assert_eq!(
        problems.filter(|problem| own(problem)).count(),
        2,
        "{table}"
    );
    assert_eq!(table.problems().len(), 2, "{table}");
    let own = sweep(careless).functions(asked);
    let table = own.may_remain(id::cuStreamDestroy_v2, |_| false).run();
    assert!(table.problems().is_empty(), "{table}");
}

// Without it a panic would end the sweep, or pass as an error.
#[test]
fn a_panic_is_a_problem() {
    let table = sweep(|stage| {
        let context = stage.context()?;
        context.memory_info().expect("the memory");
        Ok(())
    })
    .functions(|function| function == id::cuMemGetInfo_v2)
    .codes([2])
    .run();
    assert_eq!(table.cases()[0].word, Word::Panicked);
    assert!(
        found(&table, "it panicked") && found(&table, "the memory"),
        "{table}"
    );
}

// Without it a scenario's own error could hide which call failed.
#[test]
fn an_error_without_its_source_is_a_problem() {
    let table = sweep(|stage| fill(stage).map_err(|_| "it did not work".into()))
        .functions(|function| function == id::cuMemsetD32Async)
        .run();
    assert!(found(&table, "no error of cupola's"), "{table}");
}

// Without it a context could go on after its loss, because something made it anew.
#[test]
fn another_error_than_the_injected_one_is_a_problem() {
    let table = sweep(|stage| {
        fill(stage).map_err(|_| {
            let other = stage.execution().driver();
            // SAFETY: no address of anything, which is refused.
            unsafe { other.cuMemFree_v2(0x7000) }.unwrap_err().into()
        })
    })
    .functions(|function| function == id::cuMemsetD32Async)
    .run();
    assert!(
        found(&table, "another code than the one injected"),
        "{table}"
    );
    assert!(found(&table, "invalid-free"), "{table}");
}

// Without it a scenario that works once only would pass.
#[test]
fn a_second_attempt_that_fails_is_a_problem() {
    let lives = Cell::new(0);
    let table = sweep(|stage| {
        lives.set(lives.get() + 1);
        let again = lives.get() == 3;
        fill(stage)?;
        if again {
            Err("once only".into())
        } else {
            Ok(())
        }
    })
    .functions(|function| function == id::cuMemsetD32Async)
    .codes([2])
    .run();
    assert_eq!(table.problems().len(), 1, "{table}");
    assert!(
        found(&table, "the next attempt: error: once only"),
        "{table}"
    );
}

// Without it the managers of a life would not be those asked for.
#[test]
fn a_life_is_configured_for_its_test() {
    let table = sweep(|stage| {
        assert!(stage.execution().is_configured_for_test());
        fill(stage)
    })
    .test_config(TestConfig::new().pool_size(4))
    .run();
    assert!(table.problems().is_empty(), "{table}");
}

const HANG: &str = "CUPOLA_TESTING_HANG";

// Without it a hang would be a test that never ends, without a word of which case hung.
#[test]
fn a_hang_ends_the_process_and_names_the_case() {
    if std::env::var_os(HANG).is_some() {
        let _ = sweep(|stage| {
            if fill(stage).is_err() {
                loop {
                    std::thread::park();
                }
            }
            Ok(())
        })
        .functions(|function| function == id::cuMemsetD32Async)
        .hang_after(Duration::from_secs(5))
        .run();
        return;
    }
    let this = std::env::current_exe().unwrap();
    let name = "a_hang_ends_the_process_and_names_the_case";
    let ended = Command::new(this)
        .args([name, "--exact", "--nocapture"])
        .env(HANG, "1")
        .output()
        .unwrap();
    assert!(!ended.status.success());
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(
        said.contains("hangs: cuMemsetD32Async call 1 code 2"),
        "{said}"
    );
}

const KEEP: &str = "CUPOLA_SWEEP_TABLE";

// Without it the table could not be kept, or a second sweep take the first one's place.
#[test]
fn tables_of_a_process_are_kept_in_a_file() {
    if std::env::var_os(KEEP).is_some() {
        for title in ["first", "second"] {
            let asked = |function| function == id::cuMemsetD32Async;
            let _ = sweep(fill).functions(asked).title(title).run();
        }
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table");
    std::fs::write(&file, "of an earlier run").unwrap();
    let this = std::env::current_exe().unwrap();
    let ended = Command::new(this)
        .args(["tables_of_a_process_are_kept_in_a_file", "--exact"])
        .env(KEEP, &file)
        .output()
        .unwrap();
    assert!(ended.status.success());
    let kept = std::fs::read_to_string(&file).unwrap();
    let titles: Vec<_> = kept
        .lines()
        .filter(|line| line.contains("cases of"))
        .collect();
    assert_eq!(titles.len(), 2, "{kept}");
    assert!(
        titles[0].starts_with("first: 2 cases of 1 functions: error 1, lost 1"),
        "{kept}"
    );
    assert!(titles[1].starts_with("second: "), "{kept}");
}
