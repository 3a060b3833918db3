//! Programs that are no workers, and workers that do not start.

use std::process::Command;
use std::time::{Duration, Instant};

use cupola_worker::{Loss, Supervisor, WorkerConfig, WorkerError};

use crate::jobs::config;

/// Why a worker does not start.
fn refused(mut config: WorkerConfig) -> Loss {
    config.start_deadline = config.start_deadline.min(Duration::from_secs(20));
    match Supervisor::start(config) {
        Err(WorkerError::NotStarted(cause)) => *cause,
        other => panic!("{other:?}"),
    }
}

fn program(path: &str) -> WorkerConfig {
    WorkerConfig::with_command("script", Command::new(path))
}

// Without it a mistake in the configuration would show as a hang or as a lost item.
#[test]
fn what_is_no_worker_is_told_apart() {
    let cause = refused(program("/nowhere/to/be/found"));
    let Loss::NotSpawned { error, .. } = &cause else {
        panic!("{cause}");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(
        cause.to_string().contains("/nowhere/to/be/found"),
        "{cause}"
    );

    let cause = refused(program("/dev/null"));
    let Loss::NotSpawned { error, .. } = &cause else {
        panic!("{cause}");
    };
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);

    let cause = refused(program("true"));
    assert!(matches!(cause, Loss::EndedEarly(0)), "{cause}");
    assert!(cause.to_string().contains("worker::serve"), "{cause}");

    let cause = refused(config("no-such-job"));
    assert!(matches!(cause, Loss::EndedEarly(0)), "{cause}");

    let mut sleeps = Command::new("sleep");
    sleeps.arg("600");
    let mut sleeps = WorkerConfig::with_command("script", sleeps);
    sleeps.start_deadline = Duration::from_millis(200);
    let begin = Instant::now();
    let cause = refused(sleeps);
    assert!(matches!(cause, Loss::NoHello(_)), "{cause}");
    assert!(
        begin.elapsed() < Duration::from_secs(60),
        "it was not waited for"
    );
}

// Without it a worker whose device cannot be opened would be started over and over, or its
// reason be lost.
#[test]
fn a_worker_that_does_not_open_says_why() {
    let cause = refused(config("not-opened"));
    assert!(matches!(&cause, Loss::NotOpened(why) if why.text() == "no such device"));
    let cause = refused(config("panics-at-start"));
    assert!(
        cause.to_string().contains("panicked: no start at all"),
        "{cause}"
    );
    let mut slow = config("opens-slowly");
    slow.start_deadline = Duration::from_secs(1);
    let cause = refused(slow);
    assert!(matches!(cause, Loss::NotReady(_)), "{cause}");
}

// Without it a device that cannot be opened again would be tried for ever.
#[test]
fn a_worker_that_does_not_open_again_is_given_up() {
    let mark = std::env::temp_dir().join(format!("cupola-worker-{}", std::process::id()));
    let _ = std::fs::remove_file(&mark);
    let mut config = config("opens-once");
    config.command().env("CUPOLA_TEST_MARK", &mark);
    config.restarts = 3;
    let mut supervisor = Supervisor::start(config).unwrap();
    supervisor
        .submit(b"until 2 lost it is gone".to_vec())
        .unwrap();
    let error = supervisor.receive().unwrap_err();
    std::fs::remove_file(&mark).unwrap();
    let WorkerError::GaveUp { first, last, .. } = &error else {
        panic!("{error}");
    };
    assert!(matches!(**first, Loss::Sticky(_)), "{error}");
    assert!(matches!(**last, Loss::NotOpened(_)), "{error}");
    assert_eq!(supervisor.shutdown().unwrap().unfinished.len(), 1);
}

// Without it a wrong setting would show much later, as something else.
#[test]
fn configurations_that_cannot_be_are_refused() {
    let field = |change: fn(&mut WorkerConfig)| {
        let mut config = config("script");
        change(&mut config);
        match Supervisor::start(config) {
            Err(WorkerError::Invalid { field, .. }) => field,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(field(|config| config.window = 0), "window");
    assert_eq!(field(|config| config.capacity = 0), "capacity");
    assert_eq!(field(|config| config.attempts = 0), "attempts");
    assert_eq!(field(|config| config.item_limit = u32::MAX), "item_limit");
    for job in ["", "a\0b", &"x".repeat(256)] {
        let error = Supervisor::start(WorkerConfig::new(job)).unwrap_err();
        assert!(matches!(error, WorkerError::Invalid { field: "job", .. }));
    }
}

// Without it times without end would overflow in the first wait.
#[test]
fn times_without_end_are_taken() {
    let mut config = config("script");
    config.item_deadline = Some(Duration::MAX);
    config.start_deadline = Duration::MAX;
    config.stop_deadline = Duration::MAX;
    config.backoff = Duration::MAX;
    config.restart_window = Duration::MAX;
    let mut supervisor = Supervisor::start(config).unwrap();
    assert!(supervisor.call(b"say".to_vec()).is_ok());
    assert!(supervisor.call(b"until 2 exit 1".to_vec()).is_ok());
    assert!(supervisor.shutdown().unwrap().orderly);
}
