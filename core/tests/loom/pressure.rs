//! The gauge: each crossing is reported once, and the last one is right.

use cupola_core::{Budget, Crossing, Pressure, PressureGauge};
use loom::sync::Arc;
use loom::thread;

use super::model;

/// All that the gauge tells one caller.
fn reports(gauge: &PressureGauge, budget: &Budget) -> Vec<Crossing> {
    std::iter::from_fn(|| gauge.observe(budget)).collect()
}

/// Would break if whoever loses the exchange reported too, or nobody did.
#[test]
fn a_crossing_is_reported_once() {
    model(&["here", "there"], |seen| {
        let shared = Arc::new((Budget::new(100), PressureGauge::default()));
        let charge = || {
            let shared = Arc::clone(&shared);
            move || {
                let (budget, gauge) = &*shared;
                let _ = budget.reserve(45).unwrap().commit();
                reports(gauge, budget)
            }
        };
        let there = thread::spawn(charge());
        let mut all = charge()();
        seen.note(if all.is_empty() { "there" } else { "here" });
        all.extend(there.join().unwrap());
        let crossing = Crossing {
            from: Pressure::Low,
            to: Pressure::High,
            number: 1,
        };
        assert_eq!(all, [crossing]);
    });
}

/// One thread looks at a budget of which 60 % are in use, while another makes that less
/// and looks too.
fn calm_down(calm: fn(&Budget)) {
    model(&["never rose", "rose and fell"], move |seen| {
        let shared = Arc::new((Budget::new(100), PressureGauge::default()));
        let _ = shared.0.reserve(60).unwrap().commit();
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || reports(&shared.1, &shared.0))
        };
        let (budget, gauge) = &*shared;
        calm(budget);
        let mut all = reports(gauge, budget);
        all.extend(other.join().unwrap());
        all.sort_by_key(|crossing| crossing.number);
        let levels: Vec<_> = all.iter().map(|c| (c.number, c.from, c.to)).collect();
        let (low, medium) = (Pressure::Low, Pressure::Medium);
        seen.note(match levels.as_slice() {
            [] => "never rose",
            [first, second] if (*first, *second) == ((1, low, medium), (2, medium, low)) => {
                "rose and fell"
            }
            _ => "something else",
        });
        assert_eq!(gauge.level(), low);
    });
}

/// Would break if a caller that looked at the budget before a change could have the last
/// word: the gauge would stay high though all bytes have come back.
#[test]
fn the_last_report_is_of_what_is_in_use() {
    calm_down(|budget| budget.release(60).unwrap());
}

/// The same for a limit that is raised.
#[test]
fn the_last_report_is_of_the_last_limit() {
    calm_down(|budget| {
        budget.set_limit(1000);
    });
}

/// Would break if a gauge could judge by bytes and a limit of different instants: 90 bytes
/// of 1000 are little, and so are none of 50.
#[test]
fn what_never_was_is_not_reported() {
    model(&["before the new limit", "after it"], |seen| {
        let shared = Arc::new((Budget::new(1000), PressureGauge::default()));
        let _ = shared.0.reserve(90).unwrap().commit();
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let limit = shared.0.limit();
                (limit, shared.1.observe(&shared.0))
            })
        };
        shared.0.release(90).unwrap();
        shared.0.set_limit(50);
        let (limit, crossing) = other.join().unwrap();
        assert_eq!(crossing, None);
        seen.note(if limit == 1000 {
            "before the new limit"
        } else {
            "after it"
        });
    });
}
