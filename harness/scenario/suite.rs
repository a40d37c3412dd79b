//! `scenarios/suite.toml`: the systems under test, and what all scenarios share.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::Regex;
use toml::Spanned;
use url::{Host, Url};

use super::options::{Defaults, env_name, limit};
use super::raw::{RawCaller, RawModel, RawReady, RawSuite, RawSystem};
use super::scope::Scope;
use super::source::Source;
use super::step_reader::check_header_name;
use super::template::Template;
use super::toml_error::{listed, suggest};
use super::words::Pattern;
use crate::error::{Error, Result};
use crate::model::{CallerRule, When};

/// What all scenarios share.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// The systems that are started as a command or attached by URL, by name.
    pub systems: BTreeMap<String, SystemSpec>,
    /// Who made a call that declares no caller: the first rule that fits.
    pub callers: Vec<CallerRule>,
    /// What the key replaces beyond its own rules.
    pub normalize: Vec<NormalizeRule>,
    /// Other names of callers: alias to name.
    pub aliases: BTreeMap<String, String>,
    /// The options of scenarios that say nothing.
    pub defaults: Defaults,
    /// The file, relative to the root; it need not exist.
    pub path: PathBuf,
}

/// A system that is no router of the runner's own process.
#[derive(Clone, Debug)]
pub enum SystemSpec {
    /// A program that is started for each scenario, or once for all.
    Command(CommandSpec),
    /// A system that somebody else started.
    Url(UrlSpec),
}

/// A system that is started.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// Program and arguments.
    pub command: Vec<Template>,
    /// Where it runs; relative to the root.
    pub cwd: Option<Template>,
    /// All of its environment beyond what every system gets.
    pub env: BTreeMap<String, Template>,
    /// How to see that it is ready.
    pub ready: Ready,
    /// Whether all scenarios share one process.
    pub shared: bool,
    /// The environment variables whose values its templates take as `{{ secret.NAME }}`.
    pub secrets: BTreeSet<String>,
    /// The systems that have to be ready before it; `{{ systems.NAME }}` is such a one's base URL.
    pub needs: Vec<String>,
}

/// A system that is attached.
#[derive(Clone, Debug)]
pub struct UrlSpec {
    /// Its base URL, on this machine.
    pub url: Url,
    /// How it was told to reach the model.
    pub model: AttachedModel,
}

/// When a started system is ready.
#[derive(Clone, Debug)]
pub enum Ready {
    /// A GET of the path answers with success.
    Http {
        /// The path, from the `/` on.
        path: String,
        /// How long that may take.
        timeout: Duration,
    },
    /// A line of its log fits.
    Line {
        /// What fits.
        regex: Regex,
        /// How long that may take.
        timeout: Duration,
    },
}

/// Where an attached system expects the model: it cannot be told a fresh address for each scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedModel {
    /// The address that the model server takes.
    pub addr: SocketAddr,
    /// The environment variable that holds the key which the system sends.
    pub key_env: String,
}

/// A replacement in what the key hashes.
#[derive(Clone, Debug)]
pub struct NormalizeRule {
    /// What is replaced.
    pub pattern: Regex,
    /// By what; `$1` is the first group.
    pub replace: String,
}

const READY_TIMEOUT: Duration = Duration::from_secs(30);

