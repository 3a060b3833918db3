use quickcheck::QuickCheck;

use super::replay::replay;

// Without it a call that the driver refuses in the middle of a plan could leave a page or a block
// other than the page heap takes it for: a block without memory, memory that is mapped twice or
// lost, a page that goes under work, or a limit that is passed.
#[test]
fn whichever_call_is_refused_the_page_heap_knows_every_page() {
    fn property(steps: Vec<(u8, u8, u8)>) -> bool {
        replay(
            steps
                .into_iter()
                .map(|(what, pick, size)| [what, pick, size]),
        );
        true
    }
    QuickCheck::new()
        .max_tests(1 << 20)
        .tests(if cfg!(miri) { 20 } else { 3000 })
        .rng(quickcheck::Gen::new(200))
        .quickcheck(property as fn(Vec<(u8, u8, u8)>) -> bool);
}
