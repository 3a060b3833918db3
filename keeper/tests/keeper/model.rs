//! Random operations of three guests and their keeper, against a model that counts bytes and knows what each
//! object holds.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use cupola_keeper::{
    Filling, Guest, KeeperConfig, KeeperError, Kept, ObjectState, Rights, SleepMode,
};
use cupola_random::Random;

use super::{Bench, PAGE};

const LIMIT: u64 = 8 * PAGE;
const GUESTS: usize = 3;
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

struct Object {
    bytes: u64,
    rights: Rights,
    value: u8,
    state: ObjectState,
}

struct Open {
    kept: Kept,
    guest: usize,
    object: u64,
}

struct Fill {
    filling: Filling,
    guest: usize,
    object: u64,
    again: bool,
}

/// What there should be.
#[derive(Default)]
struct Model {
    objects: BTreeMap<u64, Object>,
    names: BTreeMap<&'static str, u64>,
    opens: Vec<Open>,
    fills: Vec<Fill>,
    last: u64,
}

impl Model {
    fn is_mapped(&self, object: u64) -> bool {
        let mut opens = self.opens.iter();
        opens.any(|open| open.object == object && open.kept.is_awake())
            || self.fills.iter().any(|fill| fill.object == object)
    }

    /// Removed objects that no guest has mapped are no more.
    fn settle(&mut self) {
        let named: Vec<_> = self.names.values().copied().collect();
        let gone = self.objects.keys().copied();
        let gone = gone.filter(|id| !named.contains(id) && !self.is_mapped(*id));
        for id in gone.collect::<Vec<_>>() {
            self.objects.remove(&id);
        }
    }

    fn used(&self) -> u64 {
        let on_device = self
            .objects
            .values()
            .filter(|object| matches!(object.state, ObjectState::Awake | ObjectState::Filling));
        on_device.map(|object| object.bytes).sum()
    }

    fn state(&self, name: &str) -> Option<ObjectState> {
        Some(self.objects[self.names.get(name)?].state)
    }
}

struct Run {
    bench: Bench,
    guests: Vec<Guest>,
    model: Model,
    random: Random,
    what: String,
}

impl Run {
    fn step(&mut self) {
        let guest = self.random.index(GUESTS);
        let name = NAMES[self.random.index(NAMES.len())];
        match self.random.below(11) {
            0 | 1 => self.create(guest, name),
            2 => self.seal(),
            3 => self.give_up(),
            4 | 5 => self.open(guest, name),
            6 => self.drop_one(),
            7 => self.remove(guest, name),
            8 => self.sleep(name),
            9 => self.refill(guest, name),
            _ => self.wake(name),
        }
    }

    fn create(&mut self, guest: usize, name: &'static str) {
        let (bytes, rights) = ((1 + self.random.below(3)) * PAGE, self.rights());
        let model = &mut self.model;
        match self.guests[guest].create(name, bytes, rights) {
            Ok(filling) => {
                assert!(!model.names.contains_key(name), "{}", self.what);
                assert!(model.used() + bytes <= LIMIT, "{}", self.what);
                model.last += 1;
                let (object, state) = (model.last, ObjectState::Filling);
                model.names.insert(name, object);
                model.objects.insert(
                    object,
                    Object {
                        bytes,
                        rights,
                        value: 0,
                        state,
                    },
                );
                model.fills.push(Fill {
                    filling,
                    guest,
                    object,
                    again: false,
                });
            }
            Err(KeeperError::Exists { .. }) => {
                assert!(model.names.contains_key(name), "{}", self.what);
            }
            Err(KeeperError::OverLimit { used, .. }) => {
                assert!(model.used() + bytes > LIMIT, "{}", self.what);
                assert_eq!(used, model.used(), "{}", self.what);
            }
            Err(other) => panic!("{}: {other}", self.what),
        }
    }

    fn rights(&mut self) -> Rights {
        if self.random.one_in(2) {
            Rights::Read
        } else {
            Rights::ReadWrite
        }
    }

    fn seal(&mut self) {
        let Some(mut fill) = self.take_fill() else {
            return;
        };
        let value = self.random.below(256) as u8;
        self.bench.fill(&mut fill.filling, value);
        let kept = fill.filling.seal(vec![value]).unwrap();
        let object = self.model.objects.get_mut(&fill.object).unwrap();
        object.value = value;
        object.state = ObjectState::Awake;
        let Fill { guest, object, .. } = fill;
        self.model.opens.push(Open {
            kept,
            guest,
            object,
        });
    }

    fn take_fill(&mut self) -> Option<Fill> {
        let count = self.model.fills.len();
        (count > 0).then(|| self.model.fills.swap_remove(self.random.index(count)))
    }

