//! The end of a worker: waiting for its process, who is to blame, and what comes next.

use std::time::{Duration, Instant};

use super::{Drive, Ending, Lost, State, TICK, Up};
use crate::link::{Ended, loss_of};
use crate::loss::Loss;
use crate::refusal::WorkerError;
use crate::talk::Phase;

impl Drive {
    pub(super) fn pass_ending(&mut self, mut ending: Ending) -> bool {
        let status = ending.up.link.ended();
        let since = ending.killed.unwrap_or(ending.noticed);
        if status.is_none() && since.elapsed() < self.config.stop_deadline {
            self.state = State::Ending(ending);
            return false;
        }
        if status.is_none() && ending.killed.is_none() {
            ending.up.link.kill();
            ending.killed = Some(Instant::now());
            ending.cause.get_or_insert(Loss::Closed);
            self.state = State::Ending(ending);
            return true;
        }
        self.finish(ending, status);
        true
    }

    /// The process has ended, or does not even when killed.
    fn finish(&mut self, ending: Ending, ended: Option<Ended>) {
        let Ending {
            mut up,
            mut cause,
            noticed,
            head,
            ..
        } = ending;
        self.drain(&mut up, &mut cause);
        let had_handler = up.talk.phase == Phase::Ready;
        let cause =
            cause.unwrap_or_else(|| ended.map_or(Loss::Closed, |how| loss_of(how, had_handler)));
        // A worker that was killed for a hang may have answered at the last moment. Nothing is
        // known against the item that came after.
        let charged = match cause {
            Loss::Hung(_) => head,
            _ => self.ledger.head(),
        };
        let at_work = self.is_at_work(&up);
        self.statistics.lost_at_work += u64::from(at_work);
        (self.ledger).worker_lost(&cause, charged.filter(|_| at_work), self.config.attempts);
        let answered = up.talk.answered;
        if ended.is_none() {
            self.leave(up);
        }
        self.lose(cause, noticed, answered);
    }

    /// Hears what a worker said before it ended: its answers count.
    fn drain(&mut self, up: &mut Up, cause: &mut Lost) {
        // After anything else nothing that it says is of use.
        if !matches!(cause, None | Some(Loss::Hung(_) | Loss::Closed)) {
            return;
        }
        while match self.read(up) {
            Ok(more) => more,
            Err(lost) => {
                *cause = cause.take().or(lost);
                false
            }
        } {}
    }

    /// Whether the worker has an item, all of it.
    fn is_at_work(&self, up: &Up) -> bool {
        self.ledger.head().is_some() && up.talk.head_is_whole(&self.ledger)
    }

    fn leave(&mut self, up: Up) {
        tracing::warn!(process = up.link.process(), "a killed worker does not end");
        self.unreaped.push(up.link);
    }

    /// There is no worker any more: when will there be another one?
    pub(super) fn lose(&mut self, cause: Loss, noticed: Instant, answered: bool) {
        tracing::warn!(job = self.config.job, %cause, "worker lost");
        self.note(&cause);
        self.lost_since.get_or_insert(noticed);
        let now = Instant::now();
        self.state = if !self.proven {
            State::Failed(WorkerError::NotStarted(Box::new(cause)))
        } else {
            match self.restarts.lost(&self.config, answered, now) {
                Ok(delay) => State::Waiting(now + delay),
                Err(restarts) => {
                    let first = self.statistics.first_cause.clone();
                    State::Failed(WorkerError::GaveUp {
                        restarts,
                        within: self.config.restart_window,
                        first: Box::new(first.unwrap_or_else(|| cause.clone())),
                        last: Box::new(cause),
                    })
                }
            }
        };
    }

    fn note(&mut self, cause: &Loss) {
        self.statistics.process = None;
        self.statistics.lost.count(cause);
        let first = &mut self.statistics.first_cause;
        first.get_or_insert_with(|| cause.clone());
        self.statistics.last_cause = Some(cause.clone());
    }

    /// Lets the worker have the item that is being sent, tells it to end, hears what it still
    /// has to say, and waits for its end, killing it after `patience` and then waiting for
    /// `limit` at most. Whether it ended by itself and nothing was lost with it.
    pub(crate) fn stop(&mut self, patience: Duration, limit: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let (mut up, mut cause, was_up) = match std::mem::replace(&mut self.state, State::Stopped) {
            State::Up(up) => (up, None, true),
            State::Ending(ending) => (ending.up, ending.cause, false),
            State::Stopped => return true,
            _ => return false,
        };
        if was_up {
            cause = self.talk_until_end(&mut up, deadline);
        }
        let mut ended = None;
        if cause.as_ref().is_none_or(Loss::ends_by_itself) {
            ended = up.link.wait_for_end(deadline);
        }
        let killed = ended.is_none();
        if killed {
            up.link.kill();
            ended = up.link.wait_for_end(Instant::now() + limit);
        }
        self.drain(&mut up, &mut cause);
        let in_order = was_up
            && cause.is_none()
            && self.ledger.in_flight() == 0
            && ended.is_some_and(Ended::is_success);
        if !in_order {
            let had_handler = up.talk.phase == Phase::Ready;
            let cause = cause.unwrap_or_else(|| match ended {
                Some(how) if !killed => loss_of(how, had_handler),
                _ => Loss::NotStopped(patience),
            });
            tracing::warn!(job = self.config.job, %cause, "worker lost as it was stopped");
            self.statistics.lost_at_work += u64::from(self.is_at_work(&up));
            self.note(&cause);
        }
        self.statistics.process = None;
        if ended.is_none() {
            self.leave(up);
        }
        in_order
    }

    /// Sends what is begun, then says the end, and hears the worker until it has hung up or
    /// ended, or until `deadline`. Why it was lost, if it was and says so.
    fn talk_until_end(&mut self, up: &mut Up, deadline: Instant) -> Lost {
        let mut said = false;
        loop {
            // A window of none: no further items.
            let moved = self.send(up, 0).and_then(|sent| Ok(self.read(up)? || sent));
            if !said && !up.is_sending() {
                up.link.say_end();
                said = true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match moved {
                Err(lost) => return lost,
                Ok(_) if left.is_zero() => return None,
                Ok(true) => {}
                Ok(false) if up.link.ended().is_some() => return None,
                Ok(false) => up.link.wait(up.is_sending(), left.min(TICK)),
            }
        }
    }
}
