//! Steps on a list of least recent use, against a `Vec` in the same order. Shared by the
//! property and the fuzz target.

use cupola_core::{Lru, LruError, LruNode, Touch};

/// What to do (by its remainder) and to which index.
pub(crate) type Step = [u8; 2];

/// Which indices may not go: a different half for each `seed`.
fn pinned(seed: u8, index: usize) -> bool {
    seed.rotate_left(index as u32 % 8) & 1 == 1
}

/// Replays `steps` on a list of `nodes` nodes, after each of which both must agree.
pub(crate) fn replay(nodes: usize, steps: impl IntoIterator<Item = Step>) {
    let mut lru = Lru::new(vec![LruNode::new(); nodes]);
    let touches: Vec<_> = (0..nodes).map(|_| Touch::new()).collect();
    // From the least recent; and what has been touched since it was last asked.
    let mut list: Vec<usize> = Vec::new();
    let mut touched = vec![false; nodes];
    for [kind, number] in steps {
        // One in eight or so is out of range.
        let index = usize::from(number) % (nodes + nodes / 8 + 1);
        let place = list.iter().position(|&listed| listed == index);
        match kind % 8 {
            0 | 1 => {
                let expected = match place {
                    _ if index >= nodes => Err(LruError::OutOfRange),
                    Some(_) => Err(LruError::Listed),
                    None => {
                        list.push(index);
                        Ok(())
                    }
                };
                assert_eq!(lru.insert(index), expected);
            }
            change @ (2 | 3) => {
                let expected = match place {
                    _ if index >= nodes => Err(LruError::OutOfRange),
                    None => Err(LruError::NotListed),
                    Some(at) => {
                        list.remove(at);
                        if change == 2 {
                            list.push(index);
                        }
                        Ok(())
                    }
                };
                let outcome = if change == 2 {
                    lru.touch(index)
                } else {
                    lru.remove(index)
                };
                assert_eq!(outcome, expected);
            }
            4 => {
                if let Some(touch) = touches.get(index) {
                    touch.touch();
                    touched[index] = true;
                }
            }
            5 => {
                let expected = (!list.is_empty()).then(|| list.remove(0));
                assert_eq!(lru.pop_lru(), expected);
            }
            6 => {
                let victim = list.iter().position(|&index| !pinned(number, index));
                let expected = victim.map(|at| list.remove(at));
                let (mut asked, all) = (0, lru.len());
                let may = |index| {
                    asked += 1;
                    !pinned(number, index)
                };
                assert_eq!(lru.evict_if(may), expected);
                assert_eq!(asked, victim.map_or(all, |at| at + 1));
            }
            _ => {
                let may = |index: &usize| !pinned(number, *index);
                let free = list.iter().copied().filter(may);
                // Those up to the first that is neither pinned nor touched are asked about.
                let first = list.iter().position(|index| may(index) && !touched[*index]);
                let spared: Vec<_> = free.take_while(|&index| touched[index]).collect();
                let second_round = first.is_none() && !spared.is_empty();
                list.retain(|index| !spared.contains(index));
                for index in spared {
                    touched[index] = false;
                    list.push(index);
                }
                let victim = list.iter().position(may);
                let mut expected_asked = first.map_or(list.len(), |at| at + 1);
                if second_round {
                    expected_asked += victim.map_or(0, |at| at + 1);
                }
                let expected = victim.map(|at| list.remove(at));
                let mut asked = 0;
                let outcome = lru.evict(
                    |index| touches[index].take(),
                    |index| {
                        asked += 1;
                        may(&index)
                    },
                );
                assert_eq!(outcome, expected);
                assert_eq!(
                    asked, expected_asked,
                    "each is asked about as often as needed"
                );
            }
        }
        assert!(lru.iter().eq(list.iter().copied()));
        assert_eq!((lru.len(), lru.is_empty()), (list.len(), list.is_empty()));
        assert_eq!(lru.contains(index), list.contains(&index));
    }
    // The other direction: every node has the right one before it.
    for index in list.drain(..).rev() {
        assert_eq!(lru.iter().last(), Some(index));
        assert_eq!(lru.remove(index), Ok(()));
    }
    assert_eq!(lru.pop_lru(), None);
}
