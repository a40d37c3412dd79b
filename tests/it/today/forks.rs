//! `retake fork` on the gateway: replayed up to a turn, live from there.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use serde_json::{Value, json};

use crate::record::processes::{children_of, is_gone};
use crate::support::loopback::Service;
use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;

tests! {
    a_fork_is_replayed_up_to_its_turn_and_leaves_the_recording_unchanged,
    another_model_and_another_prompt_reach_the_provider_from_there_on,
    a_caller_and_its_count_name_a_turn,
    an_accepted_fork_becomes_the_recording,
    a_killed_fork_continues_and_pays_for_no_answer_twice,
    a_provider_that_fails_ends_its_run_and_the_others_stand,
    prices_and_verify_are_columns_of_the_table,
    how_many_pieces_a_new_answer_has_is_no_difference,
}

const NAME: &str = "write_read_file";

/// The scripted provider. It keeps the bodies that it gets. The model `loud` answers in capitals, and `brief` leaves out all but
/// the first piece of its text.
struct Provider {
    service: Service,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Provider {
    fn start(fails_at: Option<usize>) -> Provider {
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let keep = asked.clone();
        let by_model = from_fn(move |request: Request, next: Next| {
            let keep = keep.clone();
            async move {
                let (parts, body) = request.into_parts();
                let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
                let json: Value = serde_json::from_slice(&bytes).unwrap();
                let number = {
                    let mut asked = keep.lock().unwrap();
                    asked.push(json.clone());
                    asked.len()
                };
                if Some(number) == fails_at {
                    return Response::builder()
                        .status(400)
                        .body(Body::from("{\"error\": {\"message\": \"no\"}}"))
                        .unwrap();
                }
                let answer = next.run(Request::from_parts(parts, Body::from(bytes))).await;
                if json["model"] != "loud" && json["model"] != "brief" {
                    return answer;
                }
                let (mut parts, body) = answer.into_parts();
                parts.headers.remove("content-length");
                let text = String::from_utf8(axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec()).unwrap();
                if json["model"] == "brief" {
                    let has_text =
                        |frame: &str| frame.contains("\"content\":\"") && !frame.contains("\"content\":\"\"");
                    let (mut frames, mut pieces): (Vec<&str>, _) = (text.split_inclusive("\n\n").collect(), 0);
                    frames.retain(|frame| !has_text(frame) || std::mem::replace(&mut pieces, 1) == 0);
                    return Response::from_parts(parts, Body::from(frames.concat()));
                }
                let loud = text.split("\"content\":\"").enumerate().map(|(at, part)| match part.split_once('"') {
                    Some((content, rest)) if at > 0 => format!("\"content\":\"{}\"{rest}", content.to_uppercase()),
                    _ => part.to_owned(),
                });
                Response::from_parts(parts, Body::from(loud.collect::<String>()))
            }
        });
        let service = Service::start(Router::new().fallback_service(gateway::provider::provider()).layer(by_model));
        Provider { service, asked }
    }

    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

fn fork(tree: &Tree, provider: &Provider, options: &Value) -> Program {
    let mut all = json!({ "from": "1", "models": [], "prompts": [], "settings": [], "times": 1, "json": true });
    all.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let of_caller = |pair: &Value| pair[0].as_str().map(|caller| format!("{caller}=")).unwrap_or_default();
    let mut command = tree.recorder("gateway", "fork", NAME).args(&["--from", all["from"].as_str().unwrap()]);
    for pair in all["models"].as_array().unwrap() {
        command = command.args(&["--model", &format!("{}{}", of_caller(pair), pair[1].as_str().unwrap())]);
    }
    for pair in all["prompts"].as_array().unwrap() {
        tree.write(".retake/prompt.txt", pair[1].as_str().unwrap());
        let file = tree.path(".retake/prompt.txt");
        command = command.args(&["--prompt-file", &format!("{}{}", of_caller(pair), file.display())]);
    }
    for pair in all["settings"].as_array().unwrap() {
        command = command.args(&["--set", &format!("{}={}", pair[0].as_str().unwrap(), pair[1].as_str().unwrap())]);
    }
    command = command.args(&["--times", &all["times"].to_string()]);
    if all["json"] == true {
        command = command.args(&["--json"]);
    }
    command.env("RETAKE_UPSTREAM_OPENAI", provider.service.openai()).env("OPENAI_API_KEY", "sk-of-the-provider")
}

fn table(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.all()))
}

