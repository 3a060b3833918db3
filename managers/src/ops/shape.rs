//! Which elements a copy is of: the rows of a [`Rectangle`], the slices of a [`Cuboid`]; and their
//! [`Extent`] in bytes, with as few rows and slices as it can be told by.

use std::hash::{DefaultHasher, Hash, Hasher};

use cupola_sys::driver::CUdeviceptr;

use crate::error::{Error, Result, Written};

/// Which elements a copy of rows is of: `height` rows of `width` elements. On each side the first row
/// begins at the first element, and each other one the side's pitch behind the row before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Elements of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Elements from the beginning of a row to that of the next where it is copied from.
    pub from_pitch: usize,
    /// The same where it is copied to.
    pub to_pitch: usize,
}

impl Rectangle {
    /// Rows without bytes between them, on both sides.
    #[must_use]
    pub const fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            from_pitch: width,
            to_pitch: width,
        }
    }

    /// With rows so many elements apart where they are copied from.
    #[must_use]
    pub const fn from_pitch(mut self, elements: usize) -> Self {
        self.from_pitch = elements;
        self
    }

    /// With rows so many elements apart where they are copied to.
    #[must_use]
    pub const fn to_pitch(mut self, elements: usize) -> Self {
        self.to_pitch = elements;
        self
    }

    /// The bytes of the rows, which lie in this many elements on each side.
    #[track_caller]
    pub(super) fn check<T>(&self, from: usize, to: usize) -> Result<Extent> {
        let Self { width, height, .. } = *self;
        for (name, pitch, len) in [
            ("from_pitch", self.from_pitch, from),
            ("to_pitch", self.to_pitch, to),
        ] {
            if height > 1 && pitch < width {
                let problem = format!("rows of {width} elements that begin {pitch} apart overlap");
                return Err(Error::invalid(name, problem));
            }
            if end_of(height, pitch, Some(width)).is_none_or(|end| end > len) {
                let problem = format!(
                    "{height} rows of {width}, {pitch} apart, do not lie in {len} elements"
                );
                return Err(Error::invalid("rectangle", problem));
            }
        }
        Ok(self.extent(size_of::<T>()))
    }

    /// The bytes of rows of elements of `size` bytes. They lie in memory, which has less bytes than there
    /// are addresses: no product is too large.
    fn extent(&self, size: usize) -> Extent {
        let Self { width, height, .. } = *self;
        if height == 0 || width * size == 0 {
            return Extent::default();
        }
        if height == 1 || (self.from_pitch == width && self.to_pitch == width) {
            return Extent::row(width * height * size);
        }
        Extent {
            width: width * size,
            height,
            depth: 1,
            from_pitch: self.from_pitch * size,
            from_rows: height,
            to_pitch: self.to_pitch * size,
            to_rows: height,
        }
    }
}

/// Which elements a copy of slices is of: `depth` slices of `height` rows of `width` elements. On each
/// side the first row begins at the first element, each other row of a slice the side's pitch behind
/// the row before, and each other slice the side's number of rows behind the slice before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuboid {
    /// Elements of a row.
    pub width: usize,
    /// Rows of a slice.
    pub height: usize,
    /// Slices.
    pub depth: usize,
    /// Elements from the beginning of a row to that of the next where it is copied from.
    pub from_pitch: usize,
    /// Rows from the beginning of a slice to that of the next where it is copied from.
    pub from_rows: usize,
    /// As `from_pitch`, where it is copied to.
    pub to_pitch: usize,
    /// As `from_rows`, where it is copied to.
    pub to_rows: usize,
}

impl Cuboid {
    /// Slices without bytes between them or their rows, on both sides.
    #[must_use]
    pub const fn new(width: usize, height: usize, depth: usize) -> Self {
        Self {
            width,
            height,
            depth,
            from_pitch: width,
            from_rows: height,
            to_pitch: width,
            to_rows: height,
        }
    }

    /// With rows so many elements apart where they are copied from.
    #[must_use]
    pub const fn from_pitch(mut self, elements: usize) -> Self {
        self.from_pitch = elements;
        self
    }

    /// With slices so many rows apart where they are copied from.
    #[must_use]
    pub const fn from_rows(mut self, rows: usize) -> Self {
        self.from_rows = rows;
        self
    }

    /// With rows so many elements apart where they are copied to.
    #[must_use]
    pub const fn to_pitch(mut self, elements: usize) -> Self {
        self.to_pitch = elements;
        self
    }

    /// With slices so many rows apart where they are copied to.
    #[must_use]
    pub const fn to_rows(mut self, rows: usize) -> Self {
        self.to_rows = rows;
        self
    }

