//! The live tools that a suite declares, started for one run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;

use super::comparison::{Comparison, ToolRules};
use super::on_stage::OnStage;
use super::script::Script;
use super::target::{Bound, Http, Mcp, Target, Targets};
use crate::system::Folder;
use retake_base::error::{Error, Result};
use retake_core::json::Json;
use retake_core::key::Normalizer;
use retake_core::secrets::Scrub;
use retake_scenario::{Suite, ToolBy, ToolSpec};

/// The live tools of one run, in a folder of their own. Dropping this ends the tools and removes the folder; [`Live::end`] waits
/// until the servers have ended.
pub(crate) struct Live {
    pub targets: Targets,
    pub comparison: Comparison,
    servers: Vec<Arc<Mcp>>,
    _folder: TempDir,
}

impl Live {
    /// Starts the tools of a suite that a script needs. Templates use `secrets` as `{{ secret.NAME }}`; `normalizer` holds the
    /// suite's text rules, and `scrub` removes what must not be written.
    /// Fails if a template cannot be rendered, or a server does not start.
    pub(crate) async fn start(
        suite: &Suite,
        script: &Script,
        root: &Path,
        secrets: &Json,
        normalizer: &Normalizer,
        scrub: Scrub,
    ) -> Result<Live> {
        let (folder, handle) = Folder::make().await?;
        let stage = OnStage::new(root, &folder, secrets)?;
        let mut live = Live {
            targets: Targets::default(),
            comparison: Comparison { normalizer: normalizer.clone(), scrub, tools: BTreeMap::new() },
            servers: Vec::new(),
            _folder: handle,
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

    pub(crate) async fn end(self) {
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
            ToolBy::McpCommand(command) => self.server(Mcp::start(stage.command(command)?, spec.timeout).await?),
            ToolBy::McpUrl(url) => {
                let (url, headers) = stage.url(url)?;
                self.server(Mcp::connect(url, headers, spec.timeout).await?)
            }
        };
        let mut tools = spec.tools.clone();
        if let (true, Some(server)) = (tools.is_empty(), self.servers.last()) {
            let listed = server.tools().await?.into_iter().map(|tool| format!("{}{tool}", spec.prefix));
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

    fn server(&mut self, server: Mcp) -> Arc<dyn Target> {
        let server = Arc::new(server);
        self.servers.push(Arc::clone(&server));
        server
    }
}
