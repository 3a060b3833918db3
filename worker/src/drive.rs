//! `Drive`: one worker after the other, moved on a little at each call.

mod ending;
mod restarts;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::config::WorkerConfig;
use crate::frame::{Decoder, Hello, Message};
use crate::ledger::Ledger;
use crate::link::{Link, Received};
use crate::loss::Loss;
use crate::refusal::WorkerError;
use crate::statistics::Statistics;
use crate::talk::{Phase, Talk};
use restarts::Restarts;

/// How often a process is looked at whose connection says nothing. The end of a process shows
/// at once by the end of its connection, unless a process that it forked holds that open.
const TICK: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Drive {
    pub(super) config: WorkerConfig,
    pub(super) ledger: Ledger,
    pub(super) state: State,
    pub(super) statistics: Statistics,
    restarts: Restarts,
    /// Processes that were killed and have not ended.
    pub(super) unreaped: Vec<Link>,
    /// Since when there is no worker.
    lost_since: Option<Instant>,
    /// The first worker has started, so others may follow it.
    pub(super) proven: bool,
}

#[derive(Debug)]
pub(super) enum State {
    Up(Up),
    /// The worker is lost, its process has not ended yet.
    Ending(Ending),
    /// The next worker is started then.
    Waiting(Instant),
    /// No worker is started any more.
    Failed(WorkerError),
    Stopped,
}

#[derive(Debug)]
pub(super) struct Up {
    pub(super) link: Link,
    decoder: Decoder,
    pub(super) talk: Talk,
    started: Instant,
    hello: Vec<u8>,
    hello_sent: usize,
    /// That it has is noted in the statistics.
    has_handler: bool,
    /// Sending fails, as the worker does not read: what the worker sent before is still to be read.
    deaf: bool,
}

#[derive(Debug)]
pub(super) struct Ending {
    pub(super) up: Up,
    /// `None`: how the process ends tells.
    pub(super) cause: Option<Loss>,
    pub(super) noticed: Instant,
    pub(super) killed: Option<Instant>,
    /// The item that the worker was at when it was noticed.
    pub(super) head: Option<u64>,
}

impl Up {
    /// Whether a frame is begun and not sent.
    pub(super) fn is_sending(&self) -> bool {
        let begun = self.hello_sent < self.hello.len() || self.talk.outgoing.is_some();
        begun && !self.deaf
    }
}

/// Why a worker is lost; `None`: how its process ends tells.
type Lost = Option<Loss>;

impl Drive {
    pub(super) fn new(config: WorkerConfig) -> Self {
        Self {
            config,
            ledger: Ledger::new(),
            state: State::Waiting(Instant::now()),
            statistics: Statistics::default(),
            restarts: Restarts::new(),
            unreaped: Vec::new(),
            lost_since: None,
            proven: false,
        }
    }

    /// Does what can be done now. Whether there may be more to do at once.
    pub(super) fn pass(&mut self) -> bool {
        self.unreaped.retain_mut(|link| link.ended().is_none());
        match std::mem::replace(&mut self.state, State::Stopped) {
            State::Up(up) => self.pass_up(up),
            State::Ending(ending) => self.pass_ending(ending),
            State::Waiting(until) if Instant::now() >= until => {
                self.spawn();
                true
            }
            other => {
                self.state = other;
                false
            }
        }
    }

    /// Waits until there is something to do, or for a while.
    fn wait(&self) {
        let now = Instant::now();
        match &self.state {
            State::Up(up) => {
                let deadline = self.deadline(up).map(|(deadline, _)| deadline);
                let time = deadline
                    .map_or(TICK, |deadline| deadline.saturating_duration_since(now))
                    .min(TICK);
                up.link.wait(up.is_sending(), time);
            }
            State::Ending(ending) => {
                let pause = now.saturating_duration_since(ending.noticed) / 4;
                let (least, most) = (Duration::from_micros(100), Duration::from_millis(10));
                std::thread::sleep(pause.clamp(least, most));
            }
            State::Waiting(until) => std::thread::sleep(until.saturating_duration_since(now)),
            State::Failed(_) | State::Stopped => {}
        }
    }

    /// Does what can be done now, or waits until there is something.
    pub(super) fn step(&mut self) {
        if !self.pass() {
            self.wait();
        }
    }

    fn spawn(&mut self) {
        let started = Instant::now();
        match Link::spawn(&mut self.config.command, &self.config.job) {
            Ok(link) => {
                self.statistics.started += 1;
                tracing::debug!(
                    job = self.config.job,
                    process = link.process(),
                    "worker started"
                );
                let hello = Hello {
                    limit: self.config.item_limit,
                    process: std::process::id(),
                    job: self.config.job.clone(),
                };
                self.state = State::Up(Up {
                    link,
                    decoder: Decoder::new(self.config.item_limit),
                    talk: Talk::new(started),
                    started,
                    hello: Message::Hello(hello).encode(),
                    hello_sent: 0,
                    has_handler: false,
                    deaf: false,
                });
            }
            Err(error) => {
                let cause = Loss::NotSpawned {
                    program: self.config.program.display().to_string(),
                    error: Arc::new(error),
                };
                self.lose(cause, started, false);
            }
        }
    }

