//! An audit as JSON, in the format `retake-audit/1`. Within this version, fields keep their names and meanings; new ones may be
//! added.

use serde_json::{Map, Value, json};

use super::runs::as_json;
use retake_audit::{Audit, Audited, ByKeys, ByKind, FixtureAudit, Outcome, Part, Setting, Unnoticed, mean};
use retake_base::error::Result;
use retake_core::json::Layout;

/// The audit as JSON with line breaks and indentation.
///
/// # Errors
/// If it cannot be expressed in JSON.
pub fn audit_json(audit: &Audit) -> Result<String> {
    let rules = audit.rules.iter().enumerate().map(|(index, rule)| {
        let merges = audit.audited().flat_map(|(scenario, audited)| {
            let of_rule = audited.merged.iter().filter(move |merged| merged.rule == index);
            of_rule.map(|merged| json!({ "scenario": scenario.name, "turns": merged.turns }))
        });
        let merges: Vec<Value> = merges.collect();
        json!({ "pattern": rule.pattern, "replace": rule.replace, "fired": rule.fired, "merges": merges })
    });
    let scenarios = audit.scenarios.iter().map(|scenario| {
        let mut json = match &scenario.outcome {
            Outcome::Audited(audited) => audited_json(audited),
            Outcome::Left(why) => json!({ "not_audited": why }),
            Outcome::Red(why) => json!({ "red": why }),
        };
        json["name"] = json!(scenario.name);
        json["fixture"] = json!(scenario.fixture.as_ref().map(|fixture| fixture.display().to_string()));
        json
    });
    let json = json!({
        "format": "retake-audit/1",
        "score": audit.score(),
        "kinds": kinds(&audit.kinds()),
        "scenarios": scenarios.collect::<Vec<_>>(),
        "keys": keys(&audit.by_part()),
        "rules": rules.collect::<Vec<_>>(),
        "fixtures": audit.fixtures.iter().map(|fixture| fixture_json(fixture, audit)).collect::<Vec<_>>(),
    });
    Ok(as_json(&json)?.print(Layout::Pretty))
}

fn audited_json(audited: &Audited) -> Value {
    let answers = audited.answers.iter().flatten();
    let hidden = audited.hidden().into_iter().map(|one| {
        json!({
            "option": one.option, "name": one.name, "hidden": one.unnoticed, "tried": one.tried, "too_wide": one.too_wide,
        })
    });
    json!({
        "detail": audited.detail.to_string(),
        "score": mean(&audited.scored.kinds),
        "kinds": kinds(&audited.scored.kinds),
        "unnoticed": audited.scored.unnoticed.iter().map(unnoticed).collect::<Vec<_>>(),
        "hidden": hidden.collect::<Vec<_>>(),
        "held_nowhere": audited.held_nowhere.iter().map(|(turn, _)| turn).collect::<Vec<_>>(),
        "keys": keys(answers.chain([(&Part::ToolResult, &audited.results)])),
        "drift": audited.drift,
    })
}

fn kinds(kinds: &ByKind) -> Map<String, Value> {
    let tallies = kinds.iter().map(|(kind, of)| (kind.words(), json!({ "noticed": of.noticed, "tried": of.tried })));
    tallies.map(|(kind, tally)| (kind.to_owned(), tally)).collect()
}

fn unnoticed(one: &Unnoticed) -> Value {
    let setting = one.setting.as_ref().map(|setting| match setting {
        Setting::With(setting) => json!({ "with": setting }),
        Setting::Without(option, name) => json!({ "without": { *option: name } }),
    });
    json!({
        "kind": one.kind.words(), "event": one.event, "place": one.pointer, "count": one.count, "setting": setting,
    })
}

fn keys<'a>(parts: impl IntoIterator<Item = (&'a Part, &'a ByKeys)>) -> Map<String, Value> {
    let hidden = |(rule, count): (&usize, &usize)| json!({ "rule": rule + 1, "count": count });
    let part = |(part, tally): (&Part, &ByKeys)| {
        let hidden: Vec<Value> = tally.hidden.iter().map(hidden).collect();
        let ByKeys { tried, noticed, last, .. } = tally;
        let tally = json!({ "tried": tried, "noticed": noticed, "in_no_later_call": last, "hidden": hidden });
        (part.words().to_owned(), tally)
    };
    parts.into_iter().map(part).collect()
}

fn fixture_json(fixture: &FixtureAudit, audit: &Audit) -> Value {
    let secrets = fixture.secrets.iter().map(|it| json!({ "place": it.place, "form": it.form }));
    let shared = fixture.shared.iter().map(|shared| {
        let differs = shared.differs.map(|check| check.to_string());
        json!({ "turns": shared.turns, "callers": shared.callers, "differs": differs })
    });
    json!({
        "file": fixture.file.display().to_string(),
        "recorded": fixture.recorded.map(|day| day.to_string()),
        "age_days": fixture.age(audit.today),
        "turns": fixture.turns,
        "turns_without_response": fixture.without_response,
        "secrets": secrets.collect::<Vec<_>>(),
        "shared_keys": shared.collect::<Vec<_>>(),
    })
}
