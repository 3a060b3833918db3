//! `CompletionThread`: asks the device for callers that wait for a ticket and do nothing else.
//!
//! One thread for the streams of a context, there while a caller waits and a tenth of a second
//! after. It asks (`cuEventQuery`) and does not let the driver call it (`cuLaunchHostFunc`): a host
//! function holds up the work behind it, must not call the driver, and is not called when the
//! context is lost, while the question returns the loss.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::lists;
use crate::sync;

/// What the thread looks after.
pub(super) trait Watched: Send + Sync {
    /// Asks the device, and tells the callers whose tickets are complete. False when no caller is
    /// left.
    fn advance(&self) -> bool;
}

/// For so long after a new caller the thread asks without a pause.
const SPIN: Duration = Duration::from_micros(50);
/// The first pause after that, which doubles, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_micros(20), Duration::from_micros(500));
/// For so long the thread waits for a new caller when there is none.
const LINGER: Duration = Duration::from_millis(100);

/// The thread of one context's streams, which runs only when it is needed.
#[derive(Default)]
pub(crate) struct CompletionThread {
    state: Mutex<State>,
    changed: Condvar,
    /// Bytes of the thread's stack. A test asks for more than there are.
    #[cfg(all(test, not(loom)))]
    pub(super) stack: Mutex<Option<usize>>,
}

#[derive(Default)]
struct State {
    /// Not seen by the thread yet.
    new: Vec<Weak<dyn Watched>>,
    is_running: bool,
}

impl CompletionThread {
    /// Has the thread look after `watched`; starts it if it does not run.
    ///
    /// # Errors
    /// The process can have no more threads; nothing is looked after then.
    pub(super) fn watch(self: &Arc<Self>, watched: Weak<dyn Watched>) -> io::Result<()> {
        let mut state = sync::lock(&self.state);
        // The threads of a model are its own: they ask in its place.
        if !state.is_running && !cfg!(loom) {
            let this = Arc::clone(self);
            let thread = thread::Builder::new().name("cupola-completion".into());
            #[cfg(all(test, not(loom)))]
            let thread = match *sync::lock(&self.stack) {
                Some(bytes) => thread.stack_size(bytes),
                None => thread,
            };
            thread.spawn(move || this.run())?;
            state.is_running = true;
        }
        state.new.push(watched);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    fn run(&self) {
        let mut watched = Vec::new();
        let mut spin_until = Instant::now();
        let mut pause = PAUSES.0;
        loop {
            let mut state = sync::lock(&self.state);
            if state.new.is_empty() {
                let now = Instant::now();
                let nap = match watched.is_empty() {
                    true => Some(LINGER),
                    false if now < spin_until => None,
                    false => Some(pause),
                };
                if let Some(nap) = nap {
                    let waited = self.changed.wait_timeout(state, nap);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                    pause = (2 * pause).min(PAUSES.1);
                }
            }
            if !state.new.is_empty() {
                watched.append(&mut state.new);
                spin_until = Instant::now() + SPIN;
                pause = PAUSES.0;
            } else if watched.is_empty() {
                state.is_running = false;
                return;
            }
            drop(state);
            lists::retain(&mut watched, |watched: &Weak<dyn Watched>| {
                watched.upgrade().is_some_and(|watched| watched.advance())
            });
        }
    }
}
