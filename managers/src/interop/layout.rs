//! Shapes of arrays, checked.

use crate::error::{Error, Result};

/// The elements of a shape; 1 for no dimensions.
pub(super) fn elements(shape: &[u64]) -> Result<usize> {
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

/// Whether strides in elements are those of an array in C order without holes. Those of dimensions of at most
/// one element mean nothing.
pub(super) fn is_contiguous(shape: &[u64], strides: &[i64]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1_i64;
    for (&len, &stride) in shape.iter().zip(strides).rev() {
        if len > 1 && stride != expected {
            return false;
        }
        let Ok(len) = i64::try_from(len) else {
            return false;
        };
        expected = expected.saturating_mul(len);
    }
    true
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it memory beyond an array could be read, or an array with holes be taken for one without.
    #[test]
    fn shapes_and_strides_are_checked() {
        assert_eq!(elements(&[]), Ok(1));
        assert_eq!(elements(&[2, 3, 0]), Ok(0));
        assert!(elements(&[u64::MAX, 2]).is_err());
        assert!(fits(&[2, 3], 6).is_ok());
        assert!(fits(&[2, 3], 7).is_err());
        assert!(is_contiguous(&[2, 3], &[3, 1]));
        assert!(is_contiguous(&[1, 3], &[77, 1]), "one row");
        assert!(is_contiguous(&[0, 3], &[-1, 5]), "nothing");
        assert!(!is_contiguous(&[2, 3], &[1, 2]), "columns first");
        assert!(!is_contiguous(&[2, 3], &[4, 1]), "padded");
        assert!(!is_contiguous(&[3], &[-1]), "backwards");
    }
}
