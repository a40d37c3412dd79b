//! `extends = "a"` in `[systems.b]`: fields that `b` does not set are taken from `a`.

use std::collections::BTreeMap;

use super::raw::{RawSystem, Texts};
use super::spanned::Spanned;
use crate::hints::suggest;
use crate::source::Source;
use retake_base::error::Result;

/// The systems of a suite as they are written, by name.
pub(super) type Systems = BTreeMap<Spanned<String>, Spanned<RawSystem>>;

/// Adds to each system the fields that it takes from the system that it extends, which may extend another one in turn.
pub(super) fn resolved(written: &Systems, source: &Source) -> Result<Systems> {
    let resolved = written.iter().map(|(name, own)| {
        let mut system = own.get_ref().clone();
        let mut seen = vec![name.get_ref().as_str()];
        while let Some(extended) = system.extends.take() {
            let text = extended.get_ref();
            let error = |what: String| source.error(extended.span().start, what);
            let Some((known, base)) = written.iter().find(|(known, _)| known.get_ref() == text) else {
                let error = error(format!("there is no system `{text}` in this file"));
                return Err(suggest(error, text, written.keys().map(|known| known.get_ref().as_str())));
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
    RawSystem {
        extends: base.extends,
        command: own.command.or(base.command),
        cwd: own.cwd.or(base.cwd),
        cwd_copy: own.cwd_copy.or(base.cwd_copy),
        files: merged(base.files, own.files),
        env: merged(base.env, own.env),
        ready: own.ready.or(base.ready),
        build: own.build.or(base.build),
        port: own.port.or(base.port),
        shared: own.shared.or(base.shared),
        needs: own.needs.or(base.needs),
        url: own.url.or(base.url),
        model: own.model.or(base.model),
    }
}

fn merged(base: Option<Spanned<Texts>>, own: Option<Spanned<Texts>>) -> Option<Spanned<Texts>> {
    let (Some(base), Some(own)) = (&base, &own) else { return own.or(base) };
    let kept = base.get_ref().iter().filter(|(name, _)| !own.get_ref().contains_key(*name));
    let both = kept.chain(own.get_ref()).map(|(name, value)| (name.clone(), value.clone()));
    Some(Spanned::new(own.span(), both.collect()))
}
