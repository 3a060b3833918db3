//! Sorting by a number. `slice::sort_by_key` is compiled for each type and property anew, 2500
//! lines of LLVM IR each time; this is for lists of which none is sorted often.

/// Sorts by a number; items with the same one stay in the order they have.
pub(crate) fn sort_by_number<T: Copy>(items: &mut Vec<T>, number: impl Fn(&T) -> u64) {
    let mut order = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        order.push((number(item), at));
    }
    sort(&mut order);
    let mut sorted = Vec::with_capacity(items.len());
    for (_, at) in order {
        sorted.push(items[at]);
    }
    *items = sorted;
}

/// Places make the order total.
fn sort(order: &mut [(u64, usize)]) {
    order.sort_unstable();
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    // Without it the larger of two idle extents could go first, or blocks be listed in no order.
    #[test]
    fn sorts_as_the_library_does_and_keeps_the_order_of_the_same() {
        let mut random = cupola_random::Random::new(3);
        for len in [0, 1, 2, 30, 500] {
            let mut items: Vec<(u64, u64)> = (0..len).map(|at| (random.below(20), at)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by_number(&mut items, |item| item.0);
            assert_eq!(items, expected);
        }
    }
}
