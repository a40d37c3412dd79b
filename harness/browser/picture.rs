//! Screenshots of a page. They are saved for people to look at, and can be compared on the machine that made them.

use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

use super::page::Page;
use retake_base::error::{Error, Result};
use retake_base::files;

/// Hides the caret and stops animations, because a blinking caret is not a difference.
const STILL: &str = "(() => { const style = document.createElement('style'); \
    style.textContent = '*, ::before, ::after { caret-color: transparent !important; animation: none !important; \
    transition: none !important }'; document.documentElement.append(style); return style })()";

/// Returns the number of pixels that differ between two pictures, or `null` if their sizes differ. The edges of letters and
/// curves are not drawn the same each time, so a pixel only counts if one of its colours differs by more than a fifth.
const COMPARE: &str = "async (a, b) => {
  const pixels = async (data) => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + data;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
  const [one, other] = [await pixels(a), await pixels(b)];
  if (one.width !== other.width || one.height !== other.height) return null;
  let count = 0;
  for (let at = 0; at < one.data.length; at += 4)
    if ([0, 1, 2].some((part) => Math.abs(one.data[at + part] - other.data[at + part]) > 51)) count++;
  return count;
}";

/// Takes a screenshot of a page, as PNG.
///
/// # Errors
/// If Chromium is gone.
pub(super) async fn take(page: &Page) -> Result<Vec<u8>> {
    let answer = page.call("Page.captureScreenshot", json!({ "format": "png" })).await?;
    let data = answer["data"].as_str().unwrap_or_default();
    BASE64_STANDARD.decode(data).map_err(|e| Error::new(format!("Chromium sent a picture that is not base64: {e}")))
}

/// Saves a screenshot in a folder. With `baseline`, it is also compared with the baseline there, or becomes the baseline if
/// there is none yet. Returns what differs, or `None`.
///
/// # Errors
/// If the disk or Chromium fails.
pub(super) async fn keep(page: &Page, folder: &Path, name: &str, baseline: bool) -> Result<Option<String>> {
    std::fs::create_dir_all(folder).map_err(|e| files::failed("make", folder, &e))?;
    let file = folder.join(format!("{name}.png"));
    // Other machines draw letters differently, so there is no comparison in CI.
    if !baseline || std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        files::write_whole(&file, &take(page).await?)?;
        return Ok(None);
    }
    let still = page.call("Runtime.evaluate", json!({ "expression": STILL })).await?;
    let picture = take(page).await?;
    if let Some(style) = still["result"]["objectId"].as_str() {
        page.function("function () { this.remove() }", style, Vec::new()).await?;
    }
    files::write_whole(&file, &picture)?;
    let known = folder.join(format!("{name}.baseline.png"));
    if !known.exists() {
        files::write_whole(&known, &picture)?;
        return Ok(None);
    }
    let before = files::read(&known)?;
    if before == picture {
        return Ok(None);
    }
    compare(page, &before, &picture, &known).await
}

async fn compare(page: &Page, before: &[u8], now: &[u8], known: &Path) -> Result<Option<String>> {
    let [before, now] = [before, now].map(|bytes| BASE64_STANDARD.encode(bytes));
    let differ = page.evaluate(&format!("({COMPARE})({}, {})", json!(before), json!(now))).await?;
    let help = format!("if that is right, remove {}", known.display());
    Ok(match differ.as_u64() {
        Some(0) => None,
        Some(count) => Some(format!("{count} pixels differ from the baseline; {help}")),
        None => Some(format!("the picture and the baseline differ in size; {help}")),
    })
}
