//! Systems that say in words what hour and what day it is. The second replay of a proof has another clock, where this machine can
//! move one.

use std::path::PathBuf;

use axum::Router;
use libtest_mimic::{Completion, Trial};
use serde_json::json;

use crate::support::loopback::Service;
use crate::support::program::Ran;
use crate::support::tree::Tree;

const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

pub(crate) fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 18] = [
        ("a_day_of_another_zone_is_tried_at_midday", a_day_of_another_zone_is_tried_at_midday),
        (
            "what_the_model_decides_is_found_where_a_call_tells_the_time",
            what_the_model_decides_is_found_where_a_call_tells_the_time,
        ),
        ("a_day_in_a_text_is_held", a_day_in_a_text_is_held),
        ("a_day_that_moves_is_told_by_how_far_away_it_is", a_day_that_moves_is_told_by_how_far_away_it_is),
        ("what_another_day_changes_does_not_vary", what_another_day_changes_does_not_vary),
        ("a_clock_that_drops_zeros_once_is_looked_at_again", a_clock_that_drops_zeros_once_is_looked_at_again),
        (
            "a_day_that_a_tool_named_is_held_without_another_clock",
            a_day_that_a_tool_named_is_held_without_another_clock,
        ),
        ("another_day_is_told_unless_it_moves", another_day_is_told_unless_it_moves),
        (
            "another_day_is_another_request_to_a_tool_unless_it_moves",
            another_day_is_another_request_to_a_tool_unless_it_moves,
        ),
        ("a_time_that_moves_is_told_without_another_clock", a_time_that_moves_is_told_without_another_clock),
        (
            "a_system_that_does_not_bear_another_clock_keeps_its_own",
            a_system_that_does_not_bear_another_clock_keeps_its_own,
        ),
        (
            "a_service_that_counts_days_has_the_clock_of_its_recording",
            a_service_that_counts_days_has_the_clock_of_its_recording,
        ),
        (
            "what_another_clock_left_open_is_held_by_that_of_the_recording",
            what_another_clock_left_open_is_held_by_that_of_the_recording,
        ),
        ("a_letter_with_dates_far_away_is_held_on_any_day", a_letter_with_dates_far_away_is_held_on_any_day),
        ("a_clock_that_cannot_be_set_is_refused", a_clock_that_cannot_be_set_is_refused),
        ("a_greeting_is_found_by_another_clock", a_greeting_is_found_by_another_clock),
        ("a_day_in_words_agrees_by_another_clock", a_day_in_words_agrees_by_another_clock),
        ("without_the_library_it_is_said_what_was_not_tried", without_the_library_it_is_said_what_was_not_tried),
    ];
    let trial = |(name, test): (&str, fn())| {
        Trial::ignorable_test(format!("record::clock::{name}"), move || {
            if library().is_none() {
                return Ok(Completion::ignored_with(format!(
                    "this machine has no {LIBRARY} (Debian: apt install faketime)"
                )));
            }
            test();
            Ok(Completion::Completed)
        })
    };
    tests.map(trial).into()
}

/// The library, where Debian has it.
fn library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    folders.map(|folder| folder.path().join(LIBRARY)).find(|path| path.is_file())
}

/// A system whose prompt says `{said}`, with the clock as `now`.
const APP: &str = r#"
import datetime, http.server, json, os, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self): self.reply(b"ok")
    def do_POST(self):
        now = datetime.datetime.now()
        said = SAID
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": said}]}).encode()
        headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
        request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
        answer = json.load(urllib.request.urlopen(request))
        self.reply(json.dumps({"text": answer["choices"][0]["message"]["content"], "said": said}).encode())
    def reply(self, body):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;

const SYSTEM: &str = r#"[systems.agent]
command = ["python3", "app.py"]
ready = { http = "/" }
[systems.agent.env]
PORT = "{{ port }}"
OPENAI_BASE_URL = "{{ model.openai }}"
OPENAI_API_KEY = "{{ model.key }}"
FLEET = "{{ tools.fleet.url }}"
"#;

