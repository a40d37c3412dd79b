//! Screenshots of a page. They are saved for people to look at, and can be compared on the machine that made them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::act::How;
use super::page::Page;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;

/// The function that decodes a picture on the page.
pub(super) const PIXELS: &str = include_str!("pixels.js");
/// The function that holds the page still.
const STILL: &str = include_str!("still.js");
/// The time between two pictures that have to be equal.
const APART: Duration = Duration::from_millis(100);

/// Returns how many pixels differ between two pictures, of how many, and a picture of these pixels; `null` if the sizes differ. The
/// edges of letters and curves are not drawn the same each time, so a pixel only counts if one of its colours differs by more than
/// a fifth.
const COMPARE: &str = "async (pixels, a, b) => {
  const [one, other] = [await pixels(a), await pixels(b)];
  if (one.width !== other.width || one.height !== other.height) return null;
  let count = 0;
  for (let at = 0; at < one.data.length; at += 4) {
    const differs = [0, 1, 2].some((part) => Math.abs(one.data[at + part] - other.data[at + part]) > 51);
    if (differs) count++;
    const shade = 200 + (other.data[at] + other.data[at + 1] + other.data[at + 2]) / 14;
    [one.data[at], one.data[at + 1], one.data[at + 2]] = differs ? [220, 0, 0] : [shade, shade, shade];
  }
  const canvas = new OffscreenCanvas(one.width, one.height);
  canvas.getContext('2d').putImageData(one, 0, 0);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return { count, of: one.width * one.height, picture: btoa(text) };
}";
/// Paints over parts of the page, or takes the paint away if there are none.
const MASK: &str = "(boxes) => {
  document.getElementById('retake-mask')?.remove();
  if (!boxes.length) return;
  const mask = document.createElement('div');
  mask.id = 'retake-mask';
  for (const { x, y, width, height } of boxes) {
    const box = mask.appendChild(document.createElement('div'));
    const place = { left: x, top: y, width, height };
    box.style.cssText = 'position: absolute; z-index: 2147483647; background: #f0f;' +
      Object.entries(place).map(([name, value]) => `${name}: ${value}px`).join(';');
  }
  document.documentElement.append(mask);
}";

/// What becomes of a screenshot that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Baselines {
    /// It has to be equal to the baseline. If there is none, it becomes the baseline.
    #[default]
    Compare,
    /// It is proposed as the new baseline.
    Renew,
    /// It has to be equal to the proposed one.
    CompareRenewed,
    /// Nothing: what the page shows is only being recorded.
    Ignore,
}

/// Takes a screenshot of a page, as PNG.
/// Fails if Chromium is gone.
pub(super) async fn take(page: &Page) -> Result<Vec<u8>> {
    let data = encoded(page).await?;
    let data = data.as_str().unwrap_or_default();
    BASE64_STANDARD.decode(data).map_err(|e| Error::new(format!("Chromium sent a picture that is not base64: {e}")))
}

/// The same in base64, as a JSON string.
/// Fails if Chromium is gone.
pub(super) async fn encoded(page: &Page) -> Result<Value> {
    Ok(page.call("Page.captureScreenshot", json!({ "format": "png", "optimizeForSpeed": true })).await?["data"].take())
}

/// Saves a screenshot in the scenario's folder. If it has a `baseline`, the page is held still for it, with paint over the masks, and it
/// is compared: a share of its pixels, the `tolerance`, may differ. Returns why it is not as it should be, or `None`.
/// Fails if the disk or Chromium fails.
pub(super) async fn keep(
    page: &Page,
    How { pictures: folder, baselines, deadline, .. }: How<'_>,
    name: &str,
    tolerance: f64,
    masks: Vec<Value>,
    baseline: bool,
) -> Result<Option<String>> {
    let file = folder.join(format!("{name}.png"));
    // Other machines draw letters differently, so there is no comparison in CI.
    if !baseline || baselines == Baselines::Ignore || retake_base::env::in_ci() {
        files::write_whole(&file, &take(page).await?)?;
        return Ok(None);
    }
    page.evaluate(&format!("({MASK})({})", json!(masks))).await?;
    let picture = still(page, deadline).await;
    page.evaluate(&format!("({MASK})([])")).await?;
    let picture = match picture? {
        Ok(picture) => picture,
        Err(why) => return Ok(Some(why)),
    };
    files::write_whole(&file, &picture)?;
    let known = folder.join(format!("{name}{BASELINE}"));
    let proposed = folder.join(format!("{name}{BASELINE}{PROPOSED}"));
    let against = match baselines {
        Baselines::Renew => proposed,
        Baselines::CompareRenewed if proposed.exists() => proposed,
        _ => known,
    };
    if baselines == Baselines::Renew || !against.exists() {
        files::write_whole(&against, &picture)?;
        return Ok(None);
    }
    let before = files::read(&against)?;
    let shown = folder.join(format!("{name}.diff.png"));
    let differ = if before == picture { None } else { compare(page, [&before, &picture], tolerance, &shown).await? };
    let scenario = folder.file_name().unwrap_or_default().display();
    Ok(differ.map(|differ| format!("{differ}; if that is intended: {RETAKE} test {scenario} --update")))
}

