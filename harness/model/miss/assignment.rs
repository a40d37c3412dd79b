//! Assigns each call a turn so that all together cost least: the Hungarian method.

use super::nearest::Cost;

/// Returns a column for each row, so that the sum of the costs is least. No two rows get the same column, so there have to be at
/// least as many columns as rows.
pub(super) fn assigned(costs: &[Vec<Cost>]) -> Vec<usize> {
    let columns = costs.first().map_or(0, Vec::len);
    // What a row and a column have paid already. The row of a column is counted from 1; 0 means none. Column 0 is where a row
    // waits until it has one.
    let (mut row_paid, mut column_paid) = (vec![0; costs.len() + 1], vec![0; columns + 1]);
    let mut row_of = vec![0; columns + 1];
    for row in 1..=costs.len() {
        row_of[0] = row;
        let (mut least, mut from) = (vec![Cost::MAX; columns + 1], vec![0; columns + 1]);
        let mut seen = vec![false; columns + 1];
        let mut column = 0;
        // Follow the cheapest way from row to row until a column is free.
        while row_of[column] != 0 {
            seen[column] = true;
            let at = row_of[column];
            let open: Vec<usize> = (1..=columns).filter(|column| !seen[*column]).collect();
            for other in &open {
                let cost = costs[at - 1][other - 1] - row_paid[at] - column_paid[*other];
                if cost < least[*other] {
                    (least[*other], from[*other]) = (cost, column);
                }
            }
            let Some(next) = open.iter().copied().min_by_key(|other| least[*other]) else { break };
            let step = least[next];
            for known in (0..=columns).filter(|column| seen[*column]) {
                row_paid[row_of[known]] += step;
                column_paid[known] -= step;
            }
            for other in open {
                least[other] -= step;
            }
            column = next;
        }
        // The rows on that way move up by one column each.
        while column != 0 {
            row_of[column] = row_of[from[column]];
            column = from[column];
        }
    }
    let column_of = |row| row_of.iter().skip(1).position(|of| *of == row);
    (1..=costs.len()).filter_map(column_of).collect()
}

#[cfg(test)]
mod tests;
