//! Loads and stores by the pattern of their addresses: neighbours, one place, anything, in
//! full and partial warps, to the first and last byte of an allocation.
use crate::device::{Device, HEADER, kernel, run};
use cupola_sim::exec::{FaultKind, LaunchError, LaunchOptions};

/// A kernel that copies element `from[lane]` to element `to[lane]`, in the lanes of a mask.
fn mover(ty: &str, size: u32) -> String {
    let class = if size == 8 { "b64" } else { "b32" };
    format!(
        "{HEADER}.visible .entry k(.param .u64 out, .param .u64 data, .param .u64 from, .param .u64 to, .param .u32 mask) {{
        .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .{class} %v; .reg .pred %p;
        mov.u32 %r1, %tid.x; ld.param.u32 %r2, [mask]; shr.u32 %r2, %r2, %r1; and.b32 %r2, %r2, 1;
        setp.eq.u32 %p, %r2, 0; @%p ret;
        ld.param.u64 %d1, [from]; mad.wide.u32 %d1, %r1, 4, %d1; ld.global.u32 %r3, [%d1];
        ld.param.u64 %d2, [to]; mad.wide.u32 %d2, %r1, 4, %d2; ld.global.u32 %r4, [%d2];
        ld.param.u64 %d3, [data]; mad.wide.u32 %d3, %r3, {size}, %d3; ld.global.{ty} %v, [%d3];
        ld.param.u64 %d4, [out]; mad.wide.u32 %d4, %r4, {size}, %d4; st.global.{ty} [%d4], %v; ret; }}"
    )
}

const COUNT: u32 = 64;

fn patterns() -> Vec<[u32; 32]> {
    let row = std::array::from_fn(|l| l as u32);
    let last_row = std::array::from_fn(|l| COUNT - 32 + l as u32);
    let halves = std::array::from_fn(|l| (l as u32 % 16) + 40 * (l as u32 / 16) % 48);
    let mixed =
        std::array::from_fn(|l| [7, l as u32, 63 - l as u32, (l * l) as u32 % COUNT][l / 8]);
    let backward = std::array::from_fn(|l| 31 - l as u32);
    vec![
        row,
        last_row,
        halves,
        mixed,
        backward,
        [0; 32],
        [COUNT - 1; 32],
    ]
}

/// Without it, a chunk could be taken for a row or for one place when it is not, or lanes
/// outside the mask could be written.
#[test]
fn every_pattern_moves_the_right_elements() {
    for (ty, size) in [("u8", 1), ("s8", 1), ("u16", 2), ("u32", 4), ("f64", 8)] {
        let size = size as usize;
        let text = mover(ty, size as u32);
        let data: Vec<u8> = (0..COUNT as usize * size)
            .map(|i| (i * 37 + 11) as u8)
            .collect();
        for baseline in [false, true] {
            for from in patterns() {
                for to in &patterns()[..5] {
                    for mask in [u32::MAX, 0x00ff_ff01, 0x8000_0000, 0x5a5a_ff00] {
                        let mut device = Device::default();
                        let k = kernel(&mut device, &text, "k", baseline);
                        let pd = device.alloc(&data);
                        let out = device.alloc_len(data.len() as u64);
                        let (pf, pt) = (device.alloc_u32(&from), device.alloc_u32(to));
                        let params = [out, pd, pf, pt, u64::from(mask)];
                        run(&device, &k, (1, 32), &params, LaunchOptions::default()).unwrap();
                        let mut want = vec![0; data.len()];
                        for lane in (0..32).filter(|l| mask >> l & 1 != 0) {
                            let (f, t) = (from[lane] as usize * size, to[lane] as usize * size);
                            want[t..t + size].copy_from_slice(&data[f..f + size]);
                        }
                        let got = device.read(out, data.len());
                        assert_eq!(got, want, "{ty} {from:?} to {to:?} mask {mask:x}");
                    }
                }
            }
        }
    }
}

/// Without it, a vector could reach past the end of an allocation, or the fault could name
/// the wrong lane.
#[test]
fn the_first_lane_outside_faults() {
    let text = mover("u32", 4);
    let row: [u32; 32] = std::array::from_fn(|l| l as u32);
    for baseline in [false, true] {
        for (start, lane) in [(COUNT - 31, 31), (COUNT - 20, 20), (COUNT, 0)] {
            for store in [false, true] {
                let mut device = Device::default();
                let k = kernel(&mut device, &text, "k", baseline);
                let pd = device.alloc_len(u64::from(4 * COUNT));
                let out = device.alloc_len(u64::from(4 * COUNT));
                let beyond = device.alloc_u32(&row.map(|l| l + start));
                let inside = device.alloc_u32(&row);
                let (pf, pt) = if store {
                    (inside, beyond)
                } else {
                    (beyond, inside)
                };
                let params = [out, pd, pf, pt, u64::from(u32::MAX)];
                let result = run(&device, &k, (1, 32), &params, LaunchOptions::default());
                let Err(LaunchError::Fault(fault)) = result else {
                    panic!("no fault")
                };
                assert_eq!(fault.kind, FaultKind::IllegalAddress);
                assert_eq!(fault.thread, [lane, 0, 0]);
                let base = if store { out } else { pd };
                assert_eq!(fault.address, Some(base + u64::from(4 * COUNT)));
            }
        }
    }
}

/// Without it, a load into its own address register could read addresses that the chunk
/// before has overwritten, and a misaligned row could pass.
#[test]
fn pointers_are_followed_and_misaligned_rows_fault() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p, .param .u64 out, .param .u64 shift) {{
        .reg .b32 %r<4>; .reg .b64 %d<9>; mov.u32 %r1, %tid.x; ld.param.u64 %d1, [p];
        mad.wide.u32 %d1, %r1, 8, %d1; ld.param.u64 %d2, [shift]; add.s64 %d1, %d1, %d2;
        ld.global.u64 %d1, [%d1]; ld.global.u64 %d1, [%d1];
        ld.param.u64 %d3, [out]; mad.wide.u32 %d3, %r1, 8, %d3; st.global.u64 [%d3], %d1; ret; }}"
    );
    for baseline in [false, true] {
        let mut device = Device::default();
        let k = kernel(&mut device, &text, "k", baseline);
        let table = device.alloc_len(512);
        let out = device.alloc_len(256);
        let pointers = (0..32u64).map(|l| table + 256 + 8 * (l * 5 % 32));
        let words: Vec<u8> = pointers
            .chain(100..132)
            .flat_map(u64::to_le_bytes)
            .collect();
        device.write(table, &words);
        run(
            &device,
            &k,
            (1, 32),
            &[table, out, 0],
            LaunchOptions::default(),
        )
        .unwrap();
        let want: Vec<u8> = (0..32u64)
            .flat_map(|l| (100 + l * 5 % 32).to_le_bytes())
            .collect();
        assert_eq!(device.read(out, 256), want);
        let result = run(
            &device,
            &k,
            (1, 32),
            &[table, out, 4],
            LaunchOptions::default(),
        );
        let Err(LaunchError::Fault(fault)) = result else {
            panic!("no fault")
        };
        assert_eq!(fault.kind, FaultKind::MisalignedAddress);
        assert_eq!((fault.thread, fault.address), ([0; 3], Some(table + 4)));
    }
}
