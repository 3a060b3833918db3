//! The heap against a list of intervals, over random and over all short histories, and
//! the cases at the edges.

mod cases;
mod decisions;
mod oracle;

use quickcheck::quickcheck;

use oracle::{Op, World, replay};

/// A step, as quickcheck makes and shrinks it.
type Step = (u8, u8, u8, u8);

fn bytes(steps: &[Step]) -> impl Iterator<Item = [u8; 4]> {
    steps.iter().map(|&(kind, a, b, c)| [kind, a, b, c])
}

quickcheck! {
    /// Without it blocks could overlap, a request be refused that fits, a name reach another
    /// block, a forbidden merge happen, or a count be wrong.
    fn a_heap_behaves_like_a_list_of_intervals(nodes: u8, base: u8, steps: Vec<Step>) -> bool {
        replay::<1, 2, 0>(nodes, base, bytes(&steps));
        true
    }

    /// Without it a larger block than needed could be cut, in bytes or in granules: with every
    /// block a candidate, the choice is exactly the lowest class, rank, size and offset.
    fn a_heap_that_compares_all_chooses_the_best(nodes: u8, base: u8, steps: Vec<Step>) -> bool {
        replay::<1, { usize::MAX }, 0>(nodes, base, bytes(&steps));
        replay::<16, { usize::MAX }, 0>(nodes, base, bytes(&steps));
        true
    }

    /// Without it a dear place could be taken while a larger block has a cheap one, where larger
    /// classes are looked through for a lower rank: a few blocks of them, or all. Then the
    /// choice is exactly the lowest rank, class, size and offset.
    fn a_heap_that_looks_further_chooses_the_cheapest(
        nodes: u8, base: u8, steps: Vec<Step>
    ) -> bool {
        replay::<1, 2, 3>(nodes, base, bytes(&steps));
        replay::<1, { usize::MAX }, { usize::MAX }>(nodes, base, bytes(&steps));
        true
    }
}

/// All histories of four steps on eight bytes. Without it a mistake that random histories
/// meet too seldom, such as one in the links of the first or last block, could stay.
#[test]
fn every_short_history_is_right() {
    let mut steps = Vec::new();
    for size in [1, 2, 3, 8] {
        let align = if size == 3 { 4 } else { 1 };
        steps.push(Op::Allocate {
            size,
            align,
            tag: 0,
        });
    }
    for which in 0..3 {
        steps.extend([0, 1].map(|tag| Op::Free { which, tag }));
    }
    let complete = u8::MAX;
    steps.extend([
        Op::AllocateAt {
            offset: 2,
            size: 3,
            tag: 0,
        },
        Op::UpdateFree { from: 1, to: 0 },
        Op::Piece { which: 1 },
        Op::FreeAgain { which: 0 },
        Op::AddRange {
            start: 8,
            size: 2,
            tag: 1,
        },
        Op::CoalesceAll,
        Op::Rules {
            complete,
            forbidden: 4,
        },
    ]);

    fn explore(world: &World<1, 1, 0>, steps: &[Op], depth: u32) {
        for step in steps {
            let mut world = world.clone();
            world.apply(*step);
            if depth > 1 {
                explore(&world, steps, depth - 1);
            } else {
                world.finish();
            }
        }
    }
    let mut world = World::new(16);
    world.apply(Op::AddRange {
        start: 0,
        size: 8,
        tag: 0,
    });
    explore(&world, &steps, 4);
}
