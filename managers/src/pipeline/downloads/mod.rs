//! `Downloads`: which thread puts the downloads of a pipeline.
//!
//! The thread that submits items does, unless copies of pinned memory block the thread that puts
//! them: it would wait in each download for the item's kernels too, and put no work meanwhile. Then
//! a thread of the pipeline's own takes the downloads from a [`JobQueue`], in the order of the items.
//! Uploads stay with the thread that submits: one that blocks holds up the next item and nothing else.

mod choice;
mod job;
pub(crate) mod queue;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;
mod thread;
mod watch;

pub use choice::{CopyThread, CopyThreads};
pub(super) use job::{Download, HostCopy, put};
pub(super) use state::DownloadState;
pub(super) use thread::DownloadThread;

use std::time::Instant;

use super::config::PipelineConfig;
use super::telemetry::scope;
use crate::context::Context;
use crate::copies::CopyMode;
use crate::error::{Error, Result};
use crate::stream::Stream;
use watch::Watch;

/// The thread that puts the downloads of a pipeline, if it has one.
pub(super) struct Downloads {
    choice: CopyThread,
    /// As long as a thread may still turn out to be of use.
    watch: Option<Watch>,
    thread: Option<DownloadThread>,
    /// The most slots that the pipeline can have.
    slots: usize,
}

impl Downloads {
    /// Those of a pipeline of this configuration, on `stream`.
    ///
    /// # Errors
    /// [`Error::Full`] when a thread is asked for and the process can have no more.
    pub(super) fn new(context: &Context, config: &PipelineConfig, stream: &Stream) -> Result<Self> {
        let mut downloads = Self {
            choice: CopyThread::NotNeeded,
            watch: None,
            thread: None,
            slots: config.most_slots()?.get(),
        };
        match (config.copy_threads, context.known_copy_mode()) {
            (CopyThreads::Never, _) => downloads.choice = CopyThread::Off,
            (CopyThreads::Always, _) => {
                downloads.start(CopyThread::Always, stream);
                if let CopyThread::Refused(error) = downloads.choice {
                    return Err(error);
                }
            }
            (CopyThreads::WhereCopiesBlock, _) if downloads.slots == 1 => {
                downloads.choice = CopyThread::OneSlot;
            }
            (CopyThreads::WhereCopiesBlock, Some(CopyMode::Blocking)) => {
                downloads.start(CopyThread::CopiesBlock, stream);
            }
            (CopyThreads::WhereCopiesBlock, Some(CopyMode::Asynchronous)) => {}
            (CopyThreads::WhereCopiesBlock, None) => downloads.watch = Some(Watch::default()),
        }
        Ok(downloads)
    }

    pub(super) fn choice(&self) -> &CopyThread {
        &self.choice
    }

    /// The thread that puts downloads, if it is not the one that submits items.
    pub(super) fn thread(&self) -> Option<&DownloadThread> {
        self.thread.as_ref()
    }

    /// Begins a call that puts a download, if it is of interest how long it takes.
    pub(super) fn begin_call(&self) -> Option<Instant> {
        self.watch.is_some().then(Instant::now)
    }

    /// Ends a call that began then. When such calls take long, it is found out whether copies block, and
    /// the thread is started if they do.
    #[track_caller]
    pub(super) fn end_call(&mut self, begun: Option<Instant>, context: &Context, stream: &Stream) {
        let (Some(begun), Some(watch)) = (begun, &mut self.watch) else {
            return;
        };
        match watch.note(begun.elapsed()) {
            watch::Verdict::Undecided => return,
            watch::Verdict::Short => {}
            // No closure, which would not know this function's caller.
            watch::Verdict::Long => match context.copy_mode() {
                Ok(CopyMode::Blocking) => self.start(CopyThread::CopiesBlock, stream),
                Ok(CopyMode::Asynchronous) => {}
                Err(error) => self.choose(CopyThread::Refused(error)),
            },
        }
        self.watch = None;
    }

    /// Starts the thread, for this reason.
    fn start(&mut self, reason: CopyThread, stream: &Stream) {
        match DownloadThread::start(self.slots, stream) {
            Ok(thread) => {
                self.thread = Some(thread);
                self.choose(reason);
            }
            Err(_) => self.choose(CopyThread::Refused(Error::Full {
                kind: "thread that puts downloads",
            })),
        }
    }

    fn choose(&mut self, choice: CopyThread) {
        scope::copy_thread(&choice);
        self.choice = choice;
    }
}
