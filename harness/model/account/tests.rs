use super::*;

#[test]
fn the_oldest_entry_of_a_kind_is_forgotten_but_not_the_first_ones() {
    let mut account = Account::new();
    for number in 0..10 {
        account.push(("miss", number), 5, 2, |_, _| true);
    }
    assert_eq!(account.entries.iter().map(|(_, number)| *number).collect::<Vec<_>>(), [0, 1, 7, 8, 9]);
    assert_eq!(account.forgotten, 5);

    let mut account = Account::new();
    account.push(("model", 0), 3, 0, |a, b| a.0 == b.0);
    for number in 1..10 {
        account.push(("prompt", number), 3, 0, |a, b| a.0 == b.0);
    }
    assert_eq!(account.entries, [("model", 0), ("prompt", 7), ("prompt", 8), ("prompt", 9)]);
    assert_eq!(account.forgotten, 6);
}
