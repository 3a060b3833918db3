//! Branches of a capture: streams whose work may run beside that of the others.

use cupola_sys::driver::flags::{EventRecordFlags, EventWaitFlags};

use super::Capture;
use crate::error::Result;
use crate::event::{self, EventConfig, LeasedEvent};
use crate::stream::Stream;

impl Capture<'_> {
    /// Another stream of the capture. Work on it comes after what is on [`stream`](Self::stream) now,
    /// and may run beside later work there. At its end the capture joins all branches.
    ///
    /// # Errors
    /// [`Error::Full`](crate::Error::Full) when there are too many streams or events; what the driver
    /// returned; [`Error::Poisoned`](crate::Error::Poisoned), [`Error::Forked`](crate::Error::Forked).
    #[doc(alias = "cuEventRecord")]
    #[doc(alias = "cuStreamWaitEvent")]
    #[track_caller]
    pub fn branch(&mut self) -> Result<Stream> {
        let branch = self
            .context()
            .streams()
            .create_reserved(self.stream_config())?;
        self.resources().comes_after(&branch);
        self.resources().keep(branch.clone());
        branch.mark_captured(Some(self.resources().clone()));
        let joined = order(self.stream(), &branch);
        if let Err(error) = joined {
            branch.mark_captured(None);
            return Err(error);
        }
        self.branches.push(branch.clone());
        Ok(branch)
    }

    /// Makes later work on `then` come after the work that is on `first` now; both are streams of the
    /// capture.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) when one is not; as [`branch`](Self::branch).
    #[doc(alias = "cuEventRecord")]
    #[doc(alias = "cuStreamWaitEvent")]
    #[track_caller]
    pub fn order(&mut self, first: &Stream, then: &Stream) -> Result<()> {
        self.check_stream(first)?;
        self.check_stream(then)?;
        order(first, then)
    }

    /// Records an event at each launch, behind the work that is on [`stream`](Self::stream) now: work
    /// outside of the graph can wait for it, and so can other graphs (`cuEventRecordWithFlags`).
    ///
    /// # Errors
    /// [`Error::Unsupported`](crate::Error::Unsupported) by a driver before CUDA 11.1; what the driver
    /// returned.
    #[track_caller]
    pub(crate) fn record_outside(&self, event: &LeasedEvent) -> Result<()> {
        let flags = EventRecordFlags::EXTERNAL.bits();
        self.keep(event.clone());
        event.note_recorded();
        // SAFETY: event and stream are alive and of one context; the graph keeps
        // the event.
        self.stream()
            .put(|driver, raw| unsafe { driver.cuEventRecordWithFlags(event.as_raw(), raw, flags) })
    }

    /// Makes later work on [`stream`](Self::stream) wait at each launch for what an event marks then
    /// (`cuStreamWaitEvent`).
    ///
    /// # Errors
    /// What the driver returned: a driver before CUDA 11.1 has no such waits.
    #[track_caller]
    pub(crate) fn wait_outside(&self, event: &LeasedEvent) -> Result<()> {
        let flags = EventWaitFlags::EXTERNAL.bits();
        self.keep(event.clone());
        // SAFETY: event and stream are alive and of one context; the graph keeps
        // the event.
        self.stream()
            .put(|driver, raw| unsafe { driver.cuStreamWaitEvent(raw, event.as_raw(), flags) })
    }

    /// The end of the capture has to come after the work on all branches.
    #[track_caller]
    pub(super) fn join_all(&mut self) -> Result<()> {
        for branch in &self.branches {
            order(branch, self.stream())?;
        }
        Ok(())
    }
}

/// Orders streams of one capture: the event is the capture's, and has its next life after that.
#[track_caller]
fn order(first: &Stream, then: &Stream) -> Result<()> {
    let event = event::acquire(first.core(), first.events(), EventConfig::default(), false)?;
    // SAFETY: event and stream are alive and of one context.
    first.put(|driver, raw| unsafe { driver.cuEventRecord(event.as_raw(), raw) })?;
    // SAFETY: as above.
    then.put(|driver, raw| unsafe { driver.cuStreamWaitEvent(raw, event.as_raw(), 0) })
}