    /// The bytes of the slices, which lie in this many elements on each side.
    #[track_caller]
    pub(super) fn check<T>(&self, from: usize, to: usize) -> Result<Extent> {
        let Self {
            width,
            height,
            depth,
            ..
        } = *self;
        for (pitch, rows, names, len) in [
            (
                self.from_pitch,
                self.from_rows,
                ["from_pitch", "from_rows"],
                from,
            ),
            (self.to_pitch, self.to_rows, ["to_pitch", "to_rows"], to),
        ] {
            if (height > 1 || depth > 1) && pitch < width {
                let problem = format!("rows of {width} elements that begin {pitch} apart overlap");
                return Err(Error::invalid(names[0], problem));
            }
            if depth > 1 && rows < height {
                let problem = format!("slices of {height} rows that begin {rows} apart overlap");
                return Err(Error::invalid(names[1], problem));
            }
            let slice = end_of(height, pitch, Some(width));
            let end = match (height, depth) {
                (0, _) | (_, 0) => Some(0),
                (_, 1) => slice,
                _ => {
                    let apart = pitch.checked_mul(rows);
                    apart.and_then(|apart| end_of(depth, apart, slice))
                }
            };
            if end.is_none_or(|end| end > len) {
                let problem = format!(
                    "{depth} slices of {height} rows of {width}, {rows} rows and {pitch} elements apart, \
                     do not lie in {len} elements"
                );
                return Err(Error::invalid("cuboid", problem));
            }
        }
        Ok(self.extent(size_of::<T>()))
    }

    /// As [`Rectangle::extent`]. Slices of one row, slices without rows between them, and such without
    /// bytes between their rows are a rectangle.
    fn extent(&self, size: usize) -> Extent {
        let Self {
            width,
            height,
            depth,
            from_pitch,
            from_rows,
            to_pitch,
            to_rows,
        } = *self;
        if width * height * size == 0 || depth == 0 {
            return Extent::default();
        }
        let rectangle = |width, height, from_pitch, to_pitch| {
            let rows = Rectangle {
                width,
                height,
                from_pitch,
                to_pitch,
            };
            rows.extent(size)
        };
        if depth == 1 || (from_rows == height && to_rows == height) {
            return rectangle(width, height * depth, from_pitch, to_pitch);
        }
        if height == 1 || (from_pitch == width && to_pitch == width) {
            let (from, to) = (from_pitch * from_rows, to_pitch * to_rows);
            return rectangle(width * height, depth, from, to);
        }
        Extent {
            width: width * size,
            height,
            depth,
            from_pitch: from_pitch * size,
            from_rows,
            to_pitch: to_pitch * size,
            to_rows,
        }
    }
}

/// Where the last of `count` things ends, which are `apart` from one another and have this length;
/// `None` where that is no number.
fn end_of(count: usize, apart: usize, len: Option<usize>) -> Option<usize> {
    match count.checked_sub(1) {
        Some(before) => before.checked_mul(apart)?.checked_add(len?),
        None => Some(0),
    }
}

/// What is copied, in bytes. It has one slice if its rows are equally far apart on each side, and one
/// row if all of its bytes lie behind one another on both. Without bytes its width is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) depth: usize,
    /// Bytes from the beginning of a row to that of the next.
    pub(super) from_pitch: usize,
    /// Rows from the beginning of a slice to that of the next.
    pub(super) from_rows: usize,
    pub(super) to_pitch: usize,
    pub(super) to_rows: usize,
}

impl Extent {
    /// So many bytes behind one another.
    pub(super) fn row(bytes: usize) -> Self {
        Self {
            width: bytes,
            height: 1,
            depth: 1,
            from_pitch: bytes,
            from_rows: 1,
            to_pitch: bytes,
            to_rows: 1,
        }
    }

    /// What a copy writes of a part of so many bytes, of which `first` tells apart where it begins.
    pub(super) fn written(self, first: CUdeviceptr, all: u64) -> Written {
        if self.height == 1 && self.width as u64 == all {
            return Written::All;
        }
        let mut digest = DefaultHasher::new();
        (first, self.width, self.height, self.depth).hash(&mut digest);
        (self.to_pitch, self.to_rows).hash(&mut digest);
        Written::Some(digest.finish())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it a copy of bytes that lie behind one another could be told by more rows than one, which
    // is another call of the driver, or one with gaps by too few.
    #[test]
    fn an_extent_has_as_few_rows_as_it_can() {
        let of = |cuboid: Cuboid| cuboid.check::<u32>(1000, 1000).unwrap();
        let cuboid = Cuboid::new(3, 4, 5);
        assert_eq!(of(cuboid), Extent::row(240));
        let rows = |width, height, from_pitch, to_pitch| Extent {
            width,
            height,
            depth: 1,
            from_pitch,
            from_rows: height,
            to_pitch,
            to_rows: height,
        };
        let wide = cuboid.from_pitch(7);
        assert_eq!(of(wide), rows(12, 20, 28, 12), "no rows between slices");
        let high = cuboid.to_rows(9);
        assert_eq!(of(high), rows(48, 5, 48, 108), "no bytes between rows");
        let flat = Cuboid::new(3, 1, 5).from_pitch(4).from_rows(6);
        assert_eq!(of(flat), rows(12, 5, 96, 12), "slices of a row");
        let slice = Cuboid::new(3, 4, 1).from_pitch(7).from_rows(0);
        assert_eq!(of(slice), rows(12, 4, 28, 12), "one slice");
        let gaps = cuboid.from_pitch(4).from_rows(5);
        assert_eq!((of(gaps).depth, of(gaps).from_rows), (5, 5));
        for [width, height, depth] in [[0, 4, 5], [3, 0, 5], [3, 4, 0]] {
            assert_eq!(of(Cuboid::new(width, height, depth)).width, 0);
        }
    }
}