    fn pass_up(&mut self, mut up: Up) -> bool {
        let moved = self.send(&mut up, self.config.window).and_then(|sent| {
            let read = self.read(&mut up)?;
            Ok(sent || read)
        });
        let lost = match moved {
            Ok(true) => {
                self.state = State::Up(up);
                return true;
            }
            Err(lost) => lost,
            Ok(false) => match (up.link.ended(), self.deadline(&up)) {
                (Some(_), _) => None,
                (None, Some((deadline, cause))) if Instant::now() >= deadline => Some(cause),
                (None, _) => {
                    self.state = State::Up(up);
                    return false;
                }
            },
        };
        let noticed = Instant::now();
        // Its process may have been waited for just now, and its number be another's.
        self.statistics.process = None;
        let by_itself = lost.as_ref().is_none_or(Loss::ends_by_itself);
        if !by_itself {
            up.link.kill();
        }
        self.state = State::Ending(Ending {
            up,
            cause: lost,
            noticed,
            killed: (!by_itself).then_some(noticed),
            head: self.ledger.head(),
        });
        true
    }

    /// When the worker is lost for what it does not do, and by what cause.
    fn deadline(&self, up: &Up) -> Option<(Instant, Loss)> {
        let start = self.config.start_deadline;
        match up.talk.phase {
            Phase::Started => Some((up.started + start, Loss::NoHello(start))),
            Phase::Greeted => Some((up.started + start, Loss::NotReady(start))),
            Phase::Ready => {
                self.ledger.head()?;
                let time = self.config.item_deadline?;
                Some((up.talk.quiet_since + time, Loss::Hung(time)))
            }
        }
    }

    /// Sends what goes without waiting: what is begun, and more up to `window` items with the
    /// worker. Whether something went.
    pub(super) fn send(&mut self, up: &mut Up, window: usize) -> Result<bool, Lost> {
        let mut moved = false;
        while !up.deaf {
            let sent = if up.hello_sent < up.hello.len() {
                up.link.send([&up.hello, &[]], up.hello_sent)
            } else {
                match up.talk.outgoing(&mut self.ledger, window) {
                    None => break,
                    Some(item) => {
                        let bytes = self.ledger.bytes(item.sequence);
                        up.link.send([&item.head, bytes], item.sent)
                    }
                }
            };
            let sent = match sent {
                Ok(0) => break,
                Ok(sent) => sent,
                Err(error) => match error.kind() {
                    std::io::ErrorKind::BrokenPipe | std::io::ErrorKind::ConnectionReset => {
                        up.deaf = true;
                        break;
                    }
                    _ => return Err(Some(Loss::Connection(Arc::new(error)))),
                },
            };
            moved = true;
            if up.hello_sent < up.hello.len() {
                up.hello_sent += sent;
            } else if let Some(item) = &mut up.talk.outgoing {
                item.sent += sent;
                if self.ledger.head() == Some(item.sequence) {
                    up.talk.quiet_since = Instant::now();
                }
                if item.sent == item.total {
                    up.talk.outgoing = None;
                }
            }
        }
        Ok(moved)
    }

    /// Reads what is there. Whether something was.
    pub(super) fn read(&mut self, up: &mut Up) -> Result<bool, Lost> {
        let bytes = match up.link.receive() {
            Ok(Received::Bytes(bytes)) => bytes,
            Ok(Received::Nothing) => return Ok(false),
            Ok(Received::End) => return Err(None),
            Err(error) => return Err(Some(Loss::Connection(Arc::new(error)))),
        };
        up.talk.quiet_since = Instant::now();
        let mut input = up.link.inbox(bytes);
        loop {
            let message = up.decoder.take(&mut input);
            let Some(message) = message.map_err(|error| Some(Loss::Protocol(error)))? else {
                return Ok(true);
            };
            up.talk.hear(message, &self.config.job, &mut self.ledger)?;
            if up.talk.phase == Phase::Ready && !up.has_handler {
                up.has_handler = true;
                self.ready(up.started, up.link.process());
            }
        }
    }

    /// A worker has its handler.
    fn ready(&mut self, started: Instant, process: u32) {
        self.statistics.process = Some(process);
        self.statistics.last_start = started.elapsed();
        if let Some(since) = self.lost_since.take() {
            let longest = &mut self.statistics.longest_outage;
            *longest = since.elapsed().max(*longest);
        }
    }

    pub(super) fn statistics(&self) -> Statistics {
        let counts = self.ledger.counts;
        Statistics {
            submitted: self.ledger.next_number() - 1,
            answered: counts.answered,
            given_up: counts.given_up,
            resent: counts.resent,
            received: counts.received,
            unreaped: self.unreaped.len(),
            ..self.statistics.clone()
        }
    }
}