/// The end of a baseline's file name.
const BASELINE: &str = ".baseline.png";
/// What is added to it while the baseline is only proposed.
const PROPOSED: &str = ".new";

/// Returns the folder for the files that a scenario's pages leave. Git ignores it.
/// Fails if the folder cannot be made.
pub fn folder(root: &Path, scenario: &str) -> Result<PathBuf> {
    let folder = files::run_folder(root, &format!("browser/{scenario}"))?;
    std::fs::create_dir_all(&folder).map_err(|e| files::failed("make", &folder, &e))?;
    Ok(folder)
}

/// Makes the proposed screenshots of a scenario its baselines.
/// Fails if a file cannot be renamed.
pub fn accept(root: &Path, scenario: &str) -> Result<()> {
    let folder = Path::new(files::RUN_FOLDER).join("browser").join(scenario);
    files::inside(root, &folder)?;
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return Ok(()) };
    let proposed = entries.flatten().map(|entry| entry.path());
    for from in proposed.filter(|file| file.to_string_lossy().ends_with(&format!("{BASELINE}{PROPOSED}"))) {
        let to: PathBuf = from.with_extension("");
        std::fs::rename(&from, &to).map_err(|e| files::failed("rename", &from, &e))?;
    }
    Ok(())
}

/// Takes a picture of a page that has come to rest: no request is under way, and two pictures in a row are equal. The inner error
/// says why there is none when the time is up. Requests are waited for only half of it, because some never end.
async fn still(page: &Page, deadline: Instant) -> Result<Result<Vec<u8>, String>> {
    let patience = Instant::now() + deadline.saturating_duration_since(Instant::now()) / 2;
    let mut before: Option<Vec<u8>> = None;
    let still = loop {
        page.evaluate(&format!("({STILL})()")).await?;
        let awaits = !page.watch.seen.lock().awaited.is_empty() && Instant::now() < patience;
        let picture = take(page).await?;
        if !awaits && before.as_ref() == Some(&picture) {
            break Ok(picture);
        }
        let has_two = before.is_some();
        before = Some(picture).filter(|_| !awaits);
        // Even if the time is already up, there are two pictures: otherwise the last attempt would hide what differs.
        if has_two && Instant::now() >= deadline {
            break Err("the page keeps changing: no two screenshots in a row were equal".to_owned());
        }
        tokio::time::sleep(APART).await;
    };
    page.evaluate("globalThis.__retakeHeld?.release()").await?;
    Ok(still)
}

/// Compares two pictures, and writes one of what differs. Returns in which way they are not equal enough.
async fn compare(page: &Page, pictures: [&[u8]; 2], tolerance: f64, shown: &Path) -> Result<Option<String>> {
    let [before, now] = pictures.map(|bytes| json!(BASE64_STANDARD.encode(bytes)));
    let differ = page.evaluate(&format!("({COMPARE})({PIXELS}, {before}, {now})")).await?;
    let number = |field: &str| differ[field].as_f64().unwrap_or_default();
    let (count, of) = (number("count"), number("of"));
    if differ.is_null() {
        return Ok(Some("the picture and the baseline differ in size".to_owned()));
    }
    if count <= tolerance * of {
        return Ok(None);
    }
    let picture = BASE64_STANDARD.decode(differ["picture"].as_str().unwrap_or_default()).unwrap_or_default();
    files::write_whole(shown, &picture)?;
    let name = shown.file_name().unwrap_or_default().display();
    Ok(Some(format!("{count} pixels differ from the baseline ({:.2} %, see {name})", 100.0 * count / of.max(1.0))))
}
