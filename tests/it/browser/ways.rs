//! More ways to find, to use and to judge what is on a page: one of several, inside another, rendered Markdown, dialogs, iframes,
//! files, the mouse, the window; acts that are tried again; pictures with a tolerance; and the trace of all acts.

use axum::Router;
use axum::response::Html;
use axum::routing::get;

use crate::support::program::Ran;
use crate::support::tree::Tree;

tests!(
    one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in,
    an_exact_text_is_the_whole_one,
    a_text_in_markdown_is_found_as_the_page_renders_it,
    dialogs_are_answered_and_never_hold_the_page_up,
    an_iframe_is_looked_at_and_used_like_the_page,
    files_are_given_to_a_field_and_the_mouse_hovers,
    the_window_has_the_size_and_the_colours_that_a_step_asks_for,
    a_group_of_acts_is_tried_again_until_all_succeed,
    what_can_never_succeed_is_told_at_once,
    a_key_with_control_is_a_command_and_types_nothing,
    masks_and_a_tolerance_loosen_a_baseline_and_a_picture_shows_the_rest,
    the_report_has_a_picture_of_each_act,
);

const CHAT: &str = r#"<!doctype html><main>
<article><h2>First</h2><p>Hello there</p><button onclick="said.textContent='copied 1'">Copy</button></article>
<article><h2>Second</h2><p>Hello</p><button onclick="said.textContent='copied 2'">Copy</button></article>
<p id="said"></p></main>"#;

const MARKDOWN: &str = r#"<!doctype html><article><h3>Trains</h3><p>Take the <b>fast</b> one, see <a href="/x">the plan</a>:</p>
<ol><li>Oslo &amp; Bergen</li><li><code>npm run</code></li></ol><pre>let a = 1;</pre></article>"#;

const DIALOGS: &str = r#"<!doctype html><main><button onclick="said.textContent = confirm('Delete this chat?') ? 'deleted' : 'kept'">Delete</button>
<button onclick="alert('Saved'); said.textContent = 'after the alert'">Save</button><p id="said">nothing yet</p></main>
<script>addEventListener("beforeunload", (event) => event.preventDefault())</script>"#;

const OUTER: &str = r#"<!doctype html><h1>Outside</h1><div style="height: 900px"></div><iframe class="preview" src="/ways/inner"
 style="width: 400px; height: 300px; margin: 30px; border: 7px solid red"></iframe>"#;
const INNER: &str = r#"<!doctype html><h1>Inside</h1><div style="height: 500px"></div>
<button onclick="said.textContent='pressed inside'">Press</button><p id="said"></p><p style="color: white">Pale</p>"#;

