//! The facade's choice of a device.
#![cfg(feature = "sim")]

use std::io;
use std::process::Command;
use std::sync::{Arc, Mutex};

use cupola::managers::backend::{BackendKind, Cause, Status};
use cupola::managers::device::Features;
use cupola::{Backend, BackendRegistry, Cupola, OpenError, Requirements, SOFTWARE, Select};

/// This test binary again, in an environment of its own.
fn again(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command
}

// Without it `Best` could open what does not meet the requirements, or not the device chosen.
#[test]
fn the_best_device_is_opened() {
    let wanted = Requirements::default().features(Features::MEMORY_POOLS);
    let cupola = Cupola::open(Select::Best(wanted)).unwrap();
    let device = cupola.selected().unwrap();
    assert!(device.info().unwrap().supports(Features::MEMORY_POOLS));
    assert_eq!(
        cupola.machine().is_some(),
        cupola.backend() == Backend::Software
    );
    assert_eq!(cupola.why_not_gpu().is_some(), cupola.machine().is_some());
    device.primary().unwrap();
    let refused = Cupola::open(Select::Best(wanted.memory(u64::MAX))).unwrap_err();
    assert!(matches!(refused, OpenError::NoMatch(_)), "{refused}");
    assert!(refused.to_string().contains("bytes of memory"), "{refused}");
}

/// What is logged, as text.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Vec<u8>>>);

impl io::Write for Logged {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What `work` gives, and what it logs as a warning or worse.
fn logging<T>(work: impl FnOnce() -> T) -> (T, String) {
    let logged = Logged::default();
    let to = logged.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(move || to.clone())
        .finish();
    let done = tracing::subscriber::with_default(subscriber, work);
    let text = logged.0.lock().unwrap().clone();
    (done, String::from_utf8(text).unwrap())
}

// Without it a service on a machine whose GPU cannot be opened would be up on an emulator.
#[test]
fn the_software_device_is_taken_only_by_request_and_loudly() {
    assert_eq!(Select::default(), Select::Auto);
    match Cupola::open(Select::Auto) {
        Ok(cupola) => assert_eq!(cupola.backend(), Backend::Gpu),
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("Select::AutoOrSoftware"), "{text}");
            let why = Cupola::open(Select::Gpu).unwrap_err();
            assert!(text.starts_with(&why.to_string()), "{text}");
        }
    }
    let best = Select::Best(Requirements::default());
    for select in [Select::AutoOrSoftware, best] {
        let (cupola, text) = logging(|| Cupola::open(select).unwrap());
        let software = cupola.backend() == Backend::Software;
        assert_eq!(text.contains("taking the software device"), software);
        assert_eq!(cupola.why_not_gpu().is_some(), software);
    }
}

// Without it two users in one process could share a software device without knowing.
#[test]
fn each_software_device_is_its_own() {
    let [one, two] = [0; 2].map(|_| Cupola::open(Select::Software).unwrap());
    assert_eq!(
        (one.backend(), two.backend()),
        (Backend::Software, Backend::Software)
    );
    let context = one.device(0).unwrap().primary().unwrap();
    let machine = |cupola: &Cupola| cupola.machine().unwrap().usage();
    assert_ne!(machine(&one), machine(&two));
    drop((one, context));
    two.selected().unwrap().primary().unwrap();
}

// Without it a registry of the user's own could not be opened from, or be opened twice.
#[test]
fn a_backend_of_a_registry_is_shared() {
    let registry = Cupola::backends();
    let one = Cupola::with_backend(&registry, SOFTWARE).unwrap();
    let two = Cupola::with_backend(&registry, SOFTWARE).unwrap();
    assert_eq!(one.backend(), Backend::Software);
    assert!(std::ptr::eq(one.execution(), two.execution()));
    let found = registry.discover();
    assert_eq!(
        (&*found[1].name, found[1].kind),
        (SOFTWARE, BackendKind::Software)
    );
    assert_eq!(BackendKind::from(one.backend()), found[1].kind);
    assert!(matches!(found[1].status, Status::Available(_)));
    let none = Cupola::with_backend(&BackendRegistry::new(), SOFTWARE).unwrap_err();
    assert!(none.to_string().contains("no backend named"), "{none}");
}

// Without it a GPU that is not there could be waited for, or its absence have no reason.
#[test]
fn without_a_gpu_the_reason_is_told() {
    let mut command = again("inside_without_a_gpu");
    command.env("CUPOLA_CUDA_LIBRARY", "/no/such/libcuda.so.1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    // The test ran: one that is filtered out succeeds too.
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}

#[test]
#[ignore = "run by another test, in an environment without a GPU"]
fn inside_without_a_gpu() {
    let error = Cupola::open(Select::Gpu).unwrap_err();
    let OpenError::NoGpu(why) = &error else {
        panic!("{error}");
    };
    assert!(matches!(why.cause(), Cause::Load(_)), "{error}");
    assert!(
        why.advice()
            .contains("CUPOLA_CUDA_LIBRARY names this library")
    );
    assert_eq!(
        error.to_string(),
        "no GPU: \"/no/such/libcuda.so.1\" does not exist"
    );
    for select in [Select::Auto, Select::AutoOrSoftware] {
        let error = Cupola::open(select).unwrap_err();
        assert!(matches!(error, OpenError::NoGpu(_)), "{error}");
    }
    assert!(Cupola::open(Select::Software).is_ok());
    let real = Requirements::default().allow_software(false);
    let error = Cupola::open(Select::Best(real)).unwrap_err().to_string();
    assert!(error.contains("gpu: \"/no/such/libcuda.so.1\""), "{error}");
    // Who names a library does not want another device either.
    let error = Cupola::open(Select::Best(Requirements::default())).unwrap_err();
    assert!(matches!(error, OpenError::NoMatch(_)), "{error}");
    assert!(error.to_string().contains("libcuda.so.1"), "{error}");
}
