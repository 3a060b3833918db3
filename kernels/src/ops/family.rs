//! `KernelFamily`: the files that the device library's kernels are loaded by.

use cupola_managers::Result;

use super::Kernels;

/// Kernels of the device library that are loaded together, by the first call of one of them or by
/// [`Kernels::preload`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KernelFamily {
    /// [`Kernels::fill`], [`Kernels::copy`], and conversions that are copies.
    Memory,
    /// Operations on each element of `f32` and `f64`: [`Kernels::add`] to [`Kernels::fma`].
    ElementwiseFloat,
    /// Operations on each element of integers.
    ElementwiseInteger,
    /// [`Kernels::convert`] between floats.
    ConvertFloat,
    /// [`Kernels::convert`] between integers.
    ConvertInteger,
    /// [`Kernels::convert`] from integers to floats.
    ConvertToFloat,
    /// [`Kernels::convert`] from floats to integers.
    ConvertToInteger,
    /// Sums.
    Sum,
    /// Smallest and largest elements.
    Extrema,
    /// Where the smallest and largest elements are.
    ExtremaIndex,
}

impl KernelFamily {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Memory,
        Self::ElementwiseFloat,
        Self::ElementwiseInteger,
        Self::ConvertFloat,
        Self::ConvertInteger,
        Self::ConvertToFloat,
        Self::ConvertToInteger,
        Self::Sum,
        Self::Extrema,
        Self::ExtremaIndex,
    ];

    /// The name of its file.
    pub(super) const fn file(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::ElementwiseFloat => "elementwise_float",
            Self::ElementwiseInteger => "elementwise_integer",
            Self::ConvertFloat => "convert_float",
            Self::ConvertInteger => "convert_integer",
            Self::ConvertToFloat => "convert_to_float",
            Self::ConvertToInteger => "convert_to_integer",
            Self::Sum => "reduce",
            Self::Extrema => "extrema",
            Self::ExtremaIndex => "extrema_index",
        }
    }
}

impl Kernels {
    /// Loads these kernels now, which their first calls would do: those then make no call of the driver
    /// beside the launch. A driver compiles PTX when it loads it, for some milliseconds up to some hundred;
    /// so this is for a program's start, and before a graph is captured or a time is measured. What is
    /// loaded is not loaded again.
    ///
    /// A first call in a capture is allowed too: loading is no work of a stream, and does not end a capture
    /// ([`CaptureMode`](cupola_managers::graph::CaptureMode)).
    ///
    /// ```no_run
    /// # fn preload(kernels: &cupola_kernels::Kernels) -> cupola_managers::Result<()> {
    /// use cupola_kernels::ops::KernelFamily;
    ///
    /// kernels.preload([KernelFamily::Memory, KernelFamily::ElementwiseFloat])
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`ModuleManager::load_ptx`](cupola_managers::module::ModuleManager::load_ptx) and
    /// [`Module::function`](cupola_managers::module::Module::function). The families before stay loaded.
    pub fn preload(&self, families: impl IntoIterator<Item = KernelFamily>) -> Result<()> {
        let mut families = families.into_iter();
        families.try_for_each(|family| self.library.preload(family))
    }
}
