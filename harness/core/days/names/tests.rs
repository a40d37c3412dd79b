//! `names.txt` holds what CLDR says. With the npm package `cldr-dates-full` unpacked at `RETAKE_CLDR`, the table is compared with it,
//! and with `RETAKE_CLDR_WRITE` set it is written anew.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Names, TABLE};
use crate::json::Json;

/// The languages of the table, and the regions that name months or weekdays in their own way.
const LOCALES: &str = "en en-001 en-AU de de-AT fr fr-CA es es-CL es-MX es-PY pt pt-AO it nl sv da nb nn fi is pl cs sk sl hr bs sr sr-Latn \
    sr-Latn-ME mk bg ru uk be ro ro-MD hu el tr az kk ky uz tk hy ka he ar ar-DZ ar-IQ ar-MA fa fa-AF ur ps hi bn mr gu pa ta te kn ml or \
    ne si th lo km my vi id ms jv fil zh zh-Hant ja ko mn et lv lt sq mt ga cy eu ca gl af sw zu am ha so lb eo fo br rm ht gd";

/// Makes the table of CLDR's data.
fn generated(cldr: &Path) -> Option<String> {
    let mut lines = BTreeSet::new();
    let mut all = Vec::new();
    let mut add = |names: Vec<&str>| {
        let line = names.join("|");
        if lines.insert(line.clone()) {
            all.push(line);
        }
    };
    for locale in LOCALES.split_whitespace() {
        let read = |file: &str| {
            let text = std::fs::read(cldr.join("main").join(locale).join(file)).ok()?;
            Json::parse(&text).ok()?.pointer(&format!("/main/{locale}/dates")).cloned()
        };
        let (calendar, fields) = (read("ca-gregorian.json")?, read("dateFields.json")?);
        for context in ["format", "stand-alone"] {
            let list = |kind: &str, width: &str, keys: &[&str]| -> Option<Vec<String>> {
                let names = calendar.pointer(&format!("/calendars/gregorian/{kind}/{context}/{width}"))?;
                keys.iter().map(|key| names.str_of(key).map(str::to_owned)).collect()
            };
            let months: Vec<String> = (1..=12).map(|month| month.to_string()).collect();
            let months: Vec<&str> = months.iter().map(String::as_str).collect();
            for width in ["wide", "abbreviated"] {
                add(list("months", width, &months)?.iter().map(String::as_str).collect());
            }
            for width in ["wide", "abbreviated", "short"] {
                let days = list("days", width, &["mon", "tue", "wed", "thu", "fri", "sat", "sun"])?;
                add(days.iter().map(String::as_str).collect());
            }
        }
        let word = |field: &str| fields.pointer(&format!("/fields/{field}/displayName"))?.as_str();
        let words: BTreeSet<&str> = ["week", "week-short"].into_iter().filter_map(word).collect();
        add(words.into_iter().collect());
    }
    // German calendars abbreviate the week in a way of their own.
    add(vec!["KW", "CW"]);
    Some(all.join("\n") + "\n")
}

#[test]
fn the_table_is_what_cldr_says() {
    let Some(cldr) = std::env::var_os("RETAKE_CLDR") else {
        // Nothing to compare with: the package is not part of the sources.
        return;
    };
    let generated = generated(Path::new(&cldr)).expect("all locales in cldr-dates-full");
    if std::env::var_os("RETAKE_CLDR_WRITE").is_some() {
        std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("days/names.txt"), &generated).unwrap();
    } else {
        assert_eq!(TABLE, generated);
    }
}

#[test]
fn the_table_is_small_and_has_only_lists_that_are_read() {
    assert!(TABLE.len() <= 40 * 1024, "{} bytes", TABLE.len());
    for line in TABLE.lines() {
        assert!([1, 2, 7, 12].contains(&line.split('|').count()), "{line}");
        assert!(line.split('|').all(|name| !name.trim().is_empty()), "{line}");
    }
}

#[test]
fn a_name_is_found_in_any_case_and_spelled_alike() {
    let names = Names::all();
    let spelled = |text: &str, place: usize| -> BTreeSet<String> {
        names
            .at(text)
            .filter(|(_, _, length)| *length == text.len())
            .map(|(name, _, _)| names.spelled(name, place))
            .collect()
    };
    assert!(spelled("TUESDAY", 2).contains("WEDNESDAY"));
    assert!(spelled("tuesday", 2).contains("wednesday") && !spelled("tuesday", 2).contains("Wednesday"));
    assert!(spelled("Août", 0).contains("Janvier"));
    assert!(spelled("nov.", 7).contains("août") && spelled("nov", 7).contains("août"));
    assert_eq!(spelled("Tueday", 2), BTreeSet::new());
}
