//! The tuner on the software device: who wins, what is remembered, and what a folder may do to it.
#![cfg(unix)]

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use cupola_kernels::cache::{CacheConfig, Entry, EntryKind, Key, LoadPolicy, Manifest};
use cupola_kernels::compile::ImageKind;
use cupola_kernels::tune::{
    Candidate, Choice, ProblemClass, TrialOutcome, TuneConfig, TuneError, TuneTask, Tuner,
    block_sizes,
};
use cupola_managers::ops::{self, LaunchConfig};
use cupola_managers::{Context, Error, ExecutionManager, Function, Stream};
use cupola_sim::fault::FaultTable;
use cupola_sim::{DeviceConfig, Machine};
use cupola_sys::driver::{CUresult, id};

const PTX: &str = "
.version 6.0
.target sm_60
.address_size 64
.visible .entry empty() .maxntid 256, 1, 1 { ret; }
";

struct Bench {
    empty: Function,
    stream: Stream,
    context: Context,
    execution: ExecutionManager,
    faults: FaultTable,
    machine: Machine,
}

impl Bench {
    fn new() -> Self {
        Self::with(DeviceConfig::new())
    }

    fn with(device: DeviceConfig) -> Self {
        let machine = Machine::builder().worker_threads(1).device(device).build();
        let faults = FaultTable::new(machine.driver());
        let execution = ExecutionManager::new(faults.driver()).unwrap();
        let context = execution.devices().get(0).unwrap().primary().unwrap();
        let module = context.modules().load_ptx(PTX).unwrap();
        Self {
            empty: module.function("empty").unwrap(),
            stream: context.streams().create(Default::default()).unwrap(),
            context,
            execution,
            faults,
            machine,
        }
    }

    fn tuner(&self, cache: CacheConfig) -> Tuner {
        let device = self.execution.devices().get(0).unwrap();
        let tuner = Tuner::new(&self.context, device.info().unwrap(), cache).unwrap();
        tuner.with_config(quick())
    }

    /// Chooses between block sizes for `empty`. Returns how often it was launched.
    fn choose<'c>(
        &self,
        tuner: &Tuner,
        sizes: &'c [u32],
    ) -> Result<(Choice<'c, u32>, u32), TuneError> {
        let launches = Cell::new(0);
        let choice = tuner.choose(&task(), sizes, &self.stream, |&threads, stream| {
            launches.set(launches.get() + 1);
            self.launch(threads, stream)
        })?;
        Ok((choice, launches.get()))
    }

    fn launch(&self, threads: u32, stream: &Stream) -> Result<(), Error> {
        // SAFETY: the kernel touches no memory.
        unsafe { ops::launch(&self.empty, LaunchConfig::linear(1, threads), (), stream) }
    }

    fn finish(self) {
        let machine = self.machine.clone();
        drop(self);
        assert_eq!(machine.leaks(), None);
    }
}

/// As few launches as there can be, and the same number of them whatever they take.
fn quick() -> TuneConfig {
    let mut config = TuneConfig::default();
    config.warm_ups = 1;
    config.rounds = 2;
    config.sample_time = Duration::ZERO;
    config.reject_above = f64::INFINITY;
    config
}

fn task() -> TuneTask {
    TuneTask::of_code(PTX.as_bytes(), "empty", ProblemClass::of_sizes(&[1]))
}

fn in_folder(folder: &Path) -> CacheConfig {
    let mut config = CacheConfig::default();
    config.folder = Some(folder.to_owned());
    config
}

/// The one entry of a folder.
fn entry(folder: &Path) -> std::path::PathBuf {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let entries: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|it| it == "entry"))
        .collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

