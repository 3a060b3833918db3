//! What most tests of managers begin with.

use cupola_managers::{Context, ExecutionManager};
use cupola_sim::Machine;
use cupola_sim::fault::FaultTable;

/// A software device behind a table of faults, and its primary context.
pub(crate) fn open() -> (FaultTable, Machine, ExecutionManager, Context) {
    let machine = Machine::builder().worker_threads(1).build();
    let table = FaultTable::new(machine.driver());
    let execution = ExecutionManager::new(table.driver()).unwrap();
    let context = execution.devices().get(0).unwrap().primary().unwrap();
    (table, machine, execution, context)
}
