//! Runs a step that opens a page: gives it the cookies of the stage, does its acts, and collects its traffic and new cookies.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::driver::{Driver, Part};
use super::request;
use crate::browser::{Chromium, How, Page, Traffic, act, folder};
use retake_base::error::{Error, Result};
use retake_core::events::{Capture, Captured, Event, Status};
use retake_core::json::Json;
use retake_core::secrets::shown;
use retake_scenario::{Act, CaptureFrom, Dialogs, Do, PageVisit, Step};

/// How long to wait for the end of the page's traffic once all acts are done.
const TRAFFIC: Duration = Duration::from_secs(10);
/// The pause between two attempts to render an act that needs a turn which is not recorded yet.
const PERIOD: Duration = Duration::from_millis(50);

impl Driver<'_> {
    /// Opens the page of a step and does its acts.
    /// Fails if the page does not load, or if an act does not succeed in time.
    pub(super) async fn visit(&mut self, index: usize, step: &Step, visit: &PageVisit) -> Result<()> {
        let base = self.base_of(visit)?;
        let path = request::path(&visit.path, &self.context)?;
        let storage = visit.storage.iter().map(|(name, value)| Ok((name.clone(), value.render_text(&self.context)?)));
        let storage: BTreeMap<String, String> = storage.collect::<Result<_>>()?;
        let page = match self.page.take() {
            Some(page) => page,
            None => Page::open(Chromium::get().await?).await?,
        };
        page.watch.listen_for(&visit.traffic);
        page.look_like(visit.viewport, visit.colors, visit.dialogs == Dialogs::Accept).await?;
        let known = self.cookies.lock().all();
        page.set_cookies(&known).await?;
        page.goto(&format!("{base}{path}"), &storage, visit.status.as_deref()).await?;
        let mut captured = Vec::new();
        for (number, act) in (1..).zip(&visit.acts) {
            let rendered = self.rendered_act(act).await?;
            let taken = self.underway.begin_act(rendered.to_string());
            let made = self.act(&page, &base, act, &rendered).await;
            let picture = self.keep_picture(&page, format!("step-{}-act-{number}.jpg", index + 1)).await;
            self.underway.end_act(taken, made.as_ref().err(), picture);
            match made {
                Ok(tree) => captured.extend(tree.map(|tree| shown_region(&rendered, &path, tree))),
                Err(error) => {
                    let error = self.with_evidence(error, &page, index, &rendered).await;
                    return Err(error.else_at(&step.file, act.place));
                }
            }
        }
        if !visit.traffic.is_empty() {
            let taken = timeout(TRAFFIC, page.watch.traffic()).await;
            captured.extend(taken.map_err(|_| page.watch.without_traffic())?.iter().map(answered));
        }
        let set = page.cookies().await?;
        self.cookies.lock().replace(&set);
        self.page = Some(page);
        let values = cookie_values(step, &self.cookies.lock().values())?;
        self.captured.extend(captured.into_iter().map(Part::Done));
        self.capture(values);
        Ok(())
    }

    /// Renders the texts of an act. While recording, this waits for a turn that it needs. Which turn is the last one is not known
    /// before no further call comes.
    async fn rendered_act(&mut self, act: &Act) -> Result<Do<String>> {
        let deadline = Instant::now() + act.within;
        let mut from_the_end = false;
        let _ = act.what.render(|text| {
            from_the_end |= text.counts_turns_from_the_end();
            Ok(String::new())
        });
        if let Some(live) = self.turns.filter(|_| from_the_end) {
            let at_rest = self.calls.settled(self.scenario.options.settle, || false);
            let _ = tokio::time::timeout_at(deadline, at_rest).await;
            self.context.insert("turn", live());
        }
        loop {
            let rendered = act.what.render(|text| text.render_text(&self.context));
            let Some(live) = self.turns.filter(|_| rendered.is_err() && Instant::now() < deadline) else {
                return rendered;
            };
            tokio::time::sleep(PERIOD).await;
            self.context.insert("turn", live());
        }
    }

    async fn act(&mut self, page: &Page, base: &str, given: &Act, rendered: &Do<String>) -> Result<Option<String>> {
        match rendered {
            Do::Retry(acts) => self.retry(page, base, given, acts).await,
            Do::Goto(path) if path.starts_with('/') => {
                page.goto(&format!("{base}{path}"), &BTreeMap::new(), None).await.map(|()| None)
            }
            Do::Goto(path) => Err(Error::new(format!("the path is `{path}`, which does not start with `/`"))),
            Do::Reload => page.reload().await.map(|()| None),
            _ => {
                let pictures = self.run_data()?;
                let deadline = Instant::now() + given.within;
                let (root, frame) = (self.root, given.frame.as_deref());
                let baselines = self.baselines;
                let how = How { deadline, visible: given.visible, pictures: &pictures, baselines, root, frame };
                let done = act(page, rendered, how).await;
                done.map_err(|error| Error::new(format!("{rendered}: waited {:?}, but {}", given.within, error.what())))
            }
        }
    }

    /// Does acts one after another, and all again when one of them fails, until the time of the group is up.
    async fn retry(&mut self, page: &Page, base: &str, group: &Act, acts: &[Act]) -> Result<Option<String>> {
        let deadline = Instant::now() + group.within;
        // Why the last try failed whose act had all of its own time: what the group's end cut short says less.
        let mut whole: Option<Error> = None;
        loop {
            let mut failed = None;
            for act in acts {
                let left = deadline.saturating_duration_since(Instant::now());
                let cut = Act { within: act.within.min(left), ..act.clone() };
                let rendered = self.rendered_act(&cut).await?;
                let made = if left.is_zero() {
                    Err(Error::new(format!("its time was up before {rendered}")))
                } else {
                    Box::pin(self.act(page, base, &cut, &rendered)).await
                };
                if let Err(error) = made {
                    if cut.within == act.within {
                        whole = Some(error.clone());
                    }
                    failed = Some(error);
                    break;
                }
            }
            let Some(error) = failed else { return Ok(None) };
            if Instant::now() >= deadline {
                let why = whole.unwrap_or(error);
                return Err(Error::new(format!("retry: tried for {:?}, but {}", group.within, why.what())));
            }
            tokio::time::sleep(PERIOD).await;
        }
    }

    /// Keeps what the page shows after an act, for the report. The trace is not worth a failure.
    async fn keep_picture(&self, page: &Page, name: String) -> Option<PathBuf> {
        let file = self.run_data().ok()?.join(name);
        retake_base::files::replace(&file, &page.small_picture().await?).ok()?;
        Some(file.strip_prefix(self.root).unwrap_or(&file).to_owned())
    }

    async fn with_evidence(&self, error: Error, page: &Page, index: usize, rendered: &Do<String>) -> Error {
        let about = rendered.to_string();
        let Ok(folder) = self.run_data() else { return error };
        let name = format!("step-{}-{}", index + 1, rendered.word());
        let evidence = page.evidence(&about, &folder.join(name), &shown).await;
        let files = evidence.files.iter().map(|file| file.strip_prefix(self.root).unwrap_or(file).display());
        let files: Vec<String> = files.map(|file| file.to_string()).collect();
        let error = error.help(evidence.lines).because(evidence.refused);
        if files.is_empty() { error } else { error.help(format!("kept: {}", files.join(", "))) }
    }

    fn run_data(&self) -> Result<PathBuf> {
        folder(self.root, &self.scenario.name)
    }

    fn base_of(&self, visit: &PageVisit) -> Result<String> {
        let base = match &visit.system {
            Some(name) => self.stage.url_of(name),
            None => self.stage.url(),
        };
        base.map(str::to_owned)
            .ok_or_else(|| Error::new("this scenario does not start the system whose page this step opens"))
    }
}

