//! `Talk`: where a supervisor and one worker are in their conversation.

use std::time::Instant;

use crate::failure::Failure;
use crate::frame::{FrameError, HEAD, Message, item_head};
use crate::ledger::Ledger;
use crate::loss::Loss;
use crate::refusal::ItemError;

/// The conversation with one worker.
#[derive(Debug)]
pub(super) struct Talk {
    pub(super) phase: Phase,
    /// The worker has answered an item.
    pub(super) answered: bool,
    /// Since when the worker has let us wait: it sent nothing, and did not take the item that
    /// is next for it.
    pub(super) quiet_since: Instant,
    /// The item that is being sent.
    pub(super) outgoing: Option<Outgoing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The process was started.
    Started,
    /// It has said that it is the worker.
    Greeted,
    /// It has a handler.
    Ready,
}

#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) sequence: u64,
    pub(super) head: [u8; HEAD],
    pub(super) sent: usize,
    pub(super) total: usize,
}

impl Talk {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            phase: Phase::Started,
            answered: false,
            quiet_since: now,
            outgoing: None,
        }
    }

    /// The item to send on with: the one that is being sent, or the next one.
    pub(super) fn outgoing(&mut self, ledger: &mut Ledger, window: usize) -> Option<&mut Outgoing> {
        if self.phase != Phase::Ready {
            return None;
        }
        if self.outgoing.is_none() && ledger.in_flight() < window {
            let (sequence, attempt, len) = ledger.send_next()?;
            // No item is longer than `WorkerConfig::item_limit`.
            let head = item_head(sequence, attempt, len as u32);
            self.outgoing = Some(Outgoing {
                sequence,
                head,
                sent: 0,
                total: HEAD + len,
            });
        }
        self.outgoing.as_mut()
    }

    /// Whether the worker has all of the item that it is to work on.
    pub(super) fn head_is_whole(&self, ledger: &Ledger) -> bool {
        let outgoing = self.outgoing.as_ref().map(|outgoing| outgoing.sequence);
        outgoing.is_none() || outgoing != ledger.head()
    }

    /// Takes note of a message; the error is why the worker is lost by it.
    pub(super) fn hear(
        &mut self,
        message: Message,
        job: &str,
        ledger: &mut Ledger,
    ) -> Result<(), Loss> {
        let unexpected = |what| Err(Loss::Protocol(FrameError::Unexpected(what)));
        match (self.phase, message) {
            (Phase::Started, Message::Hello(hello)) => {
                if hello.job != job {
                    return unexpected("the hello of another job");
                }
                self.phase = Phase::Greeted;
                Ok(())
            }
            (Phase::Greeted, Message::Ready) => {
                self.phase = Phase::Ready;
                Ok(())
            }
            (Phase::Greeted, Message::NotOpened(mut trouble)) => {
                if trouble.panicked {
                    trouble.text.insert_str(0, "it panicked: ");
                }
                Err(Loss::NotOpened(Failure::from_trouble(trouble)))
            }
            (Phase::Ready, Message::Done { sequence, bytes }) => {
                self.answer(sequence, Ok(bytes), ledger)
            }
            (Phase::Ready, Message::Failed { sequence, trouble }) => {
                let (lost, panicked) = (trouble.lost, trouble.panicked);
                let failure = Failure::from_trouble(trouble);
                if !(lost || panicked) {
                    return self.answer(sequence, Err(ItemError::Failed(failure)), ledger);
                }
                if ledger.head() != Some(sequence) || !self.head_is_whole(ledger) {
                    return unexpected(FOREIGN);
                }
                Err(if panicked {
                    Loss::Panicked(failure)
                } else {
                    Loss::Sticky(failure)
                })
            }
            _ => unexpected("it does not belong here"),
        }
    }

    fn answer(
        &mut self,
        sequence: u64,
        result: Result<Vec<u8>, ItemError>,
        ledger: &mut Ledger,
    ) -> Result<(), Loss> {
        if !self.head_is_whole(ledger) || !ledger.answer(sequence, result) {
            return Err(Loss::Protocol(FrameError::Unexpected(FOREIGN)));
        }
        self.answered = true;
        Ok(())
    }
}

const FOREIGN: &str = "the answer to an item that the worker does not have";
