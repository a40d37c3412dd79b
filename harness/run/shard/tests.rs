use super::*;

fn parts(of: usize, times: &Times) -> Vec<BTreeSet<&str>> {
    let names: BTreeSet<&str> = times.keys().map(String::as_str).collect();
    (1..=of).map(|number| Shard { number, of }.part(&names, times)).collect()
}

#[test]
fn each_scenario_is_in_one_shard_and_no_shard_is_much_longer_than_the_others() {
    let lists = [vec![3.0, 3.0, 2.0, 2.0, 2.0], vec![10.0, 1.0, 1.0, 1.0, 1.0], vec![5.0, 4.0, 3.0, 2.0, 1.0]];
    for list in lists {
        let times: Times = ["a", "b", "c", "d", "e"].into_iter().map(str::to_owned).zip(list).collect();
        let (longest, all) = (times.values().copied().fold(0.0, f64::max), times.values().sum::<f64>());
        for (shards, of) in (1..=8).zip([1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]) {
            let parts = parts(shards, &times);
            let mut dealt: Vec<&str> = parts.iter().flatten().copied().collect();
            dealt.sort_unstable();
            assert_eq!(dealt, ["a", "b", "c", "d", "e"], "{shards}");
            let load = |part: &BTreeSet<&str>| part.iter().map(|name| times[*name]).sum::<f64>();
            let most = parts.iter().map(load).fold(0.0, f64::max);
            // With as many shards as that, two of the shortest have to share one.
            let two: f64 = if shards < 5 { 2.0 * times.values().copied().fold(f64::MAX, f64::min) + 1.0 } else { 0.0 };
            assert!(most <= longest.max(all / of * 1.2).max(two), "{shards}: {most} of {times:?}");
        }
    }
}

#[test]
fn a_scenario_without_a_time_counts_as_the_mean() {
    let times: Times = [("long".to_owned(), 9.0), ("short".to_owned(), 1.0)].into();
    let names = BTreeSet::from(["long", "new", "short"]);
    let part = |number| Shard { number, of: 2 }.part(&names, &times);
    assert_eq!(part(1), BTreeSet::from(["long"]));
    assert_eq!(part(2), BTreeSet::from(["new", "short"]));
}

#[test]
fn a_shard_is_a_number_and_how_many_there_are() {
    assert_eq!("2/5".parse::<Shard>().unwrap().to_string(), "2/5");
    for wrong in ["", "2", "0/5", "6/5", "2/0", "a/b", "1/99999", "-1/2"] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}
