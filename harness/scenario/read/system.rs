//! Reads `[systems.NAME]` of a suite: systems to start, and systems that are already running.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use url::{Host, Url};

use super::names::{check_variable, env_name};
use super::options::limit;
use super::raw::{RawModel, RawReady, RawSuite, RawSystem, fields, over};
use super::spanned::{Spanned, Texts};
use super::values::Pattern;
use crate::source::Source;
use crate::system::{AttachedModel, CommandSpec, Ready, SystemSpec, UrlSpec};
use crate::template::{Names, Template};
use retake_base::error::{Error, Result};

const READY_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) fn read(raw: &RawSuite, source: &Source, root: &Path) -> Result<BTreeMap<String, SystemSpec>> {
    let reader = Reader { source, root, names: Names::of_systems() };
    let written = resolved(&raw.systems, source)?;
    let systems = written.iter().map(|(name, system)| reader.system(name, system)).collect::<Result<_>>()?;
    reader.check_needs(&written, &systems)?;
    Ok(systems)
}

struct Reader<'a> {
    source: &'a Source,
    root: &'a Path,
    names: Names,
}

impl Reader<'_> {
    fn error(&self, at: &Spanned<impl Sized>, what: impl Into<String>) -> Error {
        self.source.error_at(at, what)
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
                let error = self.error(url, what).help("either retake starts it, or it is already running");
                return Err(match &raw.get_ref().extends {
                    Some(base) => error.help(format!("what it does not set is taken from `{}`", base.get_ref())),
                    None => error,
                });
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
            return Err(error.help("a command gets the model's address from its env: `{{ model.openai }}`"));
        }
        command.check_command(self.source, "the command names no program")?;
        let needs: Vec<String> = raw.needs.iter().flatten().map(|name| name.get_ref().clone()).collect();
        let reader = Reader { names: self.names.of_system(&needs), ..*self };
        let Some(ready) = &raw.ready else {
            let error = self.error(name, format!("the system `{}` lacks `ready`", name.get_ref()));
            return Err(
                error.help("write ready = { http = \"/health\" }, ready = { line = \"regex of a log line\" }, or ready = { port = true }")
            );
        };
        let ready = self.ready(ready)?;
        let spec = CommandSpec {
            command: command.get_ref().iter().map(|part| reader.template(part)).collect::<Result<_>>()?,
            cwd: raw.cwd.as_ref().map(|cwd| reader.cwd(cwd)).transpose()?,
            copied: self.copied(raw)?,
            files: raw.files.as_ref().map(|files| reader.files(files.get_ref())).transpose()?.unwrap_or_default(),
            env: reader.names.templates(raw.env.as_ref(), self.source, check_variable)?,
            // After the templates, since using a secret in one declares it.
            secrets: reader.names.used().secrets,
            build: self.build(raw)?,
            port: raw.port.as_ref().map(|port| self.port(port)).transpose()?,
            tools: reader.names.used().tools,
            ready,
            shared: raw.shared.as_ref().is_some_and(|shared| *shared.get_ref()),
            needs,
        };
        if let (Some(shared), Some(tool)) = (raw.shared.as_ref().filter(|_| spec.shared), spec.tools.first()) {
            let what = format!("`{}` is shared, but `{{{{ tools.{tool} }}}}` belongs to one scenario", name.get_ref());
            return Err(self
                .error(shared, what)
                .help("leave out `shared`: each scenario then has a process of its own"));
        }
        Ok(SystemSpec::Command(spec))
    }

    fn build(&self, raw: &RawSystem) -> Result<Vec<String>> {
        let Some(build) = &raw.build else { return Ok(Vec::new()) };
        build.check_command(self.source, "`build` has an empty command")?;
        let parts = build.get_ref().iter().map(|part| {
            if self.template(part)?.is_plain() {
                return Ok(part.get_ref().clone());
            }
            let error = self.error(part, "a build serves many runs, so it cannot use a value of one run");
            Err(error.help("if it needs an address, pin the port: port = 3000 in both systems"))
        });
        if raw.cwd.is_none() {
            let error = self.error(build, "`build` needs `cwd`: it runs there, and again after files there changed");
            return Err(error.help("write cwd = \".\" for the whole project, or the folder of what it builds"));
        }
        parts.collect()
    }

    fn port(&self, port: &Spanned<u16>) -> Result<u16> {
        match *port.get_ref() {
            0 => Err(self.error(port, "port 0 is a different port each time: leave `port` out")),
            port => Ok(port),
        }
    }

    fn template(&self, text: &Spanned<String>) -> Result<Template> {
        self.names.template(text, self.source)
    }

    fn cwd(&self, cwd: &Spanned<String>) -> Result<Template> {
        let template = self.template(cwd)?;
        if template.is_plain() && !self.root.join(cwd.get_ref()).is_dir() {
            return Err(self.error(cwd, format!("there is no folder `{}`", cwd.get_ref())));
        }
        Ok(template)
    }

    /// Reads whether the system runs in a copy of its folder, which has to be a folder of the project.
    fn copied(&self, raw: &RawSystem) -> Result<bool> {
        let Some(copied) = raw.cwd_copy.as_ref().filter(|copied| *copied.get_ref()) else { return Ok(false) };
        match &raw.cwd {
            None => {
                let error = self.error(copied, "`cwd_copy` needs `cwd`: the folder that is copied");
                Err(error.help("write cwd = \"the/service\", or cwd = \".\" for the whole project"))
            }
            Some(cwd) if !self.template(cwd)?.is_plain() => {
                Err(self.error(copied, "`cwd_copy` copies a folder of the project, but this `cwd` belongs to the run"))
            }
            Some(_) => Ok(true),
        }
    }

    /// Reads the files to render into the work folder, each with its template.
    fn files(&self, files: &Texts) -> Result<BTreeMap<PathBuf, Template>> {
        let files = files.iter().map(|(file, from)| {
            let path = PathBuf::from(file.get_ref());
            if !path.components().all(|part| matches!(part, Component::Normal(_))) || file.get_ref().is_empty() {
                let error = self.error(file, format!("`{}` is not in the work folder", file.get_ref()));
                return Err(error.help("write its path relative to that folder: \"config/agent.yaml\""));
            }
            let place = self.source.place(from.span().start);
            let named_by = format!("named by {}:{}:{}", self.source.file.display(), place.line, place.column);
            let text = Source::read(self.root, Path::new(from.get_ref())).map_err(|error| error.help(named_by))?;
            let template = Template::parse(&text.text, &text, 0..text.text.len())?;
            self.names.check(&template)?;
            Ok((path, template))
        });
        files.collect()
    }

    fn ready(&self, raw: &Spanned<RawReady>) -> Result<Ready> {
        let RawReady { http, line, port, timeout } = raw.get_ref();
        let timeout = timeout.as_ref().map_or(Ok(READY_TIMEOUT), |timeout| limit(timeout, self.source))?;
        match (http, line, port) {
            (Some(path), None, None) if !path.get_ref().starts_with('/') => {
                Err(self.error(path, format!("the path `{}` does not start with `/`", path.get_ref())))
            }
            (Some(path), None, None) => Ok(Ready::Http { path: path.get_ref().clone(), timeout }),
            (None, Some(Pattern(regex)), None) => Ok(Ready::Line { regex: regex.clone(), timeout }),
            (None, None, Some(port)) if !port.get_ref() => {
                Err(self
                    .error(port, "`port = false` has no effect: say with `http` or `line` when the system is ready"))
            }
            (None, None, Some(_)) => Ok(Ready::Port { timeout }),
            _ => Err(self.error(raw, "`ready` has exactly one of `http`, `line` and `port`")),
        }
    }

    fn attached(&self, name: &Spanned<String>, raw: &RawSystem, url: &Spanned<String>) -> Result<SystemSpec> {
        let needs = raw.needs.as_ref().and_then(|needs| needs.first()).map(|needed| needed.span().start);
        let why = "belongs to a system with a `command`";
        self.source.refuse(&fields!(raw; cwd, cwd_copy, files, env, ready, build, port, shared), why)?;
        self.source.refuse(&[("needs", needs)], why)?;
        let parsed = Url::parse(url.get_ref())
            .map_err(|error| self.error(url, format!("`{}` is not a URL: {error}", url.get_ref())))?;
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
            let what = format!("`{}` is not an address: expected \"127.0.0.1:PORT\"", raw.addr.get_ref());
            self.error(&raw.addr, what)
        })?;
        if !addr.ip().is_loopback() {
            return Err(not_local(self.error(&raw.addr, format!("`{addr}` is not on this machine"))));
        }
        if addr.port() == 0 {
            return Err(self.error(&raw.addr, "port 0 is a different port each time, and the system has to know it"));
        }
        Ok(AttachedModel { addr, key_env: env_name(&raw.key_env, self.source)? })
    }

    /// Checks that each needed system exists, is started for each scenario, and does not itself need the system that needs it.
    fn check_needs(&self, written: &Systems, systems: &BTreeMap<String, SystemSpec>) -> Result<()> {
        let known = || systems.keys().map(String::as_str);
        for (name, system) in written {
            for needed in system.get_ref().needs.iter().flatten() {
                let text = needed.get_ref();
                match systems.get(text) {
                    None => {
                        let error = self.error(needed, format!("there is no system `{text}` in this file"));
                        return Err(error.suggest(text, known()));
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
}

/// Whether two systems are the same, or the first needs the second directly or indirectly.
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

/// The systems of a suite as they are written, by name.
pub(super) type Systems = BTreeMap<Spanned<String>, Spanned<RawSystem>>;

/// Adds to each system the fields that it takes from the system that it extends, which may extend another one in turn.
pub(super) fn resolved(written: &Systems, source: &Source) -> Result<Systems> {
    let resolved = written.iter().map(|(name, own)| {
        let mut system = own.get_ref().clone();
        let mut seen = vec![name.get_ref().as_str()];
        while let Some(extended) = system.extends.take() {
            let text = extended.get_ref();
            let error = |what: String| source.error_at(&extended, what);
            let Some((known, base)) = written.iter().find(|(known, _)| known.get_ref() == text) else {
                let error = error(format!("there is no system `{text}` in this file"));
                return Err(error.suggest(text, written.keys().map(|known| known.get_ref().as_str())));
            };
            seen.push(known.get_ref());
            if seen[..seen.len() - 1].contains(&text.as_str()) {
                let error = error(format!("the system `{text}` extends itself"));
                return Err(error.help(seen.join(" extends ")));
            }
            system = over(base.get_ref().clone(), system);
        }
        // Errors about fields of both mention it.
        system.extends.clone_from(&own.get_ref().extends);
        Ok((name.clone(), Spanned::new(own.span(), system)))
    });
    resolved.collect()
}

/// Replaces fields of `base` by those of `own`. Environment variables and files are merged name by name.
fn over(base: RawSystem, own: RawSystem) -> RawSystem {
    over!(RawSystem, base, own;
        command, cwd, cwd_copy, ready, build, port, shared, needs, url, model;
        extends: base.extends, files: merged(base.files, own.files), env: merged(base.env, own.env)
    )
}

fn merged(base: Option<Spanned<Texts>>, own: Option<Spanned<Texts>>) -> Option<Spanned<Texts>> {
    let (Some(base), Some(own)) = (&base, &own) else { return own.or(base) };
    let kept = base.get_ref().iter().filter(|(name, _)| !own.get_ref().contains_key(*name));
    let both = kept.chain(own.get_ref()).map(|(name, value)| (name.clone(), value.clone()));
    Some(Spanned::new(own.span(), both.collect()))
}
