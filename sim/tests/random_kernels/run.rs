//! One random kernel: generate, run in every way, compare.

use cupola_sim::exec::{LaunchConfig, LaunchOptions, LoadOptions, Program, launch};
use cupola_sim::ptx::Module;

use crate::generate::{Kernel, RECORD};
use crate::memory::{Memory, NoVariables, Piece};
use crate::oracle;

const OUT: u64 = 0x7100_0000_0000;
const SUM: u64 = 0x7200_0000_0000;

/// Panics, with the kernel, if the engine and the oracle differ.
pub(crate) fn check(bytes: &[u8]) {
    let kernel = Kernel::from_bytes(bytes);
    let (records, sum) = oracle::expected(&kernel);
    let text = kernel.ptx();
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    for (baseline, workers, seed) in [(false, 1, 0), (true, 1, 77), (false, 2, 5)] {
        #[allow(clippy::needless_update, reason = "other choices keep their defaults")]
        let options = LoadOptions {
            baseline,
            ..LoadOptions::default()
        };
        let program = Program::load_with(&module, &mut NoVariables, options)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let entry = program
            .kernel("k")
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let memory = Memory([Piece::new(OUT, records.len()), Piece::new(SUM, 4)]);
        let config = LaunchConfig {
            grid: [kernel.blocks, 1, 1],
            block: [kernel.threads, 1, 1],
            dynamic_shared: 0,
        };
        let options = LaunchOptions {
            workers,
            seed,
            budget: 50_000_000,
            ..LaunchOptions::default()
        };
        let arguments: Vec<u8> = [OUT, SUM].iter().flat_map(|at| at.to_le_bytes()).collect();
        launch(&entry, config, &arguments, &memory, options)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let got = memory.0[0].bytes();
        for (thread, (got, want)) in got.chunks(RECORD).zip(records.chunks(RECORD)).enumerate() {
            let first = got.iter().zip(want).position(|(got, want)| got != want);
            if let Some(first) = first {
                panic!(
                    "thread {thread}, byte {first} of its record (baseline {baseline}, seed {seed}):\n\
                     got  {got:02x?}\nwant {want:02x?}\n{text}"
                );
            }
        }
        assert_eq!(memory.0[1].bytes(), sum.to_le_bytes(), "the sum\n{text}");
    }
}
