//! Sockets whose other end keeps to no protocol.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use cupola_keeper::{KeeperConfig, Rights};
use cupola_managers::pool::DeviceLimit;
use cupola_random::Random;
use cupola_sharing::wire;
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};

use super::{Bench, PAGE};

pub(crate) fn frame(kind: u16, body: &[u8]) -> Vec<u8> {
    let mut frame = b"cukp\x01\0".to_vec();
    frame.extend_from_slice(&kind.to_le_bytes());
    frame.extend_from_slice(&(body.len() as u32).to_le_bytes());
    frame.extend_from_slice(&[0; 4]);
    frame.extend_from_slice(body);
    frame
}

/// The identity of the bench's device.
pub(crate) fn device(bench: &Bench) -> [u8; 16] {
    let memory = bench.context.virtual_memory(&DeviceLimit::new(0));
    memory.unwrap().device_uuid().unwrap()
}

fn pidfd(process: Pid) -> OwnedFd {
    pidfd_open(process, PidfdFlags::empty()).unwrap()
}

/// Another process, which a stranger says to be.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    pub(crate) fn pidfd(&self) -> OwnedFd {
        let number = i32::try_from(self.0.id()).unwrap();
        pidfd(Pid::from_raw(number).unwrap())
    }

    pub(crate) fn end(&mut self) {
        // One that has ended before is as good.
        let _ = self.0.kill();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether the keeper has closed the socket, after whatever it has said.
pub(crate) fn is_cut_off(mut socket: &UnixStream) -> bool {
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut said = Vec::new();
    match socket.read_to_end(&mut said) {
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

// Without it a worker that has gone mad could take its keeper along, and with it all others.
#[test]
fn those_that_say_nonsense_are_cut_off_alone() {
    let config = KeeperConfig::limit(4 * PAGE).patience(Duration::from_millis(200));
    let bench = Bench::new(config.guests(400));
    let guest = bench.guest();
    let kept = bench.seal(&guest, "weights", PAGE, 3);
    let own = pidfd(getpid());
    let device = device(&bench);
    let mut random = Random::new(3);
    for round in 0..200 {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        bench.keeper.serve(ours).unwrap();
        let introduces_itself = round % 2 == 0;
        if introduces_itself {
            wire::send(&theirs, &frame(1, &device), Some(own.as_fd())).unwrap();
        }
        let length = 1 + random.below(60) as usize;
        let noise = random.bytes(length);
        let nonsense = match random.below(6) {
            0 => noise,
            // A kind of the other direction, or none.
            1 => frame(11 + random.below(90) as u16, &noise),
            2 => frame(1 + random.below(10) as u16, &noise[..length.min(3)]),
            // Never finished.
            3 => frame(2, &noise)[..8].to_vec(),
            // What it has not.
            4 => frame(8, &[1, 0, 0, 0, 0, 0, 0, 0, 0]),
            _ => frame(9, &random.next_u64().to_le_bytes()),
        };
        // It may be cut off before it has said all of it.
        let _ = theirs.write_all(&nonsense);
        // Nothing more comes.
        let _ = theirs.shutdown(std::net::Shutdown::Write);
        assert!(is_cut_off(&theirs), "round {round}");
    }
    // Descriptors that are no process, or come where none should.
    let (ours, theirs) = UnixStream::pair().unwrap();
    bench.keeper.serve(ours).unwrap();
    wire::send(&theirs, &frame(1, &device), Some(theirs.as_fd())).unwrap();
    assert!(is_cut_off(&theirs));
    let (ours, theirs) = UnixStream::pair().unwrap();
    bench.keeper.serve(ours).unwrap();
    wire::send(&theirs, &frame(1, &device), Some(own.as_fd())).unwrap();
    wire::send(&theirs, &frame(7, &[]), Some(own.as_fd())).unwrap();
    assert!(is_cut_off(&theirs));
    // One that goes mad while it fills an object: its memory counts as long as its process is there, which may
    // have it mapped, and its name is free.
    let (ours, theirs) = UnixStream::pair().unwrap();
    bench.keeper.serve(ours).unwrap();
    wire::send(&theirs, &frame(1, &device), Some(own.as_fd())).unwrap();
    let create = [&PAGE.to_le_bytes()[..], &[0], b"mad"].concat();
    wire::send(&theirs, &frame(2, &create), None).unwrap();
    wire::send(&theirs, &frame(99, &[]), None).unwrap();
    assert!(is_cut_off(&theirs));
    assert_eq!(bench.keeper.objects().len(), 1);
    assert_eq!(bench.keeper.used(), 2 * PAGE);
    drop(guest.create("mad", PAGE, Rights::Read).unwrap());
    assert_eq!(guest.list().unwrap().len(), 1);
    // The others have seen nothing of it.
    bench.assert_filled(&guest.open("weights", Rights::Read).unwrap(), 3);
    assert_eq!(bench.keeper.used(), 2 * PAGE);
    drop((kept, guest));
    bench.finish();
}

// Without it a guest that is stopped could stop the keeper, or have it keep a thread for ever.
#[test]
fn one_that_does_not_listen_stops_no_other() {
    let config = KeeperConfig::limit(4 * PAGE).patience(Duration::from_millis(300));
    let bench = Bench::new(config);
    let guest = bench.guest();
    drop(bench.seal(&guest, "weights", PAGE, 3));
    let own = pidfd(getpid());
    let device = device(&bench);
    let (ours, theirs) = UnixStream::pair().unwrap();
    bench.keeper.serve(ours).unwrap();
    wire::send(&theirs, &frame(1, &device), Some(own.as_fd())).unwrap();
    // Asks and asks, and never reads an answer: until neither side has room.
    theirs
        .set_write_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let opening = frame(7, &[]).repeat(100);
    while (&theirs).write_all(&opening).is_ok() {
        // The others are served all the while.
        assert_eq!(guest.list().unwrap().len(), 1);
    }
    assert!(is_cut_off(&theirs));
    assert_eq!(
        bench
            .keeper
            .guests()
            .iter()
            .filter(|guest| guest.has_memory)
            .count(),
        0
    );
    drop(guest);
    bench.finish();
}

// Without it a keeper would count memory for a guest that has ended while a thread still sends it: as long as
// another process has the guest's socket and reads nothing, and for a moment after each answer.
#[test]
fn memory_on_its_way_to_a_guest_that_has_ended_does_not_count() {
    let config = KeeperConfig::limit(64 * PAGE).piece(PAGE);
    let bench = Bench::new(config.patience(Duration::from_secs(600)));
    let guest = bench.guest();
    drop(bench.seal(&guest, "weights", 64 * PAGE, 3));
    let device = device(&bench);
    let mut process = Process::start();
    // Room for a few of the pieces.
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&ours, 4096).unwrap();
    bench.keeper.serve(ours).unwrap();
    wire::send(&theirs, &frame(1, &device), Some(process.pidfd().as_fd())).unwrap();
    wire::send(&theirs, &frame(5, b"\0weights"), None).unwrap();
    // Two greetings, and the answer has begun.
    let mut begun = [0; 16 + 16 + 38];
    theirs.read_exact(&mut begun).unwrap();
    process.end();
    bench.keeper.remove("weights").unwrap();
    assert_eq!(bench.keeper.used(), 0);
    drop((guest, theirs));
    bench.finish();
}

// Without it a guest could keep a thread of the keeper for ever by a byte now and then.
#[test]
fn one_that_never_finishes_a_frame_is_cut_off_though_its_bytes_come() {
    let patience = Duration::from_millis(200);
    let bench = Bench::new(KeeperConfig::limit(PAGE).patience(patience));
    let (ours, theirs) = UnixStream::pair().unwrap();
    bench.keeper.serve(ours).unwrap();
    let frame = frame(4, &[0; 4 << 10]);
    // All of them take a hundred times the patience.
    let sent = frame.chunks(1).take_while(|byte| {
        thread::sleep(patience / 40);
        (&theirs).write_all(byte).is_ok()
    });
    assert!(sent.count() < frame.len());
    assert!(is_cut_off(&theirs));
    bench.finish();
}
