//! Any history of the page heap and a driver that refuses whichever call it likes: every page is
//! what the heap takes it for, no block lacks memory, and no page goes under work that uses it.
#![no_main]

use cupola_managers::pool::replay_page_heap;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    replay_page_heap(bytes.as_chunks().0.iter().copied());
});
