//! Reads `[vars]`, and checks their names and templates.

use std::collections::BTreeMap;

use super::json::{self, RawJson};
use super::names::check_new_name;
use super::spanned::Spanned;
use crate::source::Source;
use crate::template::{Names, Vars};
use retake_base::error::Result;

/// Reads the vars, whose templates may use `names`.
pub(super) fn read(raw: &BTreeMap<Spanned<String>, Spanned<RawJson>>, names: &Names, source: &Source) -> Result<Vars> {
    let mut vars = BTreeMap::new();
    for (name, value) in raw {
        check_new_name(name, source)?;
        let value = json::of_toml(value, source)?;
        names.check_json(&value)?;
        vars.insert(name.get_ref().clone(), value);
    }
    Vars::in_order(vars)
}
