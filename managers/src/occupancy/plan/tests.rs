use quickcheck::{Arbitrary, Gen, QuickCheck};

use super::*;

const LIMITS: LaunchLimits = LaunchLimits {
    warp: 32,
    max_block: [1024, 1024, 64],
    max_grid: [i32::MAX as u32, 65_535, 65_535],
};

/// A problem, a number of threads and a wave, small and large.
#[derive(Clone, Copy, Debug)]
struct Case {
    size: [u64; 3],
    threads: u32,
    wave: u64,
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut number =
            |bits: u32| u64::arbitrary(g) >> (64 - 1 - u64::arbitrary(g) % u64::from(bits));
        Self {
            size: [number(64), number(64), number(64)],
            threads: 1 + number(11) as u32 % 1024,
            wave: 1 + number(24),
        }
    }
}

fn check(property: fn(Case) -> bool) {
    QuickCheck::new().tests(20_000).quickcheck(property);
}

/// Whether the launch is one that the device takes.
fn is_within_limits(config: LaunchConfig, threads: u32) -> bool {
    let within = |sizes: [u32; 3], most: [u32; 3]| {
        let mut sizes = sizes.iter().zip(most);
        sizes.all(|(size, most)| (1..=most).contains(size))
    };
    within(config.block, LIMITS.max_block)
        && within(config.grid, LIMITS.max_grid)
        && config.block.iter().product::<u32>() <= threads
}

fn plan(case: Case, grid: [u32; 3], block: [u32; 3]) -> LaunchPlan {
    LaunchPlan {
        config: LaunchConfig {
            grid,
            block,
            shared_bytes: 0,
        },
        size: case.size.into(),
    }
}

// Without it a plan could leave elements out, be refused by the driver, or claim that a grid can be
// larger than it can.
#[test]
fn a_thread_for_each_element() {
    check(|case| {
        let block = LIMITS.block(case.size, case.threads);
        let Ok(grid) = LIMITS.grid(case.size, block) else {
            let blocks = blocks(case.size, block);
            return blocks
                .iter()
                .zip(LIMITS.max_grid)
                .any(|(b, most)| *b > most.into());
        };
        let plan = plan(case, grid, block);
        let covered = (0..3).all(|at| {
            let threads = u64::from(grid[at]) * u64::from(block[at]);
            // No block more than needed, but for the one of a problem without elements.
            let spare = threads - u64::from(block[at]);
            threads >= case.size[at] && (spare < case.size[at] || grid[at] == 1)
        });
        covered && plan.is_thread_per_element() && is_within_limits(plan.config(), case.threads)
    });
}

// Without it one wave could be more blocks than the device holds at a time, leave a part of it idle
// that the problem has blocks for, or have threads that never reach an element.
#[test]
fn one_wave_reaches_every_element() {
    check(|case| {
        let block = LIMITS.block(case.size, case.threads);
        let grid = LIMITS.wave_grid(case.size, block, case.wave);
        let plan = plan(case, grid, block);
        let count: u64 = grid.iter().map(|blocks| u64::from(*blocks)).product();
        let needed = blocks(case.size, block);
        let reached = (0..3).all(|at| {
            let stride = u128::from(grid[at]) * u128::from(block[at]);
            let reach = stride * u128::from(plan.elements_per_thread()[at]);
            reach >= case.size[at].into() && u64::from(grid[at]) <= needed[at]
        });
        // Along a dimension that no limit cuts, half of what is left is used at least.
        let all = needed
            .iter()
            .fold(1, |all, n| u128::saturating_mul(all, (*n).into()));
        let is_full = all > case.wave.into()
            || u128::from(count) == all
            || (0..3).any(|at| grid[at] == LIMITS.max_grid[at]);
        reached && is_full && count <= case.wave && is_within_limits(plan.config(), case.threads)
    });
}

// Without it the threads of a warp would touch memory in several rows of a large problem, or a block
// have most of its threads beyond a small one.
#[test]
fn blocks_lie_along_x_by_the_warp() {
    for (size, threads, block) in [
        ([1_000_000, 1, 1], 256, [256, 1, 1]),
        ([1920, 1080, 1], 256, [32, 8, 1]),
        ([512, 512, 512], 1024, [32, 32, 1]),
        ([512, 2, 512], 1024, [32, 2, 16]),
        ([512, 2, 1], 1024, [512, 2, 1]),
        ([3, 1080, 1], 256, [4, 64, 1]),
        ([100, 1, 1], 1024, [128, 1, 1]),
        ([1, 1, 1000], 1024, [1, 1, 64]),
        ([640, 480, 1], 96, [32, 3, 1]),
        ([0, 0, 0], 256, [1, 1, 1]),
        ([1000, 1, 1], 20, [20, 1, 1]),
    ] {
        assert_eq!(LIMITS.block(size, threads), block, "{size:?}, {threads}");
    }
}

// Without it a refusal would not say how to go on.
#[test]
fn too_large_a_grid_is_refused_with_the_limit() {
    let refused = LIMITS.grid([1, 1 << 40, 1], [1, 1024, 1]).unwrap_err();
    let text = refused.to_string();
    assert!(
        text.starts_with("size: ") && text.contains("GridStride"),
        "{text}"
    );
    assert!(text.contains("65535"), "{text}");
    for block in [
        [0, 1, 1],
        [2048, 1, 1],
        [32, 32, 2],
        [1, 1, 128],
        [u32::MAX; 3],
    ] {
        assert!(LIMITS.check_block(block, 1024).is_err(), "{block:?}");
    }
    LIMITS.check_block([32, 32, 1], 1024).unwrap();
}
