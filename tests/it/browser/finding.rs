//! How elements are found on a page, and how acts wait, fail and explain. Each test uses small pages of its own.

use axum::Router;
use axum::extract::Path;
use axum::http::header;
use axum::response::{AppendHeaders, Html};
use axum::routing::get;

use crate::support::program::Ran;
use crate::support::tree::Tree;

tests!(
    an_element_is_found_by_text_role_label_placeholder_test_id_and_css,
    hidden_repeated_missing_and_late_elements_are_distinguished,
    fields_are_filled_and_buttons_clicked_as_a_person_would,
    an_act_that_fails_says_why,
    cookies_of_steps_and_of_the_page_are_shared,
    local_storage_is_set_before_the_first_script_and_never_again,
    a_request_to_another_machine_is_reported_with_its_url,
    the_pages_traffic_and_its_tree_go_into_the_golden,
    a_missing_page_fails_unless_the_step_expects_it,
    without_chromium_the_error_says_how_to_install_it,
    a_screenshot_is_compared_with_an_earlier_run_but_not_in_ci,
);

const FORM: &str = r#"<!doctype html><html lang="en"><title>Form</title><main>
<h1>A   form
  with <em>marks</em></h1>
<label for="name">Full name</label><input id="name" value="old">
<label>Street <input data-testid="street-field"></label>
<input placeholder="How can I help you?"><textarea aria-label="Notes"></textarea>
<button onclick="said.textContent = 'Hello ' + document.querySelector('#name').value">Greet</button>
<button disabled>Never</button><a href="/page/other">To the other page</a>
<p id="said"></p><p hidden>Nobody sees this</p><p>Twice</p><p>Twice</p>
<script>setTimeout(() => { said.insertAdjacentHTML("afterend", "<p>Came late</p>") }, 300);
document.querySelector("textarea").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); said.textContent = "Sent: " + event.target.value; }
});</script></main></html>"#;

const COVERED: &str = r#"<!doctype html><main><button>Under</button>
<div style="position: fixed; inset: 0; background: white"><p>A cloth</p></div></main>"#;

const STORAGE: &str = r#"<!doctype html><p id="mode"></p><script>mode.textContent = "mode " + localStorage.getItem("mode");
localStorage.setItem("mode", "changed");</script>"#;

const ELSEWHERE: &str = r#"<!doctype html><p>Here</p><img src="http://203.0.113.9/pixel.png">
<script>console.log("I am", { a: 1 }, "page"); fetch("https://fonts.example.com/font.css").catch(() => {});</script>"#;

const ASKS: &str = r#"<!doctype html><main><p id="said">nothing yet</p></main><script>
fetch("/things/4711").then((answer) => answer.json()).then((thing) => { said.textContent = thing.name; });</script>"#;

/// Serves the pages.
pub(crate) fn router() -> Router {
    let page = |html: &'static str| get(async move || Html(html));
    Router::new()
        .route("/page/form", page(FORM))
        .route("/page/covered", page(COVERED))
        .route("/page/storage", page(STORAGE))
        .route("/page/elsewhere", page(ELSEWHERE))
        .route("/page/asks", page(ASKS))
        .route("/page/other", page("<!doctype html><h1>The other page</h1>"))
        .route(
            "/things/{id}",
            get(async |Path(id): Path<String>| axum::Json(serde_json::json!({ "id": id, "name": "A thing" }))),
        )
        .route(
            "/cookie",
            get(async || {
                let cookies = AppendHeaders([
                    (header::SET_COOKIE, "session=secret-of-7; Path=/; HttpOnly"),
                    (header::SET_COOKIE, "seen=no; Path=/"),
                ]);
                (cookies, axum::Json(serde_json::json!({})))
            }),
        )
        .route(
            "/page/cookie",
            get(async |headers: axum::http::HeaderMap| {
                let sent = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
                let mut sent: Vec<&str> = sent.flat_map(|line| line.split("; ")).collect();
                sent.sort_unstable();
                Html(format!(
                    "<!doctype html><p>sent {}</p><script>document.cookie = 'seen=yes; path=/'</script>",
                    sent.join(" and ")
                ))
            }),
        )
        .route(
            "/sent",
            get(async |headers: axum::http::HeaderMap| {
                let sent = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
                axum::Json(
                    serde_json::json!({ "seen": sent.contains("seen=yes"), "session": sent.contains("secret-of-7") }),
                )
            }),
        )
}

