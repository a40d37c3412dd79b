//! The verdict on a replay: misses, then unused turns, then drift, then the golden.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::egress;
use super::trial::Replayed;
use crate::report::{Evidence, Failure, Note, notes, unified_lines};
use crate::run::commands::record_command;
use crate::run::failing::Failing;
use crate::run::golden::{Committed, Compared};
use crate::run::policy::Policy;
use crate::run::project::Project;
use time::OffsetDateTime;

use retake_base::cause::{Cause, CauseKind};
use retake_base::error::{Error, Result};
use retake_base::line::Line;
use retake_base::text::{in_other_form, nearest, nth_turn};
use retake_core::conversation::Answer;
use retake_core::days::{Days, Which};
use retake_core::events::{
    Calls, Captured, Change, Exactly, Golden, GoldenPart as Part, IdPlaces, Known, NamesNothing, Recorded,
    ShapeOptions, Shaped, Tells, answered, changes, names_nothing, new_headers, shown_nowhere,
};
use retake_core::json::Json;
use retake_core::key::{Check, Rules, attributed};
use retake_core::secrets::Fired;
use retake_model::{CallFlaw, FlawKind, Miss};
use retake_scenario::{Action, Delays, Level, Scenario, Step, Unused};
use retake_wire::fixture::Minute;

/// What is told of an answer.
pub(super) type Told = &'static dyn Fn(&Answer) -> &Answer;

/// An answer without what it said before it broke off.
fn whole(answer: &Answer) -> &Answer {
    static BROKEN_OFF: Answer = Answer { id: None, model: None, blocks: Vec::new(), finish: None, usage: None };
    if answer.is_untold() { &BROKEN_OFF } else { answer }
}

/// The most items of one kind that a failure shows.
pub(super) const SHOWN: usize = 5;

impl Replayed {
    /// The golden, or `None` if no step goes into it. As the error: the failure, if the run failed apart from its golden.
    pub(crate) fn verdict(&self, scenario: &Scenario) -> Result<Option<Golden>, Failure> {
        let failing = Failing::of(self, None, scenario);
        if failing.findings.is_none() { Ok(self.own_golden(scenario).cloned()) } else { Err(failing.failure()) }
    }

    /// Notes for the user on the run, whether it passed or failed, one line each.
    pub(crate) fn notes(&self, scenario: &Scenario) -> Vec<Note> {
        let noted = self.played.drift.iter().filter(|(_, drift)| scenario.options.drift.of(drift.check) == Level::Note);
        let mut lines = notes(self.fixture.as_deref(), noted, &self.played.flaws);
        lines.extend(self.played.egress.iter().flat_map(|egress| egress::notes(egress, scenario)));
        let lacking = self.lacking_headers().filter(|_| scenario.options.drift.of(Check::Results) == Level::Note);
        let drift = self.played.tools.drift.iter().cloned().chain(lacking);
        lines.extend(drift.map(|line| format!("drift: {line}").into()));
        if self.played.error().is_none() {
            let nowhere = shown_nowhere(&self.played.driven.captured, &scenario.golden);
            lines.extend(nowhere.into_iter().map(|pointer| {
                format!("`show` in [golden] names `{pointer}`, but no event of this run has a value there").into()
            }));
        }
        if let (Delays::Recorded, Some(fixture)) = (scenario.options.delays, &self.fixture)
            && !fixture.keeps_delays()
        {
            let again = record_command(&scenario.name);
            lines.push(format!("delays: {} contains none; to record them: {again}", fixture.path.display()).into());
        }
        lines
    }

    /// Notes on headers that the committed golden lacks.
    pub(crate) fn new_headers(&self, scenario: &Scenario) -> Vec<String> {
        let Some(committed) = self.committed.as_deref().filter(|committed| !committed.is_older()) else {
            return Vec::new();
        };
        let normalize = |text: &str| self.played.driven.names.apply(text, &self.rules.normalizer);
        let new = new_headers(&self.played.driven.captured, &committed.golden, &scenario.golden, &normalize);
        let line = |(request, names): (String, Vec<String>)| {
            format!("the answer to `{request}` has headers that the golden lacks: {}", names.join(", "))
        };
        new.into_iter().map(line).collect()
    }

