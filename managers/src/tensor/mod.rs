//! Tensor maps: how an array lies in device memory, for kernels that copy boxes of it with the
//! tensor memory accelerator (Hopper and later).
//!
//! A kernel takes a map by value, as a `const __grid_constant__ CUtensorMap` parameter, and a launch
//! is given `&map`, or `&mut map` where the kernel writes through it:
//!
//! ```no_run
//! use cupola_managers::buffer::Buffer;
//! use cupola_managers::module::Function;
//! use cupola_managers::ops::{LaunchConfig, launch};
//! use cupola_managers::tensor::{Swizzle, TensorMap, Tiling};
//! use cupola_managers::{Context, Stream};
//!
//! fn sum_tiles(context: &Context, f: &Function, matrix: &Buffer<f32>, sums: &mut Buffer<f32>, on: &Stream)
//! -> cupola_managers::Result<()> {
//!     // 512 rows of 1024 columns, in boxes of 64 rows of 32 columns: the innermost dimension comes first.
//!     let tiling = Tiling::new([1024, 512], [32, 64]).swizzle(Swizzle::Bytes128);
//!     let map = TensorMap::tiled(context, matrix.view(), tiling)?;
//!     // SAFETY: the kernel reads boxes of such a map, and writes a sum for each block.
//!     unsafe { launch(f, LaunchConfig::linear(256, 128), (&map, sums), on) }
//! }
//! ```
//!
//! Elements of 4 and 6 bits are in a view of bytes, and are named by their format; lengths count elements:
//!
//! ```
//! use cupola_managers::tensor::{TensorFormat, Tiling};
//!
//! // 512 rows of 1024 numbers of 4 bits, 512 bytes each.
//! let tiling = Tiling::new([1024, 512], [128, 64]).format(TensorFormat::U4Align16);
//! ```
//!
//! In the signature of a [`Kernel`](crate::ops::Kernel) such a parameter is a [`CUtensorMap`].
//!
//! What the driver would refuse with a code alone is refused here with the numbers, and a map reaches
//! over no memory but its view's: the driver is told an address, and does not ask how much is there.

mod builder;
mod element;
mod im2col;
mod im2col_wide;
mod layout;
mod map;
mod options;
mod tiling;

pub use cupola_sys::driver::CUtensorMap;

pub use element::{TensorElement, TensorFormat};
pub use im2col::Im2col;
pub use im2col_wide::{Im2colWide, WideColumn};
pub use map::{TensorMap, TensorMemory};
pub use options::{Fill, Interleave, L2Promotion, Swizzle};
pub use tiling::Tiling;
