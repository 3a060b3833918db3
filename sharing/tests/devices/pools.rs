//! What the model does with pools, and with rows and slices of rows.

use cupola_managers::Error;
use cupola_managers::ops::{self, Cuboid, Rectangle};
use cupola_managers::peer::PeerError;

use super::Pick;
use super::model::{Model, granted};
use super::process::{Bytes, LEN, LIMIT, Marked, PAGE, Process};

/// Width, height and depth of rows, or of slices of rows.
pub(super) type Extent = [usize; 3];

/// One of at least a byte.
pub(super) fn extent([width, height, depth]: [u8; 3]) -> Extent {
    let within = |number: u8, most: usize| 1 + usize::from(number) % most;
    match depth % 2 {
        0 => [within(width, 8), within(height, 8), 1],
        _ => [within(width, 4), within(height, 4), 2 + within(depth, 2)],
    }
}

/// In 8 rows of 8 bytes.
fn rectangle([width, height, _]: Extent) -> Rectangle {
    Rectangle::new(width, height).from_pitch(8).to_pitch(8)
}

/// In 4 slices of 4 rows of 4 bytes.
fn cuboid([width, height, depth]: Extent) -> Cuboid {
    let cuboid = Cuboid::new(width, height, depth).from_pitch(4).to_pitch(4);
    cuboid.from_rows(4).to_rows(4)
}

/// Puts the bytes there as either copy does.
fn copied(from: &Bytes, to: &mut Bytes, [width, height, depth]: Extent) {
    let pitch = if depth == 1 { 8 } else { 4 };
    for (z, y) in (0..depth).flat_map(|z| (0..height).map(move |y| (z, y))) {
        let at = z * 16 + y * pitch;
        to[at..at + width].copy_from_slice(&from[at..at + width]);
    }
}

impl Model {
    /// Between pieces, by a device that may access both.
    pub(super) fn box_by(&mut self, from: Pick, to: Pick, by: usize, extent: Extent) {
        let Some((process, from)) = self.piece(from) else {
            return;
        };
        let Process { sides, pieces, .. } = &self.processes[process];
        let (from, to) = (&pieces[from], &pieces[to % pieces.len()]);
        if !from.may_read(by) || !to.may_write(by) || from.allocation == to.allocation {
            return;
        }
        let (stream, source, target) = (&sides[by].stream, from.view(), to.view_mut());
        match extent {
            [_, _, 1] => ops::copy_2d(source, target, rectangle(extent), stream).unwrap(),
            _ => ops::copy_3d(source, target, cuboid(extent), stream).unwrap(),
        }
        let holds = self.contents[from.allocation];
        copied(&holds, &mut self.contents[to.allocation], extent);
    }

    /// Between buffers of one process, on whichever devices.
    pub(super) fn box_between(&mut self, from: Pick, to: Pick, extent: Extent) {
        let Some((process, from)) = self.buffer(from) else {
            return;
        };
        let Process { sides, buffers, .. } = &mut self.processes[process];
        let to = to % buffers.len();
        if from == to {
            return;
        }
        let mut target = buffers.swap_remove(to);
        let from = if from == buffers.len() { to } else { from };
        let source = &mut buffers[from];
        let device = source.device;
        let stream = &sides[device].stream;
        let (part, rest) = (source.buffer.slice(..LEN), target.buffer.slice_mut(..LEN));
        let (part, rest) = (part.unwrap(), rest.unwrap());
        match extent {
            [_, _, 1] => ops::copy_between_2d(part, rest, rectangle(extent), stream).unwrap(),
            _ => ops::copy_between_3d(part, rest, cuboid(extent), stream).unwrap(),
        }
        copied(&source.holds, &mut target.holds, extent);
        target.is_used_by_peer |= target.device != device && sides[target.device].is_open;
        buffers.push(target);
        let last = buffers.len() - 1;
        buffers.swap(to, last);
    }

    /// A page of the device's pool.
    pub(super) fn allocate(&mut self, process: usize, device: usize, value: u8) {
        let owner = &mut self.processes[process];
        // What the pool keeps for reuse is given up for it.
        let needed = owner.charged(device) + owner.allocated(device) + PAGE;
        let side = &owner.sides[device];
        let made = side.pool.allocate::<u8>(PAGE as usize, &side.stream);
        if let Some(mut buffer) = granted(made, needed > LIMIT) {
            ops::fill(&mut buffer, value, &side.stream).unwrap();
            owner.buffers.push(Marked {
                buffer,
                device,
                holds: [value; LEN],
                is_used_by_peer: false,
            });
        }
    }

    /// The pool of the device to the other one.
    pub(super) fn open(&mut self, process: usize, device: usize) {
        let sides = &mut self.processes[process].sides;
        match sides[device].pool.open_to(&sides[1 - device].context) {
            Ok(()) => sides[device].is_open = true,
            Err(error) => return self.assert_apart(1 - device, &error),
        }
        assert_ne!(self.apart, Some(1 - device));
    }

    pub(super) fn close(&mut self, process: usize, device: usize) {
        let Process { sides, buffers, .. } = &mut self.processes[process];
        let used = |marked: &&Marked| marked.device == device && marked.is_used_by_peer;
        let in_use = buffers.iter().filter(used).count();
        match sides[device].pool.close_to(&sides[1 - device].context) {
            Ok(()) => {
                assert_eq!(in_use, 0);
                sides[device].is_open = false;
            }
            Err(Error::Peer(error)) => {
                let expected = PeerError::InUse {
                    device: 1 - device as u32,
                    peer: device as u32,
                    buffers: in_use,
                    freed: 0,
                };
                assert_eq!(*error, expected);
                assert!(in_use > 0 && sides[device].is_open);
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// By the device whose pool it is not.
    pub(super) fn fill_by_peer(&mut self, buffer: Pick, value: u8) {
        let Some((process, at)) = self.buffer(buffer) else {
            return;
        };
        let Process { sides, buffers, .. } = &mut self.processes[process];
        let marked = &mut buffers[at];
        match ops::fill(&mut marked.buffer, value, &sides[1 - marked.device].stream) {
            Ok(()) => {
                assert!(sides[marked.device].is_open);
                marked.is_used_by_peer = true;
                marked.holds = [value; LEN];
            }
            Err(error) => {
                assert!(matches!(error, Error::WrongContext { .. }), "{error}");
                assert!(!sides[marked.device].is_open);
            }
        }
    }
}
