//! `cargo xtask mutants`: makes each deliberate mistake of `core`, `managers`, `kernels` and `residency` and
//! demands that the test named for it fails.
//!
//! Every test program is built once, with `--cfg mutants`; which mistake a run of it makes, the
//! variable `CUPOLA_MUTANT` says. Without it the program makes none, and its tests must pass. The
//! programs are built of a copy of the sources, in which every ordering is a mutant too.

mod list;
mod orderings;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use list::{Kill, Member, Mutant, Suite};

use crate::tasks::{cargo, programs, target};

/// The name of runs without a mistake.
const UNCHANGED: &str = "unchanged";
/// What tells a test program which mistake to make.
const MUTANT: &str = "CUPOLA_MUTANT";
/// A test that has not ended by then has not ended.
const PATIENCE: Duration = Duration::from_secs(120);
/// As that, for a test that must not end: so long, and so many times as long as it takes without
/// the mistake.
const LEAST_PATIENCE: Duration = Duration::from_secs(10);
const TIMES: u32 = 10;
/// Mutants that are under way at a time.
const WORKERS: usize = 2;

/// How one run of one test ended.
#[derive(Debug)]
enum Outcome {
    Passed,
    /// With the first line of what was said.
    Failed(String),
    TimedOut,
}

/// A line of the table.
struct Row {
    mutant: Mutant,
    verdict: Verdict,
    seconds: f64,
}

/// What came of a mutant; each with what was said.
#[derive(Debug)]
enum Verdict {
    Killed(String),
    /// Not at the first attempt, beside another mutant.
    KilledAlone {
        how: String,
        /// Why it was taken for alive at the first attempt.
        before: String,
    },
    Alive(String),
}

impl Verdict {
    fn is_alive(&self) -> bool {
        matches!(self, Self::Alive(_))
    }
}

impl Row {
    /// Tries to kill a mutant that was not killed once more, with no other one under way.
    ///
    /// Where two mutants, and all else that a machine does, share its processors, a test may end only
    /// after [`PATIENCE`], and one that looks at what two threads do at a time may see only one of them
    /// run. It is for that alone: it does not make good a test that finds a mistake by luck, which
    /// the table names, as each mutant that needed a second attempt, so that it is made certain.
    fn once_more(self, kill: impl FnOnce(&Mutant) -> Result<String>) -> Self {
        let Verdict::Alive(before) = self.verdict else {
            return self;
        };
        let start = Instant::now();
        let verdict = match kill(&self.mutant) {
            Ok(how) => Verdict::KilledAlone { how, before },
            Err(why) => Verdict::Alive(format!("{why:#}; at the first attempt: {before}")),
        };
        let row = Self {
            mutant: self.mutant,
            verdict,
            seconds: self.seconds + start.elapsed().as_secs_f64(),
        };
        eprintln!("{row}");
        row
    }
}

impl From<Result<String>> for Verdict {
    fn from(killed: Result<String>) -> Self {
        match killed {
            Ok(how) => Self::Killed(how),
            Err(why) => Self::Alive(format!("{why:#}")),
        }
    }
}

/// Makes the mistakes in `only` (all when empty) and demands that each is found.
pub(crate) fn run(only: &[String]) -> Result<()> {
    eprintln!("\n==== mutants");
    let start = Instant::now();
    let list = list::read()?;
    for name in only {
        ensure!(
            list.iter().any(|mutant| mutant.is_of(name)),
            "neither a mutants.toml nor an orderings.toml with a test has {name}"
        );
    }
    let chosen: Vec<_> = list
        .iter()
        .filter(|mutant| only.is_empty() || only.iter().any(|name| mutant.is_of(name)))
        .cloned()
        .collect();
    tree::write(&tree())?;
    let unchanged = check_unchanged(&chosen)?;

    let queue = Mutex::new(chosen.iter());
    let rows = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                while let Some(mutant) = take(&queue) {
                    let start = Instant::now();
                    let verdict = kill(mutant, &unchanged).into();
                    let row = Row {
                        mutant: mutant.clone(),
                        verdict,
                        seconds: start.elapsed().as_secs_f64(),
                    };
                    eprintln!("{row}");
                    rows.lock().expect("no worker panics").push(row);
                }
            });
        }
    });
    let mut rows = rows.into_inner().expect("no worker panics");
    rows.sort_by(|a, b| {
        let key = |row: &Row| (row.mutant.member, row.mutant.suite, row.mutant.name.clone());
        key(a).cmp(&key(b))
    });
    let rows: Vec<_> = rows
        .into_iter()
        .map(|row| row.once_more(|mutant| kill(mutant, &unchanged)))
        .collect();
    println!("\nmutant | test | died of | seconds");
    for row in &rows {
        println!("{row}");
    }
    sum(&rows, start.elapsed())
}

