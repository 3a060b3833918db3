//! Bytes that are reloaded, against the least that is possible.

use std::time::Duration;

use cupola_random::Random;
use cupola_residency::policy::{EvictionPolicy, LeastRecent};
use cupola_residency::{Residency, ResidencyConfig, Slot};

use super::{Bench, MIB, config, register};

/// Models of which two thirds fit, in MiB.
pub(super) const SIZES: [u64; 7] = [2, 4, 6, 8, 8, 12, 20];
pub(super) const LIMIT: u64 = 40;
pub(super) const REQUESTS: usize = 160;
/// Pages of the device, in MiB. The models are so small here that larger pieces would cost percents.
pub(super) const PIECE: u64 = 2;

/// The least MiB that any choice of pages could load for these requests, each of which needs all pages of
/// its model: what Belady's rule loads for the pages one by one, where a page that is used again last goes
/// first. It may even let pages go in the middle of a request, so it is a lower bound.
pub(super) fn least(requests: &[usize]) -> u64 {
    let next = |model: usize, after: usize| {
        let later = requests.iter().skip(after + 1);
        later
            .clone()
            .position(|&it| it == model)
            .unwrap_or(usize::MAX)
    };
    let mut resident = [0; SIZES.len()];
    let mut loaded = 0;
    for (at, &model) in requests.iter().enumerate() {
        loaded += SIZES[model] - resident[model];
        resident[model] = SIZES[model];
        let mut over = resident.iter().sum::<u64>().saturating_sub(LIMIT);
        let mut order: Vec<usize> = (0..SIZES.len()).filter(|&it| it != model).collect();
        order.sort_by_key(|&it| std::cmp::Reverse(next(it, at)));
        for other in order {
            let given = over.min(resident[other]);
            resident[other] -= given;
            over -= given;
        }
    }
    loaded
}

/// MiB that a residency loads for them, when so many are announced.
fn loaded(config: ResidencyConfig, requests: &[usize], ahead: usize) -> u64 {
    let bench = Bench::new();
    let residency = Residency::new(&bench.context, config).unwrap();
    let slots: Vec<Slot> = (0..SIZES.len())
        .map(|model| register(&residency, model as u64, SIZES[model] * MIB))
        .collect();
    let announce = |at: usize| {
        if let Some(&model) = requests.get(at) {
            residency.announce([&slots[model]]).unwrap();
        }
    };
    (0..ahead).for_each(announce);
    for (at, &model) in requests.iter().enumerate() {
        announce(at + ahead);
        drop(residency.lease(&slots[model], &bench.stream).unwrap());
    }
    let loaded = residency.metrics().bytes_loaded / MIB;
    drop((slots, residency));
    bench.finish();
    loaded
}

pub(super) fn orders() -> [(&'static str, Vec<usize>); 4] {
    let mut random = Random::new(7);
    let zipf = |random: &mut Random| {
        // Weights 1/1 to 1/7, times 420.
        let mut at = random.below(1089);
        (1..=7).position(|rank| {
            let weight = 420 / rank;
            let is_here = at < weight;
            at = at.saturating_sub(weight);
            is_here
        })
    };
    let zipf = (0..REQUESTS).filter_map(|_| zipf(&mut random)).collect();
    let cyclic = (0..REQUESTS).map(|at| at % SIZES.len()).collect();
    let mut bursty = Vec::new();
    while bursty.len() < REQUESTS {
        let some = [0; 3].map(|_| random.index(SIZES.len()));
        bursty.extend((0..20).map(|_| some[random.index(3)]));
    }
    let uniform = (0..REQUESTS).map(|_| random.index(SIZES.len())).collect();
    [
        ("zipf", zipf),
        ("cyclic", cyclic),
        ("bursty", bursty),
        ("random", uniform),
    ]
}

// Without it slots could be evicted in an order that reloads much more than is needed, which no other test
// would see. Every byte is counted, so the figures are the same each time.
#[test]
fn little_more_is_reloaded_than_must_be() {
    for (name, requests) in orders() {
        let least = least(&requests);
        let limit = || ResidencyConfig {
            piece: PIECE * MIB,
            // As long as it takes: a slow machine makes no difference.
            patience: Duration::from_secs(3600),
            ..config(LIMIT * MIB)
        };
        let all = loaded(limit(), &requests, REQUESTS);
        let some = loaded(limit(), &requests, 16);
        let none = loaded(limit(), &requests, 0);
        let lru = loaded(limit().policy(LeastRecent), &requests, 0);
        println!(
            "{name}: least {least} MiB, all announced {all}, 16 {some}, adaptive {none}, LRU {lru}"
        );
        assert!(all >= least, "{name}: {all} of at least {least}");
        assert!(
            all <= least + least / 20,
            "{name}: {all} of at least {least}"
        );
        assert!(
            some <= least + least / 4,
            "{name}: {some} of at least {least}"
        );
        assert!(none <= lru + lru / 10, "{name}: {none}, LRU {lru}");
    }
}

/// Evicts by number.
#[derive(Debug)]
struct ByNumber;

impl EvictionPolicy for ByNumber {
    fn sort(&mut self, candidates: &mut [cupola_residency::policy::Candidate]) {
        candidates.sort_by_key(|candidate| candidate.slot);
    }
}

// Without it a program's own policy, priorities or announcements could be ignored.
#[test]
fn priorities_come_before_announcements_and_these_before_the_policy() {
    let bench = Bench::new();
    let config = ResidencyConfig {
        patience: Duration::from_secs(3600),
        ..config(16 * MIB).policy(ByNumber)
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    let slots = [1, 2, 3, 4].map(|seed| register(&residency, seed, 4 * MIB));
    let load_one_more = || {
        let more = register(&residency, 9, 4 * MIB);
        drop(residency.lease(&more, &bench.stream).unwrap());
        let gone = slots.iter().position(|slot| slot.resident() == 0).unwrap();
        cupola_managers::ops::synchronize(&bench.stream).unwrap();
        drop(more);
        residency.preload(&slots[gone]).unwrap();
        gone
    };
    for slot in &slots {
        residency.preload(slot).unwrap();
    }
    assert_eq!(load_one_more(), 0, "by the policy");
    residency.announce([&slots[1], &slots[0]]).unwrap();
    assert_eq!(load_one_more(), 2, "the others are announced");
    residency
        .announce([&slots[2], &slots[3], &slots[2]])
        .unwrap();
    assert_eq!(load_one_more(), 3, "announced last");
    slots[1].set_priority(1);
    slots[2].set_priority(1);
    slots[3].set_priority(1);
    assert_eq!(load_one_more(), 0, "of the lowest priority");
    residency.forget_announced();
    slots[0].set_priority(1);
    assert_eq!(load_one_more(), 0, "by the policy");
    residency.set_policy(LeastRecent);
    residency.preload(&slots[0]).unwrap();
    assert_eq!(load_one_more(), 1, "by another policy");
    drop((slots, residency));
    bench.finish();
}
