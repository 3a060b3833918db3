//! The list of least recent use against a `Vec`.

mod replay;

use cupola_core::{Lru, LruError, LruNode, Touch};
use quickcheck::{Gen, QuickCheck};
use replay::{Step, replay};

/// Without it a node could be lost, be in two places, or go before one that was used
/// earlier; a second chance could be given to the wrong one, or twice.
#[test]
fn a_list_of_least_recent_use_behaves_like_a_vector() {
    fn property(nodes: u8, steps: Vec<(u8, u8)>) {
        replay(usize::from(nodes % 20), steps.into_iter().map(Step::from));
    }
    QuickCheck::new()
        .rng(Gen::new(300))
        .quickcheck(property as fn(u8, Vec<(u8, u8)>));
}

/// Without it threads that never stop touching could keep an owner searching for ever.
#[test]
fn constant_touches_do_not_prevent_eviction() {
    let mut lru = Lru::<[_; 4]>::in_place();
    (0..4).for_each(|index| lru.insert(index).unwrap());
    let (mut asked, free) = (0, |index| index != 0);
    let always = |_| {
        asked += 1;
        true
    };
    assert_eq!(lru.evict(always, free), Some(1));
    assert_eq!(
        asked, 3,
        "each has one chance, and what is pinned is not asked"
    );
    assert!(lru.iter().eq([0, 2, 3]));
    assert_eq!(lru.evict(|_| true, |_| false), None);
    assert!(
        lru.iter().eq([0, 2, 3]),
        "what may not go stays in its place"
    );
}

/// Without it a second list over the same nodes would start with the links of the first.
#[test]
fn used_nodes_can_be_lent_again() {
    let mut nodes = [LruNode::new(); 3];
    let mut lru = Lru::new(&mut nodes[..]);
    (0..3).for_each(|index| lru.insert(index).unwrap());
    let mut lru = Lru::new(&mut nodes[..2]);
    assert_eq!(
        (lru.touch(1), lru.pop_lru()),
        (Err(LruError::NotListed), None)
    );
    assert_eq!(lru.insert(1), Ok(()));
    assert_eq!(lru.insert(2), Err(LruError::OutOfRange));
    assert_eq!(lru.insert(usize::MAX), Err(LruError::OutOfRange));
    assert!(lru.iter().eq([1]));
}

/// Without it storage that changes its mind could make the list panic or go round for
/// ever.
#[test]
fn fickle_storage_does_no_harm() {
    struct Fickle([LruNode; 4], std::cell::Cell<usize>);
    impl AsRef<[LruNode]> for Fickle {
        fn as_ref(&self) -> &[LruNode] {
            self.1.set(self.1.get() + 1);
            &self.0[..self.1.get() % 5]
        }
    }
    impl AsMut<[LruNode]> for Fickle {
        fn as_mut(&mut self) -> &mut [LruNode] {
            self.1.set(self.1.get() + 1);
            &mut self.0[self.1.get() % 3..]
        }
    }
    let mut lru = Lru::new(Fickle([LruNode::new(); 4], std::cell::Cell::new(0)));
    let touch = Touch::new();
    for round in 0..1000 {
        let _ = (lru.insert(round % 5), lru.touch(round % 4));
        let _ = (lru.insert(round % 3), lru.remove(round % 7));
        touch.touch();
        lru.evict(|_| touch.take(), |index| index != round % 4);
        assert!(lru.iter().count() <= lru.len());
    }
}