    fn give_up(&mut self) {
        let Some(fill) = self.take_fill() else {
            return;
        };
        let (object, again) = (fill.object, fill.again);
        drop(fill.filling);
        self.hear(fill.guest);
        if again {
            self.model.objects.get_mut(&object).unwrap().state = ObjectState::Discarded;
        } else {
            self.model.names.retain(|_, id| *id != object);
        }
    }

    /// What a guest has said without an answer is done.
    fn hear(&self, guest: usize) {
        self.guests[guest].list().unwrap();
    }

    fn open(&mut self, guest: usize, name: &'static str) {
        let rights = self.rights();
        let model = &mut self.model;
        let opened = self.guests[guest].open(name, rights);
        let Some(&id) = model.names.get(name) else {
            assert!(
                matches!(opened, Err(KeeperError::NotFound { .. })),
                "{}",
                self.what
            );
            return;
        };
        let room = LIMIT - model.used();
        let object = model.objects.get_mut(&id).unwrap();
        match opened {
            Ok(kept) => {
                let fits = object.state == ObjectState::Awake || object.bytes <= room;
                assert!(fits, "{}", self.what);
                assert!(matches!(
                    object.state,
                    ObjectState::Awake | ObjectState::Asleep
                ));
                assert!(rights == Rights::Read || object.rights == Rights::ReadWrite);
                object.state = ObjectState::Awake;
                assert_eq!(kept.description().unwrap(), [object.value], "{}", self.what);
                self.bench.assert_filled(&kept, object.value);
                model.opens.push(Open {
                    kept,
                    guest,
                    object: id,
                });
            }
            Err(KeeperError::ReadOnly { .. }) => {
                assert!(rights == Rights::ReadWrite && object.rights == Rights::Read);
            }
            Err(KeeperError::Filling { .. }) => assert_eq!(object.state, ObjectState::Filling),
            Err(KeeperError::Discarded { .. }) => assert_eq!(object.state, ObjectState::Discarded),
            Err(KeeperError::OverLimit { .. }) => {
                assert!(
                    object.state == ObjectState::Asleep && object.bytes > room,
                    "{}",
                    self.what
                );
            }
            Err(other) => panic!("{}: {other}", self.what),
        }
    }

    fn drop_one(&mut self) {
        let count = self.model.opens.len();
        if count > 0 {
            let open = self.model.opens.swap_remove(self.random.index(count));
            drop(open.kept);
            self.hear(open.guest);
        }
    }

    fn remove(&mut self, guest: usize, name: &'static str) {
        let removed = self.guests[guest].remove(name);
        match self.model.state(name) {
            None => assert!(
                matches!(removed, Err(KeeperError::NotFound { .. })),
                "{}",
                self.what
            ),
            Some(ObjectState::Filling) => {
                assert!(
                    matches!(removed, Err(KeeperError::Filling { .. })),
                    "{}",
                    self.what
                );
            }
            Some(_) => {
                removed.unwrap();
                self.model.names.remove(name);
            }
        }
    }

    fn sleep(&mut self, name: &'static str) {
        let mode = if self.random.one_in(3) {
            SleepMode::Discard
        } else {
            SleepMode::HostCopy
        };
        let (keeper, most) = (&self.bench.keeper, Duration::from_secs(20));
        let (id, state) = (self.model.names.get(name), self.model.state(name));
        let holds = |guest| {
            let mut opens = self.model.opens.iter();
            opens
                .any(|open| open.guest == guest && Some(&open.object) == id && open.kept.is_awake())
        };
        let slept = if state == Some(ObjectState::Awake) {
            let holders: Vec<_> = (0..GUESTS).filter(|&guest| holds(guest)).collect();
            thread::scope(|threads| {
                let sleep = threads.spawn(|| keeper.sleep(name, mode, most));
                for guest in holders {
                    assert!(
                        self.guests[guest].attend_for(most).unwrap() > 0,
                        "{}",
                        self.what
                    );
                }
                sleep.join().unwrap()
            })
        } else {
            keeper.sleep(name, mode, most)
        };
        match state {
            None => assert!(
                matches!(slept, Err(KeeperError::NotFound { .. })),
                "{}",
                self.what
            ),
            Some(ObjectState::Awake) => {
                slept.unwrap();
                let object = self.model.objects.get_mut(&self.model.names[name]).unwrap();
                object.state = match mode {
                    SleepMode::Discard => ObjectState::Discarded,
                    SleepMode::HostCopy => ObjectState::Asleep,
                };
            }
            Some(_) => assert!(
                matches!(
                    slept,
                    Err(KeeperError::Asleep { .. }
                        | KeeperError::Discarded { .. }
                        | KeeperError::Filling { .. })
                ),
                "{}",
                self.what
            ),
        }
    }

