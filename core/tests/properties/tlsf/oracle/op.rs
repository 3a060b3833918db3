//! What the heap's owner can do, and how bytes choose it.

/// Tags stand for streams and tickets: blocks of different tags merge when both are complete.
pub(crate) const TAGS: u8 = 4;

/// What the heap's owner can do. Numbers choose among what there is, by remainder.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Allocate {
        size: u64,
        align: u64,
        tag: u8,
    },
    AllocateBelow {
        size: u64,
        align: u64,
        tag: u8,
        most: u64,
    },
    Look {
        size: u64,
        align: u64,
    },
    /// Takes a place that was looked up, after `skew` was done to it.
    Take {
        which: usize,
        skew: u8,
        tag: u8,
    },
    AllocateAt {
        offset: u64,
        size: u64,
        tag: u8,
    },
    Free {
        which: usize,
        tag: u8,
    },
    FreeAgain {
        which: usize,
    },
    Split {
        which: usize,
        size: u64,
    },
    Remove {
        which: usize,
    },
    /// Gives all free blocks of one tag another.
    UpdateFree {
        from: u8,
        to: u8,
    },
    /// Looks up a name that was given out.
    Piece {
        which: usize,
    },
    CoalesceAll,
    /// Which tags are complete, as bits, and which tag no request may use.
    Rules {
        complete: u8,
        forbidden: u8,
    },
    AddRange {
        start: u64,
        size: u64,
        tag: u8,
    },
    Lend {
        nodes: usize,
    },
}

impl Op {
    /// Four bytes make an operation on a heap that begins at `base`.
    pub(crate) fn new([kind, a, b, c]: [u8; 4], base: u64) -> Self {
        let (which, tag) = (usize::from(a), c % TAGS);
        let size = match b {
            255 => u64::MAX - u64::from(a),
            254 => 1 << (a % 64),
            253 => 0,
            _ => u64::from(a) << (b % 5),
        };
        let place = |unit| base.saturating_add(u64::from(b) * unit);
        let align = match c {
            255 => 3,
            254 => 0,
            253 => 1 << 63,
            _ => 1 << (c / 4 % 10),
        };
        match kind % 32 {
            0..7 => Self::Allocate { size, align, tag },
            7 => Self::AllocateBelow {
                size,
                align,
                tag,
                most: u64::from(kind / 32 % 2),
            },
            8..10 => Self::Look { size, align },
            10..12 => Self::Take {
                which,
                skew: b,
                tag,
            },
            12..20 => Self::Free { which, tag },
            20 => Self::FreeAgain { which },
            21..23 => Self::UpdateFree {
                from: a % TAGS,
                to: tag,
            },
            23 => Self::Piece { which },
            24 => Self::CoalesceAll,
            25 => Self::Rules {
                complete: a,
                forbidden: b,
            },
            26 => Self::AllocateAt {
                offset: place(8),
                size: u64::from(a) + 1,
                tag,
            },
            27 => Self::Split { which, size },
            28 if b % 2 == 0 => Self::Remove { which },
            28..30 => Self::AddRange {
                start: place(64),
                size: u64::from(a) * 16,
                tag,
            },
            _ => Self::Lend { nodes: which % 8 },
        }
    }
}
