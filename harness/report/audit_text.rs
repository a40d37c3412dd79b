//! An audit as text for a terminal: a line for each scenario and the total, then what is worth a look.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use retake_audit::{Audit, Audited, FixtureAudit, Kind, Outcome, Part, ScenarioAudit, Setting, Unnoticed};
use retake_base::env::RETAKE;
use retake_base::text::{clipped, counted, nth_turn};

/// How many places are listed for each setting that would notice them, unless `all` is set.
const LISTED: usize = 4;

/// The text of an audit. With `all`, every unnoticed change is listed.
pub fn audit_text(audit: &Audit, all: bool) -> String {
    let parts = [scenarios(audit), kinds(audit), unnoticed(audit, all), keys(audit), findings(audit)];
    parts.concat().trim_end().to_owned()
}

/// A score as text. It is cut off, not rounded, so that only a perfect score is 1.00.
fn shown(score: Option<f64>) -> String {
    score.map_or_else(|| "-".to_owned(), |score| format!("{:.2}", (score * 100.0).floor() / 100.0))
}

fn scenarios(audit: &Audit) -> String {
    let names = audit.scenarios.iter().map(|scenario| scenario.name.chars().count());
    let width = names.chain(["scenario".len()]).max().unwrap_or(0);
    let line = |ScenarioAudit { name, fixture, outcome }: &ScenarioAudit| match outcome {
        Outcome::Audited(audited) => {
            let tallies = audited.scored.kinds.values();
            let (noticed, tried) = tallies.fold((0, 0), |(n, t), tally| (n + tally.noticed, t + tally.tried));
            let score = shown(retake_audit::mean(&audited.scored.kinds));
            let noticed = format!("{noticed} of {tried}");
            let fixture = audit.fixtures.iter().find(|audited| Some(&audited.file) == fixture.as_ref());
            let recorded = fixture.map_or_else(String::new, |fixture| recorded(fixture, audit));
            let detail = audited.detail.to_string();
            format!("{name:width$}  {score:>5}  {noticed:12}  {detail:6}  {recorded}").trim_end().to_owned()
        }
        Outcome::Left(why) => format!("{name}: not audited: {why}"),
        Outcome::Red(why) => {
            let why = why.lines().next().unwrap_or_default();
            format!("{name}: not audited, it fails ({RETAKE} test {name}): {}", clipped(why, 400))
        }
    };
    let head = audit.audited().next().map(|_| format!("{:width$}  score  noticed       detail  recorded", "scenario"));
    let (noticed, tried) = audit.kinds().values().fold((0, 0), |(n, t), tally| (n + tally.noticed, t + tally.tried));
    let all = (tried > 0).then(|| format!("{:width$}  {:>5}  {noticed} of {tried}", "all", shown(audit.score())));
    let lines = head.into_iter().chain(audit.scenarios.iter().map(line)).chain(all);
    lines.map(|line| line + "\n").collect()
}

fn recorded(fixture: &FixtureAudit, audit: &Audit) -> String {
    match (fixture.recorded, fixture.age(audit.today)) {
        (Some(day), Some(age)) => format!("{day}, {} ago", counted(usize::try_from(age).unwrap_or(0), "day")),
        _ => String::new(),
    }
}

fn kinds(audit: &Audit) -> String {
    let kinds = audit.kinds();
    if kinds.is_empty() {
        return String::new();
    }
    let cell = |kind: Kind| {
        let tally = kinds.get(&kind).copied().unwrap_or_default();
        let noticed = match tally.tried {
            0 => "-".to_owned(),
            tried => format!("{} of {tried}", tally.noticed),
        };
        format!("{:24}{noticed:14}", kind.words())
    };
    let mut out = "\nnoticed, by kind of change\n".to_owned();
    let rows = Kind::ALL.len().div_ceil(2);
    for row in 0..rows {
        let right = Kind::ALL.get(row + rows).map(|kind| cell(*kind)).unwrap_or_default();
        let _ = writeln!(out, "{}", format!("  {}{right}", cell(Kind::ALL[row])).trim_end());
    }
    out
}

/// The unnoticed changes, by scenario and by the setting that would notice them.
fn unnoticed(audit: &Audit, all: bool) -> String {
    let mut out = String::new();
    for (scenario, audited) in audit.audited() {
        let mut by_setting: BTreeMap<Option<&Setting>, Vec<&Unnoticed>> = BTreeMap::new();
        let unnoticed = audited.scored.unnoticed.iter();
        unnoticed.for_each(|one| by_setting.entry(one.setting.as_ref()).or_default().push(one));
        for (setting, of) in by_setting {
            let count = of.iter().map(|one| one.count).sum();
            let _ = writeln!(out, "\n{}: {} unnoticed; {}", scenario.name, counted(count, "change"), by(setting));
            let listed = if all { of.len() } else { LISTED };
            for one in of.iter().take(listed) {
                let _ = writeln!(out, "  {}", place(one));
            }
            if of.len() > listed {
                let _ = writeln!(out, "  … and in {} (--all lists them)", counted(of.len() - listed, "more place"));
            }
        }
    }
    out
}