// Without it a start would measure what was measured before, or be given the winner of other candidates.
#[test]
fn a_winner_is_found_by_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let sizes = [32, 64, 128];
    let bench = Bench::new();
    let tuner = bench.tuner(in_folder(folder.path()));
    let (first, launches) = bench.choose(&tuner, &sizes).unwrap();
    // A warm-up and two rounds of each, and one sample of the first to see how long it takes.
    assert_eq!((first.is_remembered(), launches), (false, 10));
    let report = first.report.clone().unwrap();
    assert_eq!(report.trials().len(), 3);
    assert_eq!(report.trials()[1].label, "64 threads");
    let (again, launches) = bench.choose(&tuner, &sizes).unwrap();
    assert!(again.is_remembered() && launches == 0);
    assert_eq!(
        (again.candidate, &again.text),
        (first.candidate, &report.to_string())
    );
    drop(tuner);
    // Another machine of the same kind, as another process has it.
    let other = Bench::new();
    let tuner = other.tuner(in_folder(folder.path()));
    let (found, launches) = other.choose(&tuner, &sizes).unwrap();
    assert!(found.is_remembered() && launches == 0);
    assert_eq!(
        (found.candidate, &found.text),
        (first.candidate, &first.text)
    );
    assert!(
        other.choose(&tuner, &sizes[1..]).unwrap().1 > 0,
        "other candidates"
    );
    let larger = Bench::with(DeviceConfig::new().multiprocessors(9));
    let tuner = larger.tuner(in_folder(folder.path()));
    assert!(
        larger.choose(&tuner, &sizes).unwrap().1 > 0,
        "another device"
    );
    drop((tuner, bench, other, larger));
}

const FOLDER: &str = "CUPOLA_TEST_FOLDER";

#[test]
#[ignore = "a process that the next test starts"]
fn asks_in_a_process_of_its_own() {
    let folder = std::env::var_os(FOLDER).expect("another test starts this one");
    let bench = Bench::new();
    let tuner = bench.tuner(in_folder(Path::new(&folder)));
    let (choice, launches) = bench.choose(&tuner, &[32, 64]).unwrap();
    println!("launches={launches} winner={}", choice.candidate);
}

// Without it processes that start together would measure at the same time, each disturbed by the others,
// and might remember different winners.
#[test]
fn of_many_processes_one_measures() {
    let folder = tempfile::tempdir().unwrap();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--ignored",
                "--nocapture",
                "asks_in_a_process_of_its_own",
            ])
            .env(FOLDER, folder.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("this program starts")
    };
    let children: Vec<_> = (0..6).map(|_| start()).collect();
    let said = children.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.contains("winner=")).unwrap();
        line[line.find("launches=").unwrap()..].to_owned()
    });
    let said: Vec<_> = said.collect();
    let measured = said.iter().filter(|line| !line.contains("launches=0 "));
    assert_eq!(measured.count(), 1, "{said:?}");
    let winner = |line: &String| line.split_once("winner=").unwrap().1.to_owned();
    assert!(
        said.iter().all(|line| winner(line) == winner(&said[0])),
        "{said:?}"
    );
}

// Without it a damaged file could name a winner that never was, or stop a program.
#[test]
fn every_flipped_byte_costs_a_measurement_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let sizes = [32, 64];
    bench
        .choose(&bench.tuner(in_folder(folder.path())), &sizes)
        .unwrap();
    let path = entry(folder.path());
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, &damaged).unwrap();
        let (choice, launches) = bench
            .choose(&bench.tuner(in_folder(folder.path())), &sizes)
            .unwrap();
        assert!(
            launches > 0 && !choice.is_remembered(),
            "byte {at} was not missed"
        );
        let (_, launches) = bench
            .choose(&bench.tuner(in_folder(folder.path())), &sizes)
            .unwrap();
        assert_eq!(launches, 0, "byte {at}: it was not written again");
    }
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let (_, launches) = bench
            .choose(&bench.tuner(in_folder(folder.path())), &sizes)
            .unwrap();
        assert!(launches > 0, "{length} bytes");
    }
}

