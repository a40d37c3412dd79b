//! The values of a stage: those that templates and systems get, and the names that goldens show in place of them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::command::{Berth, CommandSystem};
use super::date::Today;
use super::egress::Egress;
use super::folder::Folder;
use retake_core::json::Json;
use retake_core::places::Places;
use retake_model::{ModelServer, Urls};
use retake_scenario::Context;
use retake_wire::fixture::Fixture;

#[derive(Clone, Debug)]
pub(super) struct StageValues {
    pub(super) run: String,
    pub(super) system: String,
    /// The project's folder.
    pub(super) root: PathBuf,
    pub(super) folder: Option<Folder>,
    /// The address of the system, if there is one.
    pub(super) base: Option<Base>,
    /// The base URL of each system of the stage, by name.
    pub(super) urls: BTreeMap<String, String>,
    pub(super) model: Urls,
    pub(super) key: String,
    /// More addresses and folders, each with the name that goldens show in place of it.
    pub(super) others: Vec<(String, String)>,
    /// The values of `{{ secret.NAME }}`.
    pub(super) secrets: Json,
    pub(super) today: Today,
    pub(super) tools: StageTools,
    /// What its programs try to reach.
    pub(super) egress: Egress,
}

/// The doubles of tool servers that a stage has, as templates and goldens see them.
#[derive(Clone, Debug, Default)]
pub struct StageTools {
    /// The values of `{{ tools.NAME }}`.
    pub context: Json,
    /// Addresses, each with the name that goldens show in place of it.
    pub names: Vec<(String, String)>,
}

/// The address of a system.
#[derive(Clone, Debug)]
pub(super) struct Base {
    /// The base URL, without a slash at its end.
    pub(super) url: String,
    pub(super) address: SocketAddr,
}

impl Base {
    pub(super) fn of(address: SocketAddr) -> Base {
        Base { url: format!("http://{address}"), address }
    }
}

impl StageValues {
    /// Returns the values of a new run that has no system yet.
    pub(super) fn of_run(system: &str, root: &Path, model: &ModelServer, secrets: Json) -> StageValues {
        StageValues {
            run: run_id(),
            system: system.to_owned(),
            root: root.to_owned(),
            folder: None,
            base: None,
            urls: BTreeMap::new(),
            model: model.urls(),
            key: model.key().to_owned(),
            others: Vec::new(),
            secrets,
            today: Today::real(),
            tools: StageTools::default(),
            egress: Egress::off(),
        }
    }

    /// Sets who watches what its programs try to reach. Its servers so far are none of that.
    pub(super) fn watched_by(mut self, egress: &Egress) -> StageValues {
        egress.own_url(&self.model.url);
        self.tools.names.iter().for_each(|(value, _)| egress.own_url(value));
        self.egress = egress.clone();
        self
    }

    pub(super) fn with_base(mut self, base: Base) -> StageValues {
        self.urls.insert(self.system.clone(), base.url.clone());
        self.base = Some(base);
        self
    }

    /// Adds the running systems. The one that the scenario drives is among them.
    pub(super) fn with_systems(mut self, systems: &[CommandSystem]) -> StageValues {
        let Some(driven) = systems.iter().find(|system| system.name == self.system) else { return self };
        for system in systems.iter().filter(|system| system.name != self.system) {
            self.urls.insert(system.name.clone(), Base::of(system.address).url);
            self.others.push((system.address.to_string(), format!("<{}>", system.name)));
            self.others.push((format!("localhost:{}", system.address.port()), format!("<{}>", system.name)));
            let folder = folder_names(&system.folder).into_iter();
            self.others.extend(folder.map(|(path, name)| (path, name.to_owned())));
        }
        self.folder = Some(driven.folder.clone());
        self.with_base(Base::of(driven.address))
    }