impl Suite {
    /// Reads `file`, where it exists, below `root`.
    pub(super) fn read(root: &Path, file: &Path) -> Result<Suite> {
        match root.join(file).symlink_metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(Suite { path: file.to_owned(), ..Suite::default() })
            }
            _ => Suite::parse(&Source::read(root, file)?, root),
        }
    }

    /// Checks the text of a `suite.toml`.
    pub(super) fn parse(source: &Source, root: &Path) -> Result<Suite> {
        let raw: RawSuite = source.toml()?;
        let defaults = Defaults::default().overridden(&raw, source)?;
        let scope = Scope::of_systems();
        let reader = Reader { source, root, scope };
        let systems: BTreeMap<String, SystemSpec> =
            raw.systems.iter().map(|(name, system)| reader.system(name, system)).collect::<Result<_>>()?;
        reader.check_needs(&raw, &systems)?;
        let last = raw.callers.len().saturating_sub(1);
        let callers = raw.callers.iter().enumerate();
        let callers = callers.map(|(i, rule)| reader.caller(rule.get_ref(), i == last)).collect::<Result<_>>()?;
        let mut normalize = Vec::with_capacity(raw.normalize.len());
        for rule in raw.normalize {
            let at = rule.pattern.span().start;
            let Pattern(pattern) = rule.pattern.into_inner();
            if pattern.is_match("") {
                let what = format!("`{pattern}` fits the empty text, so it would fit everywhere");
                return Err(source.error(at, what));
            }
            if let Some(group) = no_group(&pattern, rule.replace.get_ref()) {
                let what = format!("`${group}` is no group of `{pattern}`, so nothing would stand for it");
                let error = source.error(rule.replace.span().start, what);
                return Err(error.help("a group is `${1}` or `${name}`, and `$$` is one dollar sign"));
            }
            normalize.push(NormalizeRule { pattern, replace: rule.replace.into_inner() });
        }
        let raw_aliases: BTreeSet<String> = raw.aliases.keys().cloned().collect();
        let mut aliases = BTreeMap::new();
        for (alias, name) in raw.aliases {
            if name.get_ref().trim().is_empty() {
                return Err(source.error(name.span().start, format!("the alias `{alias}` stands for no caller")));
            }
            if raw_aliases.contains(name.get_ref()) {
                let what = format!("`{alias}` stands for `{}`, which is itself an alias", name.get_ref());
                return Err(source.error(name.span().start, what));
            }
            aliases.insert(alias, name.into_inner());
        }
        Ok(Suite { systems, callers, normalize, aliases, defaults, path: source.file.to_path_buf() })
    }
}

/// A group that a replacement names and its pattern has not. regex takes as a name what is longest: `$1x` is `${1x}`.
fn no_group(pattern: &Regex, replace: &str) -> Option<String> {
    let mut rest = replace;
    while let Some((_, after)) = rest.split_once('$') {
        if let Some(dollar) = after.strip_prefix('$') {
            rest = dollar;
            continue;
        }
        rest = after;
        let name = match after.strip_prefix('{') {
            Some(braced) => braced.split_once('}').map_or("", |(name, _)| name),
            None => after.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default(),
        };
        let there = match name.parse::<usize>() {
            Ok(number) => number < pattern.captures_len(),
            Err(_) => name.is_empty() || pattern.capture_names().flatten().any(|known| known == name),
        };
        if !there {
            return Some(name.to_owned());
        }
    }
    None
}

struct Reader<'a> {
    source: &'a Source,
    root: &'a Path,
    scope: Scope,
}