    /// Why this replay shows that the scenario varies from run to run: one line each, without values. Empty if the run failed
    /// for another reason.
    pub(crate) fn instability(&self, scenario: &Scenario) -> Vec<String> {
        let missed = |miss: &Arc<Miss>| format!("a call{}: {}", attributed(" of", miss.caller.as_deref()), miss.reason);
        let mut why: Vec<String> = self.misses.iter().map(missed).collect();
        if why.is_empty() && self.played.error().is_none() {
            let caller = |index: &usize| {
                let turn = self.fixture.as_ref().and_then(|fixture| fixture.table.turns().get(*index));
                attributed(" of", turn.and_then(|turn| turn.caller.as_deref()))
            };
            let unused = self.unexpected_unused(&scenario.options.unused);
            why.extend(
                unused.iter().map(|index| format!("{}{} was not asked for again", nth_turn(*index), caller(index))),
            );
        }
        why
    }

    /// The golden by the rules of this run, computed once.
    pub(crate) fn own_golden(&self, scenario: &Scenario) -> Option<&Golden> {
        self.own_golden.get_or_init(|| self.golden_by(scenario, &self.rules)).as_ref()
    }

    /// What is known of this run besides its events. A golden of an older format does not name everything that is pinned, so this
    /// is found out anew.
    pub(crate) fn known(&self) -> Known<'_> {
        self.known_with(self.committed.as_deref().filter(|committed| !committed.is_older()).map(|it| &it.golden))
    }

    pub(super) fn known_with<'a>(&'a self, committed: Option<&'a Golden>) -> Known<'a> {
        let all = self.recorded(&|answer| answer);
        let told: Told = if committed.is_none_or(|golden| golden.tells_broken_off(&all)) { &|of| of } else { &whole };
        let recorded = self.recorded(told);
        let foreign = committed.is_none_or(Golden::holds_texts).then(|| self.foreign(told));
        Known {
            recorded,
            tells: self.passed.as_ref().filter(|_| committed.is_none()).map_or(Tells::Likeness, Tells::Shown),
            calls: self.calls_of(|_| true),
            foreign,
            has_others: self.has_others,
            exactly: Exactly::No,
            zones: self.clock.zones(),
            id_places: self.id_places.as_deref(),
            committed,
        }
    }

    /// The model's words in the answers as they are `told`.
    fn recorded(&self, told: Told) -> Recorded {
        let turns = self.fixture.iter().flat_map(|fixture| fixture.table.turns());
        let recorded = Recorded::of(turns.map(|turn| told(&turn.output)));
        if self.log.own.is_empty() { recorded } else { recorded.as_served(Recorded::of(self.answers().map(told))) }
    }

    /// A committed golden and this run, in what the golden holds; `None` if no step goes into one.
    pub(super) fn sides(&self, scenario: &Scenario, committed: &Committed) -> Option<Sides> {
        Some(self.sides_of(scenario, committed, self.own_golden(scenario)?))
    }

    /// A committed golden and one of this run, in what the committed one holds, and by its day.
    pub(super) fn sides_of(&self, scenario: &Scenario, committed: &Committed, own: &Golden) -> Sides {
        if !committed.is_older() {
            let days = committed.written.0.map(|at| self.clock.days(at)).unwrap_or_default();
            let is = self.moved(&scenario.golden, &self.rules, &committed.golden, own.clone(), &days);
            return Sides::new(self, &scenario.golden, committed.golden.clone(), is);
        }
        let (format, mut captured) = (committed.format, self.played.driven.captured.clone());
        captured.retain(|capture| !capture.delivery.is_beside || format.holds(Part::Headers));
        let options = format.options(&scenario.golden);
        let known = self.known_with(Some(&committed.golden));
        let run = self.shaped(&captured, &options, &self.rules, &known, &str::to_owned);
        let (was, is) = format.in_common(&committed.golden, &run.golden, scenario.golden.detail);
        Sides::new(self, &scenario.golden, was, is)
    }

    /// The same for the committed golden of a scenario, if it has an older format, or is of another day.
    pub(super) fn older_sides(&self, project: &Project, scenario: &Scenario, own: Option<&Golden>) -> Option<Sides> {
        let read = || project.goldens.golden(&scenario.golden_name).ok().flatten();
        let (committed, own) = (self.committed.clone().or_else(read)?, own?);
        let aged = || committed.golden != *own && committed.written.0.is_some_and(|at| !self.clock.days(at).is_empty());
        (committed.is_older() || aged()).then(|| self.sides_of(scenario, &committed, own))
    }

    /// The same with the golden of another run, whose system may have been told another day.
    pub(crate) fn moved_to(
        &self,
        other: &Replayed,
        options: &ShapeOptions,
        rules: &Rules,
        was: &Golden,
        is: Golden,
    ) -> Golden {
        self.moved(options, rules, was, is, &self.clock.days(other.clock.minute()))
    }

    /// A golden of this run with the values of another golden that are equal to its own by the day.
    pub(super) fn moved(&self, options: &ShapeOptions, rules: &Rules, was: &Golden, is: Golden, days: &Days) -> Golden {
        if *was == is || days.is_empty() {
            return is;
        }
        let known = self.known_with(Some(was));
        let (mut moved, mut least) = (is.clone(), usize::MAX);
        // Dates that stay may stand beside those that move, so the orders and the hashes of this run are tried first.
        let which = [None, Some(Which::Dates), Some(Which::All), Some(Which::WholeDates)];
        let each = |day: Days| which.map(|which| (day.clone(), which));
        for (day, which) in days.by_each_clock().flat_map(each) {
            let put_back = |text: &str| which.map_or_else(|| text.to_owned(), |which| day.put_back(text, which));
            let back = self.shaped(&self.played.driven.captured, options, rules, &known, &put_back);
            let by_day = is.clone().with_day_of(was, &back.golden, &day);
            let left = changes(was, &by_day).len();
            if left < least {
                (moved, least) = (by_day, left);
            }
            if left == 0 {
                break;
            }
        }
        moved
    }

    /// The failure about a name in the `[golden]` options that no event of the run has.
    pub(super) fn names_nothing(&self, scenario: &Scenario) -> Option<Failure> {
        let normalize = |text: &str| self.played.driven.names.apply(text, &self.rules.normalizer);
        let NamesNothing { option, name, there } =
            names_nothing(&self.played.driven.captured, &scenario.golden, &normalize)?;
        let error = Error::new(match option {
            "text" => "`text = \"lines\"` in [golden], but no event of this run contains text: all are JSON".to_owned(),
            _ => format!("`{option}` in [golden] names `{name}`, but no event of this run has that name"),
        });
        let help = match nearest(&name, there.iter().map(String::as_str)) {
            _ if name == ":" && option != "text" => {
                "`:` means comments, which are part of a golden only with `comments = true`".to_owned()
            }
            Some(near) if option != "text" => format!("did you mean `{near}`?"),
            _ => "a case whose events differ can have a [case.NAME.golden] of its own".to_owned(),
        };
        let error = error.in_file(&scenario.file).help(help);
        Some(Failure::from(error).evidence(format!("the events of this run: {}", there.join(", "))))
    }

    /// The failure about recorded requests to tool servers that were not made.
    pub(super) fn unused_tools(&self, scenario: &Scenario) -> Option<Failure> {
        let unused = &self.played.tools.unused;
        if unused.is_empty() || scenario.options.unused == Unused::Allow {
            return None;
        }
        let requests = retake_base::text::counted(unused.len(), "recorded request");
        let one = if let [one] = &unused[..] { format!(": {one}") } else { String::new() };
        let cause = Cause::new(CauseKind::ToolUnused, format!("{requests} to tools not made{one}"));
        let lines: Vec<String> = unused.iter().take(SHOWN).map(|line| format!("  not made: {line}")).collect();
        Some(Failure::of(vec![cause]).evidence(lines.join("\n")))
    }

    /// The first request to a tool that was recorded again after an error of its server, and now was made once.
    pub(super) fn gave_up_a_tool(&self) -> Option<Cause> {
        let (unused, tools) = (&self.played.tools.unused_at, &self.fixture.as_ref()?.tools);
        unused.iter().find_map(|(server, at)| {
            let [before, again] = tools.get(server)?.get(at.checked_sub(1)?..=*at)? else { return None };
            let is_made = !unused.contains(&(server.clone(), at - 1));
            let is_again = is_made && (&before.method, &before.params) == (&again.method, &again.params);
            let status = before.status.filter(|status| is_again && *status >= 500)?;
            let asked = format!("`{server}` is not asked again for `{} {}`", again.method, again.tool());
            Some(Cause::new(CauseKind::ToolUnused, format!("{asked} after status {status}, as recorded")))
        })
    }

    /// The failure about a flaw of the protocol that the recording does not have. This is for turns of older fixtures without
    /// the check `results`; newer ones report it as drift of that check.
    pub(super) fn flawed(&self, scenario: &Scenario) -> Option<Failure> {
        let fixture = self.fixture.as_ref().filter(|_| scenario.options.drift.of(Check::Results) == Level::Fail)?;
        let of_older = |flaw: &&CallFlaw| {
            let turn = flaw.turn.filter(|_| flaw.kind == FlawKind::Protocol);
            let older = |turn: &usize| fixture.table.turns()[*turn].checks.is_none_or(|of| of.results.is_none());
            turn.filter(older).and_then(|turn| fixture.conversation(turn, &self.rules)).is_some_and(|c| is_sound(&c))
        };
        let flaw = self.played.flaws.iter().find(of_older)?;
        let by = flaw.caller.as_deref().map(|caller| format!(", by `{caller}`")).unwrap_or_default();
        let place = flaw.turn.map(|turn| fixture.place_of(turn)).unwrap_or_default();
        let what = format!("protocol: {}, which was recorded without that flaw", flaw.what);
        let failure = Failure::of(vec![Cause::new(CauseKind::Protocol, what)]);
        Some(failure.evidence(format!("  {place}{by}, in scenario `{}`", scenario.name)))
    }

    /// The golden by these rules: a block for each capture, in the order of the steps.
    pub(crate) fn golden_by(&self, scenario: &Scenario, rules: &Rules) -> Option<Golden> {
        has_golden(scenario).then(|| self.golden(&scenario.golden, rules).golden).filter(Golden::holds_any)
    }

    /// Whether events of tool calls that were made at once may come in another order in the next run, and change its golden.
    pub(crate) fn may_come_in_another_order(&self, scenario: &Scenario) -> bool {
        let served = self.calls_of(|turn| !self.log.unused.contains(&turn));
        let normalize = |text: &str| self.played.driven.names.apply(text, &self.rules.normalizer);
        has_golden(scenario) && !served.are_told_apart(&self.played.driven.captured, &scenario.golden, &normalize)
    }

    /// The same golden with the words of the model that the run passes on, if that is shown.
    pub(crate) fn with_words(&self, scenario: &Scenario, golden: Golden) -> Golden {
        let Some(passed) = &self.passed else { return golden };
        self.golden_with(&Known { tells: Tells::Shown(passed), ..self.known_with(Some(&golden)) }, scenario)
    }

    /// Where texts are ids in spite of their form, since other replays have others there, or are none, since they have the same.
    pub(super) fn id_places_beside(&self, others: &[Replayed], scenario: &Scenario) -> IdPlaces {
        let runs: Vec<&Replayed> = others.iter().chain([self]).filter(|_| self.has_others).collect();
        let names = |run: &Replayed, text: &str| run.played.driven.names.apply(text, &self.rules.normalizer);
        let normalize: Vec<_> = runs.iter().map(|run| move |text: &str| names(run, text)).collect();
        let captured = runs.iter().map(|run| &run.played.driven.captured[..]);
        let all = captured.zip(normalize.iter().map(|it| it as &dyn Fn(&str) -> String));
        let (recorded, foreign) = (self.recorded(&|answer| answer), self.foreign(&|answer| answer));
        IdPlaces::of(&all.collect::<Vec<_>>(), &scenario.golden, &recorded, &|text| foreign.came(text))
    }

    /// The year in which the system answered, as it says itself. Another clock is in another one.
    pub(super) fn year(&self) -> Option<i32> {
        self.played.driven.captured.iter().find_map(answered).map(OffsetDateTime::year)
    }

    /// The golden of what was captured, with texts told `exactly`. Without what `tells` the words of the model, it names all times, those of
    /// others, too.
    pub(super) fn exact_golden(&self, of: &Scenario, exactly: Exactly, tells: Option<Tells<'_>>) -> Golden {
        let mut known = Known { tells: tells.unwrap_or_default(), has_others: true, exactly, ..self.known_with(None) };
        known.foreign = known.foreign.filter(|_| tells.is_some());
        self.golden_with(&known, of)
    }

    /// The golden of what was captured, by what is known.
    pub(super) fn golden_with(&self, known: &Known<'_>, of: &Scenario) -> Golden {
        self.shaped(&self.played.driven.captured, &of.golden, &self.rules, known, &str::to_owned).golden
    }

    /// The tool calls of these turns.
    pub(crate) fn calls_of(&self, wanted: impl Fn(usize) -> bool) -> Calls {
        Calls::of(self.answers().enumerate().filter(|(index, _)| wanted(*index)).map(|(_, answer)| answer))
    }

    /// The answers of all turns, as this run was served.
    fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.fixture.iter().flat_map(|fixture| self.log.answers(fixture))
    }

    pub(crate) fn golden(&self, options: &ShapeOptions, rules: &Rules) -> Shaped {
        self.shaped(&self.played.driven.captured, options, rules, &self.known(), &str::to_owned)
    }

    /// The golden of what was captured. `put` changes each text before it is normalized.
    pub(super) fn shaped(
        &self,
        captured: &[Captured],
        options: &ShapeOptions,
        rules: &Rules,
        known: &Known<'_>,
        put: &dyn Fn(&str) -> String,
    ) -> Shaped {
        // Remove secrets before texts are cut: a part of a secret would not be recognized.
        let scrubbed = |text: &str| self.secrets.text(text, &mut Fired::new()).into_owned();
        let normalize = |text: &str| scrubbed(&self.played.driven.names.apply(&put(text), &rules.normalizer));
        let mut shaped = Shaped::of(captured, options, known, &normalize);
        // What was not asked in this run is as it was.
        let before = || known.committed.map(Golden::early).unwrap_or_default();
        let early = self.early.clone().filter(|early| early.len() == shaped.golden.early().len());
        let early = early.unwrap_or_else(before);
        // An answer that was held back in vain moved what the service's clock says after it.
        let is_in_vain = |(was, is): (Vec<usize>, &Vec<usize>)| was.iter().any(|turn| !is.contains(turn));
        if let Some(committed) = known.committed.filter(|_| before().into_iter().zip(&early).any(is_in_vain)) {
            shaped.golden.keep_away(committed);
        }
        shaped.golden = shaped.golden.with_early(&early).with_text(known.committed, &scrubbed);
        let was = known.committed.map(|committed| &committed.cost[..]).unwrap_or_default();
        shaped.golden.cost = self.cost.as_deref().unwrap_or(was).iter().map(|of| of.beside(was)).collect();
        shaped
    }
}

