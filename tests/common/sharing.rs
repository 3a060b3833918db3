//! Who uses the GPU. Tests share it, but for those that look at all of its memory.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

static USERS: Mutex<usize> = Mutex::new(0);
static FEWER: Condvar = Condvar::new();

fn users() -> MutexGuard<'static, usize> {
    USERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One that shares the device with others, as long as it lives.
pub(crate) struct User(());

impl User {
    /// Waits while another test is [`alone`].
    pub(crate) fn new() -> Self {
        *users() += 1;
        Self(())
    }
}

impl Drop for User {
    fn drop(&mut self) {
        *users() -= 1;
        FEWER.notify_all();
    }
}

/// Waits until no other test of this process uses the GPU, and lets none begin before `work` is
/// done. Software devices are each test's own.
pub(crate) fn alone<T>(work: impl FnOnce() -> T) -> T {
    let _alone = super::on_gpu().then(|| {
        let alone = FEWER.wait_while(users(), |users| *users > 0);
        alone.unwrap_or_else(PoisonError::into_inner)
    });
    work()
}
