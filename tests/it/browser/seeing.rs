//! `see` means that a person would see it: what the page's code contains is not enough.

use axum::Router;
use axum::extract::Path;
use axum::response::Html;
use axum::routing::get;

use crate::support::tree::Tree;

tests!(
    what_a_person_would_not_see_is_not_seen_and_the_failure_says_why,
    what_a_person_would_see_is_seen,
    what_appears_late_or_when_it_is_scrolled_to_is_seen,
    looking_leaves_the_page_as_it_was,
);

/// The body of each page whose text nobody sees, and why.
const UNSEEN: &[(&str, &str, &str)] = &[
    ("transparent", r#"<p style="opacity: 0">Answer</p><p>Far down</p>"#, "the opacity of <p> \"Answer\" is 0"),
    (
        "transparent_around",
        r#"<div class="fades" style="opacity: 0"><section><p>Answer</p></section></div>"#,
        "the opacity of <div class=\"fades\"> \"Answer\" is 0",
    ),
    ("white_on_white", r#"<p style="color: white">Answer</p>"#, "its contrast with what is painted behind it is 1.0"),
    ("nearly_white", r#"<p style="color: #f6f6f6">Answer</p>"#, "its contrast with what is painted behind it is 1.0"),
    (
        "dark_on_dark",
        r#"<div style="background: #222"><p style="color: #222">Answer</p></div>"#,
        "its contrast with what is painted behind it is 1.0",
    ),
    (
        "without_colour",
        r#"<p style="color: transparent">Answer</p>"#,
        "its contrast with what is painted behind it is 1.0",
    ),
    (
        "covered",
        r#"<p>Answer</p><div class="cloth" style="position: fixed; inset: 0; background: #eee"></div>"#,
        "it is covered by <div class=\"cloth\"> \"\"",
    ),
    (
        "covered_by_what_ignores_the_mouse",
        r#"<p>Answer</p><div style="position: fixed; inset: 0; background: #eee; pointer-events: none"></div>"#,
        "its contrast with what is painted behind it is 1.0",
    ),
    (
        "covered_button",
        r#"<button aria-label="Answer" style="width: 90px; height: 30px"></button>
        <div class="cloth" style="position: fixed; inset: 0; background: #eee"></div>"#,
        "it is covered by <div class=\"cloth\"> \"\"",
    ),
    (
        "under_its_own_skeleton",
        r#"<style>p { position: relative } p::after { content: ""; position: absolute; inset: 0; background: #ddd }</style>
        <p>Answer</p>"#,
        "its contrast with what is painted behind it is 1.0",
    ),
    ("without_size", r#"<p style="font-size: 0; width: 90px; height: 30px">Answer</p>"#, "its size is 0 × 0 pixels"),
    (
        "without_height",
        r#"<div class="closed" style="height: 0; overflow: hidden"><p>Answer</p></div>"#,
        "it is cut off by <div class=\"closed\"> \"Answer\"",
    ),
    (
        "for_screen_readers",
        r#"<p style="position: absolute; width: 1px; height: 1px; overflow: hidden">Answer</p>"#,
        "it is cut off by <p> \"Answer\"",
    ),
    (
        "left_of_the_page",
        r#"<p style="position: absolute; left: -9999px">Answer</p>"#,
        "it is outside the window and cannot be scrolled to",
    ),
    (
        "beyond_what_scrolls",
        r#"<div class="slides" style="overflow: hidden; width: 300px; white-space: nowrap"><span style="margin-left: 400px">
        Answer</span></div>"#,
        "it is cut off by <div class=\"slides\"> \"Answer\"",
    ),
    (
        "page_without_scrolling",
        r#"<style>body { overflow: hidden; height: 100vh; margin: 0 }</style><p style="margin-top: 2000px">Answer</p>"#,
        "it is outside the window and cannot be scrolled to",
    ),
    ("clipped", r#"<p style="clip-path: inset(50%)">Answer</p>"#, "its contrast with what is painted behind it is 1.0"),
];

/// Pieces of a page that a person sees. The text of each is `seen` and its number.
const SEEN: &[&str] = &[
    "<p>seen 00</p>",
    r#"<p style="pointer-events: none">seen 01</p>"#,
    r#"<p style="background: linear-gradient(white, black); color: white">seen 02</p>"#,
    r#"<div style="position: relative; background: #eee"><p>seen 03</p>
    <a href="/" aria-label="all of it" style="position: absolute; inset: 0"></a></div>"#,
    r#"<p style="transform: rotate(90deg) scale(.8); width: 90px; height: 90px">seen 04</p>"#,
    "<button>seen 05</button>",
    "<details open><summary>More</summary>seen 06</details>",
    r#"<p style="width: 3em">a <em>text in several</em> lines <b>seen</b> <i>07</i></p>"#,
    r#"<p style="background: linear-gradient(red, blue); background-clip: text; color: transparent">seen 08</p>"#,
    r#"<svg width="90" height="30"><text y="20">seen 09</text></svg>"#,
    r#"<p style="width: 6em; overflow: hidden; text-overflow: ellipsis; white-space: nowrap">seen 10, which is too long for it</p>"#,
    r#"<p style="color: #999; font-weight: 100; font-size: 10px">seen 11</p>"#,
    r#"<div style="height: 60px; overflow: auto"><p style="margin-top: 500px">seen 12</p></div>"#,
    r#"<p style="-webkit-text-fill-color: #090; color: white">seen 13</p>"#,
    r#"<div id="host"><b>seen 14</b></div><script>
    host.attachShadow({ mode: "open" }).innerHTML = "<p><slot></slot></p><p>seen 15</p>";</script>"#,
    r#"<label><input type="checkbox" style="opacity: 0; position: absolute"><span>seen 16</span></label>"#,
    r#"<div style="background: black"><p style="color: white; opacity: .5">seen 17</p></div>"#,
    r#"<input type="submit" value="seen 18"><input placeholder="seen 19"><textarea>seen 20</textarea>"#,
    r#"<div style="height: 90px; overflow: hidden; position: relative"><p style="position: absolute; bottom: 0">seen 21</p></div>"#,
    r#"<div style="position: relative; height: 60px"><div style="overflow: hidden; height: 0"><p style="position: absolute">seen 22</p>
    </div></div>"#,
    r#"<p>a long text<br><br style="line-height: 900px">and at its end seen 23</p>"#,
    r#"<p style="filter: invert(1); color: white; background: black">seen 24</p>"#,
    "<p>😀 İ seen  25</p>",
];

const LATE: &str = r#"<style>.fades { animation: in .3s .3s both } @keyframes in { from { opacity: 0 } }
.waits { opacity: 0; transition: opacity .2s } .waits.came { opacity: 1 }
section { content-visibility: auto; contain-intrinsic-size: 10px 100px }</style>
<p class="fades">It fades in</p><div style="height: 3000px"></div><p class="waits">It comes when it is scrolled to</p>
<div style="height: 3000px"></div><section><p>It is painted when it is scrolled to</p></section>
<script>new IntersectionObserver((seen, all) => seen.forEach(({ isIntersecting, target }) => {
  if (isIntersecting) { target.classList.add("came"); all.disconnect(); }
})).observe(document.querySelector(".waits"));</script>"#;

const WATCHED: &str = r#"<p>Below</p><p id="said">nothing changed</p><div style="height: 3000px"></div><p>Far down</p>
<script>const changes = [];
addEventListener("keydown", () => { said.textContent = changes.length || scrollY ? `${changes} and ${scrollY}` : "looked at"; });
new MutationObserver((all) => changes.push(...all.map(({ type }) => type)))
  .observe(document, { attributes: true, childList: true, characterData: true, subtree: true });</script>"#;

/// Serves the pages.
pub(crate) fn router() -> Router {
    Router::new().route("/look/{name}", get(async |Path(name): Path<String>| Html(page(&name))))
}

fn page(name: &str) -> String {
    let unseen = UNSEEN.iter().find(|(of, ..)| *of == name).map(|(_, body, _)| (*body).to_owned());
    let body = unseen.unwrap_or_else(|| match name {
        "seen" => {
            let header =
                r#"<header style="position: sticky; top: 0; height: 200px; background: #eee; z-index: 1">Top</header>"#;
            format!("{header}{}<div style=\"height: 900px\"></div>", SEEN.concat())
        }
        "late" => LATE.to_owned(),
        _ => WATCHED.to_owned(),
    });
    format!("<!doctype html><html lang=\"en\"><body style=\"background: white\">{body}</body></html>")
}

fn scenario(page: &str, acts: &[String]) -> String {
    let acts = acts.join(" },\n  { ");
    format!("fixture = \"none\"\n[[step]]\nbrowser = \"/look/{page}\"\ndo = [\n  {{ {acts} }},\n]\n")
}

fn what_a_person_would_not_see_is_not_seen_and_the_failure_says_why() {
    let tree = Tree::with_suite("settle = \"10ms\"\n");
    for (name, ..) in UNSEEN {
        let target = if *name == "covered_button" { "role:button Answer" } else { "Answer" };
        // First that it is there at all.
        let acts = [format!("see = \"{target}\", visible = false"), format!("see = \"{target}\", within = \"150ms\"")];
        tree.scenario(name, &scenario(name, &acts));
    }
    for (name, act) in [("once", "once = \"Answer\""), ("above", "above = [\"Answer\", \"Far down\"]")] {
        let acts = [format!("{act}, visible = false"), format!("{act}, within = \"150ms\"")];
        tree.scenario(name, &scenario("transparent", &acts));
    }
    let ran = tree.runner("looks").run().exits(101);
    let also = ["once", "above"].map(|name| (name, "", "the opacity of <p> \"Answer\" is 0"));
    for (name, _, why) in UNSEEN.iter().chain(&also) {
        let (failure, why) = (ran.failure(name), format!("is there, but a person would not see it: {why}"));
        // The second act failed, in line 6.
        assert!(failure.contains("scenario.toml:6:3") && failure.contains(&why), "{why:?} is not in {failure}");
    }
}

fn what_a_person_would_see_is_seen() {
    let tree = Tree::with_suite("settle = \"10ms\"\ntimeout = \"180s\"\n");
    let acts = (0..26).map(|number| match number {
        19 => "see = \"placeholder:seen 19\"".to_owned(),
        16 => "see = \"role:checkbox seen 16\"".to_owned(),
        number => format!("see = \"seen {number:02}\""),
    });
    let acts: Vec<String> = acts.chain(["above = [\"seen 00\", \"seen 05\", \"seen 23\"]".to_owned()]).collect();
    tree.scenario("seen", &scenario("seen", &acts));
    tree.runner("looks").run().green();
}

fn what_appears_late_or_when_it_is_scrolled_to_is_seen() {
    let tree = Tree::with_suite("settle = \"10ms\"\n");
    let acts = ["It fades in", "It comes when it is scrolled to", "It is painted when it is scrolled to"];
    tree.scenario("late", &scenario("late", &acts.map(|text| format!("see = \"{text}\""))));
    tree.runner("looks").run().green();
}

/// A page may follow its newest message only while nobody has scrolled away from it.
fn looking_leaves_the_page_as_it_was() {
    let tree = Tree::with_suite("settle = \"10ms\"\n");
    let acts = ["see = \"Far down\"", "see = \"Below\"", "press = \"x\"", "see = \"looked at\""];
    tree.scenario("watched", &scenario("watched", &acts.map(str::to_owned)));
    tree.runner("looks").run().green();
}
