//! Ten ways in which a chat page breaks: each is red, and its first line and its picture show the fault.

use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::get;
use serde_json::Value;

use crate::support::tree::Tree;

tests!(ten_breakages_of_a_page_are_red_and_show_their_fault);

const PAGE: &str = r#"<!doctype html><html lang="en"><title>Chat</title>
<style>body { font: 20px sans-serif } input:read-only { background: #ccc }</style>
<main><h1>Chat</h1><ol aria-label="Messages"></ol>
<form><label for="question">Question</label> <input id="question"> <button>Ask</button></form></main>
<script>
const add = (text) => { const item = document.createElement("li"); item.textContent = text; document.querySelector("ol").append(item); };
document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  add(question.value);
  const answer = await fetch("/broken-answer/ok");
  add(answer.ok ? await answer.text() : "Something went wrong.");
});
</script></html>"#;

/// The acts of a person who asks.
const ACTS: [&str; 6] = [
    "fill = \"label:Question\", text = \"What is new?\"",
    "click = \"role:button Ask\"",
    "see = \"What is new?\"",
    "see = \"All is well.\", visible = false",
    "once = \"All is well.\"",
    "above = [\"What is new?\", \"All is well.\"]",
];

/// A breakage: its name, what it replaces in the page by what, the act that fails, and the end of the first line.
const BROKEN: [(&str, &str, &str, usize, &str); 10] = [
    ("unlabelled", "<label for=\"question\">Question</label>", "", 0, "nothing on the page matches"),
    ("read_only", "<input id", "<input readonly id", 0, "it is read-only"),
    (
        "veiled",
        "</main>",
        "</main><div class=\"veil\" style=\"position: fixed; inset: 0; background: #0008\"></div>",
        1,
        "<div class=\"veil\"> \"\" is in front of it",
    ),
    ("disabled", "<button>", "<button disabled>", 1, "it is disabled"),
    ("question_lost", "add(question.value);", "", 2, "nothing on the page matches"),
    ("refused", "broken-answer/ok", "broken-answer/no", 3, "nothing on the page matches"),
    ("thrown", "answer.ok ?", "answer.okay.ever ?", 3, "nothing on the page matches"),
    (
        "pale",
        "</style>",
        "li:nth-child(2) { color: white }</style>",
        4,
        "its contrast with what is painted behind it is 1.00, and a person needs 1.2",
    ),
    ("twice", "await answer.text()", "(add(\"All is well.\"), \"All is well.\")", 4, "2 elements match: <li>"),
    ("backwards", ".append(item)", ".prepend(item)", 5, "in pixels from the page's top"),
];

/// Serves the pages.
pub(crate) fn router() -> Router {
    let answer = async |Path(how): Path<String>| match how.as_str() {
        "ok" => (StatusCode::OK, "All is well."),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "no"),
    };
    let page = async |Path(name): Path<String>| {
        let broken = BROKEN.iter().find(|(of, ..)| *of == name);
        Html(broken.map_or_else(|| PAGE.to_owned(), |(_, from, to, ..)| PAGE.replace(from, to)))
    };
    Router::new().route("/broken-answer/{how}", get(answer)).route("/broken/{name}", get(page))
}

fn scenario(page: &str, acts: &[String]) -> String {
    let acts = acts.join(" },\n  { ");
    format!("fixture = \"none\"\n[[step]]\nbrowser = \"/broken/{page}\"\ndo = [\n  {{ {acts} }},\n]\n")
}

fn ten_breakages_of_a_page_are_red_and_show_their_fault() {
    let tree = Tree::with_suite("settle = \"10ms\"\ntimeout = \"120s\"\n");
    let long = |act: &&str| format!("{act}, within = \"60s\"");
    let pictures = ["screenshot = \"first\"", "screenshot = \"last\""].map(str::to_owned);
    let whole: Vec<String> = ACTS.iter().map(long).collect();
    tree.scenario("whole", &scenario("whole", &[&pictures[..1], &whole, &pictures[1..]].concat()));
    for (name, from, _, fails, _) in BROKEN {
        assert_eq!(PAGE.matches(from).count(), 1, "{from}");
        let mut acts: Vec<String> = ACTS[..fails].iter().map(long).collect();
        acts.push(format!("{}, within = \"2s\"", ACTS[fails]));
        tree.scenario(name, &scenario(name, &acts));
    }
    let ran = tree.runner("breakages").run().exits(101);
    assert_eq!(ran.trials()["whole"], "ok", "{}", ran.all());
    let picture = |path: &str| std::fs::read(tree.path(path)).unwrap();
    let right = ["first", "last"].map(|name| picture(&format!(".retake/browser/whole/{name}.png")));
    for (name, _, _, fails, says) in BROKEN {
        let data: Value = serde_json::from_str(&tree.read(&format!(".retake/runs/{name}.json"))).unwrap();
        let first = data["failure"]["headline"].as_str().unwrap();
        let act = ACTS[fails].split(' ').next().unwrap();
        assert!(first.contains(&format!(": {act} `")) && first.contains(says), "{name}: {first}");
        assert!(!right.contains(&picture(&format!(".retake/browser/{name}/step-1-{act}/failure.png"))), "{name}");
        let acts = data["steps"][0]["acts"].as_array().unwrap();
        assert_eq!(acts.len(), fails + 1, "{name}: {acts:?}");
        assert!(tree.has(acts[fails]["picture"].as_str().unwrap()), "{name}: {acts:?}");
    }
    // What the page itself says of its fault is beside it.
    let shown = |name: &str| tree.read(&format!(".retake/browser/{name}/step-1-see/failure.txt"));
    assert!(shown("refused").contains("GET http") && shown("refused").contains("/broken-answer/no: status 500"));
    assert!(shown("thrown").contains("thrown: TypeError"), "{}", shown("thrown"));
    tree.retake().args(&["report", "--no-open"]).run().exits(0);
    let page = tree.read(".retake/report.html");
    let acts: usize = BROKEN.iter().map(|(_, _, _, fails, _)| fails + 1).sum();
    assert_eq!(page.matches("src=\"data:image&#x2f;jpeg;base64,").count(), acts + ACTS.len() + pictures.len());
}
