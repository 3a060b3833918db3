//! Workers that say what no worker says. The bytes are written by hand, so they pin the
//! protocol as well.

use cupola_random::Random;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use cupola_worker::{FrameError, ItemError, Loss, Supervisor, WorkerError};

use crate::jobs::config;

fn frame(kind: u8, sequence: u64, rest: &[u8]) -> Vec<u8> {
    let mut frame = (rest.len() as u32).to_le_bytes().to_vec();
    frame.extend([kind, 0, 0, 0]);
    frame.extend(sequence.to_le_bytes());
    frame.extend(rest);
    frame
}

fn hello(version: u32, job: &str) -> Vec<u8> {
    let mut rest = b"cupolawk".to_vec();
    for word in [version, 1 << 20, std::process::id()] {
        rest.extend(word.to_le_bytes());
    }
    rest.extend(job.as_bytes());
    frame(1, 0, &rest)
}

/// In a worker with one of these jobs: says something, and stays to be killed.
pub(crate) fn serve() {
    let job = std::env::var("CUPOLA_WORKER").unwrap_or_default();
    let Some(kind) = job.strip_prefix("hostile-") else {
        return;
    };
    let input = std::io::stdin().as_fd().try_clone_to_owned().unwrap();
    let mut socket = UnixStream::from(input);
    let start = match kind {
        "noise" => Random::new(1).bytes(1 << 20),
        "http" => b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        "version" => hello(2, &job),
        "other-job" => hello(1, "another"),
        "no-hello" => frame(2, 0, &[]),
        "two-hellos" => [hello(1, &job), hello(1, &job)].concat(),
        _ => [hello(1, &job), frame(2, 0, &[])].concat(),
    };
    // The supervisor may hang up before it has heard everything.
    let _ = socket.write_all(&start);
    // Its hello, and the first item of four bytes.
    let mut heard = vec![0; hello(1, &job).len() + 16 + 4];
    let _ = socket.read_exact(&mut heard);
    let answer = match kind {
        "long" => [vec![255, 255, 255, 255, 5, 0, 0, 0], vec![0; 64]].concat(),
        "stranger" => frame(5, 99, b"x"),
        "early" => frame(5, 1, b"x"),
        "twice" => [frame(5, 1, b"x"), frame(5, 1, b"y")].concat(),
        "ahead" => frame(5, 2, b"x"),
        "kind" => frame(200, 0, b"x"),
        "half" => frame(5, 1, b"xyz")[..18].to_vec(),
        _ => Vec::new(),
    };
    let _ = socket.write_all(&answer);
    std::thread::sleep(Duration::from_secs(600));
}

fn at_start(job: &str) -> FrameError {
    match Supervisor::start(config(job)) {
        Err(WorkerError::NotStarted(cause)) => match *cause {
            Loss::Protocol(error) => error,
            other => panic!("{job}: {other}"),
        },
        other => panic!("{job}: {other:?}"),
    }
}

// Without it a program that speaks another protocol could be waited for, or be believed.
#[test]
fn a_start_that_is_no_workers_is_refused() {
    assert_eq!(at_start("hostile-noise"), FrameError::NotAWorker);
    assert_eq!(at_start("hostile-http"), FrameError::NotAWorker);
    assert_eq!(at_start("hostile-no-hello"), FrameError::NotAWorker);
    let (theirs, ours) = (2, 1);
    let version = FrameError::Version { theirs, ours };
    assert_eq!(at_start("hostile-version"), version);
    assert!(matches!(
        at_start("hostile-other-job"),
        FrameError::Unexpected(_)
    ));
    assert!(matches!(
        at_start("hostile-two-hellos"),
        FrameError::Unexpected(_)
    ));
}

// Without it an answer to no question could become the outcome of an item, one answer
// become two, or a length take all memory.
#[test]
fn an_answer_that_cannot_be_costs_the_worker_and_no_item() {
    for job in ["long", "stranger", "twice", "ahead", "kind", "half"] {
        let mut config = config(&format!("hostile-{job}"));
        config.item_deadline = (job == "half").then_some(Duration::from_millis(200));
        config.attempts = 2;
        let mut supervisor = Supervisor::start(config).expect(job);
        for number in 1..=2 {
            assert_eq!(supervisor.submit(b"item".to_vec()).unwrap(), number);
        }
        for number in 1..=2 {
            let outcome = supervisor.receive().unwrap().unwrap();
            assert_eq!(outcome.sequence, number, "{job}");
            match outcome.result {
                // The right answer, as far as can be seen: the wrong one came after it, or to
                // an item before it.
                Ok(bytes) => {
                    assert!(["twice 1", "ahead 2"].contains(&&*format!("{job} {number}")));
                    assert_eq!(bytes, b"x");
                }
                Err(ItemError::GivenUp { attempts: 2, .. }) => {}
                Err(error) => panic!("{job}: {error}"),
            }
        }
        let lost = supervisor.statistics().lost;
        let told = if job == "half" {
            lost.hung
        } else {
            lost.protocol
        };
        assert_eq!(told, lost.total(), "{job}: {lost:?}");
        let expected = match job {
            // Its second answer comes before the second item or after it.
            "twice" => 2..=3,
            "ahead" => 2..=2,
            _ => 4..=4,
        };
        assert!(expected.contains(&told), "{job}: {lost:?}");
    }
}

// Without it an item could be taken for done that the worker has not even read.
#[test]
fn an_answer_before_the_question_is_over_is_none() {
    let mut config = config("hostile-early");
    config.restarts = 2;
    let mut supervisor = Supervisor::start(config).unwrap();
    // More than the connection holds, of which the worker reads four bytes.
    supervisor.submit(vec![1; 8 << 20]).unwrap();
    let error = supervisor.receive().unwrap_err();
    let WorkerError::GaveUp { last, .. } = &error else {
        panic!("{error}");
    };
    let unexpected = matches!(**last, Loss::Protocol(FrameError::Unexpected(_)));
    assert!(unexpected, "{last}");
    assert_eq!(supervisor.statistics().answered, 0);
    // It is no fault of the item's: no worker ever had it.
    let unfinished = supervisor.shutdown().unwrap().unfinished;
    assert!(unfinished.len() == 1 && unfinished[0].1 == vec![1; 8 << 20]);
}
