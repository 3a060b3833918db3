//! Device code in Rust: what `core` and rustc make of PTX.
#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]

use core::arch::nvptx;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe { nvptx::trap() }
}

fn thread() -> usize {
    unsafe { (nvptx::_block_idx_x() * nvptx::_block_dim_x() + nvptx::_thread_idx_x()) as usize }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn saxpy(n: usize, a: f32, x: *const f32, y: *mut f32) {
    let i = thread();
    if i < n {
        unsafe { *y.add(i) += a * *x.add(i) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn slices(out: *mut u32, input: *const u32, n: usize) {
    let input = unsafe { core::slice::from_raw_parts(input, n) };
    let mut best = [0u32; 16];
    for (i, window) in input.windows(3).enumerate() {
        best[i % 16] = best[i % 16].max(window.iter().sum());
    }
    best.sort_unstable();
    unsafe { *out.add(thread()) = best[thread() % 16] };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn integers(out: *mut u64, a: u64, b: u64, c: i128) {
    let wide = u128::from(a) * u128::from(b) / (u128::from(b) | 1);
    let mut r = wide as u64 ^ (wide >> 64) as u64 ^ (c >> 17) as u64;
    r = r.rotate_left(13).swap_bytes().reverse_bits();
    r ^= u64::from(r.count_ones() + a.leading_zeros() + b.trailing_zeros());
    r = r.saturating_add(a).wrapping_mul(b).abs_diff(a);
    r += a.checked_div(b).unwrap_or(7) + (a as i64).rem_euclid((b as i64) | 1) as u64;
    unsafe { *out.add(thread()) = r };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn text(out: *mut u8, n: usize, bytes: *const u8) {
    let bytes = unsafe { core::slice::from_raw_parts(bytes, n) };
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    let sum: u64 = text.split(',').filter_map(|word| word.trim().parse::<u64>().ok()).sum();
    let value: f64 = text.parse().unwrap_or(sum as f64);
    struct Sink(*mut u8, usize);
    impl core::fmt::Write for Sink {
        fn write_str(&mut self, s: &str) -> core::fmt::Result {
            for b in s.bytes() {
                unsafe { *self.0.add(self.1) = b };
                self.1 += 1;
            }
            Ok(())
        }
    }
    let _ = core::fmt::Write::write_fmt(&mut Sink(out, 0), format_args!("{sum:>8} {value:.3e}"));
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn atomics(a: *const AtomicU32, b: *const AtomicU64) {
    let (a, b) = unsafe { (&*a, &*b) };
    a.fetch_add(1, Ordering::Relaxed);
    b.fetch_max(3, Ordering::Relaxed);
    let _ = a.compare_exchange(1, 2, Ordering::Relaxed, Ordering::Relaxed);
    a.store(b.load(Ordering::Relaxed) as u32, Ordering::Relaxed);
}

trait Visit {
    fn visit(&self, x: f64) -> f64;
}
struct Scale(f64);
struct Shift(f64);
impl Visit for Scale {
    fn visit(&self, x: f64) -> f64 {
        x * self.0
    }
}
impl Visit for Shift {
    fn visit(&self, x: f64) -> f64 {
        x + self.0
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn objects(out: *mut f64, which: u32) {
    let (scale, shift) = (Scale(2.0), Shift(3.0));
    let visit: &dyn Visit = if which % 2 == 0 { &scale } else { &shift };
    let table: [fn(f64) -> f64; 2] = [|x| x + 1.0, |x| x * x];
    unsafe { *out.add(thread()) = table[(which % 2) as usize](visit.visit(f64::from(which))) };
}
