//! Which places are tried when there are too many: a limited number, spread evenly, and the same in each run.

use std::collections::BTreeMap;

/// Chooses at most `most` of the places. Each class of places gets its share, so a single event of one kind counts as much as
/// five hundred events of another.
pub(super) fn spread<T>(places: Vec<(String, T)>, most: usize) -> Vec<T> {
    let mut classes: BTreeMap<String, Vec<T>> = BTreeMap::new();
    for (class, place) in places {
        classes.entry(class).or_default().push(place);
    }
    let classes: Vec<Vec<T>> = evenly(classes.into_values().collect(), most);
    let mut left = most;
    let mut chosen = Vec::new();
    let mut open = classes.len();
    // Small classes come first: what they do not use goes to the larger ones.
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

/// Returns at most `most` of the items, at equal distances from each other.
fn evenly<T>(items: Vec<T>, most: usize) -> Vec<T> {
    let all = items.len();
    if all <= most {
        return items;
    }
    // The k-th chosen item is in the middle of the k-th of `most` equal parts.
    let chosen = |index: usize| (0..most).any(|k| (2 * k + 1) * all / (2 * most) == index);
    items.into_iter().enumerate().filter(|(index, _)| chosen(*index)).map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests;
