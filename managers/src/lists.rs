//! Lists that no hot path changes. What the standard library has for them is compiled for each type
//! and closure anew: a sort to 2500 lines of LLVM IR, `retain` to 300, a sum to 200.

/// Sorts by a number; items with the same one stay in the order they have.
pub(crate) fn sort_by_number<T: Copy>(items: &mut Vec<T>, number: impl Fn(&T) -> u64) {
    let mut order = Vec::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        order.push((number(item), at));
    }
    sort(&mut order);
    let mut sorted = Vec::with_capacity(items.len());
    for &(_, at) in &order {
        sorted.push(items[at]);
    }
    *items = sorted;
}

/// Removes the items that are not to be kept. The others stay in the order they have.
pub(crate) fn retain<T>(items: &mut Vec<T>, is_kept: impl FnMut(&T) -> bool) {
    let kept = move_to_front(items, is_kept);
    items.truncate(kept);
}

/// Takes out the items that are meant, in any order. The others stay in the order they have.
pub(crate) fn take_out<T>(items: &mut Vec<T>, mut is_meant: impl FnMut(&T) -> bool) -> Vec<T> {
    let kept = move_to_front(items, |item| !is_meant(item));
    items.split_off(kept)
}

/// Moves the items that are meant to the front, in the order they have. How many they are.
fn move_to_front<T>(items: &mut [T], mut is_meant: impl FnMut(&T) -> bool) -> usize {
    let mut front = 0;
    for at in 0..items.len() {
        if is_meant(&items[at]) {
            items.swap(front, at);
            front += 1;
        }
    }
    front
}

/// The sum of a number of each item.
pub(crate) fn sum<T>(items: impl IntoIterator<Item = T>, mut number: impl FnMut(T) -> u64) -> u64 {
    let mut sum = 0;
    for item in items {
        sum += number(item);
    }
    sum
}

/// The texts, with `between` between each two.
pub(crate) fn join(texts: impl IntoIterator<Item: AsRef<str>>, between: &str) -> String {
    let mut joined = String::new();
    for (at, text) in texts.into_iter().enumerate() {
        if at > 0 {
            joined.push_str(between);
        }
        joined.push_str(text.as_ref());
    }
    joined
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

    // Without it a pool that is there could go off a list, or the newest ring not be the last.
    #[test]
    fn retains_what_the_library_does_in_the_same_order_and_takes_out_the_rest() {
        let mut random = cupola_random::Random::new(4);
        for len in [0, 1, 2, 30, 500] {
            let mut items: Vec<_> = (0..len).map(|at| (random.below(20), at)).collect();
            let mut expected = items.clone();
            expected.retain(|item| item.0 < 10);
            let mut rest = items.clone();
            rest.retain(|item| item.0 >= 10);
            let mut left = items.clone();
            let mut taken = take_out(&mut left, |item| item.0 >= 10);
            taken.sort_unstable_by_key(|item| item.1);
            retain(&mut items, |item| item.0 < 10);
            assert_eq!((&items, left, taken), (&expected, expected.clone(), rest));
        }
    }

    // Without it an explanation could begin with a separator, or run texts together.
    #[test]
    fn joins_as_the_library_does() {
        for texts in [&[][..], &["one"], &["", "two"], &["one", "", "three"]] {
            assert_eq!(join(texts, "; "), texts.join("; "));
        }
    }
}