const USED: &str = r#"<!doctype html><style>#menu { display: none } li:hover #menu { display: block }
@media (prefers-color-scheme: dark) { body { background: black; color: white } }</style>
<label>Attachment <input type="file" multiple style="opacity: 0.5" onchange="said.textContent = [...files].map((f) => f.name + ' ' + f.size).join(', ')"></label>
<ul><li id="item">An item <button id="menu">Rename</button></li></ul><p id="said"></p><p id="how"></p>
<script>how.textContent = innerWidth + " " + (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")</script>"#;

const SHY: &str = r#"<!doctype html><button onclick="times++; said.textContent = times < 3 ? 'try again' : 'all done'">Load</button>
<p id="said"></p><p id="clock" style="font-size: 40px; width: 300px"></p><script>let times = 0; clock.textContent = location.search || performance.timeOrigin</script>"#;

const TYPED: &str = r#"<!doctype html><label>Name <input value="old" oninput="said.textContent = `typed: ${value}.`"></label>
<p id="said"></p>"#;

/// Serves the pages.
pub(crate) fn router() -> Router {
    let page = |html: &'static str| get(async move || Html(html));
    Router::new()
        .route("/ways/chat", page(CHAT))
        .route("/ways/markdown", page(MARKDOWN))
        .route("/ways/dialogs", page(DIALOGS))
        .route("/ways/outer", page(OUTER))
        .route("/ways/inner", page(INNER))
        .route("/ways/used", page(USED))
        .route("/ways/shy", page(SHY))
        .route("/ways/typed", page(TYPED))
}

fn scenario(page: &str, fields: &str, acts: &[&str]) -> String {
    let acts = acts.iter().map(|act| format!("  {{ {act} }},\n")).collect::<Vec<_>>().concat();
    format!("fixture = \"none\"\n[[step]]\nbrowser = \"/ways/{page}\"\n{fields}do = [\n{acts}]\n")
}

fn tree(page: &str, fields: &str, acts: &[&str]) -> Tree {
    let tree = Tree::with_suite("settle = \"10ms\"\n");
    tree.scenario("page", &scenario(page, fields, acts));
    tree.write("scenarios/page/note.txt", "twelve bytes");
    tree
}

fn run(page: &str, fields: &str, acts: &[&str]) -> Ran {
    tree(page, fields, acts).runner("ways").run()
}

/// Each act by itself fails with its message, soon.
fn red(page: &str, acts: &[(&str, &str)]) {
    for (act, says) in acts {
        let act = if act.contains("within") { (*act).to_owned() } else { format!("{act}, within = \"300ms\"") };
        run(page, "", &[&act]).exits(101).tells(&[says]);
    }
}

fn one_of_several_elements_is_meant_by_its_place_or_by_what_it_is_in() {
    let acts = [
        "click = \"role:button Copy\", nth = 1",
        "see = \"copied 2\"",
        "click = \"role:button Copy\", in = { role = \"article\", nth = 0 }",
        "see = \"copied 1\"",
        "click = \"role:button Copy\", in = { text = \"Second\" }, nth = -1, within = \"1s\"",
    ];
    // The heading contains no button.
    run("chat", "", &acts[..4]).exits(0);
    run("chat", "", &acts[4..]).exits(101).tells(&["nothing on the page matches"]);
    for (by, value) in [("css", "article:last-of-type"), ("role", "article")] {
        run("chat", "", &[&format!("once = \"Hello\", in = {{ {by} = \"{value}\", nth = -1 }}")]).exits(0);
    }
    red(
        "chat",
        &[
            ("click = \"role:button Copy\"", "2 elements match"),
            ("see = \"Hello\", nth = 7", "2 elements match, so there is none with nth = 7"),
            ("see = \"Hello\", in = { role = \"article\" }", "2 elements match `in`"),
            ("see = \"Hello\", in = { testid = \"x\" }", "no elements match `in`"),
            ("see = \"First\", in = { role = \"article\", nth = -1 }", "nothing on the page matches"),
            ("see = \"x\", in = { label = \"x\" }", "no elements match `in`"),
            ("see = \"x\", in = { placeholder = \"x\" }", "no elements match `in`"),
            ("see = \"x\", in = { text = \"hello\", exact = true }", "no elements match `in`"),
        ],
    );
}

fn an_exact_text_is_the_whole_one() {
    run("chat", "", &["once = \"Hello\", exact = true", "once = \"role:heading First\", exact = true"]).exits(0);
    red(
        "chat",
        &[
            ("once = \"Hello\"", "2 elements match"),
            ("see = \"hello\", exact = true", "nothing on the page matches"),
            ("see = \"role:heading Fir\", exact = true", "nothing on the page matches"),
        ],
    );
}

fn a_text_in_markdown_is_found_as_the_page_renders_it() {
    let text = r"### Trains\n\nTake the **fast** one, see [the plan](https://example.com/x):\n\n1. Oslo & Bergen\n2. `npm run`\n\n```js\nlet a = 1;\n```\n";
    run("markdown", "", &[&format!("once = \"{text}\", markdown = true")]).exits(0);
    let other = format!("see = \"{}\", markdown = true", text.replace("fast", "slow"));
    red(
        "markdown",
        &[(&other, "nothing on the page matches"), (&format!("see = \"{text}\""), "nothing on the page matches")],
    );
}

fn dialogs_are_answered_and_never_hold_the_page_up() {
    let acts = [
        "click = \"role:button Delete\"",
        "see = \"kept\"",
        "dialog = \"Delete this chat?\"",
        "click = \"role:button Save\"",
        "see = \"after the alert\"",
        "dialog = \"Saved\"",
        "goto = \"/ways/chat\"",
        "see = \"First\"",
    ];
    run("dialogs", "", &acts).exits(0);
    run("dialogs", "dialogs = \"accept\"\n", &["click = \"role:button Delete\"", "see = \"deleted\""]).exits(0);
    red("dialogs", &[("dialog = \"Delete\"", "the page has opened no dialog")]);
    let other = ["click = \"role:button Save\"", "dialog = \"Stored\", within = \"300ms\""];
    run("dialogs", "", &other).exits(101).tells(&["the page has opened these dialogs: Saved", "dialog (alert): Saved"]);
}

fn an_iframe_is_looked_at_and_used_like_the_page() {
    let in_frame = |act: &str| format!("{act}, frame = \"iframe.preview\"");
    let acts =
        ["see = \"Inside\"", "click = \"role:button Press\"", "see = \"pressed inside\"", "unseen = \"Outside\""]
            .map(in_frame);
    run("outer", "", &acts.each_ref().map(String::as_str)).exits(0);
    red(
        "outer",
        &[
            ("see = \"Inside\"", "nothing on the page matches"),
            ("see = \"Inside\", frame = \"iframe.other\"", "nothing on the page matches the iframe `iframe.other`"),
            ("see = \"Pale\", frame = \"iframe\", within = \"2s\"", "its contrast with what is painted behind it"),
        ],
    );
}

fn files_are_given_to_a_field_and_the_mouse_hovers() {
    let acts = [
        "upload = \"label:Attachment\", files = [\"note.txt\"]",
        "see = \"note.txt 12\"",
        "unseen = \"Rename\"",
        "hover = \"An item\"",
        "see = \"Rename\"",
    ];
    run("used", "", &acts).exits(0);
    red("used", &[("upload = \"css:#item\", files = [\"note.txt\"]", "it is not a field for files")]);
}

fn the_window_has_the_size_and_the_colours_that_a_step_asks_for() {
    run("used", "", &["see = \"1280 light\""]).exits(0);
    run("used", "viewport = [390, 844]\ncolors = \"dark\"\n", &["see = \"390 dark\""]).exits(0);
    run("used", "colors = \"light\"\n", &["see = \"390\", within = \"300ms\""]).exits(101);
}

fn a_group_of_acts_is_tried_again_until_all_succeed() {
    let load = "{ click = \"role:button Load\" }, { see = \"all done\", within = \"100ms\" }";
    run("shy", "", &[&format!("retry = [{load}], within = \"10s\"")]).exits(0);
    // The group's end cuts the last try short; what the last whole one says is what counts.
    let never = "{ see = \"nowhere\", within = \"100ms\" }";
    let why = "retry: tried for 1s, but see `text:nowhere`: waited 100ms, but nothing on the page matches";
    run("shy", "", &[&format!("retry = [{never}], within = \"1s\"")]).exits(101).tells(&[why]);
    // The first act takes all of the group's time.
    let first = "{ unseen = \"role:button Load\", within = \"1s\" }";
    let why = "retry: tried for 300ms, but unseen `role:button Load`: waited ";
    run("shy", "", &[&format!("retry = [{first}, {load}], within = \"300ms\"")]).exits(101).tells(&[why]);
}

fn what_can_never_succeed_is_told_at_once() {
    let long = |act: &str| format!("{act}, within = \"300s\"");
    for (page, act, says) in [
        ("used", "see = \"css:p[\"", "`p[` is not a CSS selector"),
        ("used", "fill = \"label:Attachment\", text = \"x\"", "it is a field for files, and takes no text"),
        ("used", "above = [\"An item\", \"css:p[\"]", "`p[` is not a CSS selector"),
        ("used", "see = \"An item\", frame = \"iframe[\"", "`iframe[` is not a CSS selector"),
        ("used", "see = \"An item\", in = { css = \"ul[\" }", "`ul[` is not a CSS selector"),
    ] {
        run(page, "", &[&long(act)]).exits(101).tells(&[says]);
    }
    run("used", "", &["press = \"Enterr\""]).exits(101).tells(&["there is no key `Enterr`"]);
    run("used", "", &["see = \"role:buton Rename\""])
        .exits(101)
        .tells(&["there is no role `buton`", "did you mean `button`?"]);
    run("used", "", &["press = \"Ctrl+a\""]).exits(101).tells(&["`Ctrl` is not a modifier key"]);
    let lost = "screenshot = \"all\", baseline = true, mask = [\"css:p[\"], within = \"300s\"";
    tree("used", "", &[lost]).runner("ways").env("CI", "").run().exits(101).tells(&["`p[` is not a CSS selector"]);
}

fn a_key_with_control_is_a_command_and_types_nothing() {
    let acts = ["click = \"label:Name\"", "press = \"ControlOrMeta+a\"", "press = \"x\"", "see = \"typed: x.\""];
    run("typed", "", &acts).exits(0);
    run("typed", "", &["click = \"label:Name\"", "press = \"End\"", "press = \"x\"", "see = \"typed: oldx.\""])
        .exits(0);
}

fn masks_and_a_tolerance_loosen_a_baseline_and_a_picture_shows_the_rest() {
    let picture = |more: &str| format!("screenshot = \"whole\", baseline = true, within = \"3s\"{more}");
    let (plain, masked) = (picture(""), picture(", mask = [\"css:#clock\"]"));
    let tree = tree("shy?one", "", &[&plain]);
    let play = |page: &str, act: &str| {
        tree.scenario("page", &scenario(page, "", &[act]));
        tree.runner("ways").env("CI", "").run()
    };
    play("shy?one", &plain).exits(0);
    play("shy?another", &plain).exits(101).tells(&["pixels differ from the baseline (", "see whole.diff.png"]);
    assert!(tree.has(".retake/browser/page/whole.diff.png"));
    play("shy?another", &picture(", tolerance = 0.05")).exits(0);
    std::fs::remove_file(tree.path(".retake/browser/page/whole.baseline.png")).unwrap();
    play("shy?one", &masked).exits(0);
    play("shy?another", &masked).exits(0);
    let lost = picture(", mask = [\"testid:gone\"]").replace("3s", "300ms");
    play("shy?one", &lost).exits(101).tells(&["the mask `testid:gone`: nothing on the page matches"]);
}

fn the_report_has_a_picture_of_each_act() {
    let tree = tree("chat", "", &["see = \"First\"", "click = \"role:button Nowhere\", within = \"300ms\""]);
    tree.runner("ways").run().exits(101);
    let data: serde_json::Value = serde_json::from_str(&tree.read(".retake/runs/page.json")).unwrap();
    let acts = data["steps"][0]["acts"].as_array().unwrap();
    let told: Vec<(&str, bool)> =
        acts.iter().map(|act| (act["what"].as_str().unwrap(), act["failure"].is_null())).collect();
    assert_eq!(told, [("see `text:First`", true), ("click `role:button Nowhere`", false)]);
    assert!(tree.has(acts[1]["picture"].as_str().unwrap()), "{data}");
    tree.retake().args(&["report", "--no-open"]).run().exits(0);
    let page = tree.read(".retake/report.html");
    assert_eq!(page.matches("src=\"data:image&#x2f;jpeg;base64,").count(), 2);
    assert!(page.contains("nothing on the page matches"));
}
