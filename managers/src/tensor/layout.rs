//! How an array lies in memory, checked before the driver is told.

use super::element::TensorFormat;
use super::options::{Fill, Interleave, Options};
use crate::error::{Error, Result};

/// Most elements of a dimension.
const MOST_ELEMENTS: u64 = 1 << 32;
/// Strides are shorter than this, in bytes.
const MOST_STRIDE: u64 = 1 << 40;
/// Most elements of a dimension that a step between elements passes over.
const MOST_STEP: u32 = 8;

/// An array of `R` dimensions, the innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout<const R: usize> {
    pub(super) dims: [u64; R],
    /// Bytes from an element to the next one of each dimension; `None` where there are no gaps.
    pub(super) strides: Option<[u64; R]>,
    /// A box has every how manyth element of each dimension.
    pub(super) steps: [u32; R],
    /// The elements, if not as their type says.
    pub(super) format: Option<TensorFormat>,
}

impl<const R: usize> Layout<R> {
    /// The accelerator knows up to five dimensions.
    const RANK: () = assert!(R >= 1 && R <= 5, "a tensor map has one to five dimensions");

    pub(super) const fn new(dims: [u64; R]) -> Self {
        let () = Self::RANK;
        Self {
            dims,
            strides: None,
            steps: [1; R],
            format: None,
        }
    }

    /// The strides, of an array without gaps if none were given. Refuses an array that the
    /// accelerator cannot take, or that `room` bytes from `address` on do not have.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field.
    #[track_caller]
    pub(super) fn check(
        &self,
        own: TensorFormat,
        options: Options,
        address: u64,
        room: u64,
    ) -> Result<[u64; R]> {
        let format = self.format.unwrap_or(own);
        let (taken, there) = (format.bytes_in_view(), own.bytes_in_view());
        if taken != there {
            let problem =
                format!("{format:?} is of elements of {taken} bytes, and these have {there}");
            return Err(Error::invalid("format", problem));
        }
        if options.fill == Fill::NotANumber && !format.is_float() {
            let problem = format!("{format:?} has no not-a-number");
            return Err(Error::invalid("fill", problem));
        }
        self.check_dims(format)?;
        let strides = self.strides(format);
        let alignment = format.alignment().max(options.interleave.alignment());
        Self::check_strides(&strides, format, alignment)?;
        Self::check_interleave(format, options.interleave)?;
        if !address.is_multiple_of(alignment) {
            let problem = format!("{address:#x} is no multiple of {alignment}");
            return Err(Error::invalid("address", problem));
        }
        let bytes = self.extent(&strides, format);
        if bytes.is_none_or(|bytes| bytes > room) {
            let problem = format!(
                "{:?} elements with strides of {strides:?} bytes reach over more than the {room} bytes \
                 of the view",
                self.dims
            );
            return Err(Error::invalid("dims", problem));
        }
        Ok(strides)
    }

    #[track_caller]
    fn check_dims(&self, format: TensorFormat) -> Result<()> {
        if self.dims.iter().any(|&len| len == 0 || len > MOST_ELEMENTS) {
            let problem = format!("{:?} are not all 1 to 2^32 elements", self.dims);
            return Err(Error::invalid("dims", problem));
        }
        if !self.dims[0].is_multiple_of(format.group()) {
            let problem = format!(
                "{} elements of {format:?} are no multiple of {}",
                self.dims[0],
                format.group()
            );
            return Err(Error::invalid("dims", problem));
        }
        if self.steps.iter().any(|&step| step == 0 || step > MOST_STEP) {
            let problem = format!("{:?} are not all 1 to {MOST_STEP}", self.steps);
            return Err(Error::invalid("steps", problem));
        }
        Ok(())
    }

