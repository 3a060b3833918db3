//! Rows of bytes at equal distances: the shape of one end of a copy, and of a fill.

/// `depth` slices of `height` rows of `width` bytes. No extent is zero, rows do not
/// overlap, and the last byte is less than 2^64 bytes from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::device) struct Rows {
    pub(in crate::device) width: u64,
    height: u64,
    depth: u64,
    /// Bytes from one row to the next.
    pitch: u64,
    /// Bytes from one slice to the next.
    slice: u64,
    span: u64,
}

impl Rows {
    /// One row.
    pub(in crate::device) fn one(len: u64) -> Self {
        Self {
            width: len,
            height: 1,
            depth: 1,
            pitch: len,
            slice: len,
            span: len,
        }
    }

    /// `None` if an extent is zero, if rows overlap, or if addresses would run over.
    pub(in crate::device) fn new(
        [width, height, depth]: [u64; 3],
        pitch: u64,
        slice: u64,
    ) -> Option<Self> {
        let plane = height.checked_sub(1)?.checked_mul(pitch)?;
        let plane = plane.checked_add(width)?;
        let span = depth.checked_sub(1)?.checked_mul(slice)?;
        let span = span.checked_add(plane)?;
        let apart = (height == 1 || pitch >= width) && (depth == 1 || slice >= plane);
        (width > 0 && apart).then_some(Self {
            width,
            height,
            depth,
            pitch,
            slice,
            span,
        })
    }

    /// The same rows without gaps.
    pub(in crate::device) fn packed(self) -> Self {
        let slice = self.width * self.height;
        Self {
            pitch: self.width,
            slice,
            span: slice * self.depth,
            ..self
        }
    }

    /// Width, height and depth, and how far rows and slices are apart.
    pub(in crate::device) fn shape(self) -> ([u64; 3], u64, u64) {
        (
            [self.width, self.height, self.depth],
            self.pitch,
            self.slice,
        )
    }

    /// Bytes from the first to the last, gaps between rows included.
    pub(in crate::device) fn span(self) -> u64 {
        self.span
    }

    /// Bytes in the rows: no more than the span, so that the product fits.
    pub(in crate::device) fn bytes(self) -> u64 {
        self.width * self.height * self.depth
    }

    /// Where the rows begin, ascending.
    pub(in crate::device) fn offsets(self) -> impl Iterator<Item = u64> {
        let planes = 0..self.depth;
        planes.flat_map(move |z| (0..self.height).map(move |y| z * self.slice + y * self.pitch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without it, a shape whose end is beyond all addresses could pass for a small one.
    #[test]
    fn shapes_that_cannot_be_are_refused() {
        assert_eq!(Rows::new([4, 2, 1], u64::MAX, 0), None);
        assert_eq!(Rows::new([4, 3, 1], u64::MAX / 2, 0), None);
        assert_eq!(Rows::new([4, 1, 3], 0, u64::MAX / 2), None);
        assert_eq!(Rows::new([u64::MAX, 2, 1], u64::MAX, 0), None);
        for zero in [[0, 1, 1], [1, 0, 1], [1, 1, 0]] {
            assert_eq!(Rows::new(zero, 8, 8), None);
        }
    }

    /// Without it, rows could be written over each other in an order that is not promised.
    #[test]
    fn rows_lie_apart() {
        assert_eq!(Rows::new([8, 2, 1], 7, 0), None);
        assert_eq!(Rows::new([8, 2, 2], 8, 15), None);
        let rows = Rows::new([8, 2, 2], 10, 18).unwrap();
        assert_eq!(rows.offsets().collect::<Vec<_>>(), [0, 10, 18, 28]);
        assert_eq!((rows.span(), rows.bytes()), (36, 32));
        let packed = rows.packed();
        assert_eq!(packed.offsets().collect::<Vec<_>>(), [0, 8, 16, 24]);
        assert_eq!(packed.span(), 32);
    }
}
