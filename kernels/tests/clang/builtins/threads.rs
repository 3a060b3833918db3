//! Vectors, warps, atomics, memory, and what is missing.

use std::sync::{Arc, Mutex};

use cupola_kernels::compile::{CompileError, CompileOption, Compiler};
use cupola_sim::Machine;

use super::{Answer, Bench, HEAD, THREADS, Words, compare, compilers};
use crate::{clangs, request};

/// The source lane of a shuffle, or the lane itself where that is none of its part of the warp.
type Lane = fn(lane: usize, by: usize, width: usize) -> usize;

const UP: Lane = |lane, by, width| if lane % width >= by { lane - by } else { lane };
const DOWN: Lane = |lane, by, width| {
    if lane % width + by < width {
        lane + by
    } else {
        lane
    }
};
const XOR: Lane = |lane, by, width| {
    // A lane of a later part is none; one of an earlier part is.
    let other = lane ^ by;
    if other / width <= lane / width {
        other
    } else {
        lane
    }
};
const INDEX: Lane = |lane, by, width| lane / width * width + by % width;

// Without it a shuffle could bring the value of another lane, or half of a wide one.
#[test]
fn shuffles_bring_the_values_of_their_lanes() {
    let mut expressions = Vec::new();
    let mut lanes: Vec<(Lane, usize, usize)> = Vec::new();
    for (name, lane) in [("up", UP), ("down", DOWN), ("xor", XOR), ("", INDEX)] {
        for width in [32, 16, 8, 2] {
            for by in [0, 1, 3, 7, 16, 31] {
                // All types in turns.
                let value = [
                    "x",
                    "i",
                    "u",
                    "f",
                    "d",
                    "(long long)x",
                    "(long)x",
                    "(unsigned long)x",
                ];
                let value = value[lanes.len() % value.len()];
                let value = match value {
                    "(long)x" | "(unsigned long)x" => {
                        format!("(long long){}", shuffle(name, value, by, width))
                    }
                    value => shuffle(name, value, by, width),
                };
                expressions.push(value);
                lanes.push((lane, by, width));
            }
        }
    }
    let expressions: Vec<&str> = expressions.iter().map(String::as_str).collect();
    compare(&expressions, 11, |row, words, t| {
        let (lane, by, width) = lanes[row];
        let from = t / 32 * 32 + lane(t % 32, by, width);
        let word = words[from].0;
        match expressions[row] {
            expression if expression.contains("~0u, f") => Answer::Bits(u64::from(word as u32)),
            expression if expression.contains("~0u, i") || expression.contains("~0u, u,") => {
                Answer::Bits(u64::from(word as u32))
            }
            _ => Answer::Bits(word),
        }
    });
}

fn shuffle(name: &str, value: &str, by: usize, width: usize) -> String {
    let kind = if name.is_empty() {
        String::new()
    } else {
        format!("_{name}")
    };
    format!("__shfl{kind}_sync(~0u, {value}, {by}, {width})")
}

// Without it a vote could leave out a lane, or ask one of another warp.
#[test]
fn votes_and_masks_are_of_one_warp() {
    let expressions = [
        "__ballot_sync(~0u, u & 1)",
        "__any_sync(~0u, (u & 31) == 7)",
        "__all_sync(~0u, (v & 15) != 3)",
        "__activemask()",
        "__match_any_sync(~0u, u & 3)",
        "__match_any_sync(~0u, (long long)(x & 3))",
        "__reduce_add_sync(~0u, u)",
        "__reduce_max_sync(~0u, i)",
        "__reduce_xor_sync(~0u, u)",
        "__syncthreads_count(u & 1)",
        "__syncthreads_or((u & 255) == 77)",
        "__syncthreads_and((u & 255) != 77)",
    ];
    compare(&expressions, 12, |row, words, t| {
        let warp = &words[t / 32 * 32..][..32];
        let block = &words[t / 64 * 64..][..64];
        let mask = |of: &dyn Fn(&Words) -> bool| {
            let bit = |(lane, it)| u64::from(of(it)) << lane;
            warp.iter().enumerate().map(bit).sum::<u64>()
        };
        let low = |it: &Words| it.u() & 3;
        Answer::Bits(match row {
            0 => mask(&|it| it.u() & 1 == 1),
            1 => u64::from(warp.iter().any(|it| it.u() & 31 == 7)),
            2 => u64::from(warp.iter().all(|it| it.v() & 15 != 3)),
            3 => 0xffff_ffff,
            4 | 5 => mask(&|it| low(it) == low(&words[t])),
            6 => u64::from(warp.iter().fold(0_u32, |sum, it| sum.wrapping_add(it.u()))),
            7 => u64::from(warp.iter().map(|it| it.i()).max().unwrap().cast_unsigned()),
            8 => u64::from(warp.iter().fold(0, |all, it| all ^ it.u())),
            9 => block.iter().filter(|it| it.u() & 1 == 1).count() as u64,
            10 => u64::from(block.iter().any(|it| it.u() & 255 == 77)),
            _ => u64::from(block.iter().all(|it| it.u() & 255 != 77)),
        })
    });
}