    #[track_caller]
    fn check_strides(strides: &[u64; R], format: TensorFormat, alignment: u64) -> Result<()> {
        let element = innermost_stride(format);
        if strides[0] != element {
            let problem = format!(
                "{} bytes from an element of the innermost dimension to the next, and of {format:?} it \
                 is {element}",
                strides[0]
            );
            return Err(Error::invalid("strides", problem));
        }
        let fits = |&stride: &u64| stride.is_multiple_of(alignment) && stride < MOST_STRIDE;
        if !strides[1..].iter().all(fits) {
            let problem = format!(
                "of {strides:?} bytes, all but the first are to be multiples of {alignment} below 2^40"
            );
            return Err(Error::invalid("strides", problem));
        }
        Ok(())
    }

    #[track_caller]
    fn check_interleave(format: TensorFormat, interleave: Interleave) -> Result<()> {
        if interleave == Interleave::None {
            return Ok(());
        }
        if R < 3 {
            let problem = format!("an array of {R} dimensions has no slices of channels");
            return Err(Error::invalid("interleave", problem));
        }
        if format == TensorFormat::U6Align16 {
            let problem = "numbers of 6 bits do not come in slices";
            return Err(Error::invalid("interleave", problem));
        }
        Ok(())
    }

    /// The strides in bytes, those of an array without gaps if none were given.
    fn strides(&self, format: TensorFormat) -> [u64; R] {
        if let Some(strides) = self.strides {
            return strides;
        }
        let mut strides = [innermost_stride(format); R];
        let mut next = self.row(format);
        for (stride, &len) in strides.iter_mut().zip(&self.dims).skip(1) {
            *stride = next;
            next = next.saturating_mul(len);
        }
        strides
    }

    /// Bytes of the innermost dimension, which [`check_dims`](Self::check_dims) has found to be whole ones.
    fn row(&self, format: TensorFormat) -> u64 {
        self.dims[0].saturating_mul(format.bits()) / 8
    }

    /// Bytes from the first element to the end of the last one; `None` when they are too many to
    /// count.
    fn extent(&self, strides: &[u64; R], format: TensorFormat) -> Option<u64> {
        let mut extent = self.row(format);
        for (&len, &stride) in self.dims.iter().zip(strides).skip(1) {
            extent = extent.checked_add(len.checked_sub(1)?.checked_mul(stride)?)?;
        }
        Some(extent)
    }
}

