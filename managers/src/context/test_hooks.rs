//! Settings of a context manager for a test.

use std::sync::{MutexGuard, PoisonError};

use super::ContextManager;
use crate::error::Result;
use crate::event::EventManager;
use crate::stream::StreamManager;
use crate::testing::TestConfig;

impl ContextManager {
    /// Makes the manager, and the stream and event managers of its contexts, small and soon
    /// worn out, for a test.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) naming the field, or when a context was made
    /// already. Nothing is changed then.
    pub fn configure_for_test(&self, config: TestConfig) -> Result<()> {
        let config = config.check()?;
        let mut test = self.test();
        if self.contexts.stats().created > 0 {
            return Err(TestConfig::too_late("Context"));
        }
        if let Some(size) = config.most_objects() {
            self.contexts.set_capacity(size);
        }
        *test = Some(config);
        Ok(())
    }

    /// Whether it was configured for a test.
    #[must_use]
    pub fn is_configured_for_test(&self) -> bool {
        self.test().is_some()
    }

    fn test(&self) -> MutexGuard<'_, Option<TestConfig>> {
        self.test.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To the managers of a context that is just being made.
    pub(super) fn hand_down_for_test(
        &self,
        streams: &StreamManager,
        events: &EventManager,
    ) -> Result<()> {
        let config = *self.test();
        config.map_or(Ok(()), |config| {
            streams.configure_for_test(config)?;
            events.configure_for_test(config)
        })
    }
}