/// Runs a kernel by every compiler, also without optimisation.
fn run(body: &str, results: usize, expect: impl Fn(&[u64])) {
    let source = format!(
        "{HEAD}extern \"C\" __global__ void k(const word* in, word* out) {{\n\
         unsigned t = blockIdx.x * blockDim.x + threadIdx.x; (void)in; (void)t;\n{body}}}\n"
    );
    for compiler in compilers(&source) {
        let bench = Bench::new(&compiler);
        for options in [&[][..], &[CompileOption::Debug]] {
            let kernel = bench.compile(&compiler, &source, options);
            let input: Vec<u64> = (0..3 * THREADS as u64).collect();
            expect(&bench.run(&kernel, &input, results));
        }
    }
}

// Without it an atomic could lose an addition, compare with the wrong sign, or give the new value for the old.
#[test]
fn atomics_lose_nothing_and_give_the_old_value() {
    let body = "
        atomicAdd((int*)out, -(int)t);
        atomicAdd((unsigned*)(out + 1), t + 1);
        atomicAdd(out + 2, (word)t << 32);
        atomicAdd((float*)(out + 3), 0.5f * t);
        atomicAdd((double*)(out + 4), 0.25 * t);
        atomicSub((unsigned*)(out + 5), t);
        atomicMin((int*)(out + 6), -(int)t);
        atomicMax((int*)(out + 7), (int)t - 5);
        atomicMax((unsigned*)(out + 8), t << 25);
        atomicMin((long long*)(out + 9), -((long long)t << 40));
        atomicMax(out + 10, (word)t << 57);
        atomicOr((unsigned*)(out + 11), 1u << (t % 32));
        atomicXor(out + 12, (word)t << 9);
        atomicInc((unsigned*)(out + 13), 99);
        atomicDec((unsigned*)(out + 14), 99);
        // As many old values as threads, none of them twice.
        out[32 + atomicAdd((unsigned*)(out + 15), 1)] = t + 1;
        // What is taken out and what is left at the end is what was put in.
        atomicAdd(out + 16, atomicExch(out + 17, (word)t));
        unsigned* sum = (unsigned*)(out + 18);
        for (unsigned seen = *(volatile unsigned*)sum;;) {
            unsigned before = atomicCAS(sum, seen, seen + t);
            if (before == seen) break;
            seen = before;
        }
        atomicAnd((unsigned*)(out + 19), t);
        __threadfence();
        __shared__ float largest[1];
        if (threadIdx.x == 0) largest[0] = 0.0f;
        __syncthreads();
        atomicExch(largest, 2.5f);
        __syncthreads();
        if (t == 0) out[20] = bits(largest[0]);
    ";
    run(body, 32 + THREADS, |out| {
        let n = THREADS as u64;
        let sum = n * (n - 1) / 2;
        let word = |x: i32| u64::from(x.cast_unsigned());
        assert_eq!(out[0], word(-(sum as i32)));
        assert_eq!(out[1], sum + n);
        assert_eq!(out[2], sum << 32);
        assert_eq!(out[3], u64::from((0.5 * sum as f32).to_bits()));
        assert_eq!(out[4], (0.25 * sum as f64).to_bits());
        assert_eq!(out[5], word(-(sum as i32)));
        assert_eq!(out[6], word(1 - n as i32));
        assert_eq!(out[7], n - 6);
        assert_eq!(out[8], 127 << 25);
        assert_eq!(out[9], (-((n as i64 - 1) << 40)).cast_unsigned());
        assert_eq!(out[10], 127 << 57);
        assert_eq!(out[11], 0xffff_ffff);
        assert_eq!(out[12], 0, "0 ^ 1 ^ ... ^ 127");
        assert_eq!(out[13], n % 100);
        // From zero to 99, and down again.
        assert_eq!(out[14], 100 - n % 100);
        let mut tickets = out[32..].to_vec();
        tickets.sort_unstable();
        assert_eq!(tickets, (1..=n).collect::<Vec<_>>());
        assert_eq!(out[16] + out[17], sum);
        assert_eq!(out[18], sum);
        assert_eq!(out[19], 0);
        assert_eq!(out[20], u64::from(2.5_f32.to_bits()));
    });
}

