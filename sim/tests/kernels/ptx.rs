//! PTX and fat binaries that several files load.

use std::ffi::CString;

pub(crate) const HEAD: &str = ".version 7.0\n.target sm_60\n.address_size 64\n";
pub(crate) const KERNEL: &str = ".visible .entry k() { ret; }\n";
/// What the engine does not have.
pub(crate) const STRANGE: &str = ".visible .entry strange() { wgmma.fence.sync.aligned; ret; }\n";

pub(crate) fn ptx(text: &str) -> CString {
    CString::new(format!("{HEAD}{text}")).unwrap()
}

/// A fat binary with one plain entry of PTX for each architecture.
pub(crate) fn fat(entries: &[(u32, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (arch, text) in entries {
        let text = ptx(text);
        let payload = text.as_bytes_with_nul();
        let mut header = [0; 64];
        header[0] = 1;
        header[4] = 64;
        header[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        header[28..32].copy_from_slice(&arch.to_le_bytes());
        body.extend_from_slice(&header);
        body.extend_from_slice(payload);
    }
    let mut bytes = 0xba55_ed50_u32.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[1, 0, 16, 0]);
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&body);
    bytes
}

/// Small kernels, some of them with one fault each.
pub(crate) const KERNELS: &str = r#"
.version 7.0
.target sm_60
.address_size 64
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);
.visible .global .align 4 .u32 counter[4] = {1, 2, 3, 4};
.visible .const .align 4 .u32 limit = 7;
.global .align 1 .b8 message[5] = {98, 97, 100, 33, 0};
.visible .entry store(.param .u64 at, .param .u32 value) {
    .reg .u64 %a; .reg .u32 %v;
    ld.param.u64 %a, [at];
    ld.param.u32 %v, [value];
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry nothing() { ret; }
.visible .entry stop() { trap; ret; }
.visible .entry check() {
    .reg .u64 %a;
    mov.u64 %a, message;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c;
      st.param.b64 [m], %a; st.param.b64 [f], %a; st.param.b32 [l], 12;
      st.param.b64 [n], %a; st.param.b64 [c], 1;
      call.uni __assertfail, (m, f, l, n, c); }
    ret;
}
.visible .entry bump(.param .u64 at) {
    .reg .u64 %a; .reg .u32 %v, %w;
    ld.param.u64 %a, [at];
    ld.const.u32 %w, [limit];
    ld.global.u32 %v, [counter];
    add.u32 %v, %v, %w;
    st.global.u32 [counter], %v;
    st.global.u32 [%a], %v;
    ret;
}
.visible .entry for_ever() {
again:
    bra again;
}
.visible .entry shared_of_its_own() .maxntid 64, 1, 1 {
    .shared .align 4 .b8 space[1024];
    ret;
}
.visible .entry strange() { wgmma.fence.sync.aligned; ret; }
"#;
