//! What the model does with memory that goes from one process to the other, or back to its own.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use cupola_managers::interop::{ExternalMemory, ExternalMemoryConfig};
use cupola_managers::vmm::{Access, ImportCharge, PhysicalMemory};
use cupola_sharing::{SharingError, receive, send};

use super::model::{Model, granted};
use super::process::{Hold, Piece, Side};
use super::{Import, Pick, Way};

/// Memory on its way.
enum Sent {
    /// In a socket, whose other end is closed.
    Message(UnixStream),
    Descriptor(OwnedFd),
}

/// Sends the memory, if this process may.
fn sent(memory: &PhysicalMemory, way: Way) -> Option<Sent> {
    match way {
        Way::Socket => {
            let (ours, theirs) = UnixStream::pair().unwrap();
            let sent = send(&ours, memory).ok();
            sent.map(|()| Sent::Message(theirs))
        }
        Way::Descriptor | Way::External => memory.export().ok().map(Sent::Descriptor),
    }
}

/// What the device of `side` gets, unless it is refused: for the limit, or for being another one than the memory's.
fn received(
    sent: Sent,
    side: &Side,
    (bytes, is_charged): (u64, bool),
    is_over: bool,
    is_at_home: bool,
) -> Option<PhysicalMemory> {
    let charge = match is_charged {
        true => ImportCharge::ThisLimit,
        false => ImportCharge::OtherLimit,
    };
    match sent {
        Sent::Descriptor(file) => granted(side.memory.import(file, bytes, charge), is_over),
        Sent::Message(socket) => match receive(&socket, &side.memory, charge) {
            Err(SharingError::Device { .. }) => {
                assert!(!is_at_home);
                None
            }
            Err(SharingError::Cuda(error)) => granted(Err(error), is_over),
            Err(error) => panic!("{error}"),
            Ok(memory) => {
                assert!(is_at_home);
                granted(Ok(memory), is_over)
            }
        },
    }
}

/// The same as memory of another API.
fn external(
    file: OwnedFd,
    side: &Side,
    (bytes, is_charged): (u64, bool),
    is_over: bool,
) -> Option<Hold> {
    let config = ExternalMemoryConfig::new(bytes);
    let config = match is_charged {
        true => config.within(side.memory.limit()),
        false => config,
    };
    // SAFETY: the descriptor is of as many bytes.
    let imported = unsafe { ExternalMemory::import(&side.context, file, config) };
    let mapped = imported.and_then(|memory| memory.map(0..bytes));
    granted(mapped, is_over).map(Hold::External)
}

impl Model {
    pub(super) fn share(&mut self, piece: Pick, to: Import, drops_first: bool) {
        let Some((process, at)) = self.piece(piece) else {
            return;
        };
        let piece = &self.processes[process].pieces[at];
        let Some(memory) = piece.memory() else {
            return;
        };
        let (allocation, home, bytes) = (piece.allocation, piece.home, piece.bytes);
        let sent = sent(memory, to.way);
        assert_eq!(
            sent.is_some(),
            !piece.is_import,
            "its creator alone exports it"
        );
        let Some(sent) = sent else {
            return;
        };
        if drops_first {
            self.processes[process].pieces.swap_remove(at);
        }
        // Of another API it is imported where it is.
        let device = match to.way {
            Way::External => home,
            Way::Socket | Way::Descriptor => to.device % 2,
        };
        let process = to.process % 2;
        let is_over = to.is_charged && self.is_over(process, device, bytes);
        let (side, asked) = (
            &self.processes[process].sides[device],
            (bytes, to.is_charged),
        );
        let imported = match (to.way, sent) {
            (Way::External, Sent::Descriptor(file)) => {
                let mut access = [None; 2];
                access[device] = Some(Access::ReadWrite);
                external(file, side, asked, is_over).map(|hold| (hold, access))
            }
            (_, sent) => received(sent, side, asked, is_over, device == home).map(|memory| {
                let (range, access) = self.map(memory, device, home);
                (Hold::Range(range), access)
            }),
        };
        let Some((hold, access)) = imported else {
            return;
        };
        self.processes[process].pieces.push(Piece {
            hold,
            allocation,
            device,
            home,
            bytes,
            is_charged: to.is_charged,
            is_import: true,
            access,
        });
    }
}
