//! One act on a page. It waits until it can be done, or until what it looks for holds, or until its time is up.

use std::path::Path;

use chromiumoxide::keys::get_key_definition;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::find::{Element, Found, find, find_all};
use super::look::look;
use super::page::{PERIOD, Page};
use super::picture::Baselines;
use super::{picture, tree};
use retake_base::error::{Error, Result};
use retake_scenario::{Do, Target};

/// The result of one attempt.
enum Attempt {
    /// It is done; with the accessibility tree of a region, one line for each node, if that is what it asks for.
    Done(Option<String>),
    /// It did not succeed yet, for this reason.
    NotYet(String),
    /// It can never succeed.
    Wrong(String),
    /// It is there, but a person would not see it yet, for this reason.
    NotSeen(String),
}

const DONE: Attempt = Attempt::Done(None);

/// How to do an act.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How<'a> {
    /// The iframe that it is about.
    pub(crate) frame: Option<&'a str>,
    /// The project's folder, which contains the files to upload.
    pub(crate) root: &'a Path,
    /// When it has to be done.
    pub(crate) deadline: Instant,
    /// Whether a person has to see what it waits for.
    pub(crate) visible: bool,
    /// The folder for the scenario's screenshots.
    pub(crate) pictures: &'a Path,
    /// What becomes of those that are compared.
    pub(crate) baselines: Baselines,
}

/// Does one act, except `goto`, `reload` and `retry`, which the caller does. Returns the accessibility tree of a region if it asks for one.
/// Fails if it does not succeed in time.
pub(crate) async fn act(page: &Page, act: &Do<String>, how: How<'_>) -> Result<Option<String>> {
    let (mut before, deadline) = (None, how.deadline);
    page.look_in(how.frame).await?;
    loop {
        let stands = match attempt(page, act, &mut before, how).await {
            Ok(stands) => stands,
            // Looking at a page that is just being left fails.
            Err(error) => Attempt::NotYet(error.what().to_owned()),
        };
        let (why, looked) = match stands {
            Attempt::Done(made) => return Ok(made),
            Attempt::Wrong(why) => return Err(Error::new(why)),
            Attempt::NotYet(why) => (why, false),
            Attempt::NotSeen(why) => (why, true),
        };
        if Instant::now() >= deadline {
            return Err(Error::new(why));
        }
        // A look takes two pictures, which is too much work to repeat it at once.
        let pause = if looked { 5 * PERIOD } else { PERIOD };
        tokio::time::sleep_until(deadline.min(Instant::now() + pause)).await;
    }
}

/// Tries to do an act once. `before` is where the element was at the last attempt, because an element that is moving is not
/// clicked.
async fn attempt(
    page: &Page,
    act: &Do<String>,
    before: &mut Option<(Element, [f64; 2])>,
    how: How<'_>,
) -> Result<Attempt> {
    let prepared = match act {
        Do::Click(_) | Do::Hover(_) => Some("click"),
        Do::Fill { .. } => Some("fill"),
        Do::Upload { .. } => Some("upload"),
        _ => None,
    };
    let found = match act.target() {
        Some(target) => find(page, target, prepared).await?,
        None => Found::default(),
    };
    if let Some(wrong) = found.wrong {
        return Ok(Attempt::Wrong(wrong));
    }
    let not_yet = || Attempt::NotYet(found.why_not_one());
    Ok(match act {
        Do::See(target) if !found.elements.is_empty() => seen(page, target, how).await?,
        Do::Once(target) if found.elements.len() == 1 => seen(page, target, how).await?,
        Do::Unseen(_) if found.elements.is_empty() => DONE,
        Do::See(_) | Do::Once(_) | Do::Unseen(_) => not_yet(),
        Do::Above(targets) => above(page, targets, how).await?,
        Do::Click(_) | Do::Hover(_) => match (ready(&found), found.point) {
            (Some(element), Some(point)) => {
                let now = (element.clone(), point);
                if before.as_ref() != Some(&now) {
                    *before = Some(now);
                    return Ok(Attempt::NotYet("it is moving".to_owned()));
                }
                mouse(page, point, matches!(act, Do::Click(_))).await?;
                DONE
            }
            _ => not_yet(),
        },
        Do::Fill { .. } | Do::Upload { .. } if ready(&found).is_none() => not_yet(),
        Do::Fill { text, .. } => {
            if text.is_empty() {
                press(page, "Delete").await?;
            } else {
                page.call("Input.insertText", json!({ "text": text })).await?;
            }
            DONE
        }
        Do::Upload { target, files } => {
            let (_, handle) = find_all(page, target, "look for files").await?;
            let field = page.object("function () { return this.elements[0] }", &handle, Vec::new()).await?;
            let files: Vec<String> = files.iter().map(|file| how.root.join(file).display().to_string()).collect();
            page.call("DOM.setFileInputFiles", json!({ "objectId": field, "files": files })).await?;
            DONE
        }
        Do::Dialog(text) => {
            let opened = page.watch.seen.lock().dialogs.clone();
            match opened.iter().any(|said| said.contains(text.as_str())) {
                true => DONE,
                false if opened.is_empty() => Attempt::NotYet("the page has opened no dialog".to_owned()),
                false => Attempt::NotYet(format!("the page has opened these dialogs: {}", opened.join(", "))),
            }
        }
        Do::Press(keys) => match press(page, keys).await {
            Ok(()) => DONE,
            Err(error) => Attempt::Wrong(error.what().to_owned()),
        },
        Do::Aria(target) => Attempt::Done(Some(tree::region(page, target).await?)),
        Do::Screenshot { name, baseline, tolerance, masks } => {
            let mut boxes = Vec::new();
            for mask in masks {
                let found = find(page, mask, None).await?;
                if let Some(wrong) = found.wrong {
                    return Ok(Attempt::Wrong(format!("the mask {mask}: {wrong}")));
                }
                if found.elements.is_empty() {
                    return Ok(Attempt::NotYet(format!("the mask {mask}: {}", found.why_not_one())));
                }
                boxes.extend(found.elements.iter().map(|element| element.area.clone()));
            }
            let compared = picture::keep(page, how, name, *tolerance, boxes, *baseline).await?;
            compared.map_or(DONE, Attempt::NotYet)
        }
        Do::Goto(_) | Do::Reload | Do::Retry(_) => DONE,
    })
}

