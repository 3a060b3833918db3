//! What the descriptions of arrays have in common: how the array lies, and how pieces of it are copied.

/// The methods of a description that has a `layout` and `options`.
macro_rules! array_methods {
    () => {
        /// Bytes from an element to the next one of each dimension: that of the innermost one is an
        /// element's size, zero where that is less than a byte; the others are multiples of 16, or of
        /// 32 where the [format](crate::tensor::TensorFormat) or the
        /// [slices](crate::tensor::Interleave::Bytes32) are aligned so.
        pub const fn strides(mut self, bytes: [u64; R]) -> Self {
            self.layout.strides = Some(bytes);
            self
        }

        /// Takes every how manyth element of each dimension, one to eight. In the innermost one the
        /// accelerator takes each, unless the channels come in slices.
        pub const fn steps(mut self, elements: [u32; R]) -> Self {
            self.layout.steps = elements;
            self
        }

        /// Takes the elements so, and not as their type says.
        pub const fn format(mut self, format: crate::tensor::TensorFormat) -> Self {
            self.layout.format = Some(format);
            self
        }

        /// Permutes the bytes of what is copied in shared memory.
        pub const fn swizzle(mut self, swizzle: crate::tensor::Swizzle) -> Self {
            self.options.swizzle = swizzle;
            self
        }

        /// Has the channels come in slices.
        pub const fn interleave(mut self, interleave: crate::tensor::Interleave) -> Self {
            self.options.interleave = interleave;
            self
        }

        /// Brings more to the level-2 cache than was asked for.
        pub const fn l2_promotion(mut self, promotion: crate::tensor::L2Promotion) -> Self {
            self.options.promotion = promotion;
            self
        }

        /// What elements have that lie outside of the array: the padding of a convolution.
        pub const fn fill(mut self, fill: crate::tensor::Fill) -> Self {
            self.options.fill = fill;
            self
        }
    };
}
pub(super) use array_methods;