/// Runs one scenario with these steps.
fn run(steps: &str) -> Ran {
    tree(steps).runner("pages").run()
}

fn tree(steps: &str) -> Tree {
    let tree = Tree::with_suite("settle = \"10ms\"\n");
    tree.scenario("page", &format!("fixture = \"none\"\n{steps}"));
    tree
}

fn acts(page: &str, acts: &[&str]) -> String {
    let acts: Vec<String> = acts.iter().map(|act| format!("  {{ {act} }},\n")).collect();
    format!("[[step]]\nbrowser = \"/page/{page}\"\ndo = [\n{}]\n", acts.concat())
}

fn an_element_is_found_by_text_role_label_placeholder_test_id_and_css() {
    run(&acts(
        "form",
        &[
            // The innermost of nested elements matches. White space is collapsed, and case is ignored.
            "once = \"a form WITH marks\"",
            "once = \"text:marks\"",
            "once = \"role:heading A form with marks\"",
            "once = \"role:button Greet\"",
            "once = \"role:textbox Full name\"",
            "once = \"label:full name\"",
            "once = \"label:Street\"",
            "once = \"label:Notes\"",
            "once = \"placeholder:How can I help\"",
            "once = \"testid:street-field\"",
            "unseen = \"testid:street\"",
            "once = \"css:main > h1 em\"",
            "see = \"Twice\"",
            "unseen = \"role:button Twice\"",
        ],
    ))
    .green();
}

fn hidden_repeated_missing_and_late_elements_are_distinguished() {
    run(&acts(
        "form",
        &["see = \"Came late\"", "unseen = \"Nobody sees this\"", "above = [\"A form\", \"Greet\", \"Came late\"]"],
    ))
    .green();
    for (act, says) in [
        ("once = \"Twice\", within = \"100ms\"", "2 elements match: <p> \"Twice\", <p> \"Twice\""),
        ("see = \"Nobody sees this\", within = \"100ms\"", "the only match is hidden"),
        ("see = \"Never comes\", within = \"20ms\"", "nothing on the page matches"),
        ("unseen = \"Twice\", within = \"100ms\"", "2 elements match"),
        ("above = [\"Greet\", \"A form\"], within = \"100ms\"", "`text:Greet` ends at"),
        ("above = [\"Twice\", \"A form\"], within = \"100ms\"", "`text:Twice`: 2 elements match"),
    ] {
        run(&acts("form", &[act])).exits(101).tells(&[says, "scenarios/page/scenario.toml:5:3: failed to take step 1"]);
    }
}

fn fields_are_filled_and_buttons_clicked_as_a_person_would() {
    run(&acts(
        "form",
        &[
            "fill = \"label:Full name\", text = \"Ada\"",
            "click = \"role:button Greet\"",
            "once = \"Hello Ada\"",
            "fill = \"label:Notes\", text = \"one\"",
            "press = \"Shift+Enter\"",
            "press = \"x\"",
            "press = \"Enter\"",
            "see = \"Sent: one x\"",
            "fill = \"label:Full name\", text = \"\"",
            "click = \"role:button Greet\"",
            "unseen = \"Hello Ada\"",
            "click = \"role:link To the other page\"",
            "see = \"role:heading The other page\"",
            "goto = \"/page/form\"",
            "see = \"A form\"",
            "reload = true",
            "see = \"A form\"",
        ],
    ))
    .green();
}

fn an_act_that_fails_says_why() {
    for (page, act, says) in [
        ("form", "click = \"Never\"", "it is disabled"),
        ("form", "click = \"Twice\"", "2 elements match"),
        ("form", "fill = \"css:h1\", text = \"x\"", "text cannot be entered into it"),
        ("form", "click = \"css:p[\"", "is not a CSS selector"),
        ("covered", "click = \"Under\"", "is in front of it"),
    ] {
        run(&acts(page, &[&format!("{act}, within = \"100ms\"")])).exits(101).tells(&[says]);
    }
    run(&acts("form", &["press = \"Entre\""])).exits(101).tells(&["there is no key `Entre`"]);
}