/// Bytes from an element to the next of the innermost dimension: none between those of less than a byte.
fn innermost_stride(format: TensorFormat) -> u64 {
    format.bits() / 8
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::options::Swizzle;
    use super::*;

    fn options() -> Options {
        Options::default()
    }

    #[track_caller]
    fn refused<const R: usize>(layout: Layout<R>, options: Options, address: u64) -> &'static str {
        let checked = layout.check(TensorFormat::F32, options, address, u64::MAX);
        match checked {
            Err(Error::Invalid { field, .. }) => field,
            other => panic!("{other:?}"),
        }
    }

    // Without it a map could let a kernel read past the end of its buffer: the driver is told no
    // length.
    #[test]
    fn an_array_is_taken_exactly_if_its_last_element_is_in_the_view() {
        fn property(dims: [u8; 3], gaps: [u8; 2], room: u16) -> bool {
            let dims = dims.map(|len| u64::from(len % 9) + 1);
            let row = (dims[0] * 4).next_multiple_of(16) + 16 * u64::from(gaps[0] % 3);
            let plane = row * dims[1] + 16 * u64::from(gaps[1] % 3);
            let mut layout = Layout::new(dims);
            layout.strides = Some([4, row, plane]);
            let room = u64::from(room % 4096);
            let mut last = 0;
            for x in 0..dims[0] {
                for y in 0..dims[1] {
                    for z in 0..dims[2] {
                        last = last.max(4 * x + row * y + plane * z + 4);
                    }
                }
            }
            let checked = layout.check(TensorFormat::F32, options(), 0x1000, room);
            checked.is_ok() == (last <= room)
        }
        quickcheck::QuickCheck::new()
            .tests(2000)
            .quickcheck(property as fn([u8; 3], [u8; 2], u16) -> bool);
        let whole = Layout::new([u64::MAX >> 33, 1 << 32, 1 << 32]);
        assert_eq!(refused(whole, options(), 0), "strides");
    }

    // Without it the driver would refuse with a code that names none of fifteen values.
    #[test]
    fn what_the_accelerator_cannot_take_is_named() {
        let good = Layout::new([64, 8]);
        let strides = good.check(TensorFormat::F32, options(), 0x100, 64 * 8 * 4);
        assert_eq!(strides, Ok([4, 256]));
        assert_eq!(refused(Layout::new([0]), options(), 0), "dims");
        assert_eq!(refused(Layout::new([(1 << 32) + 1]), options(), 0), "dims");
        // Rows of 12 bytes.
        assert_eq!(refused(Layout::new([3, 2]), options(), 0), "strides");
        let strides = Some([8, 512]);
        assert_eq!(refused(Layout { strides, ..good }, options(), 0), "strides");
        let strides = Some([4, 1 << 40]);
        assert_eq!(refused(Layout { strides, ..good }, options(), 0), "strides");
        let steps = [1, 9];
        assert_eq!(refused(Layout { steps, ..good }, options(), 0), "steps");
        assert_eq!(refused(good, options(), 8), "address");
        let sliced = Options {
            interleave: Interleave::Bytes32,
            swizzle: Swizzle::Bytes32,
            ..options()
        };
        assert_eq!(refused(good, sliced, 0), "interleave");
        assert_eq!(refused(Layout::new([8, 8, 8]), sliced, 16), "address");
        let format = Some(TensorFormat::F64);
        assert_eq!(refused(Layout { format, ..good }, options(), 0), "format");
        // Numbers of less than a byte are in bytes.
        let format = Some(TensorFormat::U4Align8);
        assert_eq!(refused(Layout { format, ..good }, options(), 0), "format");
        let format = Some(TensorFormat::U32);
        let filled = Options {
            fill: Fill::NotANumber,
            ..options()
        };
        assert_eq!(refused(Layout { format, ..good }, filled, 0), "fill");
    }

    // Without it rows of numbers of less than a byte could be taken for as many bytes, or be aligned as the
    // accelerator cannot take them.
    #[test]
    fn numbers_of_less_than_a_byte_lie_in_bytes() {
        let of = |dims: [u64; 2], format, address| {
            let mut layout = Layout::new(dims);
            layout.format = Some(format);
            let row = dims[0] * format.bits() / 8;
            let checked = layout.check(TensorFormat::U8, options(), address, 2 * row);
            let less = layout.check(TensorFormat::U8, options(), address, 2 * row - 1);
            assert!(less.is_err(), "a byte too few");
            match checked {
                Ok(strides) => {
                    assert_eq!(strides, [0, row]);
                    ""
                }
                Err(Error::Invalid { field, .. }) => field,
                Err(other) => panic!("{other}"),
            }
        };
        let packed = TensorFormat::U4Align8;
        assert_eq!(of([32, 2], packed, 16), "");
        assert_eq!(of([33, 2], packed, 16), "dims");
        assert_eq!(of([34, 2], packed, 16), "strides");
        for padded in [TensorFormat::U4Align16, TensorFormat::U6Align16] {
            assert_eq!(of([256, 2], padded, 32), "");
            assert_eq!(of([256, 2], padded, 16), "address");
            assert_eq!(of([192, 2], padded, 32), "dims");
        }
        let mut sliced = Layout::new([128, 4, 4]);
        sliced.format = Some(TensorFormat::U6Align16);
        let slices = Options {
            interleave: Interleave::Bytes16,
            ..options()
        };
        let checked = sliced.check(TensorFormat::U8, slices, 0, u64::MAX);
        assert!(
            matches!(
                checked,
                Err(Error::Invalid {
                    field: "interleave",
                    ..
                })
            ),
            "{checked:?}"
        );
        // The rows of such numbers are 32 bytes apart, or a multiple.
        sliced.strides = Some([0, 112, 448]);
        let checked = sliced.check(TensorFormat::U8, options(), 0, u64::MAX);
        assert!(
            matches!(
                checked,
                Err(Error::Invalid {
                    field: "strides",
                    ..
                })
            ),
            "{checked:?}"
        );
    }
}