// Without it a vector could have another size, alignment or order of its elements than in code for GPUs, and a
// struct of the host's not fit.
#[test]
fn vectors_have_the_layout_of_cuda() {
    let kinds = [
        ("char", 1, 4),
        ("uchar", 1, 4),
        ("short", 2, 8),
        ("ushort", 2, 8),
        ("int", 4, 16),
        ("uint", 4, 16),
        ("long", 8, 16),
        ("ulong", 8, 16),
        ("longlong", 8, 16),
        ("ulonglong", 8, 16),
        ("float", 4, 16),
        ("double", 8, 16),
    ];
    let mut body = String::new();
    let mut expected = Vec::new();
    for (name, size, of_four) in kinds {
        for (n, align) in [(1, size), (2, (2 * size).min(16)), (3, size), (4, of_four)] {
            let place = expected.len();
            body += &format!("out[{place}] = sizeof({name}{n}) * 100 + alignof({name}{n});\n");
            expected.push(size * n * 100 + align);
        }
    }
    let place = expected.len();
    body += &format!(
        "float4 f = make_float4(1, 2, 3, 4); uchar3 c = make_uchar3(7, 8, 9); int2 pair = {{5, 6}};\n\
         out[{place}] = f.x + 10 * f.y + 100 * f.z + 1000 * f.w + c.z * 10000 + pair.y * 100000;\n\
         uint3 at = threadIdx; dim3 size = blockDim; dim3 two(3, 4); dim3 from = at; uint3 plain = two;\n\
         if (t == 65) out[{place} + 1] = at.x + 10 * at.y + 100 * size.x + 100000 * size.z;\n\
         if (t == 65) out[{place} + 2] = plain.x + 10 * plain.y + 100 * plain.z + 1000 * from.x + warpSize;\n\
         size_t bytes = sizeof(float4); out[{place} + 3] = bytes;\n\
         int4 whole = *(const int4*)in; int4 same = __ldg((const int4*)in);\n\
         out[{place} + 4] = whole.z == same.z && same.z == 1 && __ldg(in + 7) == 7;\n\
         char text[16]; memset(text, 3, 16); memcpy(text + 2, in + t % 2, 2 + t % 3);\n\
         if (t == 1) out[{place} + 5] = text[0] + 10 * text[2] + 100 * text[5] + 1000 * text[4];\n"
    );
    expected.extend([694_321, 106_401, 1_143 + 32, 16, 1, 3 + 10 + 300]);
    run(&body, expected.len(), |out| assert_eq!(out, expected));
}

// Without it what a kernel prints could be lost, or its memory be that of another thread.
#[test]
fn kernels_print_and_have_a_heap() {
    let body = "int* own = (int*)malloc(8); own[t % 2] = 10 * (int)t;\n\
        if (t == 7 || t == 70) printf(\"%d of %s, %.1f\\n\", own[t % 2], \"all\", 0.5 * t);\n\
        out[t] = own[t % 2]; free(own); out[0] += clock64() > 0;\n";
    let source = format!(
        "extern \"C\" __global__ void k(const unsigned long long* in, unsigned long long* out) {{\n\
         unsigned t = blockIdx.x * blockDim.x + threadIdx.x; (void)in;\n{body}}}\n"
    );
    for clang in clangs() {
        let printed = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&printed);
        let write = move |bytes: &[u8]| {
            let text = str::from_utf8(bytes).unwrap();
            sink.lock().unwrap().push_str(text);
        };
        // On a GPU the output is that of the process.
        let machine = Machine::builder().kernel_output(write).build();
        let compiler = Compiler::from(clang);
        let bench = Bench::over(machine.driver(), &compiler);
        let kernel = bench.compile(&compiler, &source, &[]);
        let out = bench.run(&kernel, &[0; 3 * THREADS], THREADS);
        assert_eq!(out[5..8], [50, 60, 70]);
        let printed = printed.lock().unwrap();
        let mut lines: Vec<_> = printed.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["70 of all, 3.5", "700 of all, 35.0"]);
    }
}

// Without it a function that is missing could be made from one of less accuracy, or its name be told as if the
// source were wrong.
#[test]
fn what_is_missing_is_told_as_missing() {
    for clang in clangs() {
        let compiler = Compiler::from(clang);
        for call in [
            "exp(d)",
            "sin(d)",
            "pow(d, d)",
            "erff(1.0f)",
            "atan2(d, d)",
            "rsqrt(d)",
        ] {
            let source =
                format!("__global__ void k(double* p) {{\n  double d = *p;\n  *p = {call};\n}}\n");
            let error = compiler.compile(&request(&source)).unwrap_err();
            assert!(matches!(error, CompileError::Source { .. }), "{error}");
            let told: Vec<_> = error.errors().collect();
            assert_eq!((told.len(), told[0].line), (1, Some(3)), "{error}");
            assert_eq!(told[0].file.as_deref(), Some("k.cu"));
            assert!(told[0].message.contains("NVRTC has it"), "{error}");
            assert!(!error.to_string().contains("cupola-clang-"), "{error}");
        }
    }
}