// Without it an entry that is whole could name what is no candidate, or no winner at all: its checksum says
// only that it is as it was written.
#[test]
fn an_entry_that_names_no_candidate_is_measured_again() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let sizes = [32, 64];
    bench
        .choose(&bench.tuner(in_folder(folder.path())), &sizes)
        .unwrap();
    let path = entry(folder.path());
    let key: Key = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    for (kind, label) in [
        (EntryKind::Tuning, "65 threads"),
        (ImageKind::Cubin.into(), "64 threads"),
    ] {
        let forged = Entry {
            kind,
            payload: label.into(),
            names: Vec::new(),
            log: String::new(),
            manifest: Manifest::new(),
            recipe: None,
        };
        fs::write(&path, forged.encode(&key)).unwrap();
        let tuner = bench.tuner(in_folder(folder.path()));
        let (choice, launches) = bench.choose(&tuner, &sizes).unwrap();
        assert!(launches > 0 && !choice.is_remembered(), "{kind:?}");
        assert_eq!(bench.choose(&tuner, &sizes).unwrap().1, 0, "{kind:?}");
        let tuner = bench.tuner(in_folder(folder.path()));
        assert_eq!(
            bench.choose(&tuner, &sizes).unwrap().1,
            0,
            "{kind:?}: on disk"
        );
    }
}

// Without it a program could not start where nothing can be written, or would trust what other users may
// write.
#[test]
fn a_folder_that_cannot_be_used_costs_measurements() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "no folder").unwrap();
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let bench = Bench::new();
    for unusable in [file.join("below"), file.clone(), open] {
        let tuner = bench.tuner(in_folder(&unusable));
        assert!(tuner.refusal().is_some(), "{}", unusable.display());
        assert!(bench.choose(&tuner, &[32, 64]).unwrap().1 > 0);
        assert_eq!(
            bench.choose(&tuner, &[32, 64]).unwrap().1,
            0,
            "memory has it"
        );
    }
    // A folder that goes while the program runs.
    let gone = folder.path().join("gone");
    let tuner = bench.tuner(in_folder(&gone));
    fs::remove_dir(&gone).unwrap();
    assert!(bench.choose(&tuner, &[32, 64]).unwrap().1 > 0);
    assert!(tuner.stats().io_failures > 0);
    // A policy about code says nothing about winners.
    let mut listed = in_folder(&folder.path().join("listed"));
    listed.policy = LoadPolicy::Listed(Default::default());
    let tuner = bench.tuner(listed.clone());
    bench.choose(&tuner, &[32, 64]).unwrap();
    assert!(
        bench
            .choose(&bench.tuner(listed), &[32, 64])
            .unwrap()
            .0
            .is_remembered()
    );
}

// Without it one block size that the kernel cannot have would spoil the choice, or win it.
#[test]
fn refused_candidates_are_told() {
    let bench = Bench::new();
    let mut config = CacheConfig::default();
    config.folder = None;
    let tuner = bench.tuner(config);
    let (choice, _) = bench.choose(&tuner, &[2048, 64]).unwrap();
    assert_eq!(*choice.candidate, 64);
    assert!(
        choice.text.contains("2048 threads: refused: block: "),
        "{}",
        choice.text
    );
    let report = choice.report.unwrap();
    assert!(matches!(
        report.trials()[0].outcome,
        TrialOutcome::Refused { .. }
    ));
    let none = bench.choose(&tuner, &[2048, 512]).unwrap_err();
    let text = none.to_string();
    assert!(matches!(none, TuneError::AllRefused(_)));
    assert!(
        text.contains("2048 threads: ") && text.contains("512 threads: "),
        "{text}"
    );
    assert!(matches!(
        bench.choose(&tuner, &[]),
        Err(TuneError::NoCandidates)
    ));
    let twice = bench.choose(&tuner, &[64, 32, 64]).unwrap_err();
    assert!(
        matches!(&twice, TuneError::SameLabel(label) if label == "64 threads"),
        "{twice}"
    );
    drop(tuner);
    bench.finish();
}

