//! Looks at elements as a person would: scrolls to them, and finds out whether they are painted where they are.
//!
//! Whether a text is seen is decided by pixels: two pictures of the window, one of them without the text, have to differ at its
//! middle. That one measure covers a text in the colour of its background, a text under another element, and a text that is cut
//! off, whatever is painted behind it. What the page itself knows (opacity, sizes, what is in front) is only the explanation.

use serde_json::{Value, json};
use tokio::time::Instant;

use super::find::find_all;
use super::page::Page;
use super::picture;
use retake_base::error::Result;
use retake_scenario::{By, Target};

const LOOK: &str = include_str!("look.js");
const CONTRAST: &str = include_str!("contrast.js");
/// The smallest contrast that a person sees. WCAG asks for 4.5; this is about whether there is anything at all.
const LEAST: f64 = 1.2;

/// Looks at the elements that match a target, until a person would see one. Otherwise the text says why they would see none.
/// Fails if the page is just being left, or the target is not a valid selector.
pub(super) async fn look(page: &Page, target: &Target<String>, deadline: Instant) -> Result<Option<String>> {
    let (found, handle) = find_all(page, target, "look").await?;
    let is_written = target.by == By::Text && !target.markdown;
    let text = if is_written { json!(target.text) } else { Value::Null };
    let mut why = if found.elements.is_empty() { Some(found.why_not_one()) } else { None };
    for (index, element) in found.elements.iter().enumerate() {
        let unseen = match look_at(page, &handle, index, &text, false).await? {
            Unseen::Where(_) => look_at(page, &handle, index, &text, true).await?,
            other => other,
        };
        match unseen {
            Unseen::No => return Ok(None),
            Unseen::Because(reason) | Unseen::Where(reason) => {
                why.get_or_insert(format!("{} is there, but a person would not see it: {reason}", element.about));
            }
        }
        if Instant::now() >= deadline {
            break;
        }
    }
    Ok(why)
}

/// Whether an element is unseen.
enum Unseen {
    No,
    /// For this reason, wherever it is.
    Because(String),
    /// For this reason, where it is now.
    Where(String),
}

async fn look_at(page: &Page, handle: &str, index: usize, text: &Value, scrolls: bool) -> Result<Unseen> {
    let arguments = [json!(index), text.clone(), json!(scrolls)].map(|value| json!({ "value": value }));
    let looked = page.function(LOOK, handle, arguments.into()).await?;
    let unseen =
        |why: &str| if looked["further"] == true { Unseen::Where(why.into()) } else { Unseen::Because(why.into()) };
    if looked["areas"].is_null() {
        page.function("function () { this.undo() }", handle, Vec::new()).await?;
        return Ok(if looked["seen"] == true {
            Unseen::No
        } else {
            unseen(looked["why"].as_str().unwrap_or_default())
        });
    }
    let shown = picture::encoded(page).await?;
    page.function("function () { this.hide() }", handle, Vec::new()).await?;
    let hidden = picture::encoded(page).await?;
    let origin = json!(page.origin().await?);
    let arguments = [shown, hidden, looked["areas"].clone(), looked["canHide"].clone(), origin];
    let arguments = arguments.map(|value| json!({ "value": value })).into();
    let script = CONTRAST.replacen('{', &format!("{{ const pixels = {};", picture::PIXELS), 1);
    let Some(contrast) = page.function(&script, handle, arguments).await?.as_f64() else {
        return Ok(unseen("it is moving"));
    };
    if contrast >= LEAST {
        return Ok(Unseen::No);
    }
    let measured = format!("its contrast with what is painted behind it is {contrast:.2}, and a person needs {LEAST}");
    Ok(unseen(looked["covered"].as_str().unwrap_or(&measured)))
}
