//! `Left`: killed workers that had not ended when their supervisor was dropped.

use std::sync::{Mutex, PoisonError, TryLockError};

use super::Link;

/// Of this process. A fork's copy means children of its parent, and is emptied by a look at it.
pub(crate) static LEFT: Left = Left(Mutex::new(Vec::new()));

#[derive(Debug)]
pub(crate) struct Left(Mutex<Vec<Link>>);

impl Left {
    /// Takes over the wait for these.
    pub(crate) fn keep(&self, links: &mut Vec<Link>) {
        if !links.is_empty() {
            (self.0.lock().unwrap_or_else(PoisonError::into_inner)).append(links);
        }
    }

    /// Lets go of those that have ended by now. Does not wait.
    pub(crate) fn reap(&self) {
        let mut links = match self.0.try_lock() {
            Ok(links) => links,
            Err(TryLockError::Poisoned(links)) => links.into_inner(),
            // Another thread is at it, or was when this process was forked.
            Err(TryLockError::WouldBlock) => return,
        };
        links.retain_mut(|link| link.ended().is_none());
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::{Duration, Instant};

    // Without it a worker that outlives its supervisor would stay a dead process for ever, or
    // be forgotten while it runs.
    #[test]
    fn a_process_is_kept_until_it_has_ended() {
        let left = Left(Mutex::new(Vec::new()));
        // Reads from its connection until it is closed.
        let link = Link::spawn(&mut Command::new("cat"), "job").expect("cat starts");
        let process = link.process();
        left.keep(&mut vec![link]);
        left.reap();
        assert_eq!(left.0.lock().unwrap().len(), 1);
        left.0.lock().unwrap()[0].kill();
        let begin = Instant::now();
        while !left.0.lock().unwrap().is_empty() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it was killed");
            std::thread::sleep(Duration::from_millis(1));
            left.reap();
        }
        let pid = rustix::process::Pid::from_raw(process as i32).expect("a process");
        assert!(
            rustix::process::test_kill_process(pid).is_err(),
            "not waited for"
        );
    }
}