    pub(super) fn context(&self, fixture: Option<&Fixture>) -> Context {
        let StageValues { run, root, folder, base, urls, model, key, secrets, .. } = self;
        let mut context = Context::new();
        context.insert("run", run.as_str());
        context.insert("root", root.display().to_string());
        context.insert("secret", secrets.clone());
        let systems = urls.iter().map(|(name, url)| (name.as_str(), Json::from(url.as_str())));
        context.insert("systems", Json::object(systems));
        if self.tools.context != Json::Null {
            context.insert("tools", self.tools.context.clone());
        }
        if let Some(base) = base {
            context.insert("port", u64::from(base.address.port()));
        }
        if let Some(folder) = folder {
            context.insert("workdir", folder.work.display().to_string());
        }
        let urls = [
            ("url", &model.url),
            ("openai", &model.openai),
            ("anthropic", &model.anthropic),
            ("gemini", &model.gemini),
            ("ollama", &model.ollama),
            ("bedrock", &model.bedrock),
            ("key", key),
        ];
        context.insert("model", Json::object(urls.map(|(name, url)| (name, Json::from(url.as_str())))));
        let note = |name| Some((name, fixture?.notes.get(name)?.clone()));
        context.insert("fixture", Json::object(["prompt", "context"].into_iter().filter_map(note)));
        let empty = || Json::object::<String>([]);
        context.insert("turn", fixture.map_or_else(empty, Fixture::answers));
        context
    }

    /// Returns the places of the stage, as fixtures name them. Systems other than the one that the scenario drives have folders of
    /// their own, which are named with them.
    pub(super) fn places(&self, systems: &[Berth]) -> Places {
        let StageValues { system, root, folder, urls, model, .. } = self;
        let mut places: Vec<(String, String)> = Vec::new();
        let mut place = |name: &str, place: String| places.push((name.to_owned(), place));
        place("root", root.display().to_string());
        root.canonicalize().into_iter().for_each(|root| place("root", root.display().to_string()));
        let address = |url: &str| url.trim_start_matches("http://").to_owned();
        let mut server = |name: &str, url: &str| {
            let localhost = address(url).replace("127.0.0.1:", "localhost:");
            place(name, address(url));
            place(&format!("{name} localhost"), localhost);
        };
        server("model", &model.url);
        for (name, url) in urls {
            server(&format!("system {name}"), url);
        }
        for Berth { name, port, .. } in systems.iter().filter(|berth| !urls.contains_key(&berth.name)) {
            server(&format!("system {name}"), &format!("127.0.0.1:{}", port.port));
        }
        for (address, name) in &self.tools.names {
            place(&format!("tool {}", name.trim_matches(['<', '>'])), address.clone());
        }
        let own = folder.iter().map(|folder| (system.as_str(), folder));
        for (of, Folder { work, home, temp, .. }) in own.chain(systems.iter().map(|it| (it.name.as_str(), &it.folder)))
        {
            for (name, folder) in [("work", work), ("home", home), ("tmp", temp)] {
                let name = if of == *system { name.to_owned() } else { format!("{name} {of}") };
                place(&name, folder.display().to_string());
            }
        }
        if systems.is_empty()
            && let Some(home) = std::env::home_dir()
        {
            place("home", home.display().to_string());
        }
        Places::new(places)
    }

    /// Returns the stage's own values, which differ from run to run, each with the name that goldens show in place of it.
    pub(super) fn names(&self) -> Vec<(String, String)> {
        let StageValues { run, root, folder, base, model, key, others, .. } = self;
        let model_address = model.url.trim_start_matches("http://").to_owned();
        let model_port = model_address.rsplit(':').next().unwrap_or_default();
        let mut names = [others.as_slice(), &self.tools.names].concat();
        let mut name = |value: String, name: &str| names.push((value, name.to_owned()));
        name(format!("localhost:{model_port}"), "<model>");
        name(model_address, "<model>");
        name(key.clone(), "<key>");
        name(run.clone(), "<run>");
        if let Some(base) = base {
            name(base.address.to_string(), "<system>");
            name(format!("localhost:{}", base.address.port()), "<system>");
        }
        if root.components().count() > 1 {
            name(root.display().to_string(), "<root>");
        }
        folder.iter().flat_map(folder_names).for_each(|(value, of)| name(value, of));
        names
    }
}

pub(super) fn run_id() -> String {
    uuid::Uuid::new_v4().simple().to_string()[..12].to_owned()
}

fn folder_names(folder: &Folder) -> [(String, &'static str); 4] {
    [(&folder.work, "<workdir>"), (&folder.home, "<home>"), (&folder.temp, "<tmp>"), (&folder.root, "<stage>")]
        .map(|(path, name)| (path.display().to_string(), name))
}
