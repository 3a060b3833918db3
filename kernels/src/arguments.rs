//! Parameter lists of kernels as structs, one field for each parameter.
//!
//! A kernel launch takes an array of addresses and reads as many bytes from each as the
//! kernel declares; nothing in the call says how many. These structs are for launches by
//! address; a test compares them with the PTX, and [`Arguments::SIZES`] can be compared with
//! `cuFuncGetParamInfo` before a launch. With buffers, [`ops`](crate::ops) is safer.
//!
//! Device addresses are plain numbers here (`CUdeviceptr`): whether they point to enough
//! memory is for the caller of a launch to see to.

use core::ffi::{CStr, c_void};

/// The arguments of one kernel.
pub trait Arguments {
    /// Name of the kernel, for `cuModuleGetFunction`.
    const ENTRY: &'static CStr;

    /// Size in bytes of each parameter, in order.
    const SIZES: &'static [usize];

    /// An array with the address of each argument.
    type Pointers: AsMut<[*mut c_void]>;

    /// The address of each argument, as `cuLaunchKernel` takes them in `kernelParams`.
    /// They are good for reading as long as `self` stays where it is; the driver copies
    /// the arguments before the launch returns.
    fn pointers(&mut self) -> Self::Pointers;
}

macro_rules! arguments {
    ($(
        $(#[$about:meta])*
        $name:ident = $entry:literal {
            $($(#[$field_about:meta])* $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name {
            $($(#[$field_about])* pub $field: $type,)*
        }

        impl Arguments for $name {
            const ENTRY: &'static CStr = $entry;
            const SIZES: &'static [usize] = &[$(size_of::<$type>()),*];
            type Pointers = [*mut c_void; Self::SIZES.len()];

            fn pointers(&mut self) -> Self::Pointers {
                [$((&raw mut self.$field).cast()),*]
            }
        }
    )*};
}

arguments! {
    /// Counts the bytes of each value: launch with
    /// [`geometry::histogram`](crate::geometry::histogram).
    Histogram = c"cupola_histogram" {
        /// Address of `len` bytes, any alignment.
        data: u64,
        /// Number of bytes.
        len: u64,
        /// Address of 256 `u64` counters, to which is added.
        counts: u64,
    }

    /// CRC-32 of a chunk: launch with [`geometry::crc32`](crate::geometry::crc32).
    Crc32 = c"cupola_crc32" {
        /// Address of `len` bytes, any alignment.
        data: u64,
        /// Number of bytes.
        len: u64,
        /// Address of one `u32` that is zero beforehand.
        crc: u64,
    }

    /// `y[i] = a * x[i] + y[i]`: launch with
    /// [`geometry::elementwise`](crate::geometry::elementwise).
    Saxpy = c"cupola_saxpy" {
        /// Number of elements.
        n: u64,
        /// The factor.
        a: f32,
        /// Address of `n` `f32`.
        x: u64,
        /// Address of `n` `f32`; equal to `x` or not overlapping it.
        y: u64,
    }

    /// `output[i] = factor * input[i]`: launch with
    /// [`geometry::elementwise`](crate::geometry::elementwise).
    Scale = c"cupola_scale" {
        /// Number of elements.
        n: u64,
        /// The factor.
        factor: f32,
        /// Address of `n` `f32`.
        input: u64,
        /// Address of `n` `f32`; equal to `input` or not overlapping it.
        output: u64,
    }

    /// The sum of `f32`: launch as [`geometry::reduce`](crate::geometry::reduce) says.
    ReduceSumF32 = c"cupola_reduce_sum_f32" {
        /// Address of `n` `f32`.
        input: u64,
        /// Number of elements.
        n: u64,
        /// Address of [`REDUCE_SCRATCH_BYTES`](crate::geometry::REDUCE_SCRATCH_BYTES) bytes, a multiple
        /// of 16. They are zero before the launch and after it, and of one launch at a time.
        scratch: u64,
        /// Address of one `f32`.
        result: u64,
    }

    /// The sum of `u64` modulo 2^64: launch as [`geometry::reduce`](crate::geometry::reduce) says.
    ReduceSumU64 = c"cupola_reduce_sum_u64" {
        /// Address of `n` `u64`.
        input: u64,
        /// Number of elements.
        n: u64,
        /// Address of [`REDUCE_SCRATCH_BYTES`](crate::geometry::REDUCE_SCRATCH_BYTES) bytes, a multiple
        /// of 16. They are zero before the launch and after it, and of one launch at a time.
        scratch: u64,
        /// Address of one `u64`.
        result: u64,
    }

    /// Marks a block of memory: launch with [`geometry::STAMP`](crate::geometry::STAMP).
    Stamp = c"cupola_stamp" {
        /// Address of `bytes` bytes, any alignment.
        block: u64,
        /// Number of bytes.
        bytes: u64,
        /// What the marks depend on, besides their offsets.
        seed: u64,
    }

    /// Counts wrong marks: launch with [`geometry::STAMP`](crate::geometry::STAMP).
    Check = c"cupola_check" {
        /// Address of `bytes` bytes, any alignment.
        block: u64,
        /// Number of bytes.
        bytes: u64,
        /// The seed that the block was stamped with.
        seed: u64,
        /// Address of a `u64` to which the number of wrong marks is added.
        wrong: u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Embedded;

    /// The sizes that the PTX declares for the parameters of `entry`.
    fn declared<A: Arguments>() -> Vec<usize> {
        let entry = A::ENTRY.to_str().expect("entry names are ASCII");
        let file = Embedded::with_entry(entry).expect("the kernel is embedded");
        let (_, rest) = file
            .ptx()
            .split_once(&format!(".visible .entry {entry}("))
            .expect("the entry's declaration");
        let (list, _) = rest.split_once(')').expect("the end of the parameters");
        list.split(',')
            .map(|parameter| {
                let width = parameter
                    .trim()
                    .strip_prefix(".param .")
                    .expect("a parameter");
                match &width[..3] {
                    "u64" => 8,
                    "u32" | "f32" => 4,
                    other => panic!("parameter of type {other}"),
                }
            })
            .collect()
    }

    // Without it a parameter added to a kernel would make the driver read past the
    // arguments, or a narrower field would hand it the neighbour's bytes.
    #[test]
    fn parameter_lists_are_those_of_the_ptx() {
        assert_eq!(declared::<Histogram>(), Histogram::SIZES);
        assert_eq!(declared::<Crc32>(), Crc32::SIZES);
        assert_eq!(declared::<Saxpy>(), Saxpy::SIZES);
        assert_eq!(declared::<Scale>(), Scale::SIZES);
        assert_eq!(declared::<ReduceSumF32>(), ReduceSumF32::SIZES);
        assert_eq!(declared::<ReduceSumU64>(), ReduceSumU64::SIZES);
        assert_eq!(declared::<Stamp>(), Stamp::SIZES);
        assert_eq!(declared::<Check>(), Check::SIZES);
    }

    // Without it a macro that repeats one field's address would go unseen.
    #[test]
    fn pointers_lead_to_the_fields_in_order() {
        let mut saxpy = Saxpy {
            n: 3,
            a: 1.5,
            x: 16,
            y: 32,
        };
        let [n, a, x, y] = saxpy.pointers();
        // SAFETY: each pointer is to a field of `saxpy`, of that type, alive and unmoved.
        let read = unsafe {
            (
                n.cast::<u64>().read(),
                a.cast::<f32>().read(),
                x.cast::<u64>().read(),
                y.cast::<u64>().read(),
            )
        };
        assert_eq!(read, (3, 1.5, 16, 32));
    }
}
