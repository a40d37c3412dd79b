//! An audit as JSON, in the format `retake-audit/1`. Within this version, fields keep their names and meanings; new ones may be
//! added.

use retake_audit::{Audit, Audited, ByKeys, ByKind, FixtureAudit, Outcome, Setting, Unnoticed, mean};
use retake_core::json::{Json, Layout};

/// The audit as JSON with line breaks and indentation.
pub fn audit_json(audit: &Audit) -> String {
    let parts = audit.by_part();
    let rules = audit.rules.iter().enumerate().map(|(index, rule)| {
        let merges = audit.audited().flat_map(|(scenario, audited)| {
            let of_rule = audited.merged.iter().filter(move |merged| merged.rule == index);
            of_rule.map(|merged| {
                let turns = merged.turns.map(Json::from).to_vec();
                Json::object([("scenario", scenario.name.as_str().into()), ("turns", turns.into())])
            })
        });
        Json::object([
            ("pattern", rule.pattern.as_str().into()),
            ("replace", rule.replace.as_str().into()),
            ("fired", rule.fired.into()),
            ("merges", Json::Array(merges.collect())),
        ])
    });
    let scenarios = audit.scenarios.iter().map(|scenario| {
        let fixture = scenario.fixture.as_ref().map(|fixture| fixture.display().to_string());
        let begin = [("name", scenario.name.as_str().into()), ("fixture", fixture.into())];
        let rest = match &scenario.outcome {
            Outcome::Audited(audited) => audited_json(audited),
            Outcome::Left(why) => vec![("not_audited", why.as_str().into())],
            Outcome::Red(why) => vec![("red", why.as_str().into())],
        };
        Json::object(begin.into_iter().chain(rest))
    });
    let json = Json::object([
        ("format", "retake-audit/1".into()),
        ("score", number(audit.score())),
        ("kinds", kinds(&audit.kinds())),
        ("scenarios", Json::Array(scenarios.collect())),
        ("keys", keys(parts.iter().map(|(part, tally)| (part.words(), tally)))),
        ("rules", Json::Array(rules.collect())),
        ("fixtures", Json::Array(audit.fixtures.iter().map(|fixture| fixture_json(fixture, audit)).collect())),
    ]);
    json.print(Layout::Pretty)
}

fn audited_json(audited: &Audited) -> Vec<(&'static str, Json)> {
    let answers = audited.answers.iter().flatten().map(|(part, tally)| (part.words(), tally));
    let results = [(retake_audit::Part::ToolResult.words(), &audited.results)];
    let hidden = audited.hidden().into_iter().map(|one| {
        Json::object([
            ("option", one.option.into()),
            ("name", one.name.as_str().into()),
            ("hidden", one.unnoticed.into()),
            ("tried", one.tried.into()),
            ("too_wide", one.too_wide.into()),
        ])
    });
    vec![
        ("detail", audited.detail.to_string().into()),
        ("score", number(mean(&audited.scored.kinds))),
        ("kinds", kinds(&audited.scored.kinds)),
        ("unnoticed", Json::Array(audited.scored.unnoticed.iter().map(unnoticed).collect())),
        ("hidden", Json::Array(hidden.collect())),
        ("held_nowhere", Json::Array(audited.held_nowhere.iter().map(|(turn, _)| Json::from(*turn)).collect())),
        ("keys", keys(answers.chain(results))),
        ("drift", Json::Array(audited.drift.iter().map(|line| line.as_str().into()).collect())),
    ]
}

fn kinds(kinds: &ByKind) -> Json {
    Json::object(kinds.iter().map(|(kind, tally)| {
        (kind.words(), Json::object([("noticed", tally.noticed.into()), ("tried", tally.tried.into())]))
    }))
}

fn unnoticed(one: &Unnoticed) -> Json {
    let setting = one.setting.as_ref().map(|setting| match setting {
        Setting::With(setting) => Json::object([("with", setting.as_str().into())]),
        Setting::Without(option, name) => Json::object([("without", Json::object([(*option, name.as_str().into())]))]),
    });
    Json::object([
        ("kind", one.kind.words().into()),
        ("event", one.event.as_str().into()),
        ("place", one.pointer.as_str().into()),
        ("count", one.count.into()),
        ("setting", setting.into()),
    ])
}

fn keys<'a>(parts: impl Iterator<Item = (&'static str, &'a ByKeys)>) -> Json {
    let hidden = |(rule, n): (&usize, &usize)| Json::object([("rule", Json::from(rule + 1)), ("count", (*n).into())]);
    Json::object(parts.map(|(part, tally)| {
        let tally = Json::object([
            ("tried", tally.tried.into()),
            ("noticed", tally.noticed.into()),
            ("in_no_later_call", tally.last.into()),
            ("hidden", Json::Array(tally.hidden.iter().map(hidden).collect())),
        ]);
        (part, tally)
    }))
}

fn fixture_json(fixture: &FixtureAudit, audit: &Audit) -> Json {
    let secrets = fixture.secrets.iter().map(|it| [("place", it.place.as_str()), ("form", it.form.as_str())]);
    let secrets = secrets.map(|secret| Json::object(secret.map(|(key, text)| (key, text.into()))));
    let shared = fixture.shared.iter().map(|shared| {
        let callers = shared.callers.each_ref().map(|caller| Json::from(caller.as_deref())).to_vec();
        Json::object([
            ("turns", shared.turns.map(Json::from).to_vec().into()),
            ("callers", callers.into()),
            ("differs", shared.differs.map(|check| check.to_string()).into()),
        ])
    });
    let without = fixture.without_response.iter().map(|turn| Json::from(*turn));
    Json::object([
        ("file", fixture.file.display().to_string().into()),
        ("recorded", fixture.recorded.map(|day| day.to_string()).into()),
        ("age_days", fixture.age(audit.today).map_or(Json::Null, Json::Int)),
        ("turns", fixture.turns.into()),
        ("turns_without_response", Json::Array(without.collect())),
        ("secrets", Json::Array(secrets.collect())),
        ("shared_keys", Json::Array(shared.collect())),
    ])
}

fn number(score: Option<f64>) -> Json {
    score.map_or(Json::Null, Json::Float)
}