fn ready(found: &Found) -> Option<&Element> {
    found.elements.first().filter(|_| found.ready)
}

/// Whether a person sees an element that matches a target, if they have to.
async fn seen(page: &Page, target: &Target<String>, how: How<'_>) -> Result<Attempt> {
    let unseen = if how.visible { look(page, target, how.deadline).await? } else { None };
    Ok(unseen.map_or(DONE, Attempt::NotSeen))
}

async fn above(page: &Page, targets: &[Target<String>], how: How<'_>) -> Result<Attempt> {
    let mut upper: Option<(Element, &Target<String>)> = None;
    for target in targets {
        let found = find(page, target, None).await?;
        if let Some(wrong) = found.wrong {
            return Ok(Attempt::Wrong(wrong));
        }
        let [element] = &found.elements[..] else {
            return Ok(Attempt::NotYet(format!("{target}: {}", found.why_not_one())));
        };
        if let Some((above, named)) = &upper
            && above.bottom > element.top
        {
            let why = format!(
                "{named} ends at {:.0} and {target} begins at {:.0}, in pixels from the page's top",
                above.bottom, element.top
            );
            return Ok(Attempt::NotYet(why));
        }
        upper = Some((element.clone(), target));
    }
    for target in targets {
        let Attempt::NotSeen(why) = seen(page, target, how).await? else { continue };
        return Ok(Attempt::NotSeen(format!("{target}: {why}")));
    }
    Ok(DONE)
}

/// Moves the mouse to a point, and may click there.
async fn mouse(page: &Page, [x, y]: [f64; 2], clicks: bool) -> Result<()> {
    let mouse = |kind: &str, button: &str, clicks: u32| json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": clicks });
    let events = [("mouseMoved", "none", 0), ("mousePressed", "left", 1), ("mouseReleased", "left", 1)];
    for (kind, button, count) in events.into_iter().take(if clicks { 3 } else { 1 }) {
        page.call("Input.dispatchMouseEvent", mouse(kind, button, count)).await?;
    }
    Ok(())
}

/// Presses a key, possibly with others held down: `Control+A`.
async fn press(page: &Page, keys: &str) -> Result<()> {
    let (held, key) = match keys.rsplit_once('+') {
        Some((held, key)) if !key.is_empty() => (held, key),
        _ => ("", keys),
    };
    let modifiers = held.split('+').map(|name| match name {
        "Alt" => 1,
        "ControlOrMeta" if cfg!(target_os = "macos") => 4,
        "Control" | "ControlOrMeta" => 2,
        "Meta" => 4,
        "Shift" => 8,
        _ => 0,
    });
    let modifiers: u32 = modifiers.sum();
    let is_command = held.split('+').any(|name| ["Alt", "Control", "ControlOrMeta", "Meta"].contains(&name));
    let known = get_key_definition(key).ok_or_else(|| Error::new(format!("there is no key `{key}`")))?;
    // A combination with Alt, Control or Meta is a command and types no text.
    let text = known.text.or_else(|| (known.key.chars().count() == 1).then_some(known.key)).filter(|_| !is_command);
    let event = |kind: &str, text: Option<&str>| -> Value {
        let mut event = json!({
            "type": kind, "key": known.key, "code": known.code, "modifiers": modifiers,
            "windowsVirtualKeyCode": known.key_code, "nativeVirtualKeyCode": known.key_code,
        });
        if let Some(text) = text {
            event["text"] = json!(text);
        }
        event
    };
    let down = if text.is_some() { "keyDown" } else { "rawKeyDown" };
    page.call("Input.dispatchKeyEvent", event(down, text)).await?;
    page.call("Input.dispatchKeyEvent", event("keyUp", None)).await.map(drop)
}