/// A committed golden and a run, in what both hold.
pub(super) struct Sides {
    pub(super) was: Golden,
    pub(super) is: Golden,
    /// The run with each text in its other Unicode form, if that makes texts equal, and what is different then.
    in_other_form: Option<(Golden, String)>,
}

impl Sides {
    fn new(run: &Replayed, options: &ShapeOptions, was: Golden, is: Golden) -> Sides {
        let is = is.with_order_if_alone(&was);
        let mut sides = Sides { was, is, in_other_form: None };
        if sides.changes().iter().any(Change::is_of_text) {
            let found = OnceCell::new();
            let put = |text: &str| {
                let (other, words) = in_other_form(text)?;
                let _ = found.set(words);
                Some(other)
            };
            let put = |text: &str| put(text).unwrap_or_else(|| text.to_owned());
            let known = run.known_with(Some(&sides.was));
            let shaped = run.shaped(&run.played.driven.captured, options, &run.rules, &known, &put);
            sides.in_other_form = found.into_inner().map(|words| (shaped.golden, words));
        }
        sides
    }

    pub(super) fn changes(&self) -> Vec<Change> {
        let mut found = changes(&self.was, &self.is);
        if let Some((other, words)) = &self.in_other_form {
            let left = changes(&self.was, other);
            for change in &mut found {
                change.in_form(&left, words);
            }
        }
        found
    }

