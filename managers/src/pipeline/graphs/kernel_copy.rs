//! `KernelCopy`: copies between pinned and device memory that a kernel makes.
//!
//! A launch of a graph costs the host most for its copies: on an H100, 4.1 us of two copies around a
//! kernel, and 1.2 us where these are kernels too. A kernel reads and writes pinned memory over the
//! bus, which is as fast as an engine for some kilobytes.

use cupola_sys::driver::CUdeviceptr;

use crate::context::Context;
use crate::error::Result;
use crate::module::Function;
use crate::ops::{self, LaunchConfig};
use crate::stream::Stream;

/// Copies `bytes` bytes, both addresses of which are multiples of 16: one unit of 16 bytes a thread,
/// and the rest byte by byte.
const PTX: &str = "
    .version 6.0
    .target sm_60
    .address_size 64
    .visible .entry cupola_copy(.param .u64 from, .param .u64 to, .param .u64 bytes) {
        .reg .pred %p<3>;
        .reg .b16 %h;
        .reg .b32 %r<8>;
        .reg .b64 %d<10>;
        ld.param.u64 %d1, [from];
        ld.param.u64 %d2, [to];
        ld.param.u64 %d3, [bytes];
        cvta.to.global.u64 %d1, %d1;
        cvta.to.global.u64 %d2, %d2;
        mov.u32 %r1, %ctaid.x;
        mov.u32 %r2, %ntid.x;
        mov.u32 %r3, %tid.x;
        cvt.u64.u32 %d4, %r3;
        mad.wide.u32 %d4, %r1, %r2, %d4;
        shr.u64 %d5, %d3, 4;
        setp.ge.u64 %p1, %d4, %d5;
        @%p1 bra REST;
        shl.b64 %d6, %d4, 4;
        add.u64 %d7, %d1, %d6;
        add.u64 %d8, %d2, %d6;
        ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d7];
        st.global.v4.u32 [%d8], {%r4, %r5, %r6, %r7};
    REST:
        and.b64 %d6, %d3, 15;
        setp.ge.u64 %p2, %d4, %d6;
        @%p2 bra END;
        shl.b64 %d5, %d5, 4;
        add.u64 %d5, %d5, %d4;
        add.u64 %d7, %d1, %d5;
        add.u64 %d8, %d2, %d5;
        ld.global.u8 %h, [%d7];
        st.global.u8 [%d8], %h;
    END:
        ret;
    }
";

/// Bytes that a thread copies, and what both addresses are multiples of.
const UNIT: usize = 16;
/// Threads of a block.
const THREADS: u32 = 128;

/// The kernel, loaded, and how much it copies.
pub(in crate::pipeline) struct KernelCopy {
    function: Function,
    most: usize,
}

impl KernelCopy {
    /// For copies of up to `most` bytes.
    #[track_caller]
    pub(super) fn load(context: &Context, most: usize) -> Result<Self> {
        let module = context.modules().load_ptx(PTX)?;
        Ok(Self {
            function: module.function("cupola_copy")?,
            most,
        })
    }

    /// Puts a copy on a stream if it is this one's to make. Whether it is.
    ///
    /// # Safety
    /// `from` is `bytes` readable bytes and `to` as many writable ones, by the device, until the copy is
    /// done.
    #[track_caller]
    pub(super) unsafe fn put_if_small(
        &self,
        from: CUdeviceptr,
        to: CUdeviceptr,
        bytes: usize,
        stream: &Stream,
    ) -> Result<bool> {
        let is_aligned = (from | to).is_multiple_of(UNIT as CUdeviceptr);
        if bytes > self.most || !is_aligned {
            return Ok(false);
        }
        if bytes == 0 {
            return Ok(true);
        }
        let threads = (bytes / UNIT).max(bytes % UNIT);
        let config = LaunchConfig::for_elements(threads as u64, THREADS);
        // SAFETY: the kernel takes two addresses and a 64-bit number, and touches `bytes` bytes of each,
        // in whole units as long as there are some; that it may is this function's condition.
        unsafe { ops::launch(&self.function, config, (from, to, bytes as u64), stream) }?;
        Ok(true)
    }
}