/// The last lines of the output, which tell every mutant that is alive: what comes before them may
/// be cut off.
fn sum(rows: &[Row], took: Duration) -> Result<()> {
    let of = |is: fn(&Verdict) -> bool| rows.iter().filter(move |row| is(&row.verdict)).count();
    let alive = of(Verdict::is_alive);
    let alone = of(|verdict| matches!(verdict, Verdict::KilledAlone { .. }));
    println!(
        "{} mutants, {} killed, {alone} of them at the second attempt, {alive} not; {} s",
        rows.len(),
        rows.len() - alive,
        took.as_secs()
    );
    let alive = rows.iter().filter(|row| row.verdict.is_alive());
    let alive: Vec<_> = alive.map(Row::to_string).collect();
    ensure!(
        alive.is_empty(),
        "{} of {} mutants were not killed:\n{}",
        alive.len(),
        rows.len(),
        alive.join("\n")
    );
    Ok(())
}

/// The next mutant; the lock is held no longer than that takes.
fn take<'m>(queue: &Mutex<std::slice::Iter<'m, Mutant>>) -> Option<&'m Mutant> {
    queue.lock().expect("no worker panics").next()
}

/// A test and the program it is in.
type Test = (Member, Suite, String);

/// The tests as they are without a mistake: their programs, and how long they take.
type Unchanged = BTreeMap<Test, (PathBuf, Duration)>;

/// Builds the test programs. Without a mistake each test must pass, and be there at all.
fn check_unchanged(mutants: &[Mutant]) -> Result<Unchanged> {
    let mut tests: BTreeMap<(Member, Suite), BTreeSet<&str>> = BTreeMap::new();
    for mutant in mutants {
        let program = (mutant.member, mutant.suite);
        tests.entry(program).or_default().insert(&mutant.test);
    }
    let mut unchanged = BTreeMap::new();
    for ((member, suite), tests) in tests {
        let program = build(member, suite)?;
        for test in tests {
            let start = Instant::now();
            match run_test(member, &program, test, UNCHANGED, PATIENCE)? {
                Outcome::Passed => {}
                other => bail!("{suite} test {test} must pass without a mistake: {other:?}"),
            }
            let key = (member, suite, test.to_owned());
            unchanged.insert(key, (program.clone(), start.elapsed()));
        }
    }
    Ok(unchanged)
}

/// Runs the test of a mutant; says how it died, or why it must be taken for alive.
fn kill(mutant: &Mutant, unchanged: &Unchanged) -> Result<String> {
    let key = (mutant.member, mutant.suite, mutant.test.clone());
    let (program, took) = unchanged.get(&key).context("a test that was not tried")?;
    let patience = match mutant.kill {
        Kill::Failure => PATIENCE,
        Kill::Timeout => (*took * TIMES).clamp(LEAST_PATIENCE, PATIENCE),
    };
    let outcome = run_test(mutant.member, program, &mutant.test, &mutant.name, patience)?;
    match (outcome, mutant.kill) {
        (Outcome::Failed(how), Kill::Failure) => Ok(how),
        (Outcome::TimedOut, Kill::Timeout) => Ok("did not end".into()),
        (Outcome::Passed, _) => bail!("SURVIVED ({})", mutant.what),
        (Outcome::TimedOut, Kill::Failure) => {
            bail!(
                "did not end in {} s; say kill = \"timeout\" if it must not",
                PATIENCE.as_secs()
            )
        }
        (Outcome::Failed(how), Kill::Timeout) => {
            bail!("failed, although it should not end: {how}")
        }
    }
}

/// Builds a test program that can make every mistake, and returns its path.
fn build(member: Member, suite: Suite) -> Result<PathBuf> {
    // Models run long enough for it to be worth compiling them as faster programs.
    let (crates, flags, optimisation) = match suite {
        Suite::Loom => (
            "loom",
            "--cfg mutants --cfg loom -C debug-assertions=on",
            "1",
        ),
        _ => ("plain", "--cfg mutants -C debug-assertions=on", "0"),
    };
    let mut cargo = cargo(["test", "--release", "--package", member.package()]);
    cargo
        .current_dir(tree())
        .args(member.features())
        .args(member.arguments(suite))
        .env("CARGO_TARGET_DIR", folder().join(crates))
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", optimisation)
        // Where a mistake is not made, what it needs may be unused.
        .env("RUSTFLAGS", format!("{flags} --cap-lints allow"));
    let mut programs = programs(&mut cargo)?;
    ensure!(
        programs.len() == 1,
        "one test program expected: {programs:?}"
    );
    Ok(programs.remove(0))
}

/// Runs one test of a test program, which makes the mistake of `mutant`; the output goes to a
/// file of that name.
fn run_test(
    member: Member,
    program: &Path,
    test: &str,
    mutant: &str,
    patience: Duration,
) -> Result<Outcome> {
    let log = mutant.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let log = folder().join(format!("{log}.log"));
    let file = File::create(&log)?;
    let mut child = Command::new(program)
        .args([test, "--exact", "--nocapture"])
        .current_dir(tree().join(member.folder()))
        .env(MUTANT, mutant)
        .env(
            "LOOM_MAX_PREEMPTIONS",
            env::var_os("LOOM_MAX_PREEMPTIONS").unwrap_or_else(|| "3".into()),
        )
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > patience {
            child.kill()?;
            child.wait()?;
            return Ok(Outcome::TimedOut);
        }
        thread::sleep(Duration::from_millis(5));
    };
    judge(status, &String::from_utf8_lossy(&fs::read(&log)?), test)
}