fn cookie_values(step: &Step, cookies: &BTreeMap<String, String>) -> Result<Vec<(String, Json)>> {
    let capture = |(name, from): (&String, &CaptureFrom)| {
        let CaptureFrom::Cookie(cookie) = from else { return Err(Error::new("a page has cookies only")) };
        let value = cookies.get(cookie).ok_or_else(|| {
            let known: Vec<&str> = cookies.keys().map(String::as_str).collect();
            Error::new(format!("`{name}` cannot be captured: the page has no cookie `{cookie}`"))
                .help(format!("its cookies: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") }))
        })?;
        Ok((name.clone(), Json::from(value.as_str())))
    };
    step.capture.iter().map(capture).collect()
}

fn shown_region(rendered: &Do<String>, path: &str, tree: String) -> Captured {
    let region = if let Do::Aria(target) = rendered { target.text.as_str() } else { "" };
    let shown = Captured::stream(&format!("aria {region}, on {path}"), Vec::new());
    Captured { content_type: String::new(), tree: Some(tree), ..shown }
}

/// Returns the answer to a request of the page as a part of the golden. The request is shown as the pattern that it matches,
/// which contains no ids.
fn answered(traffic: &Traffic) -> Captured {
    let body = &traffic.body;
    let streams = ["text/event-stream", "application/x-ndjson", "application/jsonl"];
    let is_stream = streams.iter().any(|kind| traffic.content_type.starts_with(kind));
    let events = if is_stream {
        let mut capture = Capture::new();
        let mut events = capture.push(body);
        events.extend(capture.finish());
        events
    } else {
        vec![Event::body(body)]
    };
    let request =
        format!("page: {}{}", traffic.pattern, if traffic.ended == Some(false) { ", broken off" } else { "" });
    let (status, content_type) = (Status::Http(traffic.status), traffic.content_type.clone());
    Captured { status, content_type, ..Captured::stream(&request, events) }
}