fn by(setting: Option<&Setting>) -> String {
    match setting {
        Some(Setting::With(setting)) => format!("noticed with {setting}"),
        Some(Setting::Without(option, name)) => format!("noticed without {name:?} in `{option}`"),
        None => "no setting notices them".to_owned(),
    }
}

fn place(one: &Unnoticed) -> String {
    let Unnoticed { kind, event, pointer, count, .. } = one;
    let times = if *count > 1 { format!(" ×{count}") } else { String::new() };
    format!("{:24}{}{times}", kind.words(), [event.as_str(), pointer].join(" ").trim())
}

fn keys(audit: &Audit) -> String {
    let parts = audit.by_part();
    if parts.is_empty() {
        return String::new();
    }
    let mut out = "\nchanges of recorded answers and tool results that change the key of a later call\n".to_owned();
    for (part, tally) in &parts {
        let tried = (tally.tried > 0).then(|| format!("{} of {}", tally.noticed, tally.tried));
        let last = (tally.last > 0).then(|| format!("{} in no later call", tally.last));
        let hidden = tally.hidden.iter().map(|(rule, count)| format!("{count} hidden by {}", rule_name(*rule, audit)));
        let counts: Vec<String> = tried.into_iter().chain(last).chain(hidden).collect();
        let _ = writeln!(out, "  {:24}{}", part.words(), counts.join("; "));
    }
    if parts.contains_key(&Part::Finish) {
        out += "  The finish reason is not part of any key.\n";
    }
    out
}

fn rule_name(rule: usize, audit: &Audit) -> String {
    let pattern = audit.rules.get(rule).map_or("", |rule| &rule.pattern);
    format!("rule {} of [[normalize]], `{pattern}`", rule + 1)
}

/// What is worth a look apart from the score.
fn findings(audit: &Audit) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (index, rule) in audit.rules.iter().enumerate() {
        if audit.whole && !rule.fired {
            lines.push(format!("{}, changed no text in any scenario: it can be removed", rule_name(index, audit)));
        }
        for (scenario, audited) in audit.audited() {
            for merged in audited.merged.iter().filter(|merged| merged.rule == index) {
                let [a, b] = merged.turns.map(nth_turn);
                let [said, also] = merged.texts.each_ref().map(|text| format!("{:?}", clipped(text, 60)));
                let (rule, name) = (rule_name(index, audit), &scenario.name);
                lines.push(format!("{rule}, makes the calls of {a} and {b} in {name} equal:\n    {said}\n    {also}"));
            }
        }
    }
    for (scenario, audited) in audit.audited() {
        lines.extend(hidden(&scenario.name, audited));
        lines.extend(held_nowhere(&scenario.name, audited));
        lines.extend(audited.drift.iter().map(|line| format!("{}: {line}", scenario.name)));
    }
    lines.extend(audit.fixtures.iter().flat_map(of_fixture));
    if lines.is_empty() {
        return String::new();
    }
    lines.iter().fold("\nworth a look\n".to_owned(), |out, line| out + "  " + line + "\n")
}

fn hidden(name: &str, audited: &Audited) -> Vec<String> {
    let line = |one: retake_audit::Hidden| {
        let wide = if one.too_wide { ": it is too wide" } else { "" };
        let retake_audit::Hidden { option, name: event, unnoticed, .. } = &one;
        let tried = counted(one.tried, "change");
        format!("{name}: {option} = [{event:?}] hides {unnoticed} of the {tried} of these events{wide}")
    };
    audited.hidden().into_iter().map(line).collect()
}

/// What the model says that the golden does not hold.
fn held_nowhere(name: &str, audited: &Audited) -> Option<String> {
    let (turn, says) = audited.held_nowhere.first()?;
    let more = audited.held_nowhere.len() - 1;
    let more = if more > 0 { format!(", and of {}", counted(more, "more turn")) } else { String::new() };
    Some(format!("{name}: the golden has no words of turn {turn}, {says}{more}"))
}

fn of_fixture(fixture: &FixtureAudit) -> Vec<String> {
    let file = fixture.file.display();
    let secrets = fixture.secrets.iter().map(|it| format!("{file}: {} contains a secret: {}", it.place, it.form));
    let mut lines: Vec<String> = secrets.collect();
    if !fixture.without_response.is_empty() {
        let (count, all) = (fixture.without_response.len(), counted(fixture.turns, "turn"));
        lines.push(format!("{file}: {count} of {all} without the recorded response, which is rendered instead"));
    }
    for shared in &fixture.shared {
        let [a, b] = shared.turns.map(nth_turn);
        let [first, second] = shared.callers.each_ref().map(|caller| caller.as_deref().unwrap_or("nobody"));
        lines.push(match shared.differs {
            Some(check) => format!(
                "{file}: {a} and {b} of `{first}` have the same key:\n    \
                 they differ in {check}, as if made by two callers; a [[callers]] rule can tell these apart"
            ),
            None => format!(
                "{file}: {a} and {b} have the same conversation:\n    \
                 only the names of their callers tell them apart, `{first}` and `{second}`"
            ),
        });
    }
    lines
}
