//! A desk that fills its prompt and its letter with the day and with who signed in, and that refuses some claims.

use axum::{Json, Router};
use serde_json::{Value, json};

use crate::support::loopback::Service;
use crate::support::tree::Tree;

tests!(
    a_prompt_that_tells_its_day_in_digits_tells_today,
    days_that_stay_stand_beside_days_that_move,
    a_prompt_that_tells_its_day_twice_tells_one_day,
    a_prompt_that_greets_another_client_is_red,
    a_prompt_without_its_day_or_with_another_name_is_red_and_an_edited_one_a_note,
    what_is_let_in_is_the_first_line_and_not_what_the_service_then_asks,
    a_letter_with_a_date_in_words_is_held_on_each_day,
    the_clock_of_a_recording_needs_the_library_that_sets_it,
    tokens_are_the_models_where_it_says_nothing_but_json,
    what_depends_on_a_call_in_the_background_varies,
);

const APP: &str = r#"
import datetime, html, http.server, json, os, urllib.request
NAME = "Zoë O'Neil"
LETTER = """<p class="date">Bremen, {day}</p>
<p>We&#x27;ll pay you soon. You wrote: <q>{words}</q></p>
<p class="foot">Nordlicht Insurance, Am Wall, Bremen, since the beginning for all who sail and all who wait for them at home</p>
"""
def day(away=0):
    day = datetime.date.fromisoformat(os.environ["RETAKE_DATE"]) + datetime.timedelta(away)
    return f"{day:%A}, {day.day} {day:%B %Y}"
def ask(text):
    messages = [{"role": "system", "content": f"Today is {day()}. You help {NAME}. Be brief."}, {"role": "user", "content": text}]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, headers)
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_): pass
    def do_GET(self):
        if self.path == "/letter":
            return self.reply(200, "text/html", LETTER.format(day=day(), words=html.escape("a <b>broken</b> door")))
        self.reply(200, "application/json", json.dumps({"name": NAME}))
    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if said["policy"] == "lapsed":
            return self.reply(403, "application/json", json.dumps({"error": "lapsed"}))
        self.reply(200, "application/json", json.dumps({"text": ask(said["text"])}))
    def reply(self, status, kind, text):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"#;

const SYSTEM: &str = r#"settle = "100ms"
[systems.agent]
command = ["python3", "app.py"]
ready = { http = "/" }
[systems.agent.env]
PORT = "{{ port }}"
OPENAI_BASE_URL = "{{ model.openai }}"
OPENAI_API_KEY = "{{ model.key }}"
"#;

const SCENARIO: &str = r#"[[step]]
get = "/session"
[[step]]
post = "/claims"
json = { policy = "valid", text = "A broken door" }
[[step]]
post = "/claims"
json = { policy = "lapsed", text = "A broken window" }
status = 403
[[step]]
get = "/letter"
"#;

/// The project with its recording.
fn recorded() -> Tree {
    recorded_as(APP)
}

fn recorded_as(app: &str) -> Tree {
    recorded_with(app, SCENARIO)
}

fn recorded_with(app: &str, scenario: &str) -> Tree {
    recorded_of(app, scenario, "We are sorry to hear that.")
}

/// The project with a recording in which the model says this.
fn recorded_of(app: &str, scenario: &str, said: &'static str) -> Tree {
    let provider = Service::start(Router::new().fallback(async move |Json(_): Json<Value>| {
        let message = json!({ "role": "assistant", "content": said });
        let choices = json!([{ "index": 0, "message": message, "finish_reason": "stop" }]);
        let usage = json!({ "prompt_tokens": 57, "completion_tokens": 9, "total_tokens": 66 });
        Json(json!({ "id": "c", "model": "m", "choices": choices, "usage": usage }))
    }));
    let tree = Tree::empty();
    tree.write("app.py", app);
    tree.write("scenarios/suite.toml", SYSTEM);
    tree.scenario("claim", scenario);
    let record = tree.retake().args(&["record", "claim"]).env("OPENAI_API_KEY", "sk-of-the-provider");
    record.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).run().exits(0).says(&["two replays agree"]);
    tree
}

fn edit(tree: &Tree, from: &str, to: &str) {
    assert!(APP.contains(from), "{from}");
    tree.write("app.py", &APP.replace(from, to));
}

