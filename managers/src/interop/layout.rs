//! Shapes and strides of arrays, checked.

use crate::error::{Error, Result};

/// The lengths of an array's dimensions and the distances in them, of which it is known that no offset
/// overflows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Elements of each dimension.
    pub(super) shape: Box<[u64]>,
    /// Units from one element to the next, by dimension.
    pub(super) strides: Box<[i64]>,
    /// Product of the shape.
    pub(super) elements: usize,
    /// Units from the lowest to the end of the highest element; none where there are no elements. At most
    /// `i64::MAX`.
    pub(super) span: u64,
    /// How many of them are below the first element.
    pub(super) below: u64,
    /// Whether the elements are in C order without holes.
    pub(super) is_contiguous: bool,
}

impl Layout {
    /// A layout whose elements are `unit` units long: bytes, or 1 where strides count elements. Without strides the
    /// elements are in C order without holes.
    ///
    /// # Errors
    /// [`Error::Invalid`] of `shape`, or of `strides`.
    pub(super) fn new(shape: Box<[u64]>, strides: Option<&[i64]>, unit: u64) -> Result<Self> {
        let elements = elements(&shape)?;
        let strides: Box<[i64]> = match strides {
            Some(strides) if strides.len() == shape.len() => strides.into(),
            Some(strides) => {
                let (given, needed) = (strides.len(), shape.len());
                let problem = format!("there are {given} for {needed} dimensions");
                return Err(Error::invalid("strides", problem));
            }
            None => compact(&shape, unit),
        };
        let (below, span) = extent(&shape, &strides, unit)?;
        let is_contiguous = is_contiguous(&shape, &strides, unit);
        Ok(Self {
            shape,
            strides,
            elements,
            span,
            below,
            is_contiguous,
        })
    }
}

/// The elements of a shape; 1 for no dimensions.
pub(super) fn elements(shape: &[u64]) -> Result<usize> {
    // Before the product: the lengths beside it may overflow.
    if shape.contains(&0) {
        return Ok(0);
    }
    let product = shape
        .iter()
        .try_fold(1_u64, |product, &len| product.checked_mul(len));
    let elements = product.and_then(|product| usize::try_from(product).ok());
    elements.ok_or_else(|| {
        Error::invalid(
            "shape",
            format!("{shape:?} has more elements than memory has"),
        )
    })
}

/// Demands that a shape has as many elements as the memory.
pub(super) fn fits(shape: &[u64], len: usize) -> Result<()> {
    let elements = elements(shape)?;
    if elements == len {
        return Ok(());
    }
    let problem = format!("{shape:?} has {elements} elements, the memory {len}");
    Err(Error::invalid("shape", problem))
}

/// The strides of C order without holes. Dimensions without elements count as one of one element, so that no stride
/// is 0; where the product of such a shape overflows, strides mean nothing and saturate.
pub(super) fn compact(shape: &[u64], unit: u64) -> Box<[i64]> {
    let as_stride = |units: u64| i64::try_from(units).unwrap_or(i64::MAX);
    let mut strides = vec![0; shape.len()].into_boxed_slice();
    let mut next = unit;
    for (stride, &len) in strides.iter_mut().zip(shape).rev() {
        *stride = as_stride(next);
        next = next.saturating_mul(len.max(1));
    }
    strides
}

/// How many units are below the first element, and how many there are from the lowest to the end of the highest.
fn extent(shape: &[u64], strides: &[i64], unit: u64) -> Result<(u64, u64)> {
    if shape.contains(&0) {
        return Ok((0, 0));
    }
    let too_far = || {
        let problem = format!("{strides:?} of {shape:?} reach further than memory does");
        Error::invalid("strides", problem)
    };
    let (mut low, mut high) = (0_i128, i128::from(unit));
    for (&len, &stride) in shape.iter().zip(strides) {
        // Below 2^127: a product of 64 bits and of 63.
        let reach = i128::from(len - 1) * i128::from(stride);
        let end = if reach < 0 { &mut low } else { &mut high };
        *end = end.checked_add(reach).ok_or_else(too_far)?;
    }
    let span = high.checked_sub(low).and_then(|it| i64::try_from(it).ok());
    let span = span.ok_or_else(too_far)?;
    Ok((low.unsigned_abs() as u64, span as u64))
}

/// Whether strides are those of an array in C order without holes. Those of dimensions of at most one element mean
/// nothing.
fn is_contiguous(shape: &[u64], strides: &[i64], unit: u64) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = i128::from(unit);
    for (&len, &stride) in shape.iter().zip(strides).rev() {
        if len > 1 && i128::from(stride) != expected {
            return false;
        }
        expected = expected.saturating_mul(i128::from(len));
    }
    true
}

#[cfg(all(test, not(loom)))]
mod tests {
    use quickcheck::{Arbitrary, Gen, QuickCheck};

    use super::*;

    /// A small array, with strides of both signs and of 0.
    #[derive(Clone, Debug)]
    struct Small {
        shape: Vec<u64>,
        strides: Vec<i64>,
        unit: u64,
    }

