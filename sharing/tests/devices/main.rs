//! Random operations of two processes with two devices each, against a naive account of what every device may do,
//! what every limit counts and what every piece of memory holds. A machine of its own stands for each process: the
//! memory behind a descriptor is one on all machines.
#![cfg(target_os = "linux")]

mod imports;
mod model;
mod pools;
mod process;

use quickcheck::{Arbitrary, Gen, QuickCheck};

use model::Model;

/// What is picked, of those that there are, by any number.
type Pick = usize;

/// One operation. A device is 0 or 1, and so is a process.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Exportable memory of so many pages.
    Create {
        process: Pick,
        device: Pick,
        pages: u64,
    },
    Share {
        piece: Pick,
        to: Import,
        drops_first: bool,
    },
    /// Lets the other device access a piece.
    Grant {
        piece: Pick,
        writes: bool,
    },
    Revoke {
        piece: Pick,
    },
    /// Changes what the piece's own device may do.
    Restrict {
        piece: Pick,
        writes: bool,
    },
    /// Maps a piece somewhere else.
    Move {
        piece: Pick,
    },
    Drop {
        piece: Pick,
    },
    /// By one of the two devices.
    Fill {
        piece: Pick,
        by: Pick,
        value: u8,
    },
    /// Between memory of a process, on the stream of either side.
    Copy {
        from: Pick,
        to: Pick,
        of_source: bool,
    },
    /// Rows, or slices of rows, between pieces that a device may access both.
    Box {
        from: Pick,
        to: Pick,
        by: Pick,
        shape: [u8; 3],
    },
    /// A page of a device's pool, and what is done with pools.
    Allocate {
        process: Pick,
        device: Pick,
        value: u8,
    },
    Free {
        buffer: Pick,
    },
    Open {
        process: Pick,
        device: Pick,
    },
    Close {
        process: Pick,
        device: Pick,
    },
    /// By the device whose pool it is not.
    FillByPeer {
        buffer: Pick,
        value: u8,
    },
    /// Rows, or slices of rows, between buffers of a process.
    BoxBetween {
        from: Pick,
        to: Pick,
        shape: [u8; 3],
    },
    /// A process ends, and another one begins.
    End {
        process: Pick,
    },
}

/// How a piece is imported.
#[derive(Clone, Copy, Debug)]
struct Import {
    process: Pick,
    device: Pick,
    is_charged: bool,
    way: Way,
}

#[derive(Clone, Copy, Debug)]
enum Way {
    /// Over a socket, to a device that it has to be of.
    Socket,
    /// By its descriptor, to either device.
    Descriptor,
    /// As memory of another API.
    External,
}

impl Arbitrary for Import {
    fn arbitrary(g: &mut Gen) -> Self {
        Self {
            process: Pick::arbitrary(g),
            device: Pick::arbitrary(g),
            is_charged: bool::arbitrary(g),
            way: *g
                .choose(&[Way::Socket, Way::Descriptor, Way::External])
                .unwrap_or(&Way::Socket),
        }
    }
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let [a, b, by] = [Pick::arbitrary(g), Pick::arbitrary(g), Pick::arbitrary(g)];
        let (flag, value) = (bool::arbitrary(g), u8::arbitrary(g));
        let shape = [0; 3].map(|_| u8::arbitrary(g));
        match u8::arbitrary(g) % 64 {
            0..8 => Self::Create {
                process: a,
                device: b,
                pages: 1 + u64::from(value % 3),
            },
            8..18 => Self::Share {
                piece: a,
                to: Import::arbitrary(g),
                drops_first: flag,
            },
            18..25 => Self::Grant {
                piece: a,
                writes: flag,
            },
            25..28 => Self::Revoke { piece: a },
            28..30 => Self::Restrict {
                piece: a,
                writes: flag,
            },
            30..32 => Self::Move { piece: a },
            32..36 => Self::Drop { piece: a },
            36..42 => Self::Fill {
                piece: a,
                by: b,
                value,
            },
            42..46 => Self::Copy {
                from: a,
                to: b,
                of_source: flag,
            },
            46..50 => Self::Box {
                from: a,
                to: b,
                by,
                shape,
            },
            50..54 => Self::Allocate {
                process: a,
                device: b,
                value,
            },
            54..56 => Self::Free { buffer: a },
            56..58 => Self::Open {
                process: a,
                device: b,
            },
            58 => Self::Close {
                process: a,
                device: b,
            },
            59..61 => Self::FillByPeer { buffer: a, value },
            61..63 => Self::BoxBetween {
                from: a,
                to: b,
                shape,
            },
            _ => Self::End { process: a },
        }
    }
}

/// Open files of this process, which runs one test.
fn files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

// Without it memory could be out of reach of a device that was given it, or within reach of one that was not, show
// other bytes than its other users', or be charged twice or never, in an order of calls that no other test has.
#[test]
fn random_orders_agree_with_a_naive_account() {
    fn property(steps: Vec<Step>, apart: Option<bool>) -> bool {
        let before = files();
        let mut model = Model::new(apart.map(usize::from));
        for step in steps {
            model.step(step);
        }
        model.finish();
        assert_eq!(files(), before, "open files");
        true
    }
    // What is opened once for all stays.
    Model::new(None).finish();
    QuickCheck::new()
        .tests(80)
        .quickcheck(property as fn(Vec<Step>, Option<bool>) -> bool);
}