/// The key has a name in place of the day.
fn a_prompt_that_tells_its_day_in_digits_tells_today() {
    let today = r#"return f"{day:%A}, {day.day} {day:%B %Y}""#;
    let in_digits = |text: &str| APP.replace(today, r#"return f"{day}T10:00:00Z""#).replace("Be brief.", text);
    let tree = recorded_as(&in_digits("Be brief. This year began on 2026-01-01."));
    let on = |day: &str, text: &str, away: &str| {
        tree.write("app.py", &in_digits(text).replace("Today is {day()}", &format!("Today is {{day({away})}}")));
        tree.retake().env("RETAKE_DATE", day).arg("test").run()
    };
    for day in ["2031-05-04", "2032-02-29"] {
        on(day, "Be brief. This year began on 2026-01-01.", "0").exits(0).never_says("drift");
        for text in ["Be brief. This year began on 2026-01-01.", "Be kind and brief."] {
            on(day, text, "1").exits(1).says(&["drift: the system prompt tells another day than today ("]);
        }
        // What tells it still, beside what varies, tells a day that stays.
        let stays = format!(
            "Be brief. This year began on 2026-01-01. {} is a holiday.",
            time::OffsetDateTime::now_utc().date()
        );
        on(day, &stays, "1").exits(0);
        // Of other days nobody knows whether they have to move.
        on(day, "Be brief. This year began on 2027-01-01.", "0").exits(0);
    }
}

/// One of both is another day, and nothing else.
fn a_prompt_that_tells_its_day_twice_tells_one_day() {
    let twice = |other: &str| APP.replace("Today is {day()}. ", &format!("Today is {{day()}}, or {{day({other})}}. "));
    let tree = recorded_as(&twice("0"));
    for day in [time::OffsetDateTime::now_utc().date().to_string(), "2031-05-04".to_owned()] {
        let on = |other: &str| {
            tree.write("app.py", &twice(other));
            tree.retake().env("RETAKE_DATE", &*day).arg("test").run()
        };
        on("0").exits(0).never_says("drift");
        on("-1").exits(1).says(&["drift: the system prompt tells another day than today ("]);
    }
}

/// A quote that is good for a week, of a room on a day that stays.
fn days_that_stay_stand_beside_days_that_move() {
    let quotes = r#"[{"until": iso(7), "day": "Thursday, 20 May 2027", "room": "Loft"}, {"until": iso(7), "day": "Friday, 21 May 2027", "room": "Cellar"}]"#;
    let iso = "def iso(away): return str(datetime.date.fromisoformat(os.environ[\"RETAKE_DATE\"]) + datetime.timedelta(away))\n";
    let app = APP
        .replace("def ask", &format!("{iso}def ask"))
        .replace("json.dumps({\"name\": NAME})", &format!("json.dumps({quotes})"));
    let tree = recorded_as(&app);
    let on = |days: i64| {
        let day = (time::OffsetDateTime::now_utc() + time::Duration::days(days)).date();
        tree.retake().env("RETAKE_DATE", day.to_string()).arg("test").run()
    };
    for days in [0, 1, 3, 7, 8, 40] {
        on(days).exits(0);
    }
    tree.write("app.py", &app.replace("Loft", "Attic").replace("Cellar", "Loft").replace("Attic", "Cellar"));
    for days in [0, 3, 8] {
        on(days).exits(1).says(&["in another order, or their values mixed up"]);
    }
}

/// The name is nowhere but in the prompts.
fn a_prompt_that_greets_another_client_is_red() {
    let client = r#"{"door": "Zoë O'Neil", "window": "Anna Müller"}.get(text, "nobody")"#;
    let app =
        APP.replace("You help {NAME}", "You help {client} with a {text} now").replace("\"name\": NAME", "\"name\": 1");
    let app =
        app.replace("    messages = [", &format!("    client = {client}\n    messages = [")).replace("lapsed", "none");
    let scenario = SCENARIO.replace("lapsed", "valid").replace("status = 403\n", "").replace("A broken ", "");
    let tree = recorded_with(&app, &scenario);
    let changed = |from: &str, to: &str| {
        assert!(app.contains(from), "{from}");
        tree.write("app.py", &app.replace(from, to));
        tree.retake().arg("test").run()
    };
    let told = |was: &str, is: &str| [format!("drift: the system prompt says other values ({was:?} → {is:?})")];
    changed(".get(text, \"nobody\")", "[\"door\"]").exits(1).says(&told("Anna Müller", "Zoë O'Neil"));
    // What the scenario sends is a value, though it is a plain word.
    changed("a {text}", "a {{text}}").exits(1).says(&told("door", "{text}"));
    // What no other prompt says is edited.
    for (from, to) in [("Anna Müller", "Ann Miller"), ("Be brief.", "Be kind and brief.")] {
        changed(from, to).exits(0).says(&["drift: prompt changed"]);
    }
}

fn a_prompt_without_its_day_or_with_another_name_is_red_and_an_edited_one_a_note() {
    let tree = recorded();
    let yearless = "Today is {day()[:-5]}. ";
    for (from, to) in
        [("Today is {day()}. ", ""), ("Today is {day()}. ", yearless), ("You help {NAME}", "You help Anna Müller")]
    {
        edit(&tree, from, to);
        tree.retake().arg("test").run().exits(1).says(&["drift: the system prompt says other values ("]);
    }
    edit(&tree, "Today is {day()}. ", "Today is {day(1)}. ");
    tree.retake().arg("test").run().exits(1).says(&["drift: the system prompt tells another day than today ("]);
    edit(&tree, "Be brief.", "Be kind and brief.");
    tree.retake().arg("test").run().exits(0).says(&["drift: prompt changed"]);
}

fn what_is_let_in_is_the_first_line_and_not_what_the_service_then_asks() {
    let tree = recorded();
    let refused = r#"return self.reply(403, "application/json", json.dumps({"error": "lapsed"}))"#;
    // The service takes it lightly when a model does not answer.
    let let_in = r#"try: ask(said["text"])
            except Exception: pass
            return self.reply(200, "application/json", "{}")"#;
    edit(&tree, refused, let_in);
    let ran = tree.retake().arg("test").run().exits(1);
    ran.says(&["---- claim ----\nscenarios/claim/scenario.toml:6:1: failed to take step 3 (POST /claims): expected status 403, found 200"]);
}

fn a_letter_with_a_date_in_words_is_held_on_each_day() {
    let tree = recorded();
    // On the second one `pay` is the weekday in another language.
    let days = ["2031-05-04", "2031-05-08", "2031-12-30"];
    let on = |day: &str| tree.retake().env("RETAKE_DATE", day).arg("test").run();
    for day in days {
        on(day).exits(0);
    }
    for (from, to) in
        [("class=\"foot\"", "class=\"feet\""), ("html.escape(\"a <b>broken</b> door\")", "\"a <b>broken</b> door\"")]
    {
        edit(&tree, from, to);
        for day in days {
            on(day).exits(1).says(&["golden: the body of `GET /letter` has a different shape"]);
        }
    }
}

/// For the whole suite, and for a scenario, which may have that of the machine.
fn the_clock_of_a_recording_needs_the_library_that_sets_it() {
    let tree = recorded();
    let test = || tree.retake().arg("test").env("RETAKE_FAKETIME", "off").run();
    let (suite, scenario) = ("scenarios/suite.toml", "scenarios/claim/scenario.toml");
    let told = ["clock = \"recorded\": this machine has no libfaketime, which sets it", "apt install faketime"];
    tree.write(suite, &format!("clock = \"recorded\"\n{SYSTEM}"));
    test().exits(1).says(&told);
    tree.write(scenario, &format!("clock = \"now\"\n{SCENARIO}"));
    test().exits(0);
    tree.write(suite, SYSTEM);
    tree.write(scenario, &format!("clock = \"recorded\"\n{SCENARIO}"));
    test().exits(1).says(&told);
}

fn tokens_are_the_models_where_it_says_nothing_but_json() {
    let plan = "{\"kind\": json.loads(said[\"choices\"][0][\"message\"][\"content\"])[\"kind\"], \"cost\": said[\"usage\"][\"prompt_tokens\"] * 0.25, \
                \"tokens\": said[\"usage\"][\"prompt_tokens\"]}";
    let app = APP.replace("[\"choices\"][0][\"message\"][\"content\"]\n", "\n");
    let answers = "self.reply(200, \"application/json\", json.dumps({\"text\": ask(said[\"text\"])}))";
    assert!(app.contains(answers));
    let app = app.replace(
        answers,
        &format!("said = ask(said[\"text\"])\n        self.reply(200, \"application/json\", json.dumps({plan}))"),
    );
    let tree = recorded_of(&app, SCENARIO, "{\"kind\": \"a broken door\"}");
    let golden = tree.read("goldens/claim.snap");
    assert!(golden.contains("tokens     input tokens of turn 1") && golden.contains("cost       number"), "{golden}");
    tree.retake().arg("test").run().exits(0);
}

fn what_depends_on_a_call_in_the_background_varies() {
    let app = APP.replace("import datetime", "import threading, time, datetime").replace(
        "        self.reply(200, \"application/json\", json.dumps({\"name\": NAME}))",
        "        self.reply(200, \"application/json\", json.dumps({\"name\": NAME, \"digests\": len(DIGESTS)}))",
    );
    // What the service does behind its answer takes a while.
    let behind = "def digest(text):\n    time.sleep(0.02)\n    DIGESTS.append(ask(text))\nDIGESTS = []\nclass Handler";
    let begins = "threading.Thread(target=digest, args=(said[\"text\"],)).start()\n        self.reply(200, \"application/json\", \"{}\")";
    let answers = "self.reply(200, \"application/json\", json.dumps({\"text\": ask(said[\"text\"])}))";
    let app = app.replace("class Handler", behind).replace(answers, begins);
    let scenario = "[[step]]\npost = \"/claims\"\njson = { policy = \"valid\", text = \"A broken door\" }\n[[step]]\nget = \"/session\"\n";
    let tree = recorded_with(&app, scenario);
    let golden = tree.read("goldens/claim.snap");
    assert!(golden.contains("digests    number"), "{golden}");
    tree.retake().arg("test").run().exits(0);
}
