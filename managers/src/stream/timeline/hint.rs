//! A hint that the work of a stream is done: a flag that the stream writes to. While none has come
//! there is seldom a reason to ask the driver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Made, Recorder, Timeline};
use crate::driver::ContextCore;
use crate::error::Result;
use crate::stream::flags::{Flag, Flags};
use crate::sync::{self, deferred::DeferCallbacks};

/// How long a question is put off while no flag has come: a tenth of the newest caller's wait,
/// within these. A lost context writes no flag, and a caller is told of it so late.
const PATIENCE: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(2));

/// The flag of a timeline's stream.
#[derive(Default)]
pub(super) struct Hint {
    /// Once a caller waited, until the stream ends.
    flag: Option<Flag>,
    /// The number that the flag had when the driver was asked last.
    seen: u32,
    /// When the newest caller came that the stream writes the flag for, and when the driver is asked
    /// next although it has not.
    newest: Option<(Instant, Instant)>,
}

impl Hint {
    /// Whether no caller's flag has come since the driver was asked, one will, and the driver need
    /// not be asked yet.
    fn is_early(&self, now: Instant) -> bool {
        let (Some(flag), Some((_, ask_at))) = (&self.flag, self.newest) else {
            return false;
        };
        let seen = flag.seen();
        seen == self.seen && seen != flag.put() && now < ask_at
    }

    /// The driver is about to be asked.
    fn note_question(&mut self, now: Instant) {
        // Before the question: a flag that comes meanwhile is asked about again.
        if let Some(flag) = &self.flag {
            self.seen = flag.seen();
        }
        if let Some((newest, ask_at)) = &mut self.newest {
            let age = now.saturating_duration_since(*newest);
            *ask_at = now + (age / 10).clamp(PATIENCE.0, PATIENCE.1);
        }
    }
}

impl Timeline {
    /// Has the stream write to the timeline's flag behind the work that is on it now
    /// (`cuStreamWriteValue32`), for a caller that has just come. Work that was put since the
    /// caller's ticket makes the hint late, and not the answer.
    pub(super) fn raise_flag(&self) {
        // Callbacks of a loss that is noticed here run under no lock.
        let _defer = DeferCallbacks::new();
        let Some((flags, core)) = self.flags() else {
            return;
        };
        let has_one = sync::lock(&self.hint).flag.is_some();
        // Under no lock: the first flag of a context allocates memory.
        let claimed = match has_one {
            true => None,
            false => flags.claim(&core),
        };
        let closing = self.lock();
        let Some(stream) = &closing.stream else {
            return;
        };
        let mut hint = sync::lock(&self.hint);
        if hint.flag.is_none() {
            hint.seen = claimed.as_ref().map_or(0, Flag::seen);
            hint.flag = claimed;
        }
        let raised = match &mut hint.flag {
            Some(flag) => stream.raise(flag, &self.made).unwrap_or(false),
            None => false,
        };
        stream.flags.count(raised);
        let now = Instant::now();
        hint.newest = raised.then(|| (now, now + PATIENCE.0));
    }

    /// Where flags for the stream come from, while it is there.
    fn flags(&self) -> Option<(Arc<Flags>, Arc<ContextCore>)> {
        let closing = self.lock();
        let stream = closing.stream.as_ref()?;
        Some((Arc::clone(&stream.flags), Arc::clone(&stream.core)))
    }

    /// Whether the driver need not be asked yet, see [`Hint`].
    pub(super) fn is_early(&self, now: Instant) -> bool {
        sync::lock(&self.hint).is_early(now)
    }

    /// The driver is about to be asked for all callers.
    pub(super) fn note_question(&self, now: Instant) {
        sync::lock(&self.hint).note_question(now);
    }

    /// The stream ends: its flag is another stream's when its last number has come.
    pub(super) fn drop_flag(&self) {
        let hint = std::mem::take(&mut *sync::lock(&self.hint));
        drop(hint);
    }
}

impl Recorder {
    /// Has the stream write to the flag. False while it is captured: the write would be part of a
    /// graph.
    fn raise(&self, flag: &mut Flag, made: &Made) -> Result<bool> {
        if self.is_capturing(made)? {
            return Ok(false);
        }
        let driver = self.core.enter()?;
        // SAFETY: the stream is alive under the lock that the caller holds, and its context, which
        // the flag is of, is current.
        let raised = unsafe { flag.raise(driver, self.raw) };
        // A capture that began since the first question has the write.
        if self.is_capturing(made) != Ok(false) {
            flag.note_captured();
        }
        self.core.check(raised)?;
        Ok(true)
    }
}
