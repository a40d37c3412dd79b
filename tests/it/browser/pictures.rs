//! Screenshots that are compared: of a page that has come to rest, with a baseline that `--update` renews.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::response::Html;
use axum::routing::get;

use crate::support::tree::Tree;

tests!(
    a_baseline_shows_what_fades_in_after_a_late_answer,
    an_update_renews_a_baseline_if_two_replays_show_the_same,
    a_page_that_never_rests_cannot_be_compared,
);

/// After a key is pressed, suggestions fade in when a late answer has come, next to what never ends.
const LATE: &str = r#"<!doctype html><style>@keyframes in { from { opacity: 0 } } @keyframes turn { to { rotate: 360deg } }
.chip { animation: in .6s both; font-size: 40px } .wheel { width: 90px; height: 30px; background: red; animation: turn 1s infinite }
</style><h1>The page</h1><input autofocus><div class="wheel"></div><p id="chips"></p><script>
addEventListener("keydown", async () => {
  chips.textContent = await (await fetch("/suggestions")).text();
  chips.className = "chip";
}, { once: true });</script>"#;

const RESTLESS: &str = r#"<!doctype html><h1>The page</h1><p id="time" style="font-size: 40px">0</p><script>
setInterval(() => { time.textContent++; }, 20);</script>"#;

/// Serves the pages.
pub(crate) fn router() -> Router {
    // Each replay has a router of its own.
    static VISITS: AtomicUsize = AtomicUsize::new(1);
    let page = |html: &'static str| get(async move || Html(html));
    Router::new()
        .route("/late", page(LATE))
        .route("/restless", page(RESTLESS))
        .route("/other", page("<!doctype html><h1>The page</h1><p>Another line</p>"))
        .route(
            "/suggestions",
            get(async || {
                tokio::time::sleep(Duration::from_millis(400)).await; // A model that takes its time.
                "A suggestion"
            }),
        )
        .route(
            "/visits",
            get(async || {
                let wide = 100 * VISITS.fetch_add(1, Ordering::Relaxed);
                let bar = format!("<div style=\"width: {wide}px; height: 50px; background: red\"></div>");
                Html(format!("<!doctype html><h1>The page</h1>{bar}"))
            }),
        )
}

const BASELINE: &str = ".retake/browser/page/whole.baseline.png";

fn tree() -> Tree {
    let tree = Tree::with_suite("settle = \"10ms\"\n");
    tree.scenario("page", &scenario("late", ""));
    tree
}

fn scenario(page: &str, before: &str) -> String {
    format!(
        "fixture = \"none\"\n[[step]]\nbrowser = \"/{page}\"\ndo = [\n  {{ see = \"The page\" }},\n  {{ press = \"x\" }},\n\
         {before}  {{ screenshot = \"whole\", baseline = true, within = \"5s\" }},\n]\n"
    )
}

fn baseline(tree: &Tree) -> Vec<u8> {
    std::fs::read(tree.path(BASELINE)).unwrap()
}

fn a_baseline_shows_what_fades_in_after_a_late_answer() {
    let tree = tree();
    tree.runner("pictures").run().green();
    let first = baseline(&tree);
    tree.runner("pictures").run().green();
    // If the baseline was taken too early, this one differs.
    tree.scenario("page", &scenario("late", "  { see = \"A suggestion\" },\n"));
    tree.runner("pictures").run().green();
    assert_eq!(baseline(&tree), first);
}

fn an_update_renews_a_baseline_if_two_replays_show_the_same() {
    let tree = tree();
    tree.runner("pictures").run().green();
    let first = baseline(&tree);
    tree.scenario("page", &scenario("other", ""));
    let advice = "if that is intended: retake test page --update";
    tree.runner("pictures").run().exits(101).tells(&[advice]);
    assert_eq!(baseline(&tree), first);
    tree.runner("pictures").env("UPDATE_GOLDEN", "1").run().green();
    let second = baseline(&tree);
    assert_ne!(second, first);
    tree.runner("pictures").run().green();
    // The second replay shows something else, so nothing is renewed.
    tree.scenario("page", &scenario("visits", "").replace("5s", "1s"));
    tree.runner("pictures").env("UPDATE_GOLDEN", "1").run().exits(101).tells(&["pixels differ from the baseline"]);
    assert_eq!(baseline(&tree), second);
}

fn a_page_that_never_rests_cannot_be_compared() {
    let tree = tree();
    tree.scenario("page", &scenario("restless", "").replace("5s", "1s"));
    tree.runner("pictures").run().exits(101).tells(&["the page keeps changing"]);
    assert!(!tree.has(BASELINE));
    // Without a comparison, a screenshot is taken at once.
    tree.replace("scenarios/page/scenario.toml", "baseline = true", "baseline = false");
    tree.runner("pictures").run().green();
}
