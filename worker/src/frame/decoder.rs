//! `Decoder`: from the bytes of one side to its messages, a head at a time.

use core::fmt;

use super::{CONTROL_LIMIT, DONE, FAILED, FrameError, HEAD, HELLO, ITEM, Message, Words};

/// The start of a frame.
pub(super) struct Head {
    bytes: u32,
    pub(super) kind: u8,
    pub(super) attempt: u16,
    pub(super) sequence: u64,
}

impl Head {
    /// Everything that can be refused before the rest of the frame has arrived.
    fn decode(raw: [u8; HEAD], limit: u32, greeted: bool) -> Result<Self, FrameError> {
        let mut words = Words(&raw);
        let bytes = words.word()?;
        let [kind, zero] = words.take()?;
        let attempt = u16::from_le_bytes(words.take()?);
        let sequence = u64::from_le_bytes(words.take()?);
        if greeted != (kind != HELLO) {
            return Err(if greeted {
                FrameError::Unexpected("a second hello")
            } else {
                FrameError::NotAWorker
            });
        }
        let about_an_item = matches!(kind, ITEM | DONE | FAILED);
        if zero != 0 || attempt != 0 && kind != ITEM || sequence != 0 && !about_an_item {
            return Err(FrameError::Malformed("reserved bytes are in use"));
        }
        let limit = match kind {
            ITEM | DONE => limit,
            _ => CONTROL_LIMIT as u32,
        };
        if bytes > limit {
            return Err(FrameError::TooLong { bytes, limit });
        }
        Ok(Self {
            bytes,
            kind,
            attempt,
            sequence,
        })
    }
}

/// Turns the bytes of one side into messages, however they are cut. After an error it is of
/// no use any more.
#[derive(Debug)]
pub(crate) struct Decoder {
    limit: u32,
    greeted: bool,
    raw: Vec<u8>,
    head: Option<Head>,
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kind {} of {} bytes", self.kind, self.bytes)
    }
}

impl Decoder {
    /// For a side that sends items or results of at most `limit` bytes.
    pub(crate) fn new(limit: u32) -> Self {
        Self {
            limit,
            greeted: false,
            raw: Vec::new(),
            head: None,
        }
    }

    /// Another limit, from the next frame on.
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no workers"))]
    pub(crate) fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
    }

    /// Bytes that came and are not part of a message yet.
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no workers"))]
    pub(crate) fn kept(&self) -> usize {
        self.raw.len() + if self.head.is_some() { HEAD } else { 0 }
    }

    /// Takes bytes off `input` until it is empty or a message is complete. Memory is taken
    /// for bytes that have come, not for those that a head promises.
    pub(crate) fn take(&mut self, input: &mut &[u8]) -> Result<Option<Message>, FrameError> {
        loop {
            let wanted = self.head.as_ref().map_or(HEAD, |head| head.bytes as usize);
            let (now, later) = input.split_at(input.len().min(wanted - self.raw.len()));
            self.raw.extend_from_slice(now);
            *input = later;
            if self.raw.len() < wanted {
                return Ok(None);
            }
            let raw = core::mem::take(&mut self.raw);
            match self.head.take() {
                Some(head) => {
                    self.greeted = true;
                    return Message::decode(&head, raw).map(Some);
                }
                None => {
                    let raw = Words(&raw).take()?;
                    self.head = Some(Head::decode(raw, self.limit, self.greeted)?);
                }
            }
        }
    }
}
