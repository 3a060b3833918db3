//! Thirteen models under a limit that less than half of them fit in, four orders of requests, several
//! policies: bytes that are loaded, and the time that requests are stalled by it.

use std::cmp::Reverse;
use std::thread;
use std::time::{Duration, Instant};

use cupola_managers::ops;
use cupola_residency::policy::{Adaptive, Gdsf, LeastFrequent, LeastRecent, MostRecent};
use cupola_residency::{Residency, ResidencyConfig, ResidencyError, Slot, SlotConfig};

use super::{Bench, MIB, Weights};
use crate::bench::Figures;
use crate::trace::SplitMix;

/// The models of the trace `embed13` in KiB: eleven encoders of texts with hidden sizes of 256 to 1024 and
/// 4 to 24 layers, the encoder of T5 and a transformer of images. They are 5 GB; the trace has 2.2 GB for them.
const MODELS: [u64; 13] = [
    88_700, 130_300, 261_300, 427_500, 1_308_900, 161_800, 427_500, 43_600, 271_900, 718_600,
    316_700, 427_700, 335_900,
];

/// The limit of the trace in KiB.
const LIMIT: u64 = 2_148_400;

/// Sizes of a measurement.
pub(super) struct Plan {
    /// Bytes of a KiB of the models.
    scale: u64,
    /// Bytes of a piece, where the residency's own would be too large for the models.
    piece: Option<u64>,
    requests: usize,
}

impl Plan {
    /// Models of megabytes.
    pub(super) fn small(requests: usize) -> Self {
        Self {
            scale: 16,
            piece: Some(2 * MIB),
            requests,
        }
    }

    /// Under 8 GB.
    pub(super) fn full() -> Self {
        Self {
            scale: 3723,
            piece: None,
            requests: 130,
        }
    }

    fn limit(&self) -> u64 {
        LIMIT * self.scale
    }

    fn sizes(&self) -> [u64; 13] {
        MODELS.map(|kib| kib * self.scale)
    }
}

/// How slots are evicted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Lru,
    Mru,
    Lfu,
    Gdsf,
    Adaptive,
    /// With so many requests known before they come.
    Announced(usize),
}

const WAYS: [Way; 8] = [
    Way::Lru,
    Way::Mru,
    Way::Lfu,
    Way::Gdsf,
    Way::Adaptive,
    Way::Announced(4),
    Way::Announced(16),
    Way::Announced(usize::MAX),
];

impl Way {
    fn name(self) -> String {
        match self {
            Self::Lru => "LRU".into(),
            Self::Mru => "MRU".into(),
            Self::Lfu => "LFU".into(),
            Self::Gdsf => "GDSF".into(),
            Self::Adaptive => "adaptive".into(),
            Self::Announced(usize::MAX) => "all announced".into(),
            Self::Announced(ahead) => format!("{ahead} announced"),
        }
    }

    fn choose(self, residency: &Residency) {
        match self {
            Self::Lru => residency.set_policy(LeastRecent),
            Self::Mru => residency.set_policy(MostRecent),
            Self::Lfu => residency.set_policy(LeastFrequent::default()),
            Self::Gdsf => residency.set_policy(Gdsf::default()),
            Self::Adaptive | Self::Announced(_) => residency.set_policy(Adaptive::default()),
        }
    }
}

/// Not [`SplitMix::below`]: figures of before are of these orders.
fn below(random: &mut SplitMix, end: u64) -> u64 {
    random.next() % end
}

