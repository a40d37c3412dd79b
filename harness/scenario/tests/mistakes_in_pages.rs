//! The errors for mistakes in steps that open a page.

use super::{Mistake, assert_told};

#[test]
fn each_mistake_is_reported_with_its_place() {
    assert_told(MISTAKES, |text| [("scenarios/a/scenario.toml", text)].into());
}

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "path without slash",
        files: &[],
        text: "[[step]]\nbrowser = \"chat/new\"\n",
        says: "scenarios/a/scenario.toml:2:11: the path `chat/new` does not start with `/`
  retake puts the system's address before it: write only the path",
    },
    Mistake {
        name: "body of a page",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\njson = {}\n",
        says: "scenarios/a/scenario.toml:3:8: `json` belongs to a request or a command, and this step opens a page",
    },
    Mistake {
        name: "acts of a request",
        files: &[],
        text: "[[step]]\nget = \"/\"\ndo = [{ see = \"x\" }]\n",
        says: "scenarios/a/scenario.toml:3:6: `do` belongs to a step with `browser`",
    },
    Mistake {
        name: "act that does nothing",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\ndo = [{ within = \"1s\" }]\n",
        says: "scenarios/a/scenario.toml:3:7: this act does nothing
  an act has exactly one of `see`, `unseen`, `once`, `above`, `click`, `hover`, `fill`, `upload`, `press`, `dialog`, `goto`, `reload`, `retry`, `aria`, `screenshot`",
    },
    Mistake {
        name: "act that does two things",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\ndo = [{ see = \"x\", click = \"x\" }]\n",
        says: "scenarios/a/scenario.toml:3:7: this act does 2 things: `see`, `click`
  an act has exactly one of `see`, `unseen`, `once`, `above`, `click`, `hover`, `fill`, `upload`, `press`, `dialog`, `goto`, `reload`, `retry`, `aria`, `screenshot`",
    },
    Mistake {
        name: "fill without text",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\ndo = [{ fill = \"label:Name\" }]\n",
        says: "scenarios/a/scenario.toml:3:7: this act does not say what to fill in
  add `text = \"…\"`",
    },
    Mistake {
        name: "nearly a finder",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\ndo = [{ unseen = \"lable:Name\" }]\n",
        says: "scenarios/a/scenario.toml:3:18: elements cannot be found by `lable:`
  did you mean `label:`? As a text: `text:lable:Name`",
    },
    Mistake {
        name: "empty text",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\ndo = [{ see = \"role:\" }]\n",
        says: "scenarios/a/scenario.toml:3:15: an empty text matches everything: say what to find",
    },
    Mistake {
        name: "one place above nothing",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\ndo = [{ above = [\"x\"] }]\n",
        says: "scenarios/a/scenario.toml:3:7: `above` needs at least two elements to compare",
    },
    Mistake {
        name: "region that is not a role",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\ndo = [{ aria = \"css:main\" }]\n",
        says: "scenarios/a/scenario.toml:3:16: a region is found by its role and name
  write aria = \"main\", or aria = \"navigation Earlier chats\"",
    },
    Mistake {
        name: "traffic without a method",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\ntraffic = [\"/api\"]\n",
        says: "scenarios/a/scenario.toml:3:12: `/api` does not name a request of the page
  write its method and its path, with `*` for a part: \"POST /api/threads/*/runs/stream\"",
    },
    Mistake {
        name: "capture of a page's body",
        files: &[],
        text: "[[step]]\nbrowser = \"/\"\ncapture = { a = \"json:/id\" }\n",
        says: "scenarios/a/scenario.toml:3:17: a page has no body and no events to capture
  read a cookie with `cookie:NAME`, or send the system a request in a step of its own",
    },
    Mistake {
        name: "page at the same time",
        files: &[],
        text: "[[step]]\n[[step.together]]\nbrowser = \"/\"\n",
        says: "scenarios/a/scenario.toml:3:11: `browser` cannot stand in `together`: put it into a step of its own",
    },
];