/// Records a scenario of a system that says this, an expression of Python, with an answer that calls a tool.
fn recorded(said: &str, moved: bool) -> (Tree, Ran) {
    recorded_with(said, moved, "[golden]\ndetail = \"values\"\n")
}

fn recorded_with(said: &str, moved: bool, golden: &str) -> (Tree, Ran) {
    recorded_app(&APP.replace("SAID", said), moved, golden)
}

fn recorded_app(app: &str, moved: bool, golden: &str) -> (Tree, Ran) {
    recorded_of(app, moved, golden, &["c1"])
}

fn recorded_of(app: &str, moved: bool, golden: &str, calls: &[&str]) -> (Tree, Ran) {
    let call = |id: &&str| {
        json!({ "id": id, "type": "function",
        "function": { "name": "book", "arguments": json!({ "day": time::OffsetDateTime::now_utc().date().to_string() }).to_string() } })
    };
    let message =
        json!({ "role": "assistant", "content": "Yes.", "tool_calls": calls.iter().map(call).collect::<Vec<_>>() });
    let answer = json!({ "id": "c", "model": "m", "from": STAYS,
        "choices": [{ "index": 0, "message": message, "finish_reason": "tool_calls" }] });
    let provider = Service::start(Router::new().fallback(async move || axum::Json(answer)));
    let tree = Tree::empty();
    tree.write("app.py", app);
    tree.write(
        "scenarios/suite.toml",
        &format!("settle = \"100ms\"\n[tools.fleet]\nhttp = \"{}\"\n{SYSTEM}", provider.openai()),
    );
    tree.scenario("day", &format!("[[step]]\npost = \"/\"\ngolden = true\n{golden}"));
    let record = tree.retake().args(&["record", "day"]).env("OPENAI_API_KEY", "sk-of-the-provider");
    let record = record.env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    let record = if moved { record.env("RETAKE_FAKETIME", library().unwrap()) } else { record };
    let ran = record.run();
    (tree, ran)
}

fn a_greeting_is_found_by_another_clock() {
    // Twelve hours and seven minutes away is another third of the day at any time, and mostly another half.
    let said = r#""Good %s, it is %s" % (["night", "morning", "evening"][now.hour // 8], now.strftime("%p"))"#;
    let (tree, ran) = recorded(said, true);
    let ran = ran
        .exits(1)
        .says(&["by libfaketime, the clock of the second replay is 400 days, 12 hours and 7 minutes ahead"]);
    ran.says(&["Good ", "RETAKE_FAKETIME=off"]);
    assert!(!tree.has("fixtures/day.json"));
    recorded(said, false).1.exits(0);
}

fn a_day_in_words_agrees_by_another_clock() {
    for said in [
        r#"f"Today is {now:%A}, the {now.day}. of {now:%B %Y}""#,
        r#"now.strftime("It is %a %d %b %Y in week %V")"#,
        "\"hello\"",
    ] {
        let stays = "the model calls the tool `book` with a day: it stays that day";
        let ran = recorded(said, true).1.exits(0).says(&[stays, "two replays agree"]);
        ran.never_says("untested").never_says("found by its day");
    }
}