fn orders(requests: usize) -> [(&'static str, Vec<usize>); 4] {
    let count = MODELS.len();
    let mut random = SplitMix(13);
    let model = |random: &mut SplitMix| below(random, count as u64) as usize;
    // Which model is how popular has nothing to do with its size.
    let popular = [6, 1, 9, 12, 3, 0, 10, 4, 7, 11, 2, 8, 5];
    let weight = |rank: usize| 360_360 / (rank as u64 + 1);
    let all: u64 = (0..count).map(weight).sum();
    let mut zipf = Vec::new();
    while zipf.len() < requests {
        let mut at = below(&mut random, all);
        let rank = (0..count).find(|&rank| {
            let is_here = at < weight(rank);
            at = at.saturating_sub(weight(rank));
            is_here
        });
        zipf.push(popular[rank.unwrap_or(0)]);
    }
    let cyclic = (0..requests).map(|at| at % count).collect();
    let mut bursty = Vec::new();
    while bursty.len() < requests {
        let some = [0; 3].map(|_| model(&mut random));
        for _ in 0..10 + below(&mut random, 30) {
            bursty.push(some[below(&mut random, 3) as usize]);
        }
    }
    bursty.truncate(requests);
    let uniform = (0..requests).map(|_| model(&mut random)).collect();
    [
        ("Zipf", zipf),
        ("cyclic", cyclic),
        ("bursty", bursty),
        ("random", uniform),
    ]
}

/// The fewest bytes that any choice could load, which is known when all requests are: of all bytes that are
/// there, those that are used again last go (Belady, 1966). Bytes may go in the middle of a request here, so
/// it is a bound from below.
fn least(requests: &[usize], sizes: &[u64; 13], limit: u64) -> u64 {
    let next = |model: usize, after: usize| {
        let later = requests.iter().skip(after + 1).position(|&it| it == model);
        later.unwrap_or(usize::MAX)
    };
    let (mut resident, mut loaded) = ([0; 13], 0);
    for (at, &model) in requests.iter().enumerate() {
        loaded += sizes[model] - resident[model];
        resident[model] = sizes[model];
        let mut over = resident.iter().sum::<u64>().saturating_sub(limit);
        let mut others: Vec<usize> = (0..13).filter(|&it| it != model).collect();
        others.sort_by_key(|&it| Reverse(next(it, at)));
        for other in others {
            let given = over.min(resident[other]);
            resident[other] -= given;
            over -= given;
        }
    }
    loaded
}

pub(super) fn run(bench: &Bench, figures: &mut Figures, plan: &Plan) -> Result<(), ResidencyError> {
    let (sizes, limit) = (plan.sizes(), plan.limit());
    figures.notes.push(format!(
        "13 models of {} MiB under {} MiB; the time that is possible is that of the fewest bytes, as fast as all announced ones load theirs",
        sizes.iter().sum::<u64>() / MIB,
        limit / MIB
    ));
    let models = Models::new(bench, plan)?;
    for (order, requests) in orders(plan.requests) {
        let least = least(&requests, &sizes, limit);
        let fewest = format!("{order}: the fewest bytes that are possible");
        figures.push(&fewest, "MB", &[least as f64 / 1e6], None);
        let mut stalls = Vec::new();
        for way in WAYS {
            let (loaded, stalled) = models.serve(&requests, way)?;
            let row = format!("{order}: {}", way.name());
            let pushed = figures.push(&row, "MB", &[loaded as f64 / 1e6], Some(&fewest));
            // What a queue of requests knows. Without it the order of requests is a guess.
            if matches!(way, Way::Announced(16..)) {
                pushed.want(1.25 * least as f64 / 1e6);
            }
            stalls.push((row, stalled, stalled / loaded as f64));
        }
        let fastest = stalls.last().map_or(f64::NAN, |(_, _, each)| *each);
        let shortest = format!("{order}: the shortest stall that is possible");
        figures.push(&shortest, "ms", &[fastest * least as f64 * 1e3], None);
        for (row, stalled, _) in stalls {
            let row = format!("{row}, stalled");
            figures.push(&row, "ms", &[stalled * 1e3], Some(&shortest));
        }
        // Each request computes for as long as one is stalled otherwise, on average.
        let compute = Duration::from_secs_f64(fastest * least as f64 / requests.len() as f64);
        let computing = format!("{order}: 16 announced, computing between loads");
        let ahead = format!("{order}: 16 announced, 4 loaded ahead while others compute");
        let (loaded, stalled) = models.serve_computing(&requests, 0, compute)?;
        figures.push(&computing, "MB", &[loaded as f64 / 1e6], Some(&fewest));
        let (loaded_ahead, left) = models.serve_computing(&requests, 4, compute)?;
        let row = figures.push(&ahead, "MB", &[loaded_ahead as f64 / 1e6], Some(&fewest));
        row.want(1.25 * least as f64 / 1e6);
        let (computing, ahead) = (format!("{computing}, stalled"), format!("{ahead}, stalled"));
        figures.push(&computing, "ms", &[stalled * 1e3], Some(&shortest));
        figures.push(&ahead, "ms", &[left * 1e3], Some(&computing));
    }
    Ok(())
}

/// The models, with their host copies made.
struct Models<'b> {
    bench: &'b Bench,
    residency: Residency,
    slots: Vec<Slot>,
}

