//! Random operations against an oracle that knows what may be, and nothing of how it is done.

use cupola_random::Random;
use cupola_residency::policy::{Gdsf, LeastFrequent, LeastRecent, MostRecent};
use cupola_residency::{Lease, Residency, ResidencyConfig, ResidencyError, Slot, SlotConfig};

use super::{Bench, MIB, Model, check, config};

const LIMIT: u64 = 32 * MIB;
const HOST_LIMIT: u64 = 60 * MIB;
const SLOTS: usize = 6;

/// What the oracle knows of a slot.
struct Known {
    slot: Slot,
    seed: u64,
    rounded: u64,
    is_pinned: bool,
    address: u64,
}

fn pinned_or_leased(slots: &[Option<Known>], leases: &[(usize, Lease)]) -> u64 {
    let is_held = |&(number, known): &(usize, &Known)| {
        known.is_pinned || leases.iter().any(|(of, _)| *of == number)
    };
    let known = slots.iter().enumerate();
    let known = known.filter_map(|(number, slot)| Some((number, slot.as_ref()?)));
    known.filter(is_held).map(|(_, known)| known.rounded).sum()
}

fn history(seed: u64) {
    let bench = Bench::new();
    let mut random = Random::new(seed);
    let config = ResidencyConfig {
        slots: SLOTS,
        host_limit: HOST_LIMIT,
        ..config(LIMIT)
    };
    let config = match seed % 5 {
        0 => config,
        1 => config.policy(LeastRecent),
        2 => config.policy(MostRecent),
        3 => config.policy(LeastFrequent::default()),
        _ => config.policy(Gdsf::default()),
    };
    let residency = Residency::new(&bench.context, config).unwrap();
    let mut slots: [Option<Known>; SLOTS] = [const { None }; SLOTS];
    let mut leases: Vec<(usize, Lease)> = Vec::new();
    for step in 0..60 {
        let number = random.index(SLOTS);
        let what = random.below(10);
        let leased = leases.iter().filter(|(of, _)| *of == number).count();
        match (&mut slots[number], what) {
            (empty @ None, 0..=5) => {
                let seed = seed * 100 + step;
                let bytes = random.below(20 * MIB) + 1;
                let name = SlotConfig::new(format!("{number}"));
                let name = name.priority(random.below(3) as u8);
                let model = Model { seed, bytes };
                let slot = match random.one_in(4) {
                    true => residency.register(name.without_host_copy(), model),
                    false => residency.register(name, model),
                };
                let slot = slot.unwrap();
                *empty = Some(Known {
                    address: slot.address(),
                    rounded: bytes.next_multiple_of(2 * MIB),
                    slot,
                    seed,
                    is_pinned: false,
                });
            }
            (None, _) => {}
            (Some(_), 0..=4) => {
                let held = pinned_or_leased(&slots, &leases);
                let known = slots[number].as_ref().unwrap();
                // Which waits for leases to end, where others keep the memory.
                let is_room = held + known.rounded <= LIMIT;
                let lease = match what {
                    0 if is_room => residency.lease_progressively(&known.slot, &bench.stream),
                    _ => residency.try_lease(&known.slot, &bench.stream),
                };
                match lease {
                    Ok(mut lease) => {
                        assert_eq!(lease.address(), known.address);
                        // Of some that are loaded progressively no more than a part is asked for.
                        let bytes = known.slot.bytes();
                        let part = match random.one_in(2) {
                            true => bytes,
                            false => random.below(bytes) + 1,
                        };
                        lease.wait_for(part, &bench.stream).unwrap();
                        if part == bytes {
                            check(&lease, known.seed, &bench.stream);
                        }
                        leases.push((number, lease));
                    }
                    // Only where what is held leaves too little.
                    Err(ResidencyError::NoRoom { .. }) => {
                        assert!(held + known.rounded > LIMIT, "{held}");
                    }
                    Err(ResidencyError::HostLimit { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
            (Some(known), 5) => {
                let evicted = residency.evict(&known.slot);
                let may = leased == 0 && !known.is_pinned;
                assert!(evicted.is_err() || may, "a slot that is held");
                assert!(evicted.is_err() || known.slot.resident() == 0);
            }
            (Some(known), 6) => {
                known.is_pinned = !known.is_pinned;
                match known.is_pinned {
                    true => known.slot.pin(),
                    false => known.slot.unpin(),
                }
            }
            (Some(_), 7) => {
                if let Some(of) = leases.iter().position(|(of, _)| *of == number) {
                    drop(leases.swap_remove(of));
                }
            }
            (slot @ Some(_), 8) => {
                // The leases keep the slot, so its place stays taken.
                if leased == 0 {
                    *slot = None;
                }
            }
            (Some(known), _) => {
                residency.announce([&known.slot]).unwrap();
                residency.trim();
            }
        }
        let usage = residency.usage();
        assert!(usage.charged <= LIMIT, "{usage:?}");
        assert_eq!(
            usage.charged,
            usage.resident + usage.reserved + usage.stock,
            "{usage:?}"
        );
        assert!(usage.host <= HOST_LIMIT, "{usage:?}");
    }
    drop((leases, slots));
    residency.trim();
    let usage = residency.usage();
    assert_eq!((usage.charged, usage.slots), (0, 0), "{usage:?}");
    drop(residency);
    bench.finish();
}

// Without it an order of operations that no other test has could pass a limit, lose bytes, leak, or move a
// slot.
#[test]
fn random_histories_keep_every_promise() {
    for seed in 0..40 {
        history(seed);
    }
}
