//! Pairs of recordings of the same test of one project, before and after it was recorded again, with a table of what differs.
//! `RETAKE_DRIFT` names their folder; without it there is nothing to test.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use retake_wire::{WireChange, WireShape};

type Places = BTreeSet<(String, String)>;

fn shapes(cassette: &Path) -> BTreeMap<Api, WireShape> {
    let bytes = std::fs::read(cassette).unwrap();
    let mut shapes: BTreeMap<Api, WireShape> = BTreeMap::new();
    for placed in vcr::interactions(&foreign::tree(&bytes).unwrap()).unwrap() {
        let interaction = placed.interaction.unwrap();
        let api = wire::api_of_path(&interaction.url).unwrap_or(Api::Opaque);
        let response =
            body::response(interaction.status.unwrap(), &interaction.content_type, interaction.response.unwrap());
        shapes.entry(api).or_default().add(&response);
    }
    shapes
}

fn of_table(table: &Json, side: &str) -> Places {
    let kind = |kind: &str| match kind {
        "NoneType" => "null",
        "str" => "string",
        "int" | "float" => "number",
        _ => "boolean",
    };
    let rows = table.get(side).unwrap().as_array().unwrap().iter();
    rows.map(|row| row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap()).collect::<Vec<_>>())
        .map(|row| (row[0].to_owned(), kind(row[1]).to_owned()))
        .collect()
}

fn places(changes: &[WireChange], of: impl Fn(&WireChange) -> (&[String], &[String])) -> Places {
    let of_place = changes.iter().filter(|change| change.place.contains('/')).flat_map(|change| {
        let (these, without) = of(change);
        let leaf = |kind: &&String| !without.contains(kind) && *kind != "object" && *kind != "array";
        these.iter().filter(leaf).map(|kind| (change.place.clone(), kind.clone()))
    });
    of_place.collect()
}

#[test]
fn exactly_the_differing_places_are_named() {
    let Some(folder) = std::env::var_os("RETAKE_DRIFT") else { return };
    let mut compared = 0;
    for pair in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        let table = json(&std::fs::read_to_string(pair.join("differs.json")).unwrap());
        let (before, after) = (shapes(&pair.join("before.yaml")), shapes(&pair.join("after.yaml")));
        for shape in before.values().chain(after.values()) {
            assert_eq!(shape.changes(shape), [], "{}: a recording and itself", pair.display());
        }
        let changes: Vec<WireChange> = before.iter().flat_map(|(api, shape)| shape.changes(&after[api])).collect();
        let (removed, added) = (of_table(&table, "removed"), of_table(&table, "added"));
        assert_eq!(places(&changes, |change| (&change.recorded, &change.today)), removed, "{}", pair.display());
        assert_eq!(places(&changes, |change| (&change.today, &change.recorded)), added, "{}", pair.display());
        if removed.is_empty() && added.is_empty() {
            assert_eq!(changes, [], "{}", pair.display());
        }
        compared += 1;
    }
    assert!(compared > 0);
}
