//! Answers that broke off: what the model said before is the model's, as in any other answer.

use axum::Router;
use axum::routing::post;
use serde_json::json;

use crate::support::loopback::Service;
use crate::support::tree::Tree;

tests! {
    a_text_before_an_error_is_told_by_its_turn_and_not_by_its_pieces,
    an_older_golden_that_counts_the_pieces_is_compared_as_it_was,
}

/// Passes on what it gets, then that it failed. It cuts pieces at `CUT`, and does not pass on the one that `LOST` names.
const AGENT: &str = r#"import json, os, urllib.request
CUT, LOST = 100, None

def say(kind, text):
    print(json.dumps({"type": kind, "text": text}), flush=True)

body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Tell me a story"}]}
headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
said = ""
for line in urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)):
    if not line.startswith(b"data: {"):
        continue
    chunk = json.loads(line[6:])
    if "error" in chunk:
        break
    piece = chunk["choices"][0]["delta"]["content"]
    said += piece
    for part in [piece[:CUT], piece[CUT:]]:
        if part and piece != LOST:
            say("delta", part)
say("failed", said)
"#;

const WHOLE: &str = "Once upon a time there was a king who ";

fn recorded() -> Tree {
    let tree = Tree::empty();
    tree.write("agent.py", AGENT);
    tree.write("scenarios/suite.toml", "settle = \"100ms\"\n");
    let env = "{ OPENAI_BASE_URL = \"{{ model.openai }}\", OPENAI_API_KEY = \"{{ model.key }}\" }";
    let scenario = format!(
        "record = {{ errors = true }}\n[[step]]\nrun = [\"python3\", \"{{{{ root }}}}/agent.py\"]\nenv = {env}\n\
         stream = {{ last = \"failed\" }}\n"
    );
    tree.write("scenarios/tell/scenario.toml", &scenario);
    let answer = || async {
        let chunk = |text: &str| {
            let choices = json!([{"index": 0, "delta": {"content": text}, "finish_reason": null}]);
            json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices})
        };
        let error = json!({"error": {"message": "overloaded", "type": "server_error"}});
        let pieces = ["Once ", "upon ", "a time ", "there was ", "a king ", "who "].map(chunk).into_iter();
        let body = pieces.chain([error]).map(|chunk| format!("data: {chunk}\n\n")).collect::<Vec<_>>().concat();
        ([("content-type", "text/event-stream")], body)
    };
    let provider = Service::start(Router::new().route("/v1/chat/completions", post(answer)));
    let record = tree.retake().args(&["record", "tell"]).env("RETAKE_UPSTREAM_OPENAI", provider.openai());
    record.run().exits(0).says(&["tell: 1 turn recorded to fixtures/tell.json, two replays agree"]);
    tree
}

fn a_text_before_an_error_is_told_by_its_turn_and_not_by_its_pieces() {
    let tree = recorded();
    let golden = tree.read("goldens/tell.snap");
    assert!(golden.contains("×6\n          /text = turn 1, in pieces\n"), "{golden}");
    assert!(golden.contains("/text = turn 1\n") && !golden.contains(WHOLE), "{golden}");
    tree.replace("agent.py", "CUT, LOST = 100", "CUT, LOST = 2");
    tree.retake().arg("test").run().exits(0);
    tree.replace("agent.py", "LOST = 2, None", "LOST = 2, 'a king '");
    tree.retake().arg("test").run().exits(1).says(&[
        "golden: `/text` of the event `delta` is turn 1, in pieces, no more: \"Once upon a time there was who \" in place of",
    ]);
}

fn an_older_golden_that_counts_the_pieces_is_compared_as_it_was() {
    let tree = recorded();
    tree.replace("goldens/tell.snap", "\n          /text = turn 1, in pieces", "");
    tree.replace("goldens/tell.snap", "\n          /text = turn 1", "");
    let golden = tree.read("goldens/tell.snap");
    let (before, failed) = golden.split_once("\nfailed\n").unwrap();
    let failed = failed.replacen("string", &format!("{WHOLE:?}"), 1);
    tree.write("goldens/tell.snap", &format!("{before}\nfailed\n{failed}"));
    tree.retake().arg("test").run().exits(0);
    tree.replace("agent.py", "say(\"failed\", said)", "say(\"failed\", said[1:])");
    tree.retake().arg("test").run().exits(1).says(&["golden: ", "nce upon a time"]);
}
