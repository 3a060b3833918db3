//! `Restarts`: how often a worker may be started again, and how soon.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::config::WorkerConfig;

/// The losses within the time that counts.
#[derive(Debug)]
pub(super) struct Restarts {
    losses: VecDeque<Instant>,
    /// Losses since a worker last answered.
    fruitless: u32,
}

impl Restarts {
    pub(super) fn new() -> Self {
        Self {
            losses: VecDeque::new(),
            fruitless: 0,
        }
    }

    /// A worker was lost, which had answered or not: how long to wait before the next one is
    /// started, or how many were lost within the time if that is too often.
    pub(super) fn lost(
        &mut self,
        config: &WorkerConfig,
        answered: bool,
        now: Instant,
    ) -> Result<Duration, u32> {
        while let Some(&first) = self.losses.front()
            && now.saturating_duration_since(first) > config.restart_window
        {
            self.losses.pop_front();
        }
        if self.losses.len() >= config.restarts as usize {
            return Err(self.losses.len() as u32 + 1);
        }
        self.losses.push_back(now);
        if answered {
            self.fruitless = 0;
            return Ok(Duration::ZERO);
        }
        let doublings = self.fruitless.min(20);
        self.fruitless += 1;
        let delay = config.backoff.saturating_mul(1 << doublings);
        Ok(delay.min(config.backoff_ceiling))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it a worker that never answers could be started as fast as the machine can, or
    // for ever; or one that is lost now and then be given up.
    #[test]
    fn delays_double_up_to_the_ceiling_and_losses_expire() {
        let mut config = WorkerConfig::new("job");
        config.restarts = 4;
        config.restart_window = Duration::from_secs(60);
        config.backoff = Duration::from_millis(100);
        config.backoff_ceiling = Duration::from_millis(250);
        let (start, mut restarts) = (Instant::now(), Restarts::new());
        let mut lost = |answered, second| {
            restarts
                .lost(&config, answered, start + Duration::from_secs(second))
                .map(|delay| delay.as_millis())
        };
        assert_eq!(lost(false, 0), Ok(100));
        assert_eq!(lost(false, 1), Ok(200));
        assert_eq!(lost(false, 2), Ok(250));
        assert_eq!(lost(true, 3), Ok(0));
        assert_eq!(lost(false, 4), Err(5));
        assert_eq!(lost(false, 62), Ok(100));
    }
}
