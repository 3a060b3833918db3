//! The kernels that all forms launch.

/// `nothing` has five arguments and does nothing; `spin` keeps a multiprocessor busy for `cycles` of its
/// clock.
pub const PTX: &str = "
    .version 6.0
    .target sm_60
    .address_size 64
    .visible .entry nothing(.param .u64 n, .param .f32 a, .param .u32 b, .param .u64 x, .param .u64 y) {
        ret;
    }
    .visible .entry spin(.param .u64 cycles) {
        .reg .pred %more;
        .reg .u64 %cycles, %begin, %now, %ran;
        ld.param.u64 %cycles, [cycles];
        mov.u64 %begin, %clock64;
    again:
        mov.u64 %now, %clock64;
        sub.u64 %ran, %now, %begin;
        setp.lt.u64 %more, %ran, %cycles;
        @%more bra again;
        ret;
    }
";

/// Elements of the two buffers whose addresses `nothing` is given.
pub const ELEMENTS: usize = 1024;

/// Threads of the one block of a launch.
pub const THREADS: u32 = 32;