impl<'b> Models<'b> {
    fn new(bench: &'b Bench, plan: &Plan) -> Result<Self, ResidencyError> {
        let config = bench.config(plan.limit());
        let piece = plan.piece.unwrap_or(config.piece);
        let config = ResidencyConfig {
            piece,
            chunk: config.chunk.min(16 * piece),
            load_ahead: 0,
            ..config
        };
        let residency = Residency::new(&bench.context, config)?;
        let mut slots: Vec<Slot> = Vec::new();
        for (number, bytes) in plan.sizes().into_iter().enumerate() {
            let config = SlotConfig::new(format!("model {number}"));
            slots.push(residency.register(config, Weights(bytes))?);
        }
        for slot in &slots {
            residency.preload(slot)?;
        }
        bench.wait()?;
        Ok(Self {
            bench,
            residency,
            slots,
        })
    }

    /// Bytes that are loaded for these requests when nothing is there, and seconds that they wait.
    fn serve(&self, requests: &[usize], way: Way) -> Result<(u64, f64), ResidencyError> {
        let Self {
            bench,
            residency,
            slots,
        } = self;
        residency.sleep()?;
        residency.forget_announced();
        way.choose(residency);
        let before = residency.metrics().bytes_loaded;
        let ahead = match way {
            Way::Announced(ahead) => ahead.min(requests.len()),
            _ => 0,
        };
        let announce = |at: usize| match requests.get(at) {
            Some(&model) if ahead > 0 => residency.announce([&slots[model]]),
            _ => Ok(()),
        };
        (0..ahead).try_for_each(announce)?;
        let mut stalled = 0.0;
        for (at, &model) in requests.iter().enumerate() {
            announce(at + ahead)?;
            let began = Instant::now();
            let _lease = residency.lease(&slots[model], &bench.stream)?;
            bench.wait()?;
            stalled += began.elapsed().as_secs_f64();
        }
        Ok((residency.metrics().bytes_loaded - before, stalled))
    }

    /// Bytes that are loaded for these requests when nothing is there and the next 16 are announced, and seconds
    /// that they wait: each computes for so long, while so many of the next ones are loaded ahead.
    fn serve_computing(
        &self,
        requests: &[usize],
        load_ahead: usize,
        compute: Duration,
    ) -> Result<(u64, f64), ResidencyError> {
        let Self {
            bench,
            residency,
            slots,
        } = self;
        residency.sleep()?;
        residency.forget_announced();
        Way::Announced(16).choose(residency);
        residency.set_load_ahead(load_ahead);
        let before = residency.metrics().bytes_loaded;
        let first = requests.iter().take(16).map(|&model| &slots[model]);
        residency.announce(first)?;
        let mut stalled = 0.0;
        for (at, &model) in requests.iter().enumerate() {
            residency.announce(requests.get(at + 16).map(|&next| &slots[next]))?;
            let began = Instant::now();
            let _lease = residency.lease(&slots[model], &bench.stream)?;
            bench.wait()?;
            stalled += began.elapsed().as_secs_f64();
            ops::host_function(&bench.stream, move || thread::sleep(compute))?;
            let computed = bench.stream.ticket()?;
            while !computed.is_done()? {
                residency.load_ahead()?;
                thread::sleep(Duration::from_micros(50));
            }
        }
        residency.set_load_ahead(0);
        Ok((residency.metrics().bytes_loaded - before, stalled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Without it the bound could be above what is possible, or so low that it bounds nothing.
    #[test]
    fn the_fewest_bytes_are_those_of_the_best_choice() {
        let mut sizes = [1; 13];
        sizes[2] = 2;
        // Each once, though nothing fits beside it.
        assert_eq!(least(&[0, 1, 2], &sizes, 2), 4);
        // The first stays, since it is used before the second.
        assert_eq!(least(&[0, 1, 2, 0, 1], &sizes, 3), 5);
        // In a circle the newest goes: 3 at first, then one of three each time but every third.
        let circle: Vec<usize> = [0, 1, 3].into_iter().cycle().take(9).collect();
        assert_eq!(least(&circle, &sizes, 2), 6);
        for (_, requests) in orders(50) {
            assert_eq!(requests.len(), 50);
            let all = least(&requests, &MODELS, u64::MAX);
            assert!(all <= least(&requests, &MODELS, LIMIT));
        }
    }
}
