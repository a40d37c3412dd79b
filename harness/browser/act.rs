//! One act on a page: each waits until it can be done, or holds, or its time is up.

use std::path::Path;

use chromiumoxide::keys::get_key_definition;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::find::{Element, Found, Prepared, find};
use super::page::{PERIOD, Page};
use super::{picture, tree};
use crate::error::{Error, Result};
use crate::scenario::{Do, Target};

/// What an act leaves behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Made {
    Nothing,
    /// The accessible tree of a region, a node a line.
    Tree(String),
}

/// How something on a page stands.
enum Stands {
    Done(Made),
    /// Not yet, and why.
    NotYet(String),
}

const DONE: Stands = Stands::Done(Made::Nothing);

/// Does one act. Going to a page is not among them. `pictures` is the folder of the scenario's pictures.
///
/// # Errors
/// Where it is not done, or does not hold, in time.
pub(crate) async fn act(page: &Page, act: &Do<String>, deadline: Instant, pictures: &Path) -> Result<Made> {
    let mut before = None;
    loop {
        let stands = match attempt(page, act, &mut before, pictures).await {
            Ok(stands) => stands,
            // A page that is just going cannot be looked at.
            Err(error) => Stands::NotYet(error.what().to_owned()),
        };
        let why = match stands {
            Stands::Done(made) => return Ok(made),
            Stands::NotYet(why) => why,
        };
        if Instant::now() >= deadline {
            return Err(Error::new(why));
        }
        tokio::time::sleep_until(deadline.min(Instant::now() + PERIOD)).await;
    }
}

/// `before` is where the element was at the last attempt: what still moves is not clicked.
async fn attempt(
    page: &Page,
    act: &Do<String>,
    before: &mut Option<(Element, [f64; 2])>,
    pictures: &Path,
) -> Result<Stands> {
    let look = |target| find(page, target, Prepared::Nothing);
    Ok(match act {
        Do::See(target) => {
            let found = look(target).await?;
            held(!found.elements.is_empty(), || found.why_not_one())
        }
        Do::Unseen(target) => {
            let found = look(target).await?;
            held(found.elements.is_empty(), || found.why_not_one())
        }
        Do::Once(target) => {
            let found = look(target).await?;
            held(found.elements.len() == 1, || found.why_not_one())
        }
        Do::Above(targets) => above(page, targets).await?,
        Do::Click(target) => {
            let found = find(page, target, Prepared::Click).await?;
            match (ready(&found), found.point) {
                (Some(element), Some(point)) => {
                    let now = (element.clone(), point);
                    if before.as_ref() != Some(&now) {
                        *before = Some(now);
                        return Ok(Stands::NotYet("it moves".to_owned()));
                    }
                    click(page, point).await?;
                    DONE
                }
                _ => Stands::NotYet(found.why_not_one()),
            }
        }
        Do::Fill { target, text } => {
            let found = find(page, target, Prepared::Fill).await?;
            if ready(&found).is_none() {
                return Ok(Stands::NotYet(found.why_not_one()));
            }
            if text.is_empty() {
                press(page, "Delete").await?;
            } else {
                page.call("Input.insertText", json!({ "text": text })).await?;
            }
            DONE
        }
        Do::Press(keys) => {
            press(page, keys).await?;
            DONE
        }
        Do::Aria(target) => Stands::Done(Made::Tree(tree::region(page, target).await?)),
        Do::Screenshot { name, baseline } => {
            let compared = picture::keep(page, pictures, name, *baseline).await?;
            compared.map_or(DONE, Stands::NotYet)
        }
        Do::Goto(_) | Do::Reload => DONE,
    })
}

fn held(holds: bool, why: impl FnOnce() -> String) -> Stands {
    if holds { DONE } else { Stands::NotYet(why()) }
}

fn ready(found: &Found) -> Option<&Element> {
    found.elements.first().filter(|_| found.ready)
}

async fn above(page: &Page, targets: &[Target<String>]) -> Result<Stands> {
    let mut upper: Option<(Element, &Target<String>)> = None;
    for target in targets {
        let found = find(page, target, Prepared::Nothing).await?;
        let [element] = &found.elements[..] else {
            return Ok(Stands::NotYet(format!("{target}: {}", found.why_not_one())));
        };
        if let Some((above, named)) = &upper
            && above.bottom > element.top
        {
            let why = format!(
                "{named} ends at {:.0} and {target} begins at {:.0}, in pixels from the page's top",
                above.bottom, element.top
            );
            return Ok(Stands::NotYet(why));
        }
        upper = Some((element.clone(), target));
    }
    Ok(DONE)
}

async fn click(page: &Page, [x, y]: [f64; 2]) -> Result<()> {
    let mouse = |kind: &str, button: &str, clicks: u32| json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": clicks });
    for (kind, button, clicks) in [("mouseMoved", "none", 0), ("mousePressed", "left", 1), ("mouseReleased", "left", 1)]
    {
        page.call("Input.dispatchMouseEvent", mouse(kind, button, clicks)).await?;
    }
    Ok(())
}

/// Presses a key, with others held down: `Control+A`.
async fn press(page: &Page, keys: &str) -> Result<()> {
    let (held, key) = match keys.rsplit_once('+') {
        Some((held, key)) if !key.is_empty() => (held, key),
        _ => ("", keys),
    };
    let modifiers = held.split('+').map(|name| match name {
        "Alt" => 1,
        "Control" => 2,
        "Meta" => 4,
        "Shift" => 8,
        _ => 0,
    });
    let modifiers: u32 = modifiers.sum();
    let is_command = held.split('+').any(|name| ["Alt", "Control", "Meta"].contains(&name));
    let known = get_key_definition(key).ok_or_else(|| Error::new(format!("there is no key `{key}`")))?;
    // With a key held down that makes it a command, nothing is typed.
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