fn a_fork_is_replayed_up_to_its_turn_and_leaves_the_recording_unchanged() {
    let (tree, provider) = (Tree::of(&[NAME]), Provider::start(None));
    let before = tree.files();
    for (from, live) in [(1, 4), (3, 2), (4, 1)] {
        let ran = fork(&tree, &provider, &json!({ "from": from.to_string(), "times": 5 })).run().exits(0);
        let table = table(&ran);
        assert_eq!(provider.take().len(), 5 * live, "{}", ran.all());
        assert_eq!(table["runs"].as_object().unwrap().len(), 5);
        for row in table["runs"].as_object().unwrap().values() {
            // The scripted provider answers as it did: each run is the recording again.
            let right = json!({ "calls": 4, "replayed": 4 - live, "input": table["recorded"]["input"],
                "output": table["recorded"]["output"], "tools": ["write_file", "read_file"], "finish": "stop", "golden": [] });
            assert_eq!(row, &right);
        }
    }
    assert_eq!(tree.files(), before);
}

fn another_model_and_another_prompt_reach_the_provider_from_there_on() {
    let (tree, provider) = (Tree::of(&[NAME]), Provider::start(None));
    let options = json!({ "from": "3", "models": [["lead_agent", "loud"]], "prompts": [["lead_agent", "Shout."]],
        "settings": [["temperature", "0"]], "json": false });
    let ran = fork(&tree, &provider, &options).run().exits(0);
    let asked = provider.take();
    let of =
        |call: &Value| (call["model"].clone(), call["temperature"].clone(), call["messages"][0]["content"] == "Shout.");
    let mut all: Vec<_> = asked.iter().map(of).collect();
    all.sort_by_key(|(model, ..)| model.to_string());
    assert_eq!(all, [(json!("gpt-4o-mini"), json!(0), false), (json!("loud"), json!(0), true)]);
    let ran = ran.says(&["recorded", "write_read_file-1.1", "4 (2 live)", "differs", "write_file, read_file"]);
    ran.says(&["write_read_file-1.1: golden: ", "to keep one: retake fork accept write_read_file-1.1"]);
    tree.retake().args(&["show", "--fork", "write_read_file-1.1"]).run().exits(0).says(&["recorded", " | "]);
    tree.retake().args(&["fork", "sweep"]).run().exits(0).says(&["1 fork removed"]);
    tree.retake().args(&["show", "--fork", "write_read_file-1.1"]).run().exits(2).says(&["no finished run"]);
}

fn a_caller_and_its_count_name_a_turn() {
    let (tree, provider) = (Tree::of(&[NAME]), Provider::start(None));
    fork(&tree, &provider, &json!({ "from": "lead_agent:3" })).run().exits(0);
    assert_eq!(provider.take().len(), 2);
    let refused = |from: &str, says: &str| {
        fork(&tree, &provider, &json!({ "from": from })).run().exits(2).says(&[says]);
    };
    refused("5", "the fixture has 4 turns");
    refused("0", "there is no turn 0");
    refused("lead_agent:4", "`lead_agent` has 3 turns");
    refused("leed_agent:1", "did you mean `lead_agent`?");
    refused("first", "expected a number as `retake show` prints it");
    fork(&tree, &provider, &json!({ "models": [["titel", "x"]] }))
        .run()
        .exits(2)
        .says(&["no recorded call is by `titel`"]);
    assert_eq!(provider.take().len(), 0);
}

fn an_accepted_fork_becomes_the_recording() {
    let (tree, provider) = (Tree::of(&[NAME]), Provider::start(None));
    fork(&tree, &provider, &json!({ "from": "3", "models": [[null, "loud"]] })).run().exits(0);
    let accept = |id: &str| tree.recorder("gateway", "fork accept", id).run();
    accept("write_read_file-1.2").exits(2).says(&["no finished run of that number"]);
    let before = tree.read("fixtures/write_read_file.json");
    accept("write_read_file-1.1")
        .exits(0)
        .says(&["4 turns recorded to fixtures/write_read_file.json, two replays agree"]);
    let after = tree.read("fixtures/write_read_file.json");
    assert!(after != before && after.contains("\"loud\""), "{after}");
    tree.runner("gateway").run().exits(0);
}

