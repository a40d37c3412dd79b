//! A step that opens a page: cookies go to it and come back, its acts are done, its traffic is taken.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::{Driver, Part};
use crate::browser::{Chromium, Made, Page, Traffic, act};
use crate::error::{Error, Result};
use crate::events::{Capture, Captured, Event, Status};
use crate::files;
use crate::json::Json;
use crate::scenario::{Act, CaptureFrom, Do, PageVisit, Step};
use crate::secrets::shown;

/// How long the end of traffic is waited for once all acts are done.
const TRAFFIC: Duration = Duration::from_secs(10);
/// How often is looked whether a turn was recorded that an act needs.
const PERIOD: Duration = Duration::from_millis(50);

impl Driver<'_> {
    /// Opens the page of a step in the scenario's own browser context, and does its acts.
    ///
    /// # Errors
    /// Where the page does not load, or an act is not done, or does not hold, in its time.
    pub(super) async fn visit(&mut self, index: usize, step: &Step, visit: &PageVisit) -> Result<()> {
        let base = self.base_of(visit)?;
        let path = self.path(&visit.path)?;
        let storage = visit.storage.iter().map(|(name, value)| Ok((name.clone(), value.render_text(&self.context)?)));
        let storage: BTreeMap<String, String> = storage.collect::<Result<_>>()?;
        let page = match self.page.take() {
            Some(page) => page,
            None => Page::open(Chromium::get().await?).await?,
        };
        page.listen_for(&visit.traffic);
        page.set_cookies(&self.cookies().all()).await?;
        page.goto(&format!("{base}{path}"), &storage, visit.status.as_deref()).await?;
        for act in &visit.acts {
            let rendered = self.rendered(act).await?;
            if let Err(error) = self.perform_act(&page, &base, &path, act, &rendered).await {
                let error = self.with_evidence(error, &page, index, &rendered).await;
                return Err(error.else_at(&self.scenario.file, act.place));
            }
        }
        if !visit.traffic.is_empty() {
            let taken = timeout(TRAFFIC, page.traffic()).await;
            let taken = taken.map_err(|_| page.without_traffic())?;
            taken.into_iter().for_each(|traffic| self.captured.push(Part::Done(captured(&traffic))));
        }
        let cookies = page.cookies().await?;
        self.cookies().replace(&cookies);
        self.page = Some(page);
        self.capture_cookies(step)
    }

    /// An act with its texts rendered. While recording, a turn that it needs may still come.
    async fn rendered(&mut self, act: &Act) -> Result<Do<String>> {
        let deadline = Instant::now() + act.within;
        loop {
            let rendered = act.what.render(|text| text.render_text(&self.context));
            let Some(live) = self.turns.filter(|_| rendered.is_err() && Instant::now() < deadline) else {
                return rendered;
            };
            tokio::time::sleep(PERIOD).await;
            self.context.insert("turn", live());
        }
    }

    async fn perform_act(
        &mut self,
        page: &Page,
        base: &str,
        path: &str,
        given: &Act,
        rendered: &Do<String>,
    ) -> Result<()> {
        match rendered {
            Do::Goto(path) if path.starts_with('/') => {
                return page.goto(&format!("{base}{path}"), &BTreeMap::new(), None).await;
            }
            Do::Goto(path) => {
                return Err(Error::new(format!("the path is `{path}`, which does not start with `/`")));
            }
            Do::Reload => return page.reload().await,
            _ => {}
        }
        let pictures = self.run_data()?;
        match act(page, rendered, Instant::now() + given.within, &pictures).await {
            Ok(Made::Nothing) => Ok(()),
            Ok(Made::Tree(tree)) => {
                let region = if let Do::Aria(target) = rendered { target.text.as_str() } else { "" };
                let request = format!("aria {region}, on {path}");
                let captured = Captured {
                    request,
                    status: Status::Http(200),
                    content_type: String::new(),
                    events: Vec::new(),
                    tree: Some(tree),
                };
                self.captured.push(Part::Done(captured));
                Ok(())
            }
            Err(error) => Err(Error::new(format!("{rendered}: not within {:?}: {}", given.within, error.what()))),
        }
    }

    async fn with_evidence(&self, error: Error, page: &Page, index: usize, rendered: &Do<String>) -> Error {
        let about = rendered.to_string();
        let Ok(folder) = self.run_data() else { return error };
        let name = format!("step-{}-{}", index + 1, rendered.word());
        let evidence = page.evidence(&about, &folder.join(name), &shown).await;
        let files = evidence.files.iter().map(|file| file.strip_prefix(self.root).unwrap_or(file).display());
        let files: Vec<String> = files.map(|file| file.to_string()).collect();
        let error = error.help(evidence.lines);
        if files.is_empty() { error } else { error.help(format!("kept: {}", files.join(", "))) }
    }

    /// The folder for what this scenario's pages leave. Git takes none of it in.
    fn run_data(&self) -> Result<PathBuf> {
        let all = self.root.join(".retake");
        let folder = all.join("browser").join(&self.scenario.name);
        std::fs::create_dir_all(&folder).map_err(|e| files::failed("make", &folder, &e))?;
        let ignored = all.join(".gitignore");
        if !ignored.exists() {
            files::write_whole(&ignored, b"*\n")?;
        }
        Ok(folder)
    }

    fn base_of(&self, visit: &PageVisit) -> Result<String> {
        let base = match &visit.system {
            Some(name) => self.stage.url_of(name),
            None => self.stage.url(),
        };
        base.map(str::to_owned).ok_or_else(|| Error::new("this scenario has no such system to open a page of"))
    }

    fn capture_cookies(&mut self, step: &Step) -> Result<()> {
        let values = self.cookies().values();
        let capture = |(name, from): (&String, &CaptureFrom)| {
            let CaptureFrom::Cookie(cookie) = from else { return Err(Error::new("a page has cookies only")) };
            let value = values.get(cookie).ok_or_else(|| {
                let known: Vec<&str> = values.keys().map(String::as_str).collect();
                Error::new(format!("nothing to capture as `{name}`: the page has no cookie `{cookie}`")).help(format!(
                    "its cookies: {}",
                    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
                ))
            })?;
            Ok((name.clone(), Json::from(value.as_str())))
        };
        let captured = step.capture.iter().map(capture).collect::<Result<_>>()?;
        self.capture(captured);
        Ok(())
    }
}

/// The answer to a request of the page, as a golden shows it: by the pattern that it fits, which has no ids.
fn captured(traffic: &Traffic) -> Captured {
    let body = &traffic.body;
    let is_stream = ["text/event-stream", "application/x-ndjson", "application/jsonl"]
        .iter()
        .any(|kind| traffic.content_type.starts_with(kind));
    let events = if is_stream {
        let mut capture = Capture::new();
        let mut events = capture.push(body);
        events.extend(capture.finish());
        events
    } else {
        vec![Event::body(body)]
    };
    Captured {
        request: format!("page: {}{}", traffic.pattern, if traffic.ended == Some(false) { ", broken off" } else { "" }),
        status: Status::Http(traffic.status),
        content_type: traffic.content_type.clone(),
        events,
        tree: None,
    }
}