fn cookies_of_steps_and_of_the_page_are_shared() {
    let steps = format!(
        "[[step]]\nget = \"/cookie\"\n{}capture = {{ seen = \"cookie:seen\" }}\n[[step]]\nget = \"/sent\"\n\
         wait = {{ json = \"/seen\", is = true }}\n[[step]]\nget = \"/sent\"\nwait = {{ json = \"/session\", is = true }}\n",
        acts("cookie", &["see = \"sent seen=no and session=secret-of-7\""])
    );
    run(&steps).green();
}

fn local_storage_is_set_before_the_first_script_and_never_again() {
    let steps = acts("storage", &["see = \"mode ultra\"", "reload = true", "see = \"mode changed\""]);
    run(&steps.replace("do = [", "storage = { mode = \"ultra\" }\ndo = [")).green();
    // Another scenario has its own storage.
    run(&acts("storage", &["see = \"mode null\""])).green();
}

fn a_request_to_another_machine_is_reported_with_its_url() {
    run(&acts("elsewhere", &["see = \"Somewhere\", within = \"500ms\""])).exits(101).tells(&[
        "requests to other machines, which are never reached:",
        "| http://203.0.113.9/pixel.png",
        "| https://fonts.example.com/font.css",
        "ERR_NAME_NOT_RESOLVED",
        "the page's console:",
        "i am",
    ]);
}

fn the_pages_traffic_and_its_tree_go_into_the_golden() {
    let steps = acts("asks", &["see = \"A thing\"", "aria = \"main\""]);
    let tree = tree(&steps.replace("do = [", "traffic = [\"GET /things/*\"]\ndo = ["));
    tree.runner("pages").env("UPDATE_GOLDEN", "1").run().green();
    let golden = tree.read("goldens/page.snap");
    for part in [
        "aria main, on /page/asks\n\nmain\n  paragraph\n    text \"A thing\"\n",
        "page: GET /things/*\n200 application/json\n\nbody      {id, name}\n",
    ] {
        assert!(golden.contains(part), "{part:?} in {golden}");
    }
    tree.runner("pages").run().green();
    tree.replace("scenarios/page/scenario.toml", "/things/*", "/other/*");
    tree.runner("pages").run().exits(101).tells(&["the page did not send `GET /other/*`", "/things/4711"]);
}

fn a_missing_page_fails_unless_the_step_expects_it() {
    run(&acts("nowhere", &[])).exits(101).tells(&["/page/nowhere was answered with status 404"]);
    run(&acts("nowhere", &[]).replace("do = [", "status = 404\ndo = [")).green();
}

fn without_chromium_the_error_says_how_to_install_it() {
    let tree = tree(&acts("form", &[]));
    let ran = tree.runner("pages").env("RETAKE_CHROMIUM", "/nowhere/chromium").run().exits(101);
    ran.tells(&["there is no Chromium at /nowhere/chromium, which RETAKE_CHROMIUM names"]);
    let ran = tree.runner("pages").env("PATH", "/nowhere").run().exits(101);
    ran.tells(&["there is no Chromium on this machine", "apt-get install chromium", "RETAKE_CHROMIUM"]);
}

fn a_screenshot_is_compared_with_an_earlier_run_but_not_in_ci() {
    let tree =
        tree(&acts("other", &["see = \"The other page\"", "screenshot = \"whole\", baseline = true, within = \"2s\""]));
    tree.runner("pages").run().green();
    tree.runner("pages").run().green();
    assert!(tree.has(".retake/browser/page/whole.baseline.png"));
    assert_eq!(tree.read(".retake/.gitignore"), "*\n");
    tree.replace("scenarios/page/scenario.toml", "/page/other", "/page/form");
    tree.replace("scenarios/page/scenario.toml", "The other page", "A form");
    tree.runner("pages").run().exits(101).tells(&["pixels differ from the baseline"]);
    tree.runner("pages").env("CI", "1").run().green();
}
