//! The accessibility tree of a page: what a screen reader reads out.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::page::Page;
use retake_base::error::{Error, Result};
use retake_scenario::{By, Target};

/// Roles without meaning. Nodes with these roles are replaced by their children.
const SILENT: [&str; 7] =
    ["generic", "none", "presentation", "InlineTextBox", "LineBreak", "ListMarker", "RootWebArea"];
/// Chromium's own names of roles, and the names that the tree shows.
const CALLED: [(&str, &str); 5] = [
    ("StaticText", "text"),
    ("image", "img"),
    ("LabelText", "label"),
    ("DisclosureTriangle", "summary"),
    ("DisclosureTriangleGrouped", "summary"),
];
/// The properties that the tree shows if they are set.
const TOLD: [&str; 8] = ["checked", "disabled", "expanded", "invalid", "level", "pressed", "required", "selected"];

/// Returns the tree of a whole page. Each node is one line with role, name and properties.
/// Fails if Chromium is gone.
pub(super) async fn whole(page: &Page) -> Result<String> {
    let tree = page.call("Accessibility.getFullAXTree", json!({})).await?;
    let nodes = Nodes::of(&tree);
    let mut lines = Vec::new();
    if let Some(root) = tree["nodes"].as_array().and_then(|nodes| nodes.first()) {
        nodes.write(root, 0, &mut lines);
    }
    Ok(lines.join("\n"))
}

/// Returns the tree of a region: the only node with this role and, if one is given, this name.
/// Fails if there is no such region, or more than one.
pub(super) async fn region(page: &Page, target: &Target<String>) -> Result<String> {
    if target.by != By::Role {
        return Err(Error::new("a region is found by its role and name"));
    }
    let (role, name) = target.text.split_once(char::is_whitespace).unwrap_or((&target.text, ""));
    let tree = page.call("Accessibility.getFullAXTree", json!({})).await?;
    let nodes = Nodes::of(&tree);
    let fits = |node: &&Value| {
        node["ignored"] != true && role_of(node) == role && (name.trim().is_empty() || name_of(node) == name.trim())
    };
    let found: Vec<&Value> = tree["nodes"].as_array().into_iter().flatten().filter(fits).collect();
    let [node] = found[..] else {
        return Err(Error::new(format!("{} regions match", found.len())));
    };
    let mut lines = Vec::new();
    nodes.write(node, 0, &mut lines);
    Ok(lines.join("\n"))
}

/// Returns the line of a tree that is most similar to a text, with the lines around it.
pub(super) fn near(tree: &str, text: &str) -> String {
    const AROUND: usize = 8;
    let lines: Vec<&str> = tree.lines().collect();
    if lines.len() <= 2 * AROUND {
        return tree.to_owned();
    }
    let text = text.to_lowercase();
    let nearness = |index: &usize| strsim::sorensen_dice(&lines[*index].to_lowercase(), &text);
    let nearest = (0..lines.len()).max_by(|a, b| nearness(a).total_cmp(&nearness(b)).then(b.cmp(a)));
    let first = nearest.unwrap_or_default().saturating_sub(AROUND).min(lines.len() - 2 * AROUND);
    let mut shown = lines[first..first + 2 * AROUND].join("\n");
    if first > 0 {
        shown.insert_str(0, "…\n");
    }
    if first + 2 * AROUND < lines.len() {
        shown.push_str("\n…");
    }
    shown
}

struct Nodes<'a>(HashMap<&'a str, &'a Value>);

impl<'a> Nodes<'a> {
    fn of(tree: &'a Value) -> Nodes<'a> {
        let nodes = tree["nodes"].as_array().into_iter().flatten();
        Nodes(nodes.filter_map(|node| Some((node["nodeId"].as_str()?, node))).collect())
    }

    fn children(&self, node: &'a Value) -> impl Iterator<Item = &'a Value> {
        let ids = node["childIds"].as_array().into_iter().flatten();
        ids.filter_map(|id| self.0.get(id.as_str()?).copied())
    }

    fn write(&self, node: &'a Value, depth: usize, lines: &mut Vec<String>) {
        let (role, name) = (role_of(node), name_of(node));
        let is_silent = node["ignored"] == true || (SILENT.contains(&role) && (name.is_empty() || role != "generic"));
        if is_silent {
            self.children(node).for_each(|child| self.write(child, depth, lines));
            return;
        }
        let mut line = format!("{}{role}", "  ".repeat(depth));
        if !name.is_empty() {
            line = format!("{line} {}", json!(name));
        }
        for property in node["properties"].as_array().into_iter().flatten() {
            let Some(key) = property["name"].as_str().filter(|key| TOLD.contains(key)) else { continue };
            let value = &property["value"]["value"];
            if key == "level" && role != "heading" {
                continue;
            }
            match value {
                Value::Bool(false) | Value::Null => {}
                Value::String(text) if text == "false" => {}
                Value::Bool(true) => line = format!("{line} [{key}]"),
                Value::String(text) => line = format!("{line} [{key}={text}]"),
                other => line = format!("{line} [{key}={other}]"),
            }
        }
        if let Some(value) = node["value"]["value"].as_str().filter(|value| !value.is_empty()) {
            line = format!("{line}: {}", json!(value));
        }
        lines.push(line);
        if role == "text" {
            return;
        }
        let from = lines.len();
        self.children(node).for_each(|child| self.write(child, depth + 1, lines));
        // If the only child is a text that repeats the name, it is left out.
        let text = format!("{}text {}", "  ".repeat(depth + 1), json!(name));
        if lines[from..] == [text] {
            lines.truncate(from);
        }
    }
}

fn role_of(node: &Value) -> &str {
    let role = node["role"]["value"].as_str().unwrap_or_default();
    CALLED.iter().find(|(own, _)| *own == role).map_or(role, |(_, called)| called)
}

fn name_of(node: &Value) -> String {
    node["name"]["value"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