fn a_killed_fork_continues_and_pays_for_no_answer_twice() {
    let options = json!({ "from": "2", "models": [[null, "loud"]], "times": 2 });
    for moment in 1..=6 {
        let (tree, provider) = (Tree::of(&[NAME]), Provider::start(None));
        let before = tree.files();
        let mut child = fork(&tree, &provider, &options).into_command().spawn().unwrap();
        // Wait until that many calls have come, or all runs are done.
        while provider.asked.lock().unwrap().len() < moment && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let runners = children_of(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(runners.into_iter().all(is_gone));
        let came = provider.take().len();
        let journals = (1..=2).map(|number| format!(".retake/forks/write_read_file-1/{number}.jsonl"));
        let answered =
            |text: String| text.lines().filter(|line| line.contains("\"loud\"") && !line.contains("\"cut\"")).count();
        let paid: usize = journals.map(|file| if tree.has(&file) { answered(tree.read(&file)) } else { 0 }).sum();
        assert!(paid <= came);
        let json = moment % 2 == 0;
        let continued = json!({ "from": "2", "models": [[null, "loud"]], "times": 2, "json": json });
        let ran = fork(&tree, &provider, &continued).run().exits(0);
        // Answers that were on disk are not asked for again; those that were on their way are.
        assert_eq!(provider.take().len(), 6 - paid, "moment {moment}: {}", ran.all());
        if json {
            assert_eq!(table(&ran)["runs"].as_object().unwrap().len(), 2);
        }
        assert_eq!(tree.files(), before);
        assert!(!tree.has(".retake/forks/write_read_file-2"));
    }
}

fn a_provider_that_fails_ends_its_run_and_the_others_stand() {
    let (tree, provider) = (Tree::of(&[NAME]), Provider::start(Some(1)));
    let ran = fork(&tree, &provider, &json!({ "from": "4", "times": 2 })).run().exits(1);
    let table = table(&ran);
    let ended = table["runs"].as_object().unwrap().values().filter(|row| row.get("ended").is_some()).count();
    assert_eq!(ended, 1, "{}", ran.all());
}

fn prices_and_verify_are_columns_of_the_table() {
    let (tree, provider) = (Tree::of(&[NAME]), Provider::start(None));
    let suite = "settle = \"100ms\"\nverify = [\"grep\", \"-q\", \"VERIFIED\"]\n[prices.gpt-4o-mini]\ninput = 1000000.0\noutput = 0.0\n";
    tree.write("scenarios/suite.toml", suite);
    let ran = fork(&tree, &provider, &json!({ "from": "4" })).run().exits(1);
    let table = table(&ran);
    let row = &table["runs"]["1"];
    assert_eq!(row["verified"], false);
    assert_eq!(row["cost"].as_f64(), row["input"].as_f64(), "a token for each unit");
    tree.write("scenarios/suite.toml", &suite.replace("\"VERIFIED\"", "'\"event\":\"end\"'"));
    let ran = fork(&tree, &provider, &json!({ "from": "3" })).run().exits(0);
    assert_eq!(self::table(&ran)["runs"]["1"]["verified"], true);
}

fn how_many_pieces_a_new_answer_has_is_no_difference() {
    let (tree, provider) = (Tree::of(&[NAME]), Provider::start(None));
    let file = "scenarios/write_read_file/scenario.toml";
    let scenario = tree.read(file);
    let golden = scenario.find("[golden]").unwrap();
    tree.write(file, &format!("{}[golden]\n", &scenario[..golden]));
    tree.runner("gateway").env("UPDATE_GOLDEN", "1").run().exits(0);
    let golden = tree.read("goldens/write_read_file.snap");
    let (pieces, _) = golden.split_once("\n          /content by /id = turn 3, in pieces").unwrap();
    assert!(pieces.lines().last().unwrap().contains(" ×"), "{golden}");
    let of = |from: &str, model: &str| {
        let ran = fork(&tree, &provider, &json!({ "from": from, "models": [["lead_agent", model]] })).run().exits(0);
        table(&ran)["runs"]["1"]["golden"].clone()
    };
    assert_eq!(of("3", "brief"), json!([]));
}