/// What a finished run means. That the runner came to start the test is part of it: a name
/// that fits no test would otherwise pass, and any other crash would kill.
fn judge(status: ExitStatus, output: &str, test: &str) -> Result<Outcome> {
    ensure!(
        output.contains("\nrunning 1 test\n"),
        "there is no test {test}, or it never began ({status})"
    );
    if status.success() {
        ensure!(
            output.contains("test result: ok. 1 passed"),
            "test {test} was not run"
        );
        return Ok(Outcome::Passed);
    }
    let said = output
        .lines()
        .skip_while(|line| !line.contains("panicked at"))
        .skip(1)
        .find(|line| !line.trim().is_empty());
    // Of a signal the runner says nothing, and the panic before it may be missing.
    let how = said.map_or_else(|| status.to_string(), |line| line.trim().to_owned());
    Ok(Outcome::Failed(how))
}

fn folder() -> PathBuf {
    target().join("mutants")
}

/// The copy of the sources.
fn tree() -> PathBuf {
    folder().join("tree")
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            mutant,
            verdict,
            seconds,
        } = self;
        let Mutant {
            name, suite, test, ..
        } = mutant;
        write!(f, "{name} | {suite} {test} | ")?;
        match verdict {
            Verdict::Killed(how) => write!(f, "{how:.80}")?,
            Verdict::KilledAlone { how, before } => {
                write!(
                    f,
                    "{how:.80} (at the second attempt; at the first: {before})"
                )?;
            }
            Verdict::Alive(why) => write!(f, "NOT KILLED: {why}")?,
        }
        write!(f, " | {seconds:.1}")
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    fn row(name: &str, killed: Result<String>) -> Row {
        Row {
            mutant: Mutant {
                name: name.into(),
                what: "a mistake".into(),
                suite: Suite::Unit,
                test: "tests::looks".into(),
                kill: Kill::Failure,
                member: Member::Core,
            },
            verdict: killed.into(),
            seconds: 0.0,
        }
    }

    /// Without it a busy machine could fail CI, or a test that kills by luck look like one that is
    /// certain, or a mutant that was killed be tried again.
    #[test]
    fn a_second_attempt_is_told() {
        let again = row("killed", Ok("a panic".into())).once_more(|_| bail!("tried again"));
        assert_eq!(
            again.to_string(),
            "killed | unit tests::looks | a panic | 0.0"
        );
        let again = row("late", Err(anyhow!("SURVIVED"))).once_more(|mutant| {
            assert_eq!(mutant.name, "late");
            Ok("a panic".into())
        });
        let told = again.to_string();
        assert!(
            told.contains("a panic (at the second attempt; at the first: SURVIVED)"),
            "{told}"
        );
        assert!(sum(&[again], Duration::ZERO).is_ok());
    }

    /// Without it the last lines could hide which mutant is alive, and why.
    #[test]
    fn the_last_lines_name_each_mutant_that_is_alive() {
        let alive = |name| row(name, Err(anyhow!("SURVIVED"))).once_more(|_| bail!("SURVIVED"));
        let rows = [
            alive("first"),
            row("killed", Ok("a panic".into())),
            alive("second"),
        ];
        let error = format!("{:#}", sum(&rows, Duration::ZERO).unwrap_err());
        let lines: Vec<_> = error.lines().collect();
        assert_eq!(lines[0], "2 of 3 mutants were not killed:");
        assert_eq!(lines.len(), 3, "{error}");
        for (line, name) in lines[1..].iter().zip(["first", "second"]) {
            let start = format!("{name} | unit tests::looks | NOT KILLED: SURVIVED");
            assert!(line.starts_with(&start), "{error}");
        }
    }

    /// Without it a row with a misspelt test would count as killed, or pass.
    #[cfg(unix)]
    #[test]
    fn a_test_that_did_not_run_proves_nothing() {
        use std::os::unix::process::ExitStatusExt as _;
        let (passed, failed) = (ExitStatus::from_raw(0), ExitStatus::from_raw(101 << 8));
        let none = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed";
        assert!(judge(passed, none, "a").is_err());
        assert!(judge(failed, "error while loading shared libraries", "a").is_err());
        let ok = "\nrunning 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed";
        assert!(matches!(judge(passed, ok, "a"), Ok(Outcome::Passed)));
        let panic = "\nrunning 1 test\n\nthread 'a' panicked at src/a.rs:1:2:\nit broke\n";
        match judge(failed, panic, "a") {
            Ok(Outcome::Failed(how)) => assert_eq!(how, "it broke"),
            other => panic!("{other:?}"),
        }
    }
}
