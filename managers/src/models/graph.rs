//! The order of launches of graphs that share memory.

use loom::sync::Arc;
use loom::thread;

use crate::graph::order::LaunchOrder;
use crate::models::managers::{Shared, close, managers};
use crate::models::model;
use crate::models::piece::Piece;
use crate::models::test_driver::{device, launch_graph};
use crate::stream::{Stream, StreamConfig};

/// What the graphs of a group share.
struct Group {
    order: LaunchOrder,
    /// What threads do to the memory by their launches.
    memory: Piece,
}

impl Group {
    /// Launches a graph of the group, as an executable does. The driver notes a launch that comes
    /// after less than all earlier ones.
    fn launch(&self, stream: &Stream) {
        let turn = self.order.take_turn(stream).unwrap();
        self.memory.touch();
        launch_graph(stream.raw());
        turn.end(stream, stream.timeline().stamp());
    }
}

fn group() -> Arc<Group> {
    Arc::new(Group {
        order: LaunchOrder::default(),
        memory: Piece::new(),
    })
}

fn stream(managers: &Shared) -> Stream {
    managers.streams.acquire(StreamConfig::default()).unwrap()
}

/// The end of a model: a last launch, which must come after all others. The place among them of that
/// on the stream at this address.
fn finish(managers: Shared, group: Arc<Group>, stream: Stream, other: usize) -> usize {
    group.launch(&stream);
    let launches = device().launches.clone();
    drop((group, stream));
    close(managers);
    launches.iter().position(|it| *it == other).unwrap()
}

// Without it two threads could launch graphs side by side in one memory.
#[test]
fn launches_of_threads_come_one_after_the_other() {
    model(&["first", "second"], |seen| {
        let (managers, group) = (managers(), group());
        let (mine, others) = (stream(&managers), stream(&managers));
        let address = others.raw().addr();
        let other = thread::spawn({
            let group = Arc::clone(&group);
            move || group.launch(&others)
        });
        group.launch(&mine);
        other.join().unwrap();
        let place = finish(managers, group, mine, address);
        seen.note(["first", "second"][place]);
    });
}

// Without it a launch could wait for one that is not the last: of another stream, or an earlier one of
// the same.
#[test]
fn the_last_launch_is_the_one_that_is_waited_for() {
    const PLACES: [&str; 3] = ["before", "between", "behind"];
    model(&PLACES, |seen| {
        let (managers, group) = (managers(), group());
        let (mine, others) = (stream(&managers), stream(&managers));
        let address = others.raw().addr();
        let other = thread::spawn({
            let group = Arc::clone(&group);
            move || group.launch(&others)
        });
        group.launch(&mine);
        group.launch(&mine);
        other.join().unwrap();
        let place = finish(managers, group, mine, address);
        seen.note(PLACES[place]);
    });
}

// Without it the launches of a third thread could wait for one of two others' and not for both.
#[test]
fn launches_of_three_threads_come_one_after_the_other() {
    const PLACES: [&str; 3] = ["first", "second", "third"];
    model(&PLACES, |seen| {
        let (managers, group) = (managers(), group());
        let mine = stream(&managers);
        let address = mine.raw().addr();
        let others = [(); 2].map(|()| {
            let (group, stream) = (Arc::clone(&group), stream(&managers));
            thread::spawn(move || group.launch(&stream))
        });
        group.launch(&mine);
        for other in others {
            other.join().unwrap();
        }
        let place = finish(managers, group, mine, address);
        seen.note(PLACES[place]);
    });
}
