//! The fields of `suite.toml`, except those of its systems and tools, as they are written in the file.

use std::collections::BTreeMap;

use super::golden::RawSuiteGolden;
use super::system::RawSystem;
use super::tool::RawTool;
use crate::options::{ClockFrom, Cost, Delays, Drift, Egress, ForkTools, Panics, Unused};
use crate::read::shared::Lists;
use crate::read::spanned::Spanned;
use crate::read::values::{Foreign, OneOrMore, Pattern, RawDuration};
use crate::read::worlds::RawWorlds;
use retake_core::secrets::Suspected;
use retake_model::OfferedTools;

tables! {
#[derive(Default)]
pub(crate) struct RawSuite {
    /// The versions of Retake that this project needs. Another one stops before it reads anything else.
    /// Example: `">=0.2"`.
    #[expect(dead_code, reason = "it is read before the rest of the file")]
    pub requires: Option<Spanned<String>>,
    /// How old a recording may be, in days. An older one is told, and fails nothing.
    /// Default: as old as it likes. Example: `"90d"`.
    pub max_age: Option<Spanned<String>>,
    /// The system of scenarios that name none. A suite with only one system does not need it.
    /// Example: `"agent"`.
    pub system: Option<Spanned<String>>,
    /// The systems under test, by name. A router of a Rust project is registered in tests/scenarios.rs instead.
    /// Default: `{}`. Example: `{ agent = { command = ["python3", "app.py"], ready = { http = "/health" } } }`.
    #[serde(default)]
    pub systems: BTreeMap<Spanned<String>, Spanned<RawSystem>>,
    /// Lists of steps that several scenarios begin with, by name. They are left out of goldens unless a step says `golden = true`;
    /// headers that `golden.headers` names are not left out.
    /// Default: `{}`. Example: `{ login = [{ post = "/login", capture = { token = "json:/token" } }] }`.
    #[serde(default)]
    pub(in crate::read) steps: Lists,
    /// The names of the shared steps that each scenario begins with.
    /// Default: `[]`. Example: `["login"]`.
    #[serde(default)]
    pub before: Vec<Spanned<String>>,
    /// The real tools and tool servers, by name: how to run a recorded tool call again.
    /// Default: `{}`. Example: `{ read_file = { command = ["cat", "{{ args.path }}"] } }`.
    #[serde(default)]
    pub tools: BTreeMap<Spanned<String>, Spanned<RawTool>>,
    /// Rules that name the caller of a model call that does not declare one. The first rule that matches decides.
    /// Default: `[]`. Example: `[{ name = "middleware:title", when = { message = "^Title" } }]`.
    #[serde(default)]
    pub callers: Vec<Spanned<RawCaller>>,
    /// Replacements for text that varies from run to run, in addition to the built-in ones for UUIDs, timestamps, dates
    /// and temporary paths.
    /// Default: `[]`. Example: `[{ pattern = "order-[0-9]+", replace = "<ORDER>" }]`.
    #[serde(default)]
    pub normalize: Vec<RawNormalize>,
    /// APIs that Retake does not speak: where in their bodies what stands that a replay needs. What is declared moves from the key to
    /// the checks, answers are replayed as they came, and goldens hold their texts. Some come with Retake: see the guide.
    /// Default: `[]`. Example: `[{ name = "ours", path = "/llm/ask", messages = "/history", text = "/reply" }]`.
    #[serde(default)]
    pub apis: Vec<Spanned<RawApi>>,
    /// Other names of callers: each alias, and the caller that it stands for.
    /// Default: `{}`. Example: `{ old_agent = "lead_agent" }`.
    #[serde(default)]
    pub aliases: BTreeMap<String, Spanned<String>>,
    /// Which turns may stay unserved: none (`"fail"`), all (`"allow"`), or those of the listed callers.
    /// Default: `"fail"`. Example: `["suggest_agent"]`.
    pub unused: Option<Unused>,
    /// For each part of a model call, whether a difference from the recording is ignored, noted, or a failure.
    /// Default: `{}`. Example: `{ prompt = "fail" }`.
    pub drift: Option<Drift>,
    /// A scenario ends when its steps are done, no model call is in flight, and either all turns are served or none has arrived for this long.
    /// Default: `"2s"`. Example: `"500ms"`.
    pub settle: Option<RawDuration>,
    /// How long systems go on after the scenario has settled, so that late calls are noticed.
    /// Default: `"500ms"`. Example: `"0ms"`.
    pub linger: Option<RawDuration>,
    /// What a panic in a router means: the scenario fails (`"fail"`), or the service is expected to catch it
    /// (`"allow"`).
    /// Default: `"fail"`. Example: `"allow"`.
    pub panics: Option<Panics>,
    /// Environment variables whose values are never written to a file, in addition to those that templates name.
    /// Default: `[]`. Example: `["STRIPE_KEY"]`.
    pub secrets: Option<Vec<Spanned<String>>>,
    /// What becomes of connections of systems and `run` steps to anything but the stage's own servers, other
    /// ports of this machine, and what `allow` lists. They are told (`"note"`), refused and a failure (`"fail"`), the same with proof
    /// that there were none (`"proven"`), or not looked at (`"off"`). While recording, nothing is refused.
    /// Default: `"note"`. Example: `"fail"`.
    pub egress: Option<Egress>,
    /// What the processes may reach in any case: addresses or names, each with its port.
    /// Default: `[]`. Example: `["127.0.0.1:5432", "db.internal:443"]`.
    pub allow: Option<Vec<Spanned<String>>>,
    /// What a recording does with texts that have no known form, but stand where secrets usually do: it refuses to write the
    /// fixture, replaces the text, or keeps it.
    /// Default: `{}`. Example: `{ password = "mask" }`.
    #[serde(default)]
    pub suspects: RawSuspects,
    /// How often a scenario that failed is run again. One that is green only then is reported as flaky. After a miss, nothing is
    /// run again.
    /// Default: `0`. Example: `1`.
    pub retries: Option<u8>,
    /// How long a scenario may take.
    /// Default: `"60s"`. Example: `"90s"`.
    pub timeout: Option<Spanned<RawDuration>>,
    /// Whether the delays of recorded answers are replayed (`"recorded"`) or left out (`"none"`).
    /// Default: `"none"`. Example: `"recorded"`.
    pub delays: Option<Delays>,
    /// By which clock a replay tells the time: the machine's, or that of the recording, for services
    /// that count days. It needs libfaketime.
    /// Default: `"now"`. Example: `"recorded"`.
    pub clock: Option<ClockFrom>,
    /// What tools a fork may call where its arguments are not recorded.
    /// Default: `{}`. Example: `{ tools = "live" }`.
    #[serde(default)]
    pub fork: RawFork,
    /// A command that judges a fork's run. It gets the run's events as lines of JSON on its standard input, and exits with 0 if
    /// they are good.
    /// Default: `[]`. Example: `["python3", "check.py"]`.
    #[serde(default)]
    pub verify: Vec<String>,
    /// What models cost, by name, for the table of a fork.
    /// Default: `{}`. Example: `{ gpt-4o = { input = 2.5, cached = 1.25, output = 10.0 } }`.
    #[serde(default)]
    pub prices: BTreeMap<String, RawPrice>,
    /// The faults of the model with which the scenario is run again, as the trial `NAME::worlds`: `true` for
    /// the usual ones, `"all"`, or names of faults.
    /// Default: `false`. Example: `["rate-limit", "cut-clean"]`.
    pub worlds: Option<RawWorlds>,
    /// Whether goldens hold what model calls cost, by caller: how many, what they read and write,
    /// and what a cache can keep. A table says how much that may be.
    /// Default: `false`. Example: `{ calls = 6, input = "12k", cached = "80%" }`.
    pub cost: Option<Foreign<Option<Cost>>>,
    /// Words by which the service says that something failed, in addition to error, failed, incomplete, cancelled and refused.
    /// A world in which it says one of them is `reported`.
    /// Default: `[]`. Example: `["degraded"]`.
    #[serde(default)]
    pub error_words: Vec<String>,
    /// What the goldens of all scenarios contain.
    /// Default: `{}`. Example: `{ headers = ["set-cookie", "cache-control"] }`.
    pub golden: Option<RawSuiteGolden>,
}

pub(crate) struct RawApi {
    /// Its name in fixtures.
    /// Example: `"ours"`.
    pub name: Spanned<String>,
    /// How its paths end. `*` is any segment, and `{model}` the name of the model.
    /// Example: `["/models/{model}:ask", "/models/{model}:stream"]`.
    pub path: Spanned<OneOrMore>,
    /// Where the system prompt is in a request.
    /// Default: among the messages. Example: `"/instructions"`.
    pub prompt: Option<Spanned<OneOrMore>>,
    /// Where the messages are: a list, or one text. A request without them is of another API.
    /// Example: `"/history"`.
    pub messages: Spanned<OneOrMore>,
    /// Where the tools' definitions are.
    /// Default: nowhere. Example: `"/functions"`.
    pub tools: Option<Spanned<OneOrMore>>,
    /// Where the model's name is.
    /// Default: in the path. Example: `["/model", "/agent"]`.
    pub model: Option<Spanned<OneOrMore>>,
    /// Where settings are. Everything that is not declared stays in the key.
    /// Default: nowhere. Example: `["/temperature", "/stream"]`.
    pub settings: Option<Spanned<OneOrMore>>,
    /// Where an answer has its text: in the whole body, and in each piece of a stream. `*` is each element of a list.
    /// Default: nowhere. Example: `["/reply/parts/*/text", "/delta/text"]`.
    pub text: Option<Spanned<OneOrMore>>,
    /// Where an answer says what it cost.
    /// Default: `{}`. Example: `{ input = "/usage/prompt", output = "/usage/completion" }`.
    #[serde(default)]
    pub usage: RawUsage,
    /// Where an answer has an error.
    /// Default: nowhere. Example: `"/error"`.
    pub error: Option<Spanned<OneOrMore>>,
}

#[derive(Default)]
pub(crate) struct RawUsage {
    /// The tokens that the model read.
    /// Default: nowhere. Example: `"/usage/prompt"`.
    pub input: Option<Spanned<OneOrMore>>,
    /// The tokens that it wrote.
    /// Default: nowhere. Example: `"/usage/completion"`.
    pub output: Option<Spanned<OneOrMore>>,
    /// Those that it read from the provider's cache.
    /// Default: nowhere. Example: `"/usage/cached"`.
    pub cached: Option<Spanned<OneOrMore>>,
}

#[derive(Copy, Default)]
pub(crate) struct RawFork {
    /// Whether tools answer as recorded only (`"recorded"`), so that a run ends where they cannot, or the real ones are asked then
    /// (`"live"`).
    /// Default: `"recorded"`. Example: `"live"`.
    pub tools: Option<ForkTools>,
}

pub(crate) struct RawPrice {
    /// The price of a million tokens that the model reads.
    /// Example: `2.5`.
    pub input: Spanned<f64>,
    /// The price of a million tokens that it reads from the provider's cache.
    /// Default: the price of `input`. Example: `1.25`.
    pub cached: Option<Spanned<f64>>,
    /// The price of a million tokens that it writes.
    /// Example: `10.0`.
    pub output: Spanned<f64>,
}

pub(crate) struct RawCaller {
    /// The caller that the matching calls get.
    /// Example: `"middleware:title"`.
    pub name: Spanned<String>,
    /// The conditions, all of which a call has to meet. Only the last rule may have none; it matches every call.
    /// Example: `{ message = "^Generate a concise title", tools = false }`.
    pub when: Spanned<RawWhen>,
}

pub(crate) struct RawWhen {
    /// Regular expressions for request headers, by header name.
    /// Default: `{}`. Example: `{ x-part = "^title$" }`.
    #[serde(default)]
    pub header: BTreeMap<Spanned<String>, Pattern>,
    /// Regular expressions for entries of the request's metadata, by key.
    /// Default: `{}`. Example: `{ part = "^title$" }`.
    #[serde(default)]
    pub metadata: BTreeMap<String, Pattern>,
    /// A regular expression for the model's name.
    /// Example: `"-mini$"`.
    pub model: Option<Pattern>,
    /// A regular expression for the system prompt.
    /// Example: `"^You write titles"`.
    pub system: Option<Pattern>,
    /// A regular expression for the last message.
    /// Example: `"^Generate a concise title"`.
    pub message: Option<Pattern>,
    /// Whether the call offers any tools, or the names of tools that it has to offer.
    /// Example: `false`.
    pub tools: Option<Foreign<OfferedTools>>,
}

#[derive(Copy, Default)]
pub(crate) struct RawSuspects {
    /// Values of keys and tokens: `SERVICE_API_KEY=…`, `api-key: …`, `client_secret`.
    /// Default: `"refuse"`. Example: `"mask"`.
    pub(crate) key: Option<Foreign<Suspected>>,
    /// Passwords: `password=…`.
    /// Default: `"refuse"`. Example: `"mask"`.
    pub(crate) password: Option<Foreign<Suspected>>,
    /// Credentials of requests: `authorization: …`.
    /// Default: `"refuse"`. Example: `"mask"`.
    pub(crate) authorization: Option<Foreign<Suspected>>,
    /// Cookies: `cookie: session=…`.
    /// Default: `"refuse"`. Example: `"keep"`.
    pub(crate) cookie: Option<Foreign<Suspected>>,
    /// What follows the first line of a private key, and may be one in a form that is not known.
    /// Default: `"refuse"`. Example: `"keep"`.
    #[serde(rename = "private-key")]
    pub(crate) private_key: Option<Foreign<Suspected>>,
}

pub(crate) struct RawNormalize {
    /// A regular expression, applied to each text on its own.
    /// Example: `"order-[0-9]+"`.
    pub pattern: Spanned<Pattern>,
    /// The replacement; `$1` is the first group.
    /// Example: `"<ORDER>"`.
    pub replace: Spanned<String>,
}
}
