//! `Model`: two processes, and the account that they are held against.

use cupola_managers::ops::{self, PeerAddress};
use cupola_managers::peer::PeerError;
use cupola_managers::vmm::{Access, AddressRange, PhysicalMemory};
use cupola_managers::{Error, Result};
use cupola_sys::driver::CUresult;

use super::pools::extent;
use super::process::{Bytes, Hold, LEN, LIMIT, PAGE, Piece, Process};
use super::{Pick, Step};

pub(super) struct Model {
    /// The device that has no access to the other one's memory.
    pub(super) apart: Option<usize>,
    pub(super) processes: Vec<Process>,
    /// By allocation.
    pub(super) contents: Vec<Bytes>,
}

fn access(writes: bool) -> Access {
    match writes {
        true => Access::ReadWrite,
        false => Access::Read,
    }
}

/// One that a number falls on, of as many.
fn pick(number: Pick, len: usize) -> Option<usize> {
    (len > 0).then(|| number % len)
}

/// What was made, unless it was refused for the limit, and only for that.
pub(super) fn granted<T>(made: Result<T>, is_over: bool) -> Option<T> {
    match made {
        Ok(made) => {
            assert!(!is_over, "beyond the limit");
            Some(made)
        }
        Err(Error::OverLimit(account)) => {
            assert!(is_over, "{account}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

impl Model {
    pub(super) fn new(apart: Option<usize>) -> Self {
        Self {
            apart,
            processes: [0; 2].map(|_| Process::new(apart)).into(),
            contents: Vec::new(),
        }
    }

    pub(super) fn finish(self) {
        self.processes.into_iter().for_each(Process::end);
    }

    fn is_linked(&self, device: usize, owner: usize) -> bool {
        device == owner || self.apart != Some(device)
    }

    /// A piece of either process, as process and place.
    pub(super) fn piece(&self, number: Pick) -> Option<(usize, usize)> {
        let lens = [0, 1].map(|process| self.processes[process].pieces.len());
        let at = pick(number, lens[0] + lens[1])?;
        Some(if at < lens[0] {
            (0, at)
        } else {
            (1, at - lens[0])
        })
    }

    pub(super) fn buffer(&self, number: Pick) -> Option<(usize, usize)> {
        let lens = [0, 1].map(|process| self.processes[process].buffers.len());
        let at = pick(number, lens[0] + lens[1])?;
        Some(if at < lens[0] {
            (0, at)
        } else {
            (1, at - lens[0])
        })
    }

    pub(super) fn step(&mut self, step: Step) {
        match step {
            Step::Create {
                process,
                device,
                pages,
            } => self.create(process % 2, device % 2, pages),
            Step::Share {
                piece,
                to,
                drops_first,
            } => self.share(piece, to, drops_first),
            Step::Grant { piece, writes } => self.grant(piece, writes),
            Step::Revoke { piece } => self.revoke(piece),
            Step::Restrict { piece, writes } => self.restrict(piece, writes),
            Step::Move { piece } => self.relocate(piece),
            Step::Drop { piece } => {
                if let Some((process, at)) = self.piece(piece) {
                    self.processes[process].pieces.swap_remove(at);
                }
            }
            Step::Fill { piece, by, value } => self.fill(piece, by % 2, value),
            Step::Copy {
                from,
                to,
                of_source,
            } => self.copy(from, to, of_source),
            Step::Box {
                from,
                to,
                by,
                shape,
            } => self.box_by(from, to, by % 2, extent(shape)),
            Step::Allocate {
                process,
                device,
                value,
            } => {
                self.allocate(process % 2, device % 2, value);
            }
            Step::Free { buffer } => {
                if let Some((process, at)) = self.buffer(buffer) {
                    self.processes[process].buffers.swap_remove(at);
                }
            }
            Step::Open { process, device } => self.open(process % 2, device % 2),
            Step::Close { process, device } => self.close(process % 2, device % 2),
            Step::FillByPeer { buffer, value } => self.fill_by_peer(buffer, value),
            Step::BoxBetween { from, to, shape } => self.box_between(from, to, extent(shape)),
            Step::End { process } => {
                self.processes.remove(process % 2).end();
                self.processes.push(Process::new(self.apart));
            }
        }
        self.processes.iter().for_each(Process::wait);
        for process in &self.processes {
            process.check(&self.contents);
        }
    }

    /// Whether the device's limit has no room for so many bytes.
    pub(super) fn is_over(&self, process: usize, device: usize, bytes: u64) -> bool {
        let process = &self.processes[process];
        process.charged(device) + process.sides[device].pool.mapped() + bytes > LIMIT
    }

    fn create(&mut self, process: usize, device: usize, pages: u64) {
        let bytes = pages * PAGE;
        let is_over = self.is_over(process, device, bytes);
        let made = self.processes[process].sides[device]
            .memory
            .create_exportable(bytes);
        let Some(memory) = granted(made, is_over) else {
            return;
        };
        self.contents.push([0; LEN]);
        let (range, granted) = self.map(memory, device, device);
        self.processes[process].pieces.push(Piece {
            hold: Hold::Range(range),
            allocation: self.contents.len() - 1,
            device,
            home: device,
            bytes,
            is_charged: true,
            is_import: false,
            access: granted,
        });
    }

    /// Maps the memory for its device, if that may have it.
    pub(super) fn map(
        &self,
        memory: PhysicalMemory,
        device: usize,
        home: usize,
    ) -> (AddressRange, [Option<Access>; 2]) {
        let bytes = memory.bytes();
        let mut range = memory.virtual_memory().reserve(bytes).unwrap();
        range.map(0, memory).unwrap();
        let mut access = [None; 2];
        match range.set_access(0..bytes, Access::ReadWrite) {
            Ok(()) => {
                assert!(self.is_linked(device, home));
                access[device] = Some(Access::ReadWrite);
            }
            Err(error) => {
                assert!(!self.is_linked(device, home), "{error}");
                assert_eq!(error.status(), Some(CUresult::CUDA_ERROR_NOT_SUPPORTED));
            }
        }
        (range, access)
    }

    fn grant(&mut self, piece: Pick, writes: bool) {
        let Some((process, at)) = self.piece(piece) else {
            return;
        };
        let Process { sides, pieces, .. } = &mut self.processes[process];
        let piece = &mut pieces[at];
        let Hold::Range(range) = &piece.hold else {
            return;
        };
        let peer = 1 - piece.device;
        match range.grant_peer(0..piece.bytes, &sides[peer].context, access(writes)) {
            Ok(()) => {
                assert_ne!(self.apart, Some(peer));
                piece.access[peer] = Some(access(writes));
            }
            Err(error) => self.assert_apart(peer, &error),
        }
    }

    /// The device was refused for want of a link, and only for that.
    pub(super) fn assert_apart(&self, device: usize, error: &Error) {
        let no_link = PeerError::NoLink {
            device: device as u32,
            peer: 1 - device as u32,
        };
        assert!(
            matches!(error, Error::Peer(found) if **found == no_link),
            "{error}"
        );
        assert_eq!(self.apart, Some(device));
    }

    fn revoke(&mut self, piece: Pick) {
        let Some((process, at)) = self.piece(piece) else {
            return;
        };
        let Process { sides, pieces, .. } = &mut self.processes[process];
        let piece = &mut pieces[at];
        if let Hold::Range(range) = &piece.hold {
            let peer = 1 - piece.device;
            range
                .revoke_peer(0..piece.bytes, &sides[peer].context)
                .unwrap();
            piece.access[peer] = None;
        }
    }

    fn restrict(&mut self, piece: Pick, writes: bool) {
        let Some((process, at)) = self.piece(piece) else {
            return;
        };
        let piece = &mut self.processes[process].pieces[at];
        let Hold::Range(range) = &piece.hold else {
            return;
        };
        if piece.may_read(piece.device) {
            range.set_access(0..piece.bytes, access(writes)).unwrap();
            piece.access[piece.device] = Some(access(writes));
        }
    }

    fn relocate(&mut self, piece: Pick) {
        let Some((process, at)) = self.piece(piece) else {
            return;
        };
        let mut piece = self.processes[process].pieces.swap_remove(at);
        if let Hold::Range(range) = &mut piece.hold {
            // SAFETY: all work was waited for.
            let memory = unsafe { range.unmap(0) }.unwrap();
            let (range, access) = self.map(memory, piece.device, piece.home);
            (piece.hold, piece.access) = (Hold::Range(range), access);
        }
        self.processes[process].pieces.push(piece);
    }

    fn fill(&mut self, piece: Pick, by: usize, value: u8) {
        let Some((process, at)) = self.piece(piece) else {
            return;
        };
        let Process { sides, pieces, .. } = &self.processes[process];
        let piece = &pieces[at];
        if piece.may_write(by) {
            ops::fill(piece.view_mut(), value, &sides[by].stream).unwrap();
            self.contents[piece.allocation] = [value; LEN];
        }
    }

    fn copy(&mut self, from: Pick, to: Pick, of_source: bool) {
        let Some((process, from)) = self.piece(from) else {
            return;
        };
        let Process { sides, pieces, .. } = &self.processes[process];
        let (from, to) = (&pieces[from], &pieces[to % pieces.len()]);
        if !from.may_read(from.device) || !to.may_write(to.device) {
            return;
        }
        if from.allocation == to.allocation {
            return;
        }
        let end = |piece: &Piece| PeerAddress {
            context: &sides[piece.device].context,
            address: piece.address(),
        };
        let stream = match of_source {
            true => &sides[from.device].stream,
            false => &sides[to.device].stream,
        };
        // SAFETY: both have the bytes, and all other work was waited for.
        unsafe { ops::copy_between_raw(end(from), end(to), LEN, stream) }.unwrap();
        self.contents[to.allocation] = self.contents[from.allocation];
    }
}
