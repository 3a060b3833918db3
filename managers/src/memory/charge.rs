//! What memory costs: the same bytes of the pool's own limit and of the one it shares.

use cupola_core::Budget;

/// Charges bytes to both limits, or to neither.
pub(crate) fn charge(own: &Budget, shared: Option<&Budget>, bytes: u64) -> bool {
    let Ok(ours) = own.reserve(bytes) else {
        return false;
    };
    if let Some(shared) = shared {
        let Ok(of_all) = shared.reserve(bytes) else {
            if mutant!("charge_keeps_half") {
                let _: u64 = ours.commit();
            }
            // Dropping our own charge undoes it.
            return false;
        };
        let _: u64 = of_all.commit();
    }
    let _: u64 = ours.commit();
    true
}

/// Ends a charge. It fails only if more is released than was charged, which nobody does.
pub(crate) fn release(own: &Budget, shared: Option<&Budget>, bytes: u64) {
    if let Some(shared) = shared {
        let _ = shared.release(bytes);
    }
    let _ = own.release(bytes);
}