    impl Arbitrary for Small {
        fn arbitrary(g: &mut Gen) -> Self {
            let unit = 1 + u64::arbitrary(g) % 3;
            let dimensions = usize::arbitrary(g) % 5;
            let shape: Vec<u64> = (0..dimensions).map(|_| u64::arbitrary(g) % 4).collect();
            let strides = match bool::arbitrary(g) {
                // Often C order, or nearly.
                true => {
                    let mut strides = compact(&shape, unit).into_vec();
                    if let Some(first) = strides.first_mut() {
                        *first += i64::arbitrary(g) % 2;
                    }
                    strides
                }
                false => (0..dimensions).map(|_| i64::arbitrary(g) % 9).collect(),
            };
            Self {
                shape,
                strides,
                unit,
            }
        }
    }

    /// The offset of each element, in C order, found by counting indices up.
    fn offsets(small: &Small) -> Vec<i64> {
        let mut found = Vec::new();
        let mut index = vec![0_u64; small.shape.len()];
        if small.shape.contains(&0) {
            return found;
        }
        loop {
            let steps = index.iter().zip(&small.strides);
            found.push(steps.map(|(&at, &stride)| at as i64 * stride).sum());
            let Some(place) = (0..index.len())
                .rev()
                .find(|&place| index[place] + 1 < small.shape[place])
            else {
                return found;
            };
            index[place] += 1;
            index[place + 1..].fill(0);
        }
    }

    // Without it a view could reach beyond an array, or an array with holes or in another order be taken for one in C
    // order.
    #[test]
    fn a_layout_is_what_its_offsets_say() {
        #[expect(clippy::needless_pass_by_value, reason = "quickcheck gives values")]
        fn property(small: Small) -> bool {
            let layout = Layout::new(small.shape.clone().into(), Some(&small.strides), small.unit);
            let Ok(layout) = layout else {
                return false;
            };
            let offsets = offsets(&small);
            let unit = small.unit as i64;
            let low = offsets.iter().copied().min().unwrap_or(0);
            let end = offsets.iter().map(|at| at + unit).max().unwrap_or(0);
            let mut in_order = offsets.iter().zip((0..).step_by(small.unit as usize));
            layout.elements == offsets.len()
                && layout.below == low.unsigned_abs()
                && layout.span == (end - low) as u64
                && layout.is_contiguous == in_order.all(|(&at, expected)| at == expected)
        }
        QuickCheck::new()
            .tests(20_000)
            .quickcheck(property as fn(Small) -> bool);
    }

    // Without it lengths and strides of any size could overflow, and an array be taken that no memory holds.
    #[test]
    fn no_layout_overflows() {
        #[expect(clippy::needless_pass_by_value, reason = "quickcheck gives values")]
        fn property(shape: Vec<u64>, strides: Vec<i64>, unit: u8) -> bool {
            let unit = u64::from(unit).max(1);
            let wide: Option<i128> = shape.iter().try_fold(1_i128, |product, &len| {
                product.checked_mul(i128::from(len)).filter(|it| *it >= 0)
            });
            let Ok(layout) = Layout::new(shape.clone().into(), Some(&strides), unit) else {
                return true;
            };
            let last = layout.shape.iter().zip(&layout.strides);
            let reach: Option<i128> = last.map(|(&len, &stride)| (len, stride)).try_fold(
                i128::from(unit),
                |reach, (len, stride)| {
                    let step = i128::from(len.saturating_sub(1)) * i128::from(stride);
                    reach.checked_add(step.abs())
                },
            );
            shape.contains(&0)
                || (wide == Some(layout.elements as i128)
                    && reach == Some(i128::from(layout.span))
                    && layout.below < layout.span)
        }
        QuickCheck::new()
            .tests(20_000)
            .quickcheck(property as fn(Vec<u64>, Vec<i64>, u8) -> bool);
    }

    // Without it the special cases of shapes could be mistaken.
    #[test]
    fn shapes_and_strides_are_checked() {
        let layout = |shape: &[u64], strides: &[i64]| Layout::new(shape.into(), Some(strides), 1);
        let is_contiguous = |shape: &[u64], strides: &[i64]| {
            layout(shape, strides).is_ok_and(|layout| layout.is_contiguous)
        };
        assert_eq!(elements(&[]), Ok(1));
        assert_eq!(elements(&[2, 3, 0]), Ok(0));
        assert_eq!(elements(&[u64::MAX, 2, 0]), Ok(0));
        assert!(elements(&[u64::MAX, 2]).is_err());
        assert!(fits(&[2, 3], 6).is_ok());
        assert!(fits(&[2, 3], 7).is_err());
        assert!(is_contiguous(&[1, 3], &[77, 1]), "one row");
        assert!(is_contiguous(&[0, 3], &[-1, 5]), "nothing");
        assert!(!is_contiguous(&[2, 3], &[1, 2]), "columns first");
        assert!(!is_contiguous(&[2, 3], &[4, 1]), "padded");
        assert!(!is_contiguous(&[3], &[-1]), "backwards");
        assert!(!is_contiguous(&[3], &[0]), "one for all");
        assert_eq!(*compact(&[2, 0, 3], 4), [12, 12, 4]);
        let far = layout(&[3], &[i64::MAX]);
        assert!(matches!(
            far,
            Err(Error::Invalid {
                field: "strides",
                ..
            })
        ));
        let few = layout(&[3, 4], &[1]);
        assert!(matches!(
            few,
            Err(Error::Invalid {
                field: "strides",
                ..
            })
        ));
        let none = Layout::new([2, 3].into(), None, 4);
        assert_eq!(none.map(|it| it.strides), Ok([12, 4].into()));
    }
}
