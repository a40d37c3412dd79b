//! The live tools that a suite declares, started for one run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::comparison::{Comparison, ToolRules};
#[cfg(all(feature = "mcp", unix))]
use super::executor::Mcp;
use super::executor::{Bound, Command, Http, Target, Targets};
use super::script::Script;
use crate::system::{Egress, Folder, Today, working_folder};
use retake_base::error::{Error, Result};
use retake_core::json::Json;
use retake_core::key::Normalizer;
use retake_core::secrets::Scrub;
use retake_scenario::{Context, Suite, Template, ToolBy, ToolCommand, ToolSpec, ToolUrl};

/// The live tools of one run, in a folder of their own. Dropping this ends the tools and removes the folder; [`Live::end`] waits
/// until the servers have ended.
pub struct Live {
    /// Who executes the calls.
    pub targets: Targets,
    /// How results are compared.
    pub comparison: Comparison,
    servers: Vec<Arc<dyn Target>>,
    _folder: Folder,
}

impl Live {
    /// Starts the tools of a suite that a script needs. Templates use `secrets` as `{{ secret.NAME }}`; `normalizer` holds the
    /// suite's text rules, and `scrub` removes what must not be written.
    /// Fails if a template cannot be rendered, or a server does not start.
    pub async fn start(
        suite: &Suite,
        script: &Script,
        root: &Path,
        secrets: &Json,
        normalizer: &Normalizer,
        scrub: Scrub,
    ) -> Result<Live> {
        let folder = Folder::of_stage();
        folder.make()?;
        let egress = Egress::off();
        let stage = OnStage::new(root, &folder, secrets, &egress)?;
        let mut live = Live {
            targets: Targets::default(),
            comparison: Comparison { normalizer: normalizer.clone(), scrub, tools: BTreeMap::new() },
            servers: Vec::new(),
            _folder: folder.clone(),
        };
        let wanted = |tool: &str| script.actions().any(|action| action.tool == tool);
        // Entries that name their tools come first. The others get the tools that are left.
        let (named, open): (Vec<_>, Vec<_>) = suite.tools.iter().partition(|(_, spec)| !spec.tools.is_empty());
        for (name, spec) in named.into_iter().chain(open) {
            let left = script.actions().any(|action| live.targets.get(&action.tool).is_none());
            let needed = if spec.tools.is_empty() { left } else { spec.tools.iter().any(|tool| wanted(tool)) };
            if needed {
                let of_tool = |error: Error| error.of(&format!("tool `{name}`:")).in_file(&suite.path);
                live.bind(spec, &stage, normalizer).await.map_err(of_tool)?;
            }
        }
        Ok(live)
    }

    /// Ends the servers that were started.
    pub async fn end(self) {
        for server in &self.servers {
            server.end().await;
        }
    }

    async fn bind(&mut self, spec: &ToolSpec, stage: &OnStage<'_>, normalizer: &Normalizer) -> Result<()> {
        let target: Arc<dyn Target> = match &spec.by {
            ToolBy::AsRecorded => {
                spec.tools.iter().for_each(|tool| self.targets.insert(tool, Bound::AsRecorded));
                return Ok(());
            }
            ToolBy::Command(command) => Arc::new(stage.command(command)?),
            ToolBy::Http(url) => {
                let (url, headers) = stage.url(url)?;
                Arc::new(Http::new(url, headers))
            }
            #[cfg(all(feature = "mcp", unix))]
            ToolBy::McpCommand(command) => Arc::new(Mcp::start(stage.command(command)?, spec.timeout).await?),
            #[cfg(all(feature = "mcp", unix))]
            ToolBy::McpUrl(url) => {
                let (url, headers) = stage.url(url)?;
                Arc::new(Mcp::connect(url, headers, spec.timeout).await?)
            }
            #[cfg(not(all(feature = "mcp", unix)))]
            ToolBy::McpCommand(_) | ToolBy::McpUrl(_) => {
                let error = Error::new("this program was built without MCP");
                return Err(error
                    .help("in a checkout of Retake: cargo install --path harness/cli --features mcp")
                    .help("in a Rust project: retake = { version = \"…\", features = [\"mcp\"] }"));
            }
        };
        if matches!(spec.by, ToolBy::McpCommand(_) | ToolBy::McpUrl(_)) {
            self.servers.push(Arc::clone(&target));
        }
        let mut tools = spec.tools.clone();
        if tools.is_empty() {
            let listed = target.tools().await?.into_iter().map(|tool| format!("{}{tool}", spec.prefix));
            tools = listed.filter(|tool| self.targets.get(tool).is_none()).collect();
        }
        let own = spec.normalize.iter().map(|rule| (rule.pattern.clone(), rule.replace.clone()));
        let own = (!spec.normalize.is_empty()).then(|| normalizer.clone().with(own));
        for tool in tools {
            let name = tool.strip_prefix(&spec.prefix).unwrap_or(&tool).to_owned();
            let rules = ToolRules { ignore: spec.ignore.clone(), normalizer: own.clone() };
            self.comparison.tools.insert(tool.clone(), rules);
            self.targets.insert(&tool, Bound::Live { target: Arc::clone(&target), name, timeout: spec.timeout });
        }
        Ok(())
    }
}

/// The stage on which live tools run.
pub(super) struct OnStage<'a> {
    root: &'a Path,
    folder: &'a Folder,
    context: Context,
    egress: &'a Egress,
}

impl OnStage<'_> {
    /// Makes a stage in an existing folder. Templates use `secrets` as `{{ secret.NAME }}`.
    /// Fails if the home folders of programs cannot be created.
    pub(super) fn new<'a>(
        root: &'a Path,
        folder: &'a Folder,
        secrets: &Json,
        egress: &'a Egress,
    ) -> Result<OnStage<'a>> {
        folder.make_for_programs()?;
        let mut context = Context::new();
        context.insert("workdir", folder.work.display().to_string());
        context.insert("root", root.display().to_string());
        context.insert("secret", secrets.clone());
        Ok(OnStage { root, folder, context, egress })
    }

    /// Returns a command that is ready to be started.
    /// Fails if a template cannot be rendered, or the working directory does not exist.
    pub(super) fn command(&self, spec: &ToolCommand) -> Result<Command> {
        let env = spec.env.iter().map(|(name, value)| Ok((name.clone(), value.render_text(&self.context)?)));
        let cwd = match &spec.cwd {
            Some(cwd) => working_folder(self.root, Some(&cwd.render_text(&self.context)?))?,
            None => self.folder.work.clone(),
        };
        Ok(Command {
            words: spec.command.clone(),
            context: self.context.clone(),
            cwd,
            env: self.folder.environment(env.collect::<Result<_>>()?, &Today::real()),
            errors: self.folder.root.clone(),
            egress: self.egress.clone(),
        })
    }

    /// Returns a URL, and the headers of each request to it.
    /// Fails if a template cannot be rendered.
    pub(super) fn url(&self, spec: &ToolUrl) -> Result<(String, Vec<(String, String)>)> {
        let text = |(name, value): (&String, &Template)| Ok((name.clone(), value.render_text(&self.context)?));
        Ok((spec.url.render_text(&self.context)?, spec.headers.iter().map(text).collect::<Result<_>>()?))
    }
}
