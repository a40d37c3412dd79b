use super::*;

/// The least sum that any assignment of the rows from `row` on has, without the columns that are taken.
fn least(costs: &[Vec<Cost>], row: usize, taken: &[usize]) -> Cost {
    let Some(of_row) = costs.get(row) else { return 0 };
    let open = (0..of_row.len()).filter(|column| !taken.contains(column));
    open.map(|column| of_row[column] + least(costs, row + 1, &[taken, &[column]].concat())).min().unwrap_or(0)
}

#[test]
fn no_other_assignment_costs_less() {
    let mut random = 7_u64;
    for _ in 0..500 {
        let mut next = |limit: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % limit
        };
        let rows = usize::try_from(1 + next(4)).unwrap();
        let columns = rows + usize::try_from(next(3)).unwrap();
        let costs: Vec<Vec<Cost>> =
            (0..rows).map(|_| (0..columns).map(|_| Cost::from(next(9)) << next(90)).collect()).collect();
        let found = assigned(&costs);
        let mut distinct = found.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), rows, "{costs:?} → {found:?}");
        let sum: Cost = found.iter().zip(&costs).map(|(column, row)| row[*column]).sum();
        assert_eq!(sum, least(&costs, 0, &[]), "{costs:?} → {found:?}");
    }
}

#[test]
fn a_row_gives_up_its_cheapest_column_if_another_row_has_no_other() {
    assert_eq!(assigned(&[vec![1, 2], vec![1, 90]]), [1, 0]);
    assert_eq!(assigned(&[]), [0; 0]);
}
