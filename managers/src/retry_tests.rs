//! Retries by a clock of the test's own.

use super::*;
use crate::error::{Cause, Site};
use cupola_sys::driver::{CUresult, DriverError, id};
use std::sync::Arc;

/// A clock that only moves when the caller waits, or an attempt takes its time.
#[derive(Default)]
struct Virtual {
    now: Duration,
    pauses: Vec<Duration>,
}

impl Clock for Virtual {
    fn now(&mut self) -> Duration {
        self.now
    }

    fn pause(&mut self, pause: Duration) {
        self.now += pause;
        self.pauses.push(pause);
    }
}

fn failed(code: u32) -> Error {
    let call = DriverError::Failed {
        symbol: id::cuMemAlloc_v2,
        code: CUresult(code),
    };
    Error::at(call, Some(0), Site::here())
}

const MS: Duration = Duration::from_millis(1);

// Without it the number of attempts, the pauses or the deadline could be off by one.
#[test]
fn what_is_done_is_what_a_model_says() {
    fn property(
        attempts: u8,
        first: u8,
        ceiling: u8,
        deadline: Option<u16>,
        good: u8,
        seed: u64,
    ) -> bool {
        let (attempts, good) = (u32::from(attempts % 12), u32::from(good % 12));
        let (first, ceiling) = (u32::from(first), u32::from(ceiling));
        let deadline = deadline.map(|deadline| u32::from(deadline % 500));
        let mut retry = Retry::new(attempts)
            .jitter(0.0)
            .seed(seed)
            .pauses(MS * first, MS * ceiling);
        if let Some(deadline) = deadline {
            retry = retry.deadline(MS * deadline);
        }
        // The model: in whole milliseconds.
        let (mut now, mut tried, mut pauses) = (0, 1, Vec::new());
        let expected = loop {
            if tried > good {
                break Ok(tried);
            }
            if tried >= attempts {
                break Err((tried, now, GaveUp::Attempts));
            }
            let pause = (first << (tried - 1)).min(ceiling);
            if deadline.is_some_and(|deadline| deadline == 0 || now + pause > deadline) {
                break Err((tried, now, GaveUp::Deadline));
            }
            pauses.push(MS * pause);
            now += pause;
            tried += 1;
        };
        let mut clock = Virtual::default();
        let mut hooks = 0;
        let found = retry.run_on(
            &mut clock,
            |_| hooks += 1,
            |attempt| {
                if attempt > good {
                    Ok(attempt)
                } else {
                    Err(failed(2))
                }
            },
        );
        let found = found.map_err(|e| (e.attempts, e.elapsed.as_millis() as u32, e.why));
        found == expected && clock.pauses == pauses && hooks == pauses.len()
    }
    quickcheck::QuickCheck::new()
        .tests(2000)
        .quickcheck(property as fn(u8, u8, u8, Option<u16>, u8, u64) -> bool);
}

// Without it an attempt could begin after the deadline because a pause took too long, or code
// that walks the chain of the error could miss the call that failed.
#[test]
fn no_attempt_begins_after_a_pause_that_overslept() {
    struct Oversleeps(Duration);
    impl Clock for Oversleeps {
        fn now(&mut self) -> Duration {
            self.0
        }
        fn pause(&mut self, pause: Duration) {
            self.0 += pause * 100;
        }
    }
    let retry = Retry::new(9).jitter(0.0).pauses(MS, MS).deadline(MS * 50);
    let mut attempts = 0;
    let gave_up = retry.run_on(
        &mut Oversleeps(Duration::ZERO),
        |_| (),
        |_| {
            attempts += 1;
            Err::<(), _>(failed(2))
        },
    );
    let error = gave_up.unwrap_err();
    assert_eq!(
        (attempts, error.attempts, error.why),
        (1, 1, GaveUp::Deadline)
    );
    let source = std::error::Error::source(&error);
    let last = source.and_then(|source| source.downcast_ref::<Error>());
    assert_eq!(last, Some(&error.last));
}