impl Reader<'_> {
    fn error(&self, at: &Spanned<impl Sized>, what: impl Into<String>) -> Error {
        self.source.error(at.span().start, what)
    }

    fn system(&self, name: &Spanned<String>, raw: &Spanned<RawSystem>) -> Result<(String, SystemSpec)> {
        let text = name.get_ref();
        if text.trim().is_empty() {
            return Err(self.error(name, "the system's name is empty"));
        }
        let spec = match (&raw.get_ref().command, &raw.get_ref().url) {
            (Some(command), None) => self.command(name, raw.get_ref(), command)?,
            (None, Some(url)) => self.attached(name, raw.get_ref(), url)?,
            (Some(_), Some(url)) => {
                let what = format!("the system `{text}` has both `command` and `url`");
                return Err(self.error(url, what).help("retake starts it, or it runs already"));
            }
            (None, None) => {
                let error = self.error(name, format!("the system `{text}` has neither `command` nor `url`"));
                return Err(error.help("a router of your own crate is registered in tests/scenarios.rs, not here"));
            }
        };
        Ok((text.clone(), spec))
    }

    fn command(
        &self,
        name: &Spanned<String>,
        raw: &RawSystem,
        command: &Spanned<Vec<Spanned<String>>>,
    ) -> Result<SystemSpec> {
        if let Some(model) = &raw.model {
            let error = self.error(model, "`model` belongs to a system with a `url`");
            return Err(error.help("a command is given the model's address by its env: `{{ model.openai }}`"));
        }
        if command.get_ref().first().is_none_or(|program| program.get_ref().is_empty()) {
            return Err(self.error(command, "the command names no program"));
        }
        let needs: Vec<String> = raw.needs.iter().flatten().map(|name| name.get_ref().clone()).collect();
        let reader = Reader { scope: self.scope.of_system(&needs), ..*self };
        let env = raw.env.as_ref().map(Spanned::get_ref).into_iter().flatten().map(|(name, value)| {
            check_variable(name, self.source)?;
            Ok((name.get_ref().clone(), reader.template(value)?))
        });
        let Some(ready) = &raw.ready else {
            let error = self.error(name, format!("the system `{}` lacks `ready`", name.get_ref()));
            return Err(
                error.help("write ready = { http = \"/health\" }, or ready = { line = \"regex of a log line\" }")
            );
        };
        Ok(SystemSpec::Command(CommandSpec {
            command: command.get_ref().iter().map(|part| reader.template(part)).collect::<Result<_>>()?,
            cwd: raw.cwd.as_ref().map(|cwd| reader.cwd(cwd)).transpose()?,
            env: env.collect::<Result<_>>()?,
            // After the templates: naming a secret in one declares it.
            secrets: reader.scope.secrets(),
            ready: self.ready(ready)?,
            shared: raw.shared.as_ref().is_some_and(|shared| *shared.get_ref()),
            needs,
        }))
    }

    /// Each needed system has to be there, to be started for the same scenario, and not to need the one that needs it.
    fn check_needs(&self, raw: &RawSuite, systems: &BTreeMap<String, SystemSpec>) -> Result<()> {
        let known = || systems.keys().map(String::as_str);
        for (name, system) in &raw.systems {
            for needed in system.get_ref().needs.iter().flatten() {
                let text = needed.get_ref();
                match systems.get(text) {
                    None => {
                        let error = self.error(needed, format!("there is no system `{text}` in this file"));
                        return Err(suggest(error, text, known()));
                    }
                    Some(SystemSpec::Command(spec)) if !spec.shared => {}
                    Some(_) => {
                        let what = format!("`{text}` is not started for each scenario, so no system can need it");
                        return Err(self.error(needed, what).help("leave out `shared`, or write its address down"));
                    }
                }
                if reaches(systems, text, name.get_ref()) {
                    let what = format!("`{}` and `{text}` need each other", name.get_ref());
                    return Err(self.error(needed, what));
                }
            }
        }
        Ok(())
    }

    fn template(&self, text: &Spanned<String>) -> Result<Template> {
        let template = Template::parse(text.get_ref(), self.source, text.span())?;
        self.scope.check(&template)?;
        Ok(template)
    }

    fn cwd(&self, cwd: &Spanned<String>) -> Result<Template> {
        let template = self.template(cwd)?;
        if template.is_plain() && !self.root.join(cwd.get_ref()).is_dir() {
            return Err(self.error(cwd, format!("there is no folder `{}`", cwd.get_ref())));
        }
        Ok(template)
    }

    fn ready(&self, raw: &Spanned<RawReady>) -> Result<Ready> {
        let RawReady { http, line, timeout } = raw.get_ref();
        let timeout = timeout.as_ref().map_or(Ok(READY_TIMEOUT), |timeout| limit(timeout, self.source))?;
        match (http, line) {
            (Some(path), None) if !path.get_ref().starts_with('/') => {
                Err(self.error(path, format!("the path `{}` does not start with `/`", path.get_ref())))
            }
            (Some(path), None) => Ok(Ready::Http { path: path.get_ref().clone(), timeout }),
            (None, Some(Pattern(regex))) => Ok(Ready::Line { regex: regex.clone(), timeout }),
            _ => Err(self.error(raw, "`ready` has exactly one of `http` and `line`")),
        }
    }

    fn attached(&self, name: &Spanned<String>, raw: &RawSystem, url: &Spanned<String>) -> Result<SystemSpec> {
        let of_command = [
            ("cwd", raw.cwd.as_ref().map(Spanned::span)),
            ("env", raw.env.as_ref().map(Spanned::span)),
            ("ready", raw.ready.as_ref().map(Spanned::span)),
            ("shared", raw.shared.as_ref().map(Spanned::span)),
            ("needs", raw.needs.as_ref().and_then(|needs| needs.first()).map(Spanned::span)),
        ];
        if let Some((field, span)) = of_command.into_iter().find_map(|(field, span)| Some((field, span?))) {
            return Err(self.source.error(span.start, format!("`{field}` belongs to a system with a `command`")));
        }
        let parsed = Url::parse(url.get_ref())
            .map_err(|error| self.error(url, format!("`{}` is no URL: {error}", url.get_ref())))?;
        if !["http", "https"].contains(&parsed.scheme()) {
            let what = format!("`{}` starts with `{}:`, expected `http:` or `https:`", url.get_ref(), parsed.scheme());
            return Err(self.error(url, what));
        }
        let local = match parsed.host() {
            Some(Host::Domain(domain)) => domain == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        if !local {
            return Err(not_local(self.error(url, format!("`{}` is not on this machine", url.get_ref()))));
        }
        let Some(model) = &raw.model else {
            let error = self.error(name, format!("the system `{}` lacks `model`", name.get_ref()));
            return Err(error.help("write model = { addr = \"127.0.0.1:PORT\", key_env = \"NAME\" }"));
        };
        Ok(SystemSpec::Url(UrlSpec { url: parsed, model: self.model(model.get_ref())? }))
    }

    fn model(&self, raw: &RawModel) -> Result<AttachedModel> {
        let addr: SocketAddr = raw.addr.get_ref().parse().map_err(|_| {
            let what = format!("`{}` is no address: expected \"127.0.0.1:PORT\"", raw.addr.get_ref());
            self.error(&raw.addr, what)
        })?;
        if !addr.ip().is_loopback() {
            return Err(not_local(self.error(&raw.addr, format!("`{addr}` is not on this machine"))));
        }
        if addr.port() == 0 {
            return Err(self.error(&raw.addr, "the port 0 is another one each time, and the system has to know it"));
        }
        Ok(AttachedModel { addr, key_env: env_name(&raw.key_env, self.source)? })
    }

    fn caller(&self, raw: &RawCaller, last: bool) -> Result<CallerRule> {
        let when = raw.when.get_ref();
        if raw.name.get_ref().trim().is_empty() {
            return Err(self.error(&raw.name, "the caller's name is empty"));
        }
        let when = When {
            header: when
                .header
                .iter()
                .map(|(name, Pattern(regex))| {
                    check_header_name(name, self.source)?;
                    Ok((name.get_ref().to_ascii_lowercase(), regex.clone()))
                })
                .collect::<Result<_>>()?,
            metadata: when.metadata.iter().map(|(key, Pattern(regex))| (key.clone(), regex.clone())).collect(),
            model: when.model.as_ref().map(|Pattern(regex)| regex.clone()),
            system: when.system.as_ref().map(|Pattern(regex)| regex.clone()),
            message: when.message.as_ref().map(|Pattern(regex)| regex.clone()),
            tools: when.tools.clone(),
        };
        if when.is_empty() && !last {
            let what = format!("the rule for `{}` fits every call, so no later rule is ever asked", raw.name.get_ref());
            let fields = listed(&["header", "metadata", "model", "system", "message", "tools"]);
            return Err(self.error(&raw.when, what).help(format!("`when` may hold {fields}")));
        }
        Ok(CallerRule { name: raw.name.get_ref().trim().to_owned(), when })
    }
}

/// Refuses what is no name of an environment variable.
pub(super) fn check_variable(name: &Spanned<String>, source: &Source) -> Result<()> {
    if name.get_ref().is_empty() || name.get_ref().contains(['=', '\0']) {
        let what = format!("`{}` is no name of an environment variable", name.get_ref());
        return Err(source.error(name.span().start, what));
    }
    Ok(())
}

/// Whether a system is another one, or needs it at any remove.
fn reaches(systems: &BTreeMap<String, SystemSpec>, from: &str, to: &str) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(name) = next.pop() {
        if let (true, Some(SystemSpec::Command(spec))) = (seen.insert(name), systems.get(name)) {
            next.extend(spec.needs.iter().map(String::as_str));
        }
    }
    seen.contains(to)
}

fn not_local(error: Error) -> Error {
    error.help(format!(
        "replay opens no socket beyond loopback: expected localhost, {} or [::1]",
        IpAddr::from([127, 0, 0, 1])
    ))
}