fn a_system_that_does_not_bear_another_clock_keeps_its_own() {
    // The second one answers before it asks.
    for said in ["1 / 0", r#"self.reply(b"{}") or 1 / 0"#] {
        let ran = recorded(&format!(r#"{said} if "FAKETIME" in os.environ else "hello""#), true).1.exits(0);
        let ran =
            ran.says(&["day: untested: another hour, since its system fails where libfaketime moves its clock: "]);
        ran.says(&["two replays agree"]).never_says("untested: another hour. ");
    }
    // What fails by its own clock, too, is red.
    let today = time::OffsetDateTime::now_utc().date();
    let said = format!(r#"1 / 0 if os.environ["RETAKE_DATE"] != "{today}" else "hello""#);
    recorded(&said, true).1.exits(1).never_says("RETAKE_FAKETIME=off");
}

fn without_the_library_it_is_said_what_was_not_tried() {
    let (_, ran) = recorded("\"hello\"", false);
    ran.exits(0).says(&["untested: another hour", "libfaketime (Debian: apt install faketime)"]);
}

/// A time that is another one in each run, and always as far from the `Date` of the answer.
fn a_time_that_moves_is_told_without_another_clock() {
    for (said, told) in [
        ("now.astimezone().isoformat()", "now"),
        ("(now.astimezone() + datetime.timedelta(hours=4)).isoformat()", "+ 4 h"),
        // It stays, and is as far away from each run that follows.
        ("\"2099-01-01T10:00:00.5+00:00\"", ""),
    ] {
        let (tree, ran) = recorded_with(said, false, "");
        ran.exits(0).says(&["two replays agree"]);
        let golden = tree.read("goldens/day.snap");
        let line = golden.lines().find(|line| line.trim().starts_with("said ")).unwrap().trim().to_owned();
        assert_eq!(line.rsplit("hh:mm").next().unwrap().trim(), told, "{golden}");
    }
}

/// Runs a project as if it were days later: Retake and its systems.
fn days_later(tree: &Tree, days: i64) -> Ran {
    later(tree, time::Duration::days(days))
}

fn later(tree: &Tree, by: time::Duration) -> Ran {
    let moved = tree.retake().args(&["test", "day"]).env("LD_PRELOAD", library().unwrap());
    let away = [("FAKETIME", format!("{:+}", by.whole_seconds())), ("FAKETIME_DISABLE_SHM", "1".into())];
    away.into_iter()
        .fold(moved.env("RETAKE_FAKETIME", library().unwrap()), |ran, (name, value)| ran.env(name, value))
        .run()
}

/// A service that takes its day from a zone that nothing names.
fn a_day_of_another_zone_is_tried_at_midday() {
    let hour = i64::from(time::OffsetDateTime::now_utc().hour());
    // A zone that has the same day now, and another one at some hour.
    let (zone, at) = if hour < 12 { (2, 23) } else { (-2, 48) };
    let zoned = |zone: i64| format!("now(datetime.timezone.utc) + datetime.timedelta(hours={zone}, minutes=-1)");
    let app = APP.replace("now()", &zoned(zone)).replace("SAID", "\"hello\"").replace(
        "\"messages\": [",
        "\"messages\": [{\"role\": \"system\", \"content\": f\"Today is {now:%A, %d %B %Y}.\"}, ",
    );
    let (tree, ran) = recorded_app(&app, false, "");
    ran.exits(0);
    let by = time::Duration::hours(at - hour);
    later(&tree, by).exits(0).says(&["note: day: the service tells another day", "it has a time zone of its own"]);
    let scenario = tree.read("scenarios/day/scenario.toml");
    tree.write("app.py", &app.replace(&zoned(zone), &zoned(zone + 48)));
    later(&tree, by).exits(1).says(&["tells another day than today"]);
    // A zone that the scenario names is known.
    let named = if zone > 0 { "Etc/GMT-2" } else { "Etc/GMT+2" };
    if std::path::Path::new("/usr/share/zoneinfo").join(named).exists() {
        tree.write("app.py", &app);
        tree.write("scenarios/day/scenario.toml", &format!("# {named}\n{scenario}"));
        later(&tree, by).exits(0).never_says("zone of its own");
    }
}

const WORKING_DAYS: &str =
    r#"f"{sum((now + datetime.timedelta(days=n)).weekday() < 5 for n in range(now.day))} working days""#;

fn a_service_that_counts_days_has_the_clock_of_its_recording() {
    let agree = "tried: if each replay has the clock of the recording, two replays agree";
    recorded(WORKING_DAYS, true).1.exits(1).says(&[agree, "clock = \"recorded\""]);
    let (tree, ran) = recorded(WORKING_DAYS, false);
    ran.exits(0);
    let advice = ["by the clock of its recording, 20", "the run is green", "set in scenarios/day/scenario.toml"];
    days_later(&tree, 10).exits(1).says(&advice).says(&["clock = \"recorded\""]);
    let (scenario, golden) = ("scenarios/day/scenario.toml", tree.read("goldens/day.snap"));
    tree.write(scenario, &format!("clock = \"recorded\"\n{}", tree.read(scenario)));
    for days in [0, 10, 400] {
        days_later(&tree, days).exits(0);
    }
    // What is wrong at that time is red at any other.
    let app = tree.read("app.py");
    tree.write("app.py", &app.replace("range(now.day)", "range(now.day + 7)"));
    days_later(&tree, 10).exits(1).never_says("by the clock of its recording");
    tree.write("app.py", &app);
    let update = tree.retake().args(&["test", "day", "--update"]).env("RETAKE_FAKETIME", library().unwrap());
    update.run().exits(0).says(&["day: format only"]);
    let minute =
        tree.read("fixtures/day.json").split("\"recorded\": \"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let header = |golden: &str| golden.split("input_file").next().unwrap().to_owned();
    let by_recording =
        golden.replace(&header(&golden), &format!("---\ndescription: retake golden 3\ninfo:\n  recorded: {minute}\n"));
    assert_eq!(tree.read("goldens/day.snap"), by_recording);
}

/// A fee that depends on how far away an appointment is. The second replay, which is after it, has another one.
fn what_another_clock_left_open_is_held_by_that_of_the_recording() {
    let day = time::OffsetDateTime::now_utc().date() + time::Duration::days(18);
    let left = format!("(datetime.date.fromisoformat(\"{day}\") - now.date()).days");
    let fee = format!("\"0,00 €\" if {left} >= 30 else \"12,50 €\" if {left} >= 7 else \"25,00 €\"");
    let app = APP.replace("\"said\": said", &format!("\"fee\": {fee}")).replace("SAID", "\"hello\"");
    let (tree, ran) = recorded_app(&app, true, "");
    ran.exits(0);
    let (scenario, fee) =
        ("scenarios/day/scenario.toml", |tree: &Tree| tree.read("goldens/day.snap").contains("12,50 €"));
    assert!(!fee(&tree), "{}", tree.read("goldens/day.snap"));
    tree.write(scenario, &format!("clock = \"recorded\"\n{}", tree.read(scenario)));
    days_later(&tree, 0).exits(0).says(&["1 golden holds less than it could: retake test --update"]);
    let update = || tree.retake().args(&["test", "day", "--update"]).env("RETAKE_FAKETIME", library().unwrap()).run();
    update().exits(0).says(&["day: golden changed"]);
    assert!(fee(&tree), "{}", tree.read("goldens/day.snap"));
    update().exits(0).says(&["day: golden unchanged"]);
    for days in [0, 40] {
        days_later(&tree, days).exits(0).never_says("holds less");
    }
    tree.write("app.py", &tree.read("app.py").replace(">= 30", ">= 14"));
    days_later(&tree, 9).exits(1).says(&["`/fee` is `\"0,00 €\"`, not `\"12,50 €\"`"]);
}

fn what_the_model_decides_is_found_where_a_call_tells_the_time() {
    let app = APP.replace(
        "\"said\": said",
        "\"until\": \"2031-03-04\", \"length\": len(answer[\"choices\"][0][\"message\"][\"content\"])",
    );
    let said = r#"f"It is {now.isoformat(timespec='milliseconds')}Z""#;
    let (tree, ran) = recorded_app(&app.replace("SAID", said), true, "");
    // The day is the same on each day, and the time is no other day's.
    ran.exits(0).says(&["two replays agree"]).never_says("on another day");
    let golden = tree.read("goldens/day.snap");
    assert!(golden.contains("length     number"), "{golden}");
    let update = tree.retake().args(&["test", "day", "--update"]).env("RETAKE_FAKETIME", library().unwrap());
    update.run().exits(0).says(&["day: golden unchanged"]);
    // The next Monday is another distance away.
    let monday = "str(now.date() + datetime.timedelta(days=7 - now.weekday()))";
    let app = app.replace("\"2031-03-04\"", monday).replace("SAID", "\"hello\"");
    recorded_app(&app, true, "").1.exits(0).says(&["on another day the service says otherwise"]);
}

const LETTER: &str = r#"f"On {now:%d %B %Y} we repaired your boiler for 349.40 EUR in 3 hours, 2 pipes and 1 valve, which you and your family may use from now on. Please pay until {now + datetime.timedelta(days=14):%A, %d %B %Y} and name 4711.""#;

fn a_letter_with_dates_far_away_is_held_on_any_day() {
    let day = r#"f"Due on {now + datetime.timedelta(days=14):%A, %d %B %Y}""#;
    let app = APP.replace("SAID", LETTER).replace("\"content\": said", &format!("\"content\": {day}"));
    let (tree, ran) = recorded_app(&app, true, "");
    ran.exits(0).says(&["two replays agree"]);
    let golden = tree.read("goldens/day.snap");
    assert!(golden.contains(" we repaired your boiler for 349.40 EUR in 3 hours"), "{golden}");
    for days in [0, 33, 400] {
        tree.write("app.py", &app);
        days_later(&tree, days).exits(0);
        tree.write("app.py", &app.replace("\"said\": said", "\"said\": said.replace(\"4711\", \"4712\")"));
        let ran = days_later(&tree, days).exits(1);
        ran.says(&["4712.", "4711."]).never_says("…Please").never_says(" January ");
        let later = app.replace("\"said\": said", "\"said\": said.replace(f\"{now + datetime.timedelta(days=14):%d %B}\", f\"{now + datetime.timedelta(days=15):%d %B}\")");
        tree.write("app.py", &later);
        days_later(&tree, days).exits(1);
    }
    // What is not told there is known by its hash.
    tree.write("app.py", &app);
    tree.remove("fixtures/day.snap");
    days_later(&tree, 33).exits(0);
}

fn a_clock_that_cannot_be_set_is_refused() {
    let (tree, ran) = recorded("\"hello\"", true);
    ran.exits(0);
    let (scenario, suite, fixture) = ("scenarios/day/scenario.toml", "scenarios/suite.toml", "fixtures/day.json");
    tree.write(scenario, &format!("clock = \"recorded\"\n{}", tree.read(scenario)));
    let test = |library: PathBuf| tree.retake().args(&["test", "day"]).env("RETAKE_FAKETIME", library).run();
    test("off".into())
        .exits(1)
        .says(&["clock = \"recorded\": this machine has no libfaketime", "apt install faketime"]);
    let (recording, settings) = (tree.read(fixture), tree.read(suite));
    let without = |line: &&str| !line.contains("\"recorded\": ");
    tree.write(fixture, &recording.lines().filter(without).collect::<Vec<_>>().join("\n"));
    test(library().unwrap()).exits(1).says(&["day.json does not say when it was recorded", "or record it again"]);
    tree.write(fixture, &recording);
    tree.write(
        suite,
        &settings.replace("ready =", "shared = true\nready =").replace("FLEET = \"{{ tools.fleet.url }}\"\n", ""),
    );
    test(library().unwrap()).exits(1).says(&["a system with `shared` has one clock for all scenarios"]);
    tree.write(suite, &settings);
    test(library().unwrap()).exits(0);
}

/// Changes what a recorded system says, and tests it.
fn changed(tree: &Tree, of: &str, to: &str) -> Ran {
    let app = tree.read("app.py");
    assert!(app.contains(of));
    tree.write("app.py", &app.replace(of, to));
    let ran = tree.retake().args(&["test", "day"]).run();
    tree.write("app.py", &app);
    ran
}

const STAYS: &str = "2099-03-04T08:00:00Z";
const ANOTHER: &str = "2099-03-05T08:00:00Z";

fn another_day_is_told_unless_it_moves() {
    let said = format!(r#"f"from {STAYS} to {{now + datetime.timedelta(days=30):%Y-%m-%d %H:%M:%S}}""#);
    let (tree, ran) = recorded_with(&said, true, "");
    ran.exits(0).says(&["two replays agree"]);
    let told = format!("drift: a call tells another day or time than recorded (\"{STAYS}\" → \"{ANOTHER}\")");
    changed(&tree, STAYS, ANOTHER).exits(1).says(&[&told]);
    // A clock is no day.
    changed(&tree, "days=30", "days=31").exits(0);
    tree.scenario("day", "drift = { results = \"note\" }\n[[step]]\npost = \"/\"\n");
    changed(&tree, STAYS, ANOTHER).exits(0).says(&["note: day: drift: dates changed in the call, turn 1: "]);
    // Where no clock is moved, nobody knows whether it stays.
    let (tree, ran) = recorded_with(&said, false, "");
    ran.exits(0);
    changed(&tree, STAYS, ANOTHER).never_says("another day or time");
}

fn another_day_is_another_request_to_a_tool_unless_it_moves() {
    let get = |day: &str| format!(r#"urllib.request.urlopen(os.environ["FLEET"] + "/free?day=" + {day}).close()"#);
    let said = format!(r#"{} or {} or "hello""#, get("\"2099-03-04\""), get("\"2099-03-09\""));
    let (tree, ran) = recorded_with(&said, true, "");
    ran.exits(0).says(&["two replays agree"]);
    changed(&tree, "2099-03-04", "2099-03-05").exits(1).says(&[
        "replay miss: server `fleet`: `GET` of `/free` has a different `/query/day` than recorded (\"2099-03-0",
        "→ \"2099-03-05\")",
    ]);
    // Which of both is asked first does not matter.
    let swapped = said.replace("03-04", "03-0x").replace("03-09", "03-04").replace("03-0x", "03-09");
    changed(&tree, &said, &swapped).exits(0);
    let moves = get(r#"f"{now + datetime.timedelta(days=30):%Y-%m-%d}""#);
    let (tree, ran) = recorded_with(&format!(r#"{moves} or "hello""#), true, "");
    ran.exits(0).says(&["two replays agree"]);
    days_later(&tree, 9).exits(0);
    changed(&tree, "days=30", "days=31")
        .exits(1)
        .says(&["server `fleet`: `GET` of `/free` has a different `/query/day`"]);
    let (tree, ran) = recorded_with(r#"f"{now + datetime.timedelta(days=30):%Y-%m-%d}""#, true, "");
    ran.exits(0).says(&["two replays agree"]);
    changed(&tree, "days=30", "days=30").exits(0);
    changed(&tree, "days=30", "days=31").exits(1).says(&["a call tells another day or time than recorded"]);
}

/// A day in a text, which no clock changes, is held; and kept where a golden is written anew without another clock.
fn a_day_in_a_text_is_held() {
    let (tree, ran) = recorded_with(&format!(r#""Cancel until {} by mail""#, &STAYS[..10]), true, "");
    ran.exits(0).says(&["two replays agree"]);
    let golden = tree.read("goldens/day.snap");
    assert!(golden.contains("said       \"Cancel until 2099-03-04 by mail\""), "{golden}");
    tree.retake().args(&["test", "day", "--update"]).env("RETAKE_FAKETIME", "off").run().exits(0);
    assert_eq!(tree.read("goldens/day.snap"), golden);
    tree.scenario("day", "drift = { results = \"ignore\" }\n[[step]]\npost = \"/\"\ngolden = true\n");
    changed(&tree, "2099-03-04", "2099-03-05")
        .exits(1)
        .says(&["`/said` is `\"Cancel until 2099-03-05 by mail\"`, not `\"Cancel until 2099-03-04 by mail\"`"]);
}

/// A day of the service's own, which one that stays would be equal to by the day.
fn a_day_that_moves_is_told_by_how_far_away_it_is() {
    let due = r#"f"{now + datetime.timedelta(days=3):%Y-%m-%d}""#;
    let app = APP.replace("SAID", "\"hello\"").replace("\"said\": said", &format!("\"said\": said, \"due\": {due}"));
    let (tree, ran) = recorded_app(&app, true, "");
    ran.exits(0).says(&["two replays agree"]);
    let golden = tree.read("goldens/day.snap");
    assert!(golden.contains("due        yyyy-mm-dd + 3 d"), "{golden}");
    for days in [0, 1, 40] {
        days_later(&tree, days).exits(0);
    }
    tree.write("app.py", &app.replace("days=3)", "days=2)"));
    days_later(&tree, 1).exits(1).says(&["`/due` is `yyyy-mm-dd + 2 d`, not `yyyy-mm-dd + 3 d`"]);
    let stays = (time::OffsetDateTime::now_utc() + time::Duration::days(3)).date();
    tree.write("app.py", &app.replace(due, &format!("\"{stays}\"")));
    days_later(&tree, 40).exits(1).says(&["`/due` is `yyyy-mm-dd - 37 d`, not `yyyy-mm-dd + 3 d`"]);
    // As a golden has it that was written before.
    tree.write("goldens/day.snap", &golden.replace("yyyy-mm-dd + 3 d", &format!("\"{stays}\"")));
    tree.write("app.py", &app);
    days_later(&tree, 40).exits(0);
    tree.write("app.py", &app.replace("days=3)", "days=0)"));
    let today = (time::OffsetDateTime::now_utc()).date();
    days_later(&tree, 12).exits(1).says(&[&format!("`/due` is `\"{today}\"`, not `\"{stays}\"`")]);
}

/// The replays that show whether a golden varies are told another day.
fn what_another_day_changes_does_not_vary() {
    let due = r#"f"Due on {now + datetime.timedelta(days=3):%d %B %Y}""#;
    let said = format!("\"said\": said, \"seats\": 7, \"due\": {due}");
    let app = APP.replace("SAID", "\"hello\"").replace("\"said\": said", &said);
    let (tree, ran) = recorded_of(&app, true, "", &["c1", "c2"]);
    ran.exits(0).says(&["five replays agree"]);
    tree.write("app.py", &app.replace("\"seats\": 7", "\"seats\": 8"));
    let test = tree.retake().args(&["test", "day"]).env("RETAKE_FAKETIME", library().unwrap()).run();
    test.exits(1).says(&["`/seats` is `8`, not `7`"]).never_says("replayed again").never_says("if it may vary");
}

/// Whoever names a day has no clock of the service's.
fn a_day_that_a_tool_named_is_held_without_another_clock() {
    let named = r#"json.load(urllib.request.urlopen(os.environ["FLEET"] + "/trip"))["from"]"#;
    let said = format!(r#""departs " + {named}[:10] + " 09:30 GMT""#);
    let (tree, ran) = recorded_with(&said, false, "");
    ran.exits(0).says(&["two replays agree"]);
    let golden = tree.read("goldens/day.snap");
    assert!(golden.contains("departs 2099-03-04 09:30 GMT"), "{golden}");
    tree.retake().args(&["test", "day"]).run().exits(0);
    let another = named.to_owned() + ".replace('-04T', '-05T')";
    let told = "drift: a call tells another day or time than recorded (\"2099-03-04\" → \"2099-03-05\")";
    changed(&tree, named, &another).exits(1).says(&[told]);
    changed(&tree, "09:30", "08:30").exits(1).says(&["08:30"]);
}

/// What another replay shows, too, is a failure.
fn a_clock_that_drops_zeros_once_is_looked_at_again() {
    let drops = r#"os.path.exists("once") and not os.remove("once") or os.path.exists("always")"#;
    let said = format!(r#"now.isoformat(timespec="seconds" if {drops} else "milliseconds") + "Z""#);
    let (tree, ran) = recorded_with(&said, false, "");
    ran.exits(0).says(&["two replays agree"]);
    let test = || tree.retake().args(&["test", "day"]).run();
    tree.write("once", "");
    test().exits(0);
    assert!(!tree.path("once").exists());
    tree.write("always", "");
    test().exits(1).says(&["`/said` is `yyyy-mm-ddThh:mm:ssZ", "not `yyyy-mm-ddThh:mm:ss.fZ"]);
}
