//! `Patience`: how long a request waits for memory, how often it searches, and how often it drains
//! the caches of all threads.
//!
//! All waits together end at one time. A search that has found nothing is repeated after a nap at
//! the earliest, whatever has completed meanwhile: a neighbour that goes on completes something all
//! the time. And caches are drained a few times soon after each other, then ever more seldom: a
//! neighbour's hits must not depend on how long another thread waits.

use crate::pool::request::Wait;
use std::time::{Duration, Instant};

/// Most searches that are made anew where nothing is under way that the request could wait for,
/// because something has come back meanwhile.
const RETRIES: u32 = 64;
/// After a nap others are as far as after so many searches.
const OF_A_NAP: u32 = 8;
/// Times that a request drains caches as soon as it searches.
const SOON: u32 = 8;
/// The longest time between two of the later ones.
const SELDOM: Duration = Duration::from_millis(100);
const SHORTEST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// The changes since the last search began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    None,
    /// Something changed.
    Changed,
    /// Work has completed.
    Completed,
}

/// The next action of a request that has found nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Search,
    Wait,
    Refuse,
}

/// How long a request still waits.
pub(crate) struct Patience {
    wait: Wait,
    configured: Duration,
    began: Instant,
    /// `None` for no end.
    end: Option<Instant>,
    retries: u32,
    /// The first completion is worth a search at once.
    eager: bool,
    nap: Duration,
    waited: bool,
    /// The search that comes after all waiting was made.
    is_last: bool,
    drains: u32,
    /// Caches are not drained again before this.
    drains_at: Instant,
}

impl Patience {
    pub(crate) fn new(wait: Wait, configured: Duration) -> Self {
        let began = Instant::now();
        Self {
            wait,
            configured,
            began,
            end: wait.end(configured),
            retries: RETRIES,
            eager: true,
            nap: SHORTEST_NAP,
            waited: false,
            is_last: false,
            drains: 0,
            drains_at: began,
        }
    }

    /// The user has made room: it begins anew, but for a deadline.
    pub(crate) fn renew(&mut self) {
        *self = Self::new(self.wait, self.configured);
    }

    fn is_over(&self) -> bool {
        !mutant!("request_waits_without_end") && self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Whether the next search drains caches.
    pub(crate) fn may_drain(&self) -> bool {
        self.drains < SOON || Instant::now() >= self.drains_at
    }

    /// A search has drained the caches.
    pub(crate) fn note_drained(&mut self) {
        self.drains += 1;
        let now = Instant::now();
        self.drains_at = now + (now - self.began).min(SELDOM);
    }

    /// Nothing else is left to try.
    pub(crate) fn drain_once_more(&mut self) {
        self.drains_at = self.began;
    }

    /// The request's next action, `pending` being whether work is under way that it could wait for,
    /// and `napped` whether it has napped since its last search.
    pub(crate) fn next(&mut self, news: News, pending: bool, napped: bool) -> Next {
        if self.is_over() {
            // After a wait one search is left: none has seen the memory that came during the last
            // nap.
            let may = match self.waited {
                true => !std::mem::replace(&mut self.is_last, true),
                false => self.retry(1),
            };
            return match news {
                News::Changed | News::Completed if may => Next::Search,
                _ => Next::Refuse,
            };
        }
        let is_first = news == News::Completed && std::mem::replace(&mut self.eager, false);
        match news {
            News::None if pending => Next::Wait,
            News::None => Next::Refuse,
            _ if !napped && !is_first => Next::Wait,
            _ if pending || self.retry(OF_A_NAP) => Next::Search,
            _ => Next::Refuse,
        }
    }

    fn retry(&mut self, cost: u32) -> bool {
        let left = self.retries.checked_sub(cost);
        self.retries = left.unwrap_or(0);
        left.is_some()
    }

    /// The request is about to wait. Whether it does for the first time.
    pub(crate) fn begin_wait(&mut self) -> bool {
        !std::mem::replace(&mut self.waited, true)
    }

    pub(crate) fn nap(&mut self) {
        let left = self.end.map_or(self.nap, |end| {
            end.saturating_duration_since(Instant::now())
        });
        std::thread::sleep(self.nap.min(left));
        self.nap = (self.nap * 2).min(LONGEST_NAP);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn patience(wait: Duration) -> Patience {
        Patience::new(Wait::AsConfigured, wait)
    }

    // Without it a request that cannot be had would search for ever, and drain the caches of all
    // threads, as long as another thread allocates and frees.
    #[test]
    fn a_busy_neighbour_delays_no_refusal() {
        for news in [News::Completed, News::Changed] {
            let mut patience = patience(Duration::ZERO);
            let searches = (0..10_000)
                .take_while(|_| patience.next(news, true, false) == Next::Search)
                .count();
            assert_eq!(searches, RETRIES as usize);
            assert_eq!(patience.next(news, true, true), Next::Refuse);
        }
    }

    // Without it a request would be refused although the memory it waited for came in its last nap.
    #[test]
    fn what_comes_in_the_last_nap_is_searched_for_once() {
        for news in [News::Completed, News::Changed] {
            let mut patience = patience(Duration::from_millis(1));
            assert!(patience.begin_wait());
            std::thread::sleep(Duration::from_millis(2));
            assert_eq!(patience.next(news, true, true), Next::Search);
            assert_eq!(patience.next(news, true, true), Next::Refuse);
        }
        let mut patience = patience(Duration::from_millis(1));
        patience.begin_wait();
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(patience.next(News::None, true, true), Next::Refuse);
    }

    // Without it a request would be refused although memory for it is under way, or has come.
    #[test]
    fn what_is_under_way_is_waited_for() {
        let mut patience = patience(Duration::MAX);
        assert_eq!(patience.next(News::None, true, false), Next::Wait);
        assert_eq!(patience.next(News::Changed, true, false), Next::Wait);
        assert_eq!(patience.next(News::Changed, true, true), Next::Search);
        assert_eq!(patience.next(News::Changed, false, true), Next::Search);
        for _ in 0..1000 {
            assert_eq!(patience.next(News::Completed, true, true), Next::Search);
        }
        assert_eq!(patience.next(News::None, false, true), Next::Refuse);
    }

    // Without it a request would search as fast as a neighbour completes its work, and keep it from
    // the locks.
    #[test]
    fn there_is_a_nap_between_two_searches() {
        let mut patience = patience(Duration::MAX);
        assert_eq!(patience.next(News::Completed, true, false), Next::Search);
        for _ in 0..100 {
            assert_eq!(patience.next(News::Completed, true, false), Next::Wait);
            assert_eq!(patience.next(News::Completed, true, true), Next::Search);
        }
    }

    // Without it a request that waits long would drain the caches of all threads with each search.
    #[test]
    fn what_threads_keep_is_taken_ever_more_seldom() {
        let mut patience = patience(Duration::MAX);
        patience.began -= Duration::from_secs(1);
        for _ in 0..SOON {
            assert!(patience.may_drain());
            patience.note_drained();
        }
        assert!(!patience.may_drain());
        assert!(patience.drains_at - Instant::now() <= SELDOM);
        patience.drain_once_more();
        assert!(patience.may_drain());
    }

    // Without it a deadline could begin anew, or a request wait that is not to.
    #[test]
    fn a_deadline_stays() {
        let end = Instant::now() + Duration::from_secs(1000);
        let mut patience = Patience::new(Wait::Until(end), Duration::ZERO);
        assert!(!patience.is_over());
        patience.renew();
        assert_eq!(patience.end, Some(end));
        let never = Patience::new(Wait::Never, Duration::MAX);
        assert!(never.is_over());
    }
}
