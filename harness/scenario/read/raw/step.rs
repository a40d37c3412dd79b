//! What is typed of a step: `[[step]]`.

use serde::Deserialize;

use super::fields::fields;
use super::system::Texts;
use crate::scenario::pointer::Pointer;
use crate::scenario::read::json::RawJson;
use crate::scenario::read::spanned::Spanned;
use crate::scenario::read::values::{RawDuration, RawStream, Statuses};

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawStep {
    /// What the step is called where it fails.
    /// Example: `"register"`.
    pub(crate) name: Option<Spanned<String>>,
    /// Sends a GET to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub(crate) get: Option<Spanned<String>>,
    /// Sends a POST to this path.
    /// Example: `"/api/threads"`.
    pub(crate) post: Option<Spanned<String>>,
    /// Sends a PUT to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub(crate) put: Option<Spanned<String>>,
    /// Sends a PATCH to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub(crate) patch: Option<Spanned<String>>,
    /// Sends a DELETE to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub(crate) delete: Option<Spanned<String>>,
    /// Opens a stream by a GET, and goes on with the next step while it is heard: to its `last`, or the scenario's end.
    /// Example: `"/events"`.
    pub(crate) listen: Option<Spanned<String>>,
    /// Runs a command-line agent, and takes the JSON lines of its standard output as events.
    /// Example: `["agent", "exec", "--json", "{{ prompt }}"]`.
    pub(crate) run: Option<Spanned<Vec<Spanned<String>>>>,
    /// Opens a page of the system, or of another one that needs it: `"frontend:/chat"`.
    /// Example: `"/chat/new"`.
    pub(crate) browser: Option<Spanned<String>>,
    /// Steps that are done at the same time.
    /// Example: `[{ post = "/a" }, { post = "/b" }]`.
    pub(crate) together: Option<Spanned<Vec<Spanned<RawStep>>>>,
    /// Headers of the request.
    /// Default: `{}`. Example: `{ "X-CSRF-Token" = "{{ csrf }}" }`.
    pub(crate) headers: Option<Spanned<Texts>>,
    /// A JSON body.
    /// Example: `{ message = "{{ prompt }}" }`.
    pub(crate) json: Option<Spanned<RawJson>>,
    /// A file of the scenario's folder, or of `../_shared/`, with the JSON body: TOML has no null.
    /// Example: `"body.json"`.
    pub(crate) json_file: Option<Spanned<String>>,
    /// The fields of a form; beside `files` those of a multipart body.
    /// Example: `{ user = "ada" }`.
    pub(crate) form: Option<Spanned<RawJson>>,
    /// Files that are uploaded, by field: of the scenario's folder, or of `../_shared/`.
    /// Example: `{ document = "note.txt" }`.
    pub(crate) files: Option<Spanned<Texts>>,
    /// The folder in which `run` runs, from the project's.
    /// Default: `"."`. Example: `"agents/cli"`.
    pub(crate) cwd: Option<Spanned<String>>,
    /// The environment of `run`, beside PATH and a home and a temporary folder.
    /// Default: `{}`. Example: `{ OPENAI_BASE_URL = "{{ model.openai }}" }`.
    pub(crate) env: Option<Spanned<Texts>>,
    /// The exit code that `run` has to end with.
    /// Default: `0`. Example: `2`.
    pub(crate) exit: Option<Spanned<i32>>,
    /// The HTTP status that has to come, or a list of those that may.
    /// Default: any success. Example: `[200, 201]`.
    pub(crate) status: Option<Spanned<Statuses>>,
    /// Values of the answer for later steps, by name: `cookie:NAME`, `header:NAME`, `json:/pointer`,
    /// `sse:EVENT:/pointer` (the first such event).
    /// Default: `{}`. Example: `{ thread = "json:/thread_id" }`.
    pub(crate) capture: Option<Spanned<Texts>>,
    /// Takes the answer as a stream of events, SSE or JSON lines. It goes into the golden. With `last` it ends at that
    /// event, and has to come to it.
    /// Default: `false`. Example: `{ first = "metadata", last = "end" }`.
    pub(crate) stream: Option<Spanned<RawStream>>,
    /// Leaves the stream at an event, as a client that goes away.
    /// Example: `{ after = "values" }`.
    pub(crate) cancel: Option<Spanned<RawCancel>>,
    /// Comes back to the latest stream, with the `Last-Event-ID` of its last event.
    /// Default: `false`. Example: `true`.
    pub(crate) reconnect: Option<Spanned<bool>>,
    /// Asks again and again until a value of the answer is as said.
    /// Example: `{ json = "/status", is = "done" }`.
    pub(crate) wait: Option<Spanned<RawWait>>,
    /// Waits, behind its answer, for a model call that this caller makes in the background.
    /// Example: `{ caller = "middleware:title" }`.
    #[serde(rename = "await")]
    pub(crate) awaits: Option<Spanned<RawAwait>>,
    /// Puts an answer that is not a stream into the golden.
    /// Default: true for streams. Example: `true`.
    pub(crate) golden: Option<Spanned<bool>>,
    /// What is done and seen on the page, one after another.
    /// Default: `[]`. Example: `[{ click = "role:button Send" }]`.
    #[serde(rename = "do")]
    pub(crate) acts: Option<Spanned<Vec<Spanned<RawAct>>>>,
    /// The page's local storage, set before its first script.
    /// Default: `{}`. Example: `{ theme = "dark" }`.
    pub(crate) storage: Option<Spanned<Texts>>,
    /// Requests of the page whose answers go into the golden; `*` is any part.
    /// Default: `[]`. Example: `["POST /api/threads/*/runs/stream"]`.
    pub(crate) traffic: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawAct {
    /// Waits until this is seen. It is found by its text, or by `role:ROLE NAME`, `label:`, `placeholder:`, `testid:`
    /// or `css:`.
    /// Example: `"{{ turn('lead_agent').text }}"`.
    pub(crate) see: Option<Spanned<String>>,
    /// Waits until this is not seen.
    /// Example: `"Loading"`.
    pub(crate) unseen: Option<Spanned<String>>,
    /// Waits until this is seen exactly once.
    /// Example: `"the first question"`.
    pub(crate) once: Option<Spanned<String>>,
    /// Waits until these are seen, each above the next.
    /// Example: `["the first question", "the second question"]`.
    pub(crate) above: Option<Spanned<Vec<Spanned<String>>>>,
    /// Clicks on this.
    /// Example: `"role:button Send"`.
    pub(crate) click: Option<Spanned<String>>,
    /// Fills this field with `text`.
    /// Example: `"placeholder:How can I help"`.
    pub(crate) fill: Option<Spanned<String>>,
    /// The text for `fill`.
    /// Example: `"{{ prompt }}"`.
    pub(crate) text: Option<Spanned<String>>,
    /// Presses a key where the focus is.
    /// Example: `"Enter"`.
    pub(crate) press: Option<Spanned<String>>,
    /// Goes to another path of the same system.
    /// Example: `"/chats"`.
    pub(crate) goto: Option<Spanned<String>>,
    /// Loads the page anew.
    /// Example: `true`.
    pub(crate) reload: Option<Spanned<bool>>,
    /// Puts the accessible tree of a region, by its role and name, into the golden.
    /// Example: `"main"`.
    pub(crate) aria: Option<Spanned<String>>,
    /// Takes a picture of this name.
    /// Example: `"answer"`.
    pub(crate) screenshot: Option<Spanned<String>>,
    /// Compares that picture with the one of an earlier run, on this machine only.
    /// Default: `false`. Example: `true`.
    pub(crate) baseline: Option<Spanned<bool>>,
    /// How long that may take.
    /// Default: `"10s"`. Example: `"20s"`.
    pub(crate) within: Option<Spanned<RawDuration>>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawCancel {
    /// The event at which the client leaves.
    /// Example: `"values"`.
    pub(crate) after: Spanned<String>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawAwait {
    /// The caller whose call is waited for.
    /// Example: `"middleware:title"`.
    pub(crate) caller: Spanned<String>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawWait {
    /// A JSON pointer into the answer.
    /// Example: `"/status"`.
    pub(crate) json: Pointer,
    /// The value that has to stand there.
    /// Example: `"done"`.
    pub(crate) is: Spanned<RawJson>,
}

impl RawStep {
    /// The fields that only a step with a page has.
    pub(crate) fn page_fields(&self) -> [(&'static str, Option<usize>); 3] {
        [
            ("do", self.acts.as_ref().map(|field| field.span().start)),
            ("storage", self.storage.as_ref().map(|field| field.span().start)),
            ("traffic", self.traffic.as_ref().map(|field| field.span().start)),
        ]
    }

    /// The fields that say what is sent, each with where it starts if it is there.
    pub(crate) fn body_fields(&self) -> [(&'static str, Option<usize>); 4] {
        fields!(self; json, json_file, form, files)
    }

    /// The captures of the step, or of those that it takes at the same time.
    pub(crate) fn captures(&self) -> Vec<&Spanned<String>> {
        let own = self.capture.iter().flat_map(|capture| capture.get_ref().keys());
        let parts = self.together.iter().flat_map(Spanned::get_ref);
        own.chain(parts.flat_map(|part| part.get_ref().captures())).collect()
    }
}
