//! How many blocks are resident.

use crate::device::{Device, HEADER, kernel, run};
use cupola_sim::exec::{Host, LaunchOptions};
use std::sync::Mutex;

struct Remarks(Mutex<Vec<String>>);

impl Host for Remarks {
    fn print(&self, _: &[u8]) {}

    fn remark(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// Breaks if blocks that take much of the host are all kept resident, or if a program is not told
/// that fewer are than the device promises.
#[test]
fn blocks_that_take_much_are_fewer_and_it_is_said() {
    // Of a block, 32 threads with half a megabyte each; only the first outlasts its slice, so that
    // no more than two are ever there.
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 out) {{
        .local .align 16 .b8 much[524288]; .reg .b32 %n; .reg .b64 %a; .reg .pred %p;
        mov.u32 %n, %ctaid.x; ld.param.u64 %a, [out]; red.global.add.u32 [%a], 1;
        st.local.u32 [much], %n; setp.ne.u32 %p, %n, 0; @%p ret;
        again: add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 200000; @%p bra again; ret; }}"
    );
    let mut device = Device::default();
    let out = device.alloc_len(4);
    let k = kernel(&mut device, &text, "k", false);
    let told = |blocks: u32| {
        let host = Remarks(Mutex::default());
        let options = LaunchOptions {
            host: &host,
            resident: 1000,
            ..LaunchOptions::default()
        };
        run(&device, &k, (blocks, 32), &[out], options).unwrap_or_else(|e| panic!("{e}"));
        host.0.into_inner().unwrap()
    };
    let many = told(100);
    assert_eq!(many.len(), 1, "{many:?}");
    let (fits, rest) = many[0]
        .split_once(" blocks are resident and not 100")
        .unwrap();
    assert!(rest.contains("may wait for ever"), "{rest}");
    // A gigabyte has 64 of them, less what registers take.
    let fits: u32 = fits.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((60..=64).contains(&fits), "{fits}");
    assert_eq!(told(50), [""; 0]);
    assert_eq!(device.read_u32(out, 1), [150 * 32]);
}
