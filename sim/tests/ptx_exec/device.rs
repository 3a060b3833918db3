//! A device's memory, as small as the engine needs it: separate allocations with
//! gaps between them, so that every access out of bounds is seen.

use cupola_sim::exec::{
    GlobalMemory, Kernel, LaunchConfig, LaunchError, LaunchOptions, LaunchStats, LoadOptions,
    MemRange, Placement, Program, VarSpace, launch,
};
use cupola_sim::ptx::Module;
use std::sync::Arc;

struct Allocation {
    base: u64,
    len: u64,
    /// Owned through a raw pointer: kernels write while it is shared.
    host: *mut u128,
    words: usize,
    writable: bool,
}

/// Memory of one test.
#[derive(Default)]
pub(crate) struct Device {
    allocations: Vec<Allocation>,
}

// SAFETY: the bytes behind the pointers are accessed by kernels with atomics,
// and by the test only while no kernel runs.
unsafe impl Sync for Device {}

// SAFETY: ranges live as long as the device; both addresses are multiples of 16.
unsafe impl GlobalMemory for Device {
    fn lookup(&self, addr: u64) -> Option<MemRange> {
        let found = self
            .allocations
            .iter()
            .find(|a| addr.wrapping_sub(a.base) < a.len)?;
        Some(MemRange {
            base: found.base,
            len: found.len,
            host: found.host.cast(),
            writable: found.writable,
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        for a in &self.allocations {
            let slice = std::ptr::slice_from_raw_parts_mut(a.host, a.words);
            // SAFETY: this is the box that `alloc_len` took apart.
            drop(unsafe { Box::from_raw(slice) });
        }
    }
}

impl Device {
    pub(crate) fn alloc_len(&mut self, len: u64) -> u64 {
        let words = vec![0u128; (len as usize).div_ceil(16)].into_boxed_slice();
        let count = words.len();
        let base = 0x7100_0000_0000 + ((self.allocations.len() as u64) << 32);
        let host = Box::into_raw(words).cast::<u128>();
        self.allocations.push(Allocation {
            base,
            len,
            host,
            words: count,
            writable: true,
        });
        base
    }

    pub(crate) fn alloc(&mut self, bytes: &[u8]) -> u64 {
        let at = self.alloc_len(bytes.len() as u64);
        self.write(at, bytes);
        at
    }

    pub(crate) fn write(&mut self, at: u64, bytes: &[u8]) {
        let range = self.lookup(at).expect("an allocated address");
        assert!(at - range.base + bytes.len() as u64 <= range.len);
        // SAFETY: just checked to be inside; no kernel runs.
        unsafe {
            let to = range.host.add((at - range.base) as usize);
            to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
    }

    pub(crate) fn read(&self, at: u64, len: usize) -> Vec<u8> {
        let range = self.lookup(at).expect("an allocated address");
        assert!(at - range.base + len as u64 <= range.len);
        // SAFETY: just checked to be inside; no kernel runs.
        unsafe {
            std::slice::from_raw_parts(range.host.add((at - range.base) as usize), len).to_vec()
        }
    }

    pub(crate) fn read_u32(&self, at: u64, count: usize) -> Vec<u32> {
        let bytes = self.read(at, 4 * count);
        bytes
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect()
    }

    pub(crate) fn alloc_u32(&mut self, values: &[u32]) -> u64 {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.alloc(&bytes)
    }

    pub(crate) fn protect(&mut self, at: u64) {
        let found = self.allocations.iter_mut().find(|a| a.base == at);
        found.expect("an allocation").writable = false;
    }
}

impl Placement for Device {
    fn place(&mut self, _: &str, _: VarSpace, size: u64, _: u64) -> Option<u64> {
        (size < 1 << 24).then(|| self.alloc_len(size.max(1)))
    }

    fn fill(&mut self, address: u64, bytes: &[u8]) {
        self.write(address, bytes);
    }
}

/// Loads `text` and finds `kernel`; panics with the engine's message otherwise.
pub(crate) fn kernel(device: &mut Device, text: &str, kernel: &str, baseline: bool) -> Arc<Kernel> {
    let module = Module::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let program = Program::load_with(
        &module,
        device,
        LoadOptions {
            baseline,
            ..LoadOptions::default()
        },
    )
    .unwrap_or_else(|e| panic!("{e}"));
    program.kernel(kernel).unwrap_or_else(|e| panic!("{e}"))
}

/// Packs parameters, each cut to its size.
pub(crate) fn pack(kernel: &Kernel, values: &[u64]) -> Vec<u8> {
    assert_eq!(kernel.params.len(), values.len());
    let mut out = vec![0; kernel.param_bytes as usize];
    for (p, v) in kernel.params.iter().zip(values) {
        let (at, size) = (p.offset as usize, p.size as usize);
        out[at..at + size].copy_from_slice(&v.to_le_bytes()[..size]);
    }
    out
}

/// Runs a one-dimensional launch.
pub(crate) fn run(
    device: &Device,
    kernel: &Kernel,
    (grid, block): (u32, u32),
    params: &[u64],
    options: LaunchOptions<'_>,
) -> Result<LaunchStats, LaunchError> {
    let config = LaunchConfig {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        dynamic_shared: 0,
    };
    let params = pack(kernel, params);
    let options = LaunchOptions {
        budget: options.budget.min(200_000_000),
        ..options
    };
    launch(kernel, config, &params, device, options)
}

/// The directives every module begins with, for hand-written kernels.
pub(crate) const HEADER: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Source of a kernel around one instruction on operands %a, %b, %c, with result
/// %d. `types` are the memory types of result and sources.
fn around(ins: &str, d: &str, sources: &[&str]) -> String {
    use std::fmt::Write;
    let reg = |t: &str| match t.trim_start_matches(|c: char| c.is_ascii_alphabetic()) {
        "8" | "16" => "b16",
        "32" => "b32",
        _ => "b64",
    };
    let bytes = |t: &str| {
        t.trim_start_matches(|c: char| c.is_ascii_alphabetic())
            .parse::<u32>()
            .unwrap()
            / 8
    };
    let mut s = format!("{HEADER}.visible .entry k(.param .u32 n, .param .u64 pd");
    for i in 0..sources.len() {
        let _ = write!(s, ", .param .u64 p{i}");
    }
    s.push_str(") {\n.reg .pred %q, %p, %p1;\n.reg .b32 %n, %i, %t, %u;\n.reg .b64 %x, %y, %w;\n");
    let _ = writeln!(s, ".reg .{} %d;", reg(d));
    for (i, t) in sources.iter().enumerate() {
        let _ = writeln!(s, ".reg .{} %{};", reg(t), ["a", "b", "c", "e"][i]);
    }
    s.push_str("mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %t, %tid.x;\nmad.lo.u32 %i, %i, %n, %t;\n");
    s.push_str("ld.param.u32 %n, [n];\nsetp.ge.u32 %q, %i, %n;\n@%q ret;\n");
    for (i, t) in sources.iter().enumerate() {
        let name = ["a", "b", "c", "e"][i];
        let _ = write!(
            s,
            "ld.param.u64 %x, [p{i}];\nmad.wide.u32 %x, %i, {}, %x;\n",
            bytes(t)
        );
        let _ = writeln!(s, "ld.global.{t} %{name}, [%x];");
    }
    let _ = write!(
        s,
        "{ins}\nld.param.u64 %x, [pd];\nmad.wide.u32 %x, %i, {}, %x;\n",
        bytes(d)
    );
    let _ = writeln!(s, "st.global.{d} [%x], %d;\nret;\n}}");
    s
}

/// Results of `ins` for each row of operands, from both instruction sets.
pub(crate) fn eval(ins: &str, d: &str, sources: &[&str], rows: &[Vec<u64>]) -> Vec<u64> {
    let text = around(ins, d, sources);
    let size = |t: &str| {
        t.trim_start_matches(|c: char| c.is_ascii_alphabetic())
            .parse::<usize>()
            .unwrap()
            / 8
    };
    let mut results = [true, false].map(|baseline| {
        let mut device = Device::default();
        let k = kernel(&mut device, &text, "k", baseline);
        let out = device.alloc_len((rows.len() * size(d)) as u64);
        let mut params = vec![rows.len() as u64, out];
        for (i, t) in sources.iter().enumerate() {
            let bytes: Vec<u8> = rows
                .iter()
                .flat_map(|r| r[i].to_le_bytes()[..size(t)].to_vec())
                .collect();
            params.push(device.alloc(&bytes));
        }
        let grid = (rows.len() as u32).div_ceil(96);
        run(&device, &k, (grid, 96), &params, LaunchOptions::default())
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let bytes = device.read(out, rows.len() * size(d));
        let value = |c: &[u8]| {
            let mut raw = [0; 8];
            raw[..c.len()].copy_from_slice(c);
            u64::from_le_bytes(raw)
        };
        bytes.chunks_exact(size(d)).map(value).collect::<Vec<_>>()
    });
    let wide = std::mem::take(&mut results[1]);
    assert_eq!(
        results[0], wide,
        "the two instruction sets disagree on {ins}"
    );
    wide
}

/// All combinations of `values` in `n` columns.
pub(crate) fn rows(values: &[u64], n: usize) -> Vec<Vec<u64>> {
    let mut rows = vec![vec![]];
    for _ in 0..n {
        rows = rows
            .iter()
            .flat_map(|row: &Vec<u64>| {
                values.iter().map(move |&v| {
                    let mut row = row.clone();
                    row.push(v);
                    row
                })
            })
            .collect();
    }
    rows
}

/// Checks `ins` against `oracle` on all rows.
#[track_caller]
pub(crate) fn check(
    ins: &str,
    d: &str,
    sources: &[&str],
    rows: &[Vec<u64>],
    oracle: impl Fn(&[u64]) -> u64,
) {
    let got = eval(ins, d, sources, rows);
    for (row, got) in rows.iter().zip(got) {
        let want = oracle(row);
        assert_eq!(got, want, "{ins} on {row:x?}: got {got:#x}, want {want:#x}");
    }
}
