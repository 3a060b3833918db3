//! `StageStreams`: a stream for each stage.

use crate::context::Context;
use crate::error::{Error, Result, Site};
use crate::stream::submit;
use crate::stream::{Stream, StreamConfig};

/// The three streams.
pub(super) struct StageStreams {
    pub(super) upload: Stream,
    pub(super) compute: Stream,
    pub(super) download: Stream,
    pub(super) context: Context,
}

impl StageStreams {
    #[track_caller]
    pub(super) fn new(context: &Context) -> Result<Self> {
        let streams = context.streams();
        Ok(Self {
            upload: streams.acquire(StreamConfig::default())?,
            compute: streams.acquire(StreamConfig::default())?,
            download: streams.acquire(StreamConfig::default())?,
            context: context.clone(),
        })
    }

    pub(super) fn all(&self) -> [&Stream; 3] {
        [&self.upload, &self.compute, &self.download]
    }

    /// Waits on the host until nothing can run on any of them, in a lost context too. False when
    /// that is not known.
    pub(super) fn settle(&self, site: Site) -> bool {
        // All three are waited for, even if one fails.
        let settled = self.all().map(|stream| submit::settle(stream, site));
        settled.iter().all(|&settled| settled)
    }

    /// Why nothing is put on them any more.
    pub(super) fn lost(&self) -> Error {
        if let Err(forked) = self.context.core().not_forked() {
            return forked;
        }
        self.context.poison().unwrap_or_else(|| {
            let problem = "work on it may still run: waiting for it failed";
            Error::invalid("pipeline", problem)
        })
    }
}
