//! Words that are read without a lease.

use cupola_core::{FixedWords, HandleError};
use loom::sync::Arc;
use loom::thread;

use super::model;

/// Would break if the word were stored relaxed, or if `peek` looked at the state only once:
/// the old handle would show the value of the slot's next life.
#[test]
fn a_stale_handle_never_shows_the_next_word() {
    model(&["shown", "stale"], |seen| {
        let store = Arc::new(FixedWords::<u64, 1>::new());
        let old = store.insert(1).unwrap();
        let other = {
            let store = Arc::clone(&store);
            thread::spawn(move || {
                assert_eq!(store.release(old).unwrap().now(), Some(1));
                let new = store.insert(2).unwrap();
                assert_eq!(store.peek(new), Ok(2));
            })
        };
        match store.peek(old) {
            Ok(word) => {
                assert_eq!(word, 1);
                seen.note("shown");
            }
            Err(refusal) => {
                assert_eq!(refusal, HandleError::Stale);
                seen.note("stale");
            }
        }
        other.join().unwrap();
    });
}

/// Would break if a word could be seen before it is there, or after the store was closed.
#[test]
fn a_word_is_seen_whole_until_its_store_is_closed() {
    model(&["shown", "closed", "not ready"], |seen| {
        let store = Arc::new(FixedWords::<u64, 1>::new());
        let vacancy = store.vacancy().unwrap();
        let handle = vacancy.handle();
        let other = {
            let (store, seen) = (Arc::clone(&store), seen.clone());
            thread::spawn(move || match store.peek(handle) {
                Ok(word) => {
                    assert_eq!(word, 1);
                    seen.note("shown");
                }
                Err(HandleError::Closed) => seen.note("closed"),
                Err(refusal) => {
                    assert_eq!(refusal, HandleError::NotReady);
                    seen.note("not ready");
                }
            })
        };
        vacancy.fill(1).unwrap();
        store.close();
        assert_eq!(store.peek(handle), Err(HandleError::Closed));
        other.join().unwrap();
    });
}
