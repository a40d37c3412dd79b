//! Which of many places are tried: a bounded number, spread evenly, and the same in each run.

use std::collections::BTreeMap;

/// Chooses at most `most` of the places. Each class of places has its share, so that one event of a kind counts as much as
/// five hundred of another.
pub(super) fn spread<T>(places: Vec<(String, T)>, most: usize) -> Vec<T> {
    let mut classes: BTreeMap<String, Vec<T>> = BTreeMap::new();
    for (class, place) in places {
        classes.entry(class).or_default().push(place);
    }
    let classes: Vec<Vec<T>> = evenly(classes.into_values().collect(), most);
    let mut left = most;
    let mut chosen = Vec::new();
    let mut open = classes.len();
    // The small classes first: what they leave is the others'.
    let mut by_size: Vec<(usize, Vec<T>)> = classes.into_iter().enumerate().collect();
    by_size.sort_by_key(|(order, class)| (class.len(), *order));
    for (order, class) in by_size {
        let places = evenly(class, left / open);
        (left, open) = (left - places.len(), open - 1);
        chosen.push((order, places));
    }
    chosen.sort_by_key(|(order, _)| *order);
    chosen.into_iter().flat_map(|(_, places)| places).collect()
}

/// At most `most` of the items, from the first to the last, at equal distances.
fn evenly<T>(items: Vec<T>, most: usize) -> Vec<T> {
    let all = items.len();
    if all <= most {
        return items;
    }
    // The k-th of `most` stands in the middle of the k-th part.
    let chosen = |index: usize| (0..most).any(|k| (2 * k + 1) * all / (2 * most) == index);
    items.into_iter().enumerate().filter(|(index, _)| chosen(*index)).map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests;