// Without it a launch that failed for a lack of memory once would keep its candidate from ever winning.
#[test]
fn a_winner_beside_a_passing_refusal_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::new();
    let tuner = bench.tuner(in_folder(folder.path()));
    bench
        .faults
        .fail(id::cuLaunchKernel, 1, CUresult::CUDA_ERROR_OUT_OF_MEMORY);
    let (choice, _) = bench.choose(&tuner, &[32, 64]).unwrap();
    assert_eq!(*choice.candidate, 64);
    let (again, launches) = bench.choose(&tuner, &[32, 64]).unwrap();
    assert!(launches > 0 && !again.is_remembered());
    assert!(!again.text.contains("refused"), "{}", again.text);
    assert_eq!(bench.choose(&tuner, &[32, 64]).unwrap().1, 0);
}

// Without it a failed call could leave a winner that was chosen by half a measurement, a leak, or a tuner
// that answers no more.
#[test]
fn every_call_may_fail() {
    let codes = [
        CUresult::CUDA_ERROR_INVALID_VALUE,
        CUresult::CUDA_ERROR_OUT_OF_MEMORY,
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    ];
    let folder = tempfile::tempdir().unwrap();
    for function in [
        id::cuEventCreate,
        id::cuEventRecord,
        id::cuLaunchKernel,
        id::cuEventSynchronize,
        id::cuEventElapsedTime,
    ] {
        let mut failures = 0;
        for code in codes {
            for k in 1.. {
                let bench = Bench::new();
                let path = folder.path().join(format!("{}-{}-{k}", function.0, code.0));
                let tuner = bench.tuner(in_folder(&path));
                let before = bench.faults.count(function);
                bench.faults.fail(function, before + k, code);
                let chosen = bench.choose(&tuner, &[32, 64]);
                if bench.faults.count(function) < before + k {
                    break;
                }
                failures += 1;
                match chosen {
                    // A refused launch takes its candidate out.
                    Ok((choice, _)) => {
                        assert_eq!(function, id::cuLaunchKernel, "call {k} was not reported");
                        assert!(choice.text.contains("refused"), "{}", choice.text);
                    }
                    Err(TuneError::Driver(error)) => assert_eq!(error.status(), Some(code)),
                    Err(other) => panic!("{other}"),
                }
                bench.faults.reset();
                if code != CUresult::CUDA_ERROR_ILLEGAL_ADDRESS {
                    bench.choose(&tuner, &[32, 64]).unwrap();
                }
                drop(tuner);
                bench.finish();
            }
        }
        assert!(failures >= 3, "{} is called", function.0);
    }
}

// Without it threads that ask at a time would measure at a time, and disturb each other.
#[test]
fn of_many_threads_one_measures() {
    let bench = Bench::new();
    let mut config = CacheConfig::default();
    config.folder = None;
    let tuner = bench.tuner(config);
    let launches = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let choice = tuner.choose(&task(), &[32, 64], &bench.stream, |&threads, stream| {
                    launches.fetch_add(1, Ordering::Relaxed);
                    bench.launch(threads, stream)
                });
                choice.unwrap();
            });
        }
    });
    // A warm-up and two rounds of each, and a sample.
    assert_eq!(launches.into_inner(), 7);
    assert_eq!(tuner.stats().compiles, 1);
}

// Without it a tuner would measure sizes that leave a device half empty, or none at all.
#[test]
fn candidates_are_taken_from_a_curve() {
    let bench = Bench::new();
    let curve = bench.empty.occupancy_curve(|_| 0).unwrap();
    assert_eq!(block_sizes(&curve), [32, 64, 128, 256]);
    let most = bench
        .empty
        .occupancy_curve(|threads| if threads > 96 { 1 << 30 } else { 0 });
    assert_eq!(block_sizes(&most.unwrap()), [32, 64]);
    let none = bench.empty.occupancy_curve(|_| 1 << 30).unwrap();
    assert!(block_sizes(&none).is_empty());
    let config = LaunchConfig {
        shared_bytes: 8,
        ..LaunchConfig::linear(3, 32)
    };
    let label = "3 x 1 x 1 blocks of 32 x 1 x 1 threads and 8 bytes";
    assert_eq!(config.label(), label);
}
