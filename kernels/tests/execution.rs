//! Every embedded kernel, run by the software device's engine, gives what the reference
//! gives: bit for bit, for lengths, alignments and grids beyond those that the geometry
//! would choose.

mod support;

use cupola_kernels::arguments::{
    Arguments, Check, Crc32, Histogram, ReduceSumF32, ReduceSumU64, Saxpy, Scale, Stamp,
};
use cupola_kernels::geometry::{self, Geometry, REDUCE_SCRATCH_BYTES};
use cupola_kernels::reference;
use cupola_random::Random;
use quickcheck::quickcheck;
use support::Memory;

/// Lengths at which a unit (16), a row (4096) or a block's share begins or ends.
const LENGTHS: &[usize] = &[
    0, 1, 3, 15, 16, 17, 31, 32, 33, 255, 4095, 4096, 4097, 8191, 8192, 8193, 20_000, 70_001,
];

const LEADS: &[usize] = &[0, 1, 8, 15];

fn grid(blocks: u32, threads: u32) -> Geometry {
    Geometry {
        blocks,
        threads,
        shared_bytes: 0,
    }
}

/// Bytes without a pattern, the same in every run.
fn noise(len: usize) -> Vec<u8> {
    Random::new(1).bytes(len)
}

fn f32_bytes(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn f32_values(bytes: &[u8]) -> Vec<f32> {
    let (words, rest) = bytes.as_chunks();
    assert!(rest.is_empty());
    words.iter().copied().map(f32::from_le_bytes).collect()
}

/// Equal bits; the payload of a NaN is free.
fn same(a: &[f32], b: &[f32]) -> bool {
    let equal = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    a.len() == b.len() && a.iter().zip(b).all(equal)
}

fn crc32_on_device(data: &[u8], lead: usize, blocks: u32) -> u32 {
    let mut memory = Memory::default();
    let crc = memory.allocate(4, 0);
    let arguments = Crc32 {
        data: memory.upload(data, lead),
        len: data.len() as u64,
        crc,
    };
    memory.run(grid(blocks, geometry::CRC32_THREADS), arguments);
    let bytes = memory.read(crc);
    u32::from_le_bytes(bytes.try_into().expect("four bytes"))
}

// Without it a split that is wrong at some edge, alignment or grid would show only as a
// CRC of real data that does not match.
#[test]
fn crc32_is_right_at_every_edge() {
    for &len in LENGTHS {
        let data = noise(len);
        let expected = reference::crc32(&data);
        for &lead in LEADS {
            for blocks in [1, 2, 3, 7] {
                assert_eq!(
                    crc32_on_device(&data, lead, blocks),
                    expected,
                    "{len} bytes, {lead} behind alignment, {blocks} blocks"
                );
            }
        }
    }
}

// Without it the launch that users get could differ from those that are tried above.
#[test]
fn crc32_is_right_with_the_chosen_geometry() {
    for len in [0, 100_000, 1 << 20] {
        let data = noise(len);
        let blocks = geometry::crc32(len as u64, 4).blocks;
        assert_eq!(crc32_on_device(&data, 0, blocks), reference::crc32(&data));
    }
}

quickcheck! {
    // Without it only data of one kind would be tried.
    fn crc32_is_right_for_any_data(data: Vec<u8>, lead: u8, blocks: u8) -> bool {
        let (lead, blocks) = (usize::from(lead % 16), u32::from(blocks % 5) + 1);
        crc32_on_device(&data, lead, blocks) == reference::crc32(&data)
    }
}

// Without it a byte at an edge could be skipped, counted twice, or counts could be
// overwritten instead of added to.
#[test]
fn histogram_adds_every_byte_once() {
    for &len in LENGTHS {
        let data = noise(len);
        for &lead in LEADS {
            for (blocks, threads) in [(1, 256), (3, 256), (2, 96)] {
                let mut expected = [7_u64; 256];
                let mut memory = Memory::default();
                let before: Vec<u8> = expected
                    .iter()
                    .flat_map(|count| count.to_le_bytes())
                    .collect();
                let counts = memory.upload(&before, 0);
                let arguments = Histogram {
                    data: memory.upload(&data, lead),
                    len: len as u64,
                    counts,
                };
                memory.run(grid(blocks, threads), arguments);
                reference::histogram(&data, &mut expected);
                let expected: Vec<u8> = expected
                    .iter()
                    .flat_map(|count| count.to_le_bytes())
                    .collect();
                assert_eq!(
                    memory.read(counts),
                    expected,
                    "{len} bytes, {lead} behind alignment, {blocks} blocks of {threads}"
                );
            }
        }
    }
}

quickcheck! {
    // Without it the device could round twice, flush subnormals, or leave elements out.
    fn saxpy_and_scale_have_the_reference_bits(a: f32, x: Vec<f32>, y: Vec<f32>, blocks: u8) -> bool {
        let mut x = [x.as_slice(), &[f32::MIN_POSITIVE / 3.0]].concat();
        let mut y = y;
        let n = x.len().max(y.len());
        x.resize(n, -0.3);
        y.resize(n, 0.1);
        let launch = grid(u32::from(blocks % 3) + 1, 64);

        let mut memory = Memory::default();
        let (input, x_at) = (memory.upload(&f32_bytes(&x), 4), memory.upload(&f32_bytes(&x), 8));
        let (output, y_at) = (memory.allocate(n * 4, 8), memory.upload(&f32_bytes(&y), 12));
        memory.run(launch, Scale { n: n as u64, factor: a, input, output });
        memory.run(launch, Saxpy { n: n as u64, a, x: x_at, y: y_at });

        let mut scaled = vec![0.0; n];
        reference::scale(a, &x, &mut scaled);
        reference::saxpy(a, &x, &mut y);
        same(&f32_values(&memory.read(output)), &scaled)
            && same(&f32_values(&memory.read(y_at)), &y)
    }
}

/// The bytes of a result, with scratch memory that an earlier reduction has used.
fn reduce<A: Arguments>(
    input: &[u8],
    element: usize,
    arguments: fn(u64, u64, u64, u64) -> A,
) -> Vec<u8> {
    let n = (input.len() / element) as u64;
    let mut memory = Memory::default();
    let input = memory.upload(input, 0);
    let scratch = memory.allocate(REDUCE_SCRATCH_BYTES, 0);
    let result = memory.allocate(element, 0);
    memory.run(grid(3, 256), arguments(input, n, scratch, result));
    memory.run(geometry::reduce(n), arguments(input, n, scratch, result));
    memory.read(result)
}

// Without it the device's order of additions and the reference's could differ: the f32
// values here are of very different sizes, so that every order gives other bits.
#[test]
fn sums_have_the_reference_bits() {
    for n in [0_usize, 1, 255, 257, 4096, 4097, 50_000] {
        let noise = noise(n * 8);
        let (words, _) = noise.as_chunks();
        let integers: Vec<u64> = words.iter().copied().map(u64::from_le_bytes).collect();
        let bytes = reduce(&noise, 8, |input, n, scratch, result| ReduceSumU64 {
            input,
            n,
            scratch,
            result,
        });
        assert_eq!(
            bytes,
            reference::reduce_sum_u64(&integers).to_le_bytes(),
            "{n} integers"
        );

        let floats: Vec<f32> = integers
            .iter()
            .map(|&x| (x as f32) / f32::powi(2.0, (x % 61) as i32))
            .collect();
        let bytes = reduce(&f32_bytes(&floats), 4, |input, n, scratch, result| {
            ReduceSumF32 {
                input,
                n,
                scratch,
                result,
            }
        });
        assert_eq!(
            bytes,
            reference::reduce_sum_f32(&floats).to_le_bytes(),
            "{n} floats"
        );
    }
}

// Without it the allocator's test could pass because nothing is written or compared.
#[test]
fn stamps_are_written_and_checked() {
    for len in [0, 1, 63, 64, 65, 66, 1000, 100_000] {
        let (seed, bytes) = (len as u64 ^ 0xDEAD, len as u64);
        let mut memory = Memory::default();
        let mut expected = noise(len);
        let block = memory.upload(&expected, 3);
        memory.run(geometry::STAMP, Stamp { block, bytes, seed });
        reference::stamp(&mut expected, seed);
        assert_eq!(memory.read(block), expected, "{len} bytes");

        for seed in [seed, seed + 1] {
            let wrong = memory.upload(&5_u64.to_le_bytes(), 0);
            memory.run(
                geometry::STAMP,
                Check {
                    block,
                    bytes,
                    seed,
                    wrong,
                },
            );
            let counted = 5 + reference::check(&expected, seed);
            assert_eq!(memory.read(wrong), counted.to_le_bytes(), "{len} bytes");
        }
    }
}
