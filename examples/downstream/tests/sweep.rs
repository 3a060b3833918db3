//! Every driver call of the crate's life fails once.

use cupola::testing::{Machine, Sweep};
use downstream::Scaler;

// Without it a path that runs only when something fails could leak, hang, panic or report
// success.
#[test]
fn every_call_may_fail() {
    let machine = Machine::builder().worker_threads(1);
    let table = Sweep::new(machine, |stage| {
        stage.context()?; // kept, so that the sweep sees whether it is lost
        let scaler = Scaler::new(&stage.device()?, 8 << 20)?;
        for n in [1.0, 2.0] {
            assert_eq!(scaler.scale(n, &[1.0; 100])?, [n; 100]);
        }
        Ok(())
    })
    .title("a scaler")
    .run();
    println!("{table}");
    assert!(
        table.problems().is_empty(),
        "{}",
        table.problems().join("\n")
    );
}