    fn refill(&mut self, guest: usize, name: &'static str) {
        let room = LIMIT - self.model.used();
        match self.guests[guest].refill(name) {
            Ok(filling) => {
                assert_eq!(
                    self.model.state(name),
                    Some(ObjectState::Discarded),
                    "{}",
                    self.what
                );
                let id = self.model.names[name];
                let object = self.model.objects.get_mut(&id).unwrap();
                assert!(object.bytes <= room, "{}", self.what);
                object.state = ObjectState::Filling;
                self.model.fills.push(Fill {
                    filling,
                    guest,
                    object: id,
                    again: true,
                });
            }
            Err(KeeperError::OverLimit { .. }) => {
                assert_eq!(
                    self.model.state(name),
                    Some(ObjectState::Discarded),
                    "{}",
                    self.what
                );
                assert!(
                    self.model.objects[&self.model.names[name]].bytes > room,
                    "{}",
                    self.what
                );
            }
            Err(
                KeeperError::NotFound { .. }
                | KeeperError::Filling { .. }
                | KeeperError::NotDiscarded { .. },
            ) => {
                assert_ne!(
                    self.model.state(name),
                    Some(ObjectState::Discarded),
                    "{}",
                    self.what
                );
            }
            Err(other) => panic!("{}: {other}", self.what),
        }
    }

    /// The object by its keeper, or one opening of any by its guest.
    fn wake(&mut self, name: &'static str) {
        let (room, count) = (LIMIT - self.model.used(), self.model.opens.len());
        if count == 0 || self.random.one_in(2) {
            let woken = self.bench.keeper.wake(name);
            if self.model.state(name) == Some(ObjectState::Asleep) {
                let object = self.model.objects.get_mut(&self.model.names[name]).unwrap();
                assert_eq!(woken.is_ok(), object.bytes <= room, "{}", self.what);
                if woken.is_ok() {
                    object.state = ObjectState::Awake;
                }
            }
            return;
        }
        let open = &self.model.opens[self.random.index(count)];
        let (was_awake, woken) = (open.kept.is_awake(), open.kept.wake());
        if was_awake {
            woken.unwrap();
            return;
        }
        let is_named = self.model.names.values().any(|id| *id == open.object);
        let Some(object) = self
            .model
            .objects
            .get_mut(&open.object)
            .filter(|_| is_named)
        else {
            assert!(
                matches!(
                    woken,
                    Err(KeeperError::NotFound { .. } | KeeperError::NotHeld { .. })
                ),
                "{}",
                self.what
            );
            return;
        };
        match woken {
            Ok(()) => {
                assert!(
                    object.state == ObjectState::Awake || object.bytes <= room,
                    "{}",
                    self.what
                );
                object.state = ObjectState::Awake;
                self.bench.assert_filled(&open.kept, object.value);
            }
            Err(KeeperError::OverLimit { .. }) => {
                assert!(
                    object.state == ObjectState::Asleep && object.bytes > room,
                    "{}",
                    self.what
                );
            }
            Err(KeeperError::Discarded { .. }) => assert_eq!(object.state, ObjectState::Discarded),
            Err(KeeperError::Filling { .. }) => assert_eq!(object.state, ObjectState::Filling),
            Err(other) => panic!("{}: {other}", self.what),
        }
    }

    fn check(&mut self) {
        self.model.settle();
        assert_eq!(self.bench.keeper.used(), self.model.used(), "{}", self.what);
        let objects = self.bench.keeper.objects();
        let states: Vec<_> = objects
            .iter()
            .map(|it| (it.name.as_str(), it.bytes, it.state))
            .collect();
        let wanted = self.model.names.iter().map(|(&name, id)| {
            let object = &self.model.objects[id];
            (name, object.bytes, object.state)
        });
        assert_eq!(states, wanted.collect::<Vec<_>>(), "{}", self.what);
    }
}

// Without it some order of creations, openings, sleeps and ends could lose an object, mix its bytes up with
// another's, or leave the limit wrong by a page.
#[test]
fn random_operations_agree_with_a_model() {
    for seed in 0..12 {
        let bench = Bench::new(KeeperConfig::limit(LIMIT).piece(2 * PAGE));
        let guests = (0..GUESTS).map(|_| bench.guest()).collect();
        let mut run = Run {
            bench,
            guests,
            model: Model::default(),
            random: Random::new(seed),
            what: String::new(),
        };
        for step in 0..150 {
            run.what = format!("seed {seed}, step {step}");
            run.step();
            run.check();
        }
        let Run {
            bench,
            guests,
            model,
            ..
        } = run;
        drop((model, guests));
        bench.finish();
    }
}
