//! A block that another stream, which does not know its history, finds ready.

use super::Block;
use crate::error::Result;
use crate::stream::Stream;
use crate::sync::deferred::DeferCallbacks;

impl Block {
    /// [Joins](Self::join) the stream, and makes it wait for all work that the block's own stream, and those that have
    /// used it, have by now.
    #[track_caller]
    pub(crate) fn ready_on(&self, stream: &Stream) -> Result<()> {
        // A capture would keep the waits for its graph, and the consumer's work is none of that.
        stream.refuse_captured("an export of memory")?;
        self.join(stream)?;
        if self.address() == 0 {
            return Ok(());
        }
        let _defer = DeferCallbacks::new();
        let pool = self.pool();
        if let Some(rest) = self.header().rest().get() {
            for used in rest.uses().lock().iter().filter(|used| !used.is(stream)) {
                pool.order(used, stream)?;
            }
        }
        match stream.is(self.home()) {
            true => Ok(()),
            false => pool.order(self.home(), stream),
        }
    }
}
