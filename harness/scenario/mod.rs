//! stub
use regex::Regex; use std::collections::BTreeMap;
#[derive(Clone, Debug)] pub struct CallerRule { pub name: String, pub when: When }
#[derive(Clone, Debug, Default)] pub struct When { pub header: BTreeMap<String, Regex>, pub metadata: BTreeMap<String, Regex>, pub model: Option<Regex>, pub system: Option<Regex>, pub message: Option<Regex>, pub tools: Option<Tools> }
#[derive(Clone, Debug)] pub enum Tools { Any(bool), Named(Vec<String>) }