// Without it jitter could lengthen a pause, or leave less of it than was asked for.
#[test]
fn jitter_only_shortens_and_only_by_its_part() {
    fn property(seed: u64, part: f64, first: u16) -> bool {
        let retry = Retry::new(9)
            .jitter(part)
            .seed(seed)
            .pauses(MS * u32::from(first), MS * 40_000);
        let part = if part.is_nan() {
            0.0
        } else {
            part.clamp(0.0, 1.0)
        };
        let mut clock = Virtual::default();
        let _ = retry.run_on(&mut clock, |_| (), |_| Err::<(), _>(failed(600)));
        clock.pauses.len() == 8
            && clock.pauses.iter().zip(0..).all(|(pause, n)| {
                let whole = (MS * u32::from(first) * (1 << n)).min(MS * 40_000);
                let least = whole.mul_f64(1.0 - part);
                *pause <= whole && *pause + Duration::from_nanos(2) >= least
            })
    }
    quickcheck::quickcheck(property as fn(u64, f64, u16) -> bool);
}

// Without it a lost context, a fork or a mistake could be tried again.
#[test]
fn only_what_may_succeed_later_is_tried_again() {
    let lost = |code| Error::Poisoned {
        first: Arc::new(failed(code).cause().cloned().unwrap()),
        device: 0,
        before: None,
    };
    let never = [
        failed(700),
        failed(719),
        failed(1),
        failed(999),
        failed(12345),
        lost(700),
        Error::Forked,
        Error::invalid("grid", "is empty"),
        Error::ShutDown { kind: "Stream" },
    ];
    for error in never {
        let mut clock = Virtual::default();
        let found = Retry::new(5).run_on(
            &mut clock,
            |_| panic!("no retry"),
            |_| Err::<(), _>(error.clone()),
        );
        let found = found.unwrap_err();
        assert_eq!(
            (found.attempts, found.why),
            (1, GaveUp::NotRetryable),
            "{error}"
        );
        assert_eq!((&found.last, clock.pauses.len()), (&error, 0));
    }
    for error in [
        failed(2),
        failed(600),
        failed(807),
        Error::Full { kind: "Stream" },
    ] {
        let mut clock = Virtual::default();
        let found = Retry::new(3).run_on(&mut clock, |_| (), |_| Err::<(), _>(error.clone()));
        let found = found.unwrap_err();
        assert_eq!(
            (found.attempts, found.why),
            (3, GaveUp::Attempts),
            "{error}"
        );
    }
}

// Without it no attempt at all could be made, or time that a hook or attempt takes not count.
#[test]
fn edges() {
    let run = |retry: Retry, clock: &mut Virtual| {
        retry
            .run_on(clock, |_| (), |_| Err::<(), _>(failed(2)))
            .unwrap_err()
    };
    for retry in [
        Retry::new(0),
        Retry::new(1),
        Retry::new(9).deadline(Duration::ZERO),
    ] {
        assert_eq!(run(retry, &mut Virtual::default()).attempts, 1);
    }
    let long = Retry::new(200)
        .pauses(Duration::MAX, Duration::MAX)
        .jitter(1.0);
    let error = run(
        long.deadline(Duration::from_secs(1)).jitter(0.0),
        &mut Virtual::default(),
    );
    assert_eq!((error.attempts, error.why), (1, GaveUp::Deadline));
    let mut many = Virtual::default();
    assert_eq!(run(Retry::new(100).pauses(MS, MS), &mut many).attempts, 100);
    let text = error.to_string();
    assert!(
        text.contains("attempt 1") && text.contains("no time is left"),
        "{text}"
    );
    let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
    assert_eq!(source, Some(&error.last));
    assert!(text.starts_with(&error.last.to_string()), "{text}");
    assert_eq!(Error::from(error).status(), Some(CUresult(2)));
    let cause: Cause = failed(2).cause().cloned().unwrap();
    assert_eq!(cause.site.location.file(), file!());
}