    pub(super) fn diff(&self) -> Vec<Line> {
        unified_lines(&self.was.to_string(), &self.is.to_string())
    }
}

/// Checks that a golden was not written by a newer version of Retake.
/// Fails if it was.
pub(super) fn check_format(project: &Project, scenario: &Scenario) -> Result<(), Failure> {
    if !project.goldens.is_newer(&scenario.golden_name) {
        return Ok(());
    }
    let (file, update) = (project.goldens.file(&scenario.golden_name), project.commands.update(&scenario.name));
    let file = project.goldens.shown(&file).display();
    let what = format!("{file} was written by a newer version of Retake; to write it anew: {update}");
    let why = "another version pins other things, so both cannot be compared; look at the changes before you commit it";
    Err(Failure::of(vec![Cause::new(CauseKind::GoldenOutdated, what)])
        .evidence(why)
        .resolve("to write it anew", update))
}

/// The last part of the verdict: compares a golden with the committed one, and writes it if the policy says so. `older` is what a
/// committed golden of an older format or of another day holds; `recorded` is the minute of the recording, if the system has its clock.
/// Fails if there is no golden, if it differs, or if it cannot be read or written.
pub(super) fn compare(
    project: &Project,
    scenario: &Scenario,
    golden: &Golden,
    older: Option<&Sides>,
    recorded: Option<Minute>,
) -> Result<(), Failure> {
    let file = project.goldens.file(&scenario.golden_name);
    let broken = |error: Error| {
        let case = if file.is_file() { "to rewrite it" } else { "after removing it" };
        Failure::from(error).resolve(case, project.commands.update(&scenario.name))
    };
    // Only a step that is captured asks for one.
    let is_asked = || scenario.steps.iter().flat_map(Step::parts).any(|step| step.golden);
    if !file.is_file() && project.goldens.policy != Policy::Overwrite && !is_asked() {
        let none = format!("no golden holds what the service sends: {}", project.commands.update_all());
        project.note(&scenario.name, project.noted(&scenario.name).into_iter().chain([none.into()]));
        return Ok(());
    }
    let held = older.is_some_and(|older| older.changes().is_empty());
    let compared = project.goldens.by(recorded).compare_golden(&scenario.golden_name, golden, &scenario.file, held);
    let compared = compared.map_err(broken)?;
    if project.goldens.policy == Policy::Overwrite {
        let written = match compared {
            Compared::FormatOnly => compared.change().to_owned(),
            compared => format!("golden {}", compared.change()),
        };
        project.note(&scenario.name, project.noted(&scenario.name).into_iter().chain([written.into()]));
        return Ok(());
    }
    match (compared, older) {
        (Compared::Same, _) => Ok(()),
        (Compared::FormatOnly, _) => {
            project.holding_less.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        (Compared::Differs(_), Some(older)) => Err(differs(older)),
        _ => Err(if let Some(committed) = project.goldens.golden(&scenario.golden_name).map_err(broken)? {
            let is = golden.clone().with_order_if_alone(&committed.golden);
            differs(&Sides { was: committed.golden.clone(), is, in_other_form: None })
        } else {
            let shown = project.goldens.shown(&file).display();
            let what = format!("the scenario has none, {shown} does not exist");
            Failure::of(vec![Cause::new(CauseKind::GoldenMissing, what)])
                .evidence(Evidence::diff("it would contain:", unified_lines("", &golden.to_string())))
        }),
    }
}

fn differs(sides: &Sides) -> Failure {
    let causes = sides.changes().iter().map(Change::cause).collect();
    Failure::of(causes).evidence(Evidence::diff("- golden, + this run", sides.diff()))
}

/// Whether each tool call of a canonical conversation has a result, and each result has a call.
pub(super) fn is_sound(conversation: &[Json]) -> bool {
    let mut open: BTreeMap<&str, i64> = BTreeMap::new();
    for message in conversation {
        for call in message.get("tool_calls").and_then(Json::as_array).unwrap_or_default() {
            *open.entry(call.str_of("name").unwrap_or_default()).or_default() += 1;
        }
        if message.str_of("type") == Some("tool") {
            *open.entry(message.str_of("name").unwrap_or_default()).or_default() -= 1;
        }
    }
    open.values().all(|left| *left == 0)
}

/// Whether a scenario has a golden: whether any of its steps goes into one, or has an answer that is held beside others.
pub fn has_golden(scenario: &Scenario) -> bool {
    scenario.steps.iter().flat_map(Step::parts).any(|step| step.golden || matches!(step.action, Action::Request(_)))
}
