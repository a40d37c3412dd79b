//! Checks the APIs that a suite declares.

use std::collections::BTreeSet;

use super::raw::RawApi;
use super::spanned::Spanned;
use super::values::OneOrMore;
use crate::pointer::Pointer;
use crate::source::Source;
use retake_base::error::Result;
use retake_wire::{Api, Declaration};

/// Checks the APIs of a suite, and declares them for this process: all that reads, serves or records knows them then.
pub(super) fn declare(apis: &[Spanned<RawApi>], source: &Source) -> Result<()> {
    let mut names = BTreeSet::new();
    let mut checked = Vec::new();
    for api in apis {
        let api = api.get_ref();
        let name = api.name.get_ref();
        if name.trim().is_empty() || name.contains(char::is_whitespace) {
            return Err(source.error_at(&api.name, "expected the API's name, without spaces"));
        }
        if Api::ALL.iter().any(|spoken| spoken.name() == name) {
            return Err(source.error_at(&api.name, format!("Retake speaks `{name}` itself: choose another name")));
        }
        if !names.insert(name.as_str()) {
            return Err(source.error_at(&api.name, format!("there are two APIs with the name `{name}`")));
        }
        checked.push(declaration(api, source)?);
    }
    checked.into_iter().for_each(Declaration::declare);
    Ok(())
}

fn declaration(api: &RawApi, source: &Source) -> Result<Declaration> {
    let path = &api.path.get_ref().0;
    if let Some(wrong) = path.iter().find(|path| !path.starts_with('/') || path.trim_matches('/').is_empty()) {
        return Err(
            source.error_at(&api.path, format!("expected how a path ends, as in \"/llm/ask\", found \"{wrong}\""))
        );
    }
    let pointers = |field: Option<&Spanned<OneOrMore>>, lists: bool| {
        let Some(field) = field else { return Ok(Vec::new()) };
        for text in &field.get_ref().0 {
            Pointer::parse(text).map_err(|what| source.error_at(field, what))?;
            if text.is_empty() || (!lists && text.split('/').any(|token| token == "*")) {
                return Err(
                    source.error_at(field, format!("expected the place of one value in a request, found \"{text}\""))
                );
            }
        }
        Ok(field.get_ref().0.clone())
    };
    let (sent, came) = (|field| pointers(field, false), |field| pointers(field, true));
    Ok(Declaration {
        name: api.name.get_ref().clone(),
        path: path.clone(),
        prompt: sent(api.prompt.as_ref())?,
        messages: sent(Some(&api.messages))?,
        tools: sent(api.tools.as_ref())?,
        model: sent(api.model.as_ref())?,
        settings: sent(api.settings.as_ref())?,
        text: came(api.text.as_ref())?,
        usage: [came(api.usage.input.as_ref())?, came(api.usage.output.as_ref())?, came(api.usage.cached.as_ref())?],
        error: came(api.error.as_ref())?,
    })
}
