//! The fields of `[[step]]`, as they are written in the file.

use crate::pointer::Pointer;
use crate::read::json::RawJson;
use crate::read::spanned::{Spanned, Texts};
use crate::read::values::{Colors, RawDuration, RawEvent, RawStream, Statuses};
use crate::step::{Dialogs, Framing};

/// Lists the given fields of a raw table by name, each with the byte offset of its value if it is set.
macro_rules! fields {
    ($raw:expr; $($field:ident $(as $word:literal)?),+) => {
        [$((fields!(@ $field $($word)?), $raw.$field.as_ref().map(|field| field.span().start))),+]
    };
    (@ $field:ident $word:literal) => { $word };
    (@ $field:ident) => { stringify!($field) };
}
pub(crate) use fields;

tables! {
pub(crate) struct RawStep {
    /// The step's name in failures and reports.
    /// Example: `"register"`.
    pub name: Option<Spanned<String>>,
    /// Sends a GET request to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub get: Option<Spanned<String>>,
    /// Sends a POST request to this path.
    /// Example: `"/api/threads"`.
    pub post: Option<Spanned<String>>,
    /// Sends a PUT request to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub put: Option<Spanned<String>>,
    /// Sends a PATCH request to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub patch: Option<Spanned<String>>,
    /// Sends a DELETE request to this path.
    /// Example: `"/api/threads/{{ thread }}"`.
    pub delete: Option<Spanned<String>>,
    /// Opens a stream with a GET request and goes on to the next step. The stream is captured up to its `last` event,
    /// or to the end of the scenario.
    /// Example: `"/events"`.
    pub listen: Option<Spanned<String>>,
    /// Opens a WebSocket, which stays open until the scenario ends. What the service sends is a stream of events.
    /// Example: `"/ws/chat"`.
    pub socket: Option<Spanned<String>>,
    /// The messages to send over the socket, in order: a list, or a single one. A string is sent as it is, anything else as
    /// JSON. A step with `send` alone goes on with the latest socket.
    /// Default: `[]`. Example: `[{ type = "chat", text = "{{ prompt }}" }]`.
    pub send: Option<Spanned<RawJson>>,
    /// A JSON file with the messages, in place of `send`, in the scenario's folder or in `../_shared/`: for long ones, and
    /// those with null.
    /// Example: `"messages.json"`.
    pub send_file: Option<Spanned<String>>,
    /// The event at which a step with a socket is done: its name, or a table as for `after`. Without it, the step reads until the service closes the socket.
    /// Example: `"end"`.
    pub last: Option<Spanned<RawEvent>>,
    /// What messages on the socket look like: Socket.IO, or GraphQL subscriptions.
    /// Default: each text is an event. Example: `"socket.io"`.
    pub framing: Option<Spanned<Framing>>,
    /// What a client says of itself when it connects: the `auth` of Socket.IO, the payload of GraphQL's `connection_init`.
    /// Example: `{ token = "{{ token }}" }`.
    pub connect: Option<Spanned<RawJson>>,
    /// Where a message on the socket has the name of its event, as a JSON pointer.
    /// Default: `"/type"`. Example: `"/event/name"`.
    pub event: Option<Spanned<Pointer>>,
    /// Waits for an event of the stream to which the scenario listens: for its name, or for a value in it too, or for one of
    /// several. A later step with `after` goes on behind that event. A capture takes the latest event of its name up to there.
    /// Example: `"tool_pending"`.
    pub after: Option<Spanned<RawEvent>>,
    /// Runs a command-line agent. The JSON lines on its standard output are its events.
    /// Example: `["agent", "exec", "--json", "{{ prompt }}"]`.
    pub run: Option<Spanned<Vec<Spanned<String>>>>,
    /// Opens a page of the scenario's system, or of another system that needs it: `"frontend:/chat"`.
    /// Example: `"/chat/new"`.
    pub browser: Option<Spanned<String>>,
    /// Steps that run at the same time.
    /// Example: `[{ post = "/a" }, { post = "/b" }]`.
    pub together: Option<Spanned<Vec<Spanned<RawStep>>>>,
    /// Headers of the request.
    /// Default: `{}`. Example: `{ "X-CSRF-Token" = "{{ csrf }}" }`.
    pub headers: Option<Spanned<Texts>>,
    /// The JSON body, keys sorted.
    /// Example: `{ message = "{{ prompt }}" }`.
    pub json: Option<Spanned<RawJson>>,
    /// A file with the JSON body, in the scenario's folder or in `../_shared/`: for a body with null, which TOML does
    /// not have.
    /// Example: `"body.json"`.
    pub json_file: Option<Spanned<String>>,
    /// The fields of a form. With `files`, they are sent in a multipart body.
    /// Example: `{ user = "ada" }`.
    pub form: Option<Spanned<RawJson>>,
    /// Files to upload, by form field, from the scenario's folder or `../_shared/`. With `run`: files that lie in the
    /// run's work folder when it starts, by their names there.
    /// Example: `{ document = "note.txt" }`.
    pub files: Option<Spanned<Texts>>,
    /// The folder in which `run` runs, relative to the project's folder.
    /// Default: the run's work folder. Example: `"agents/cli"`.
    pub cwd: Option<Spanned<String>>,
    /// The environment variables of `run`, in addition to PATH, a home and a temporary folder.
    /// Default: `{}`. Example: `{ OPENAI_BASE_URL = "{{ model.openai }}" }`.
    pub env: Option<Spanned<Texts>>,
    /// The exit code that `run` has to end with.
    /// Default: `0`. Example: `2`.
    pub exit: Option<Spanned<i32>>,
    /// The HTTP status that the answer has to have, or a list of those that it may have.
    /// Default: any success. Example: `[200, 201]`.
    pub status: Option<Spanned<Statuses>>,
    /// Values of the answer for later steps, by name: `cookie:NAME`, `header:NAME`, `json:/pointer`, or
    /// `sse:EVENT:/pointer`, the first event of that name that has it.
    /// Default: `{}`. Example: `{ thread = "json:/thread_id" }`.
    pub capture: Option<Spanned<Texts>>,
    /// Reads the answer as a stream of events, SSE or JSON lines, which goes into the golden. With `last`, reading
    /// stops at that event, and a stream that ends before it fails.
    /// Default: `false`. Example: `{ first = "metadata", last = "end" }`.
    pub stream: Option<Spanned<RawStream>>,
    /// Leaves the stream at an event, like a client that disconnects.
    /// Example: `{ after = "values" }`.
    pub cancel: Option<Spanned<RawCancel>>,
    /// Reconnects to the latest stream: sends the id of its last event as `Last-Event-ID`.
    /// Default: `false`. Example: `true`.
    pub reconnect: Option<Spanned<bool>>,
    /// Repeats the request until a value in the answer is the given one.
    /// Example: `{ json = "/status", is = "done" }`.
    pub wait: Option<Spanned<RawWait>>,
    /// Waits, after the answer, for a model call that this caller makes in the background.
    /// Example: `{ caller = "middleware:title" }`.
    #[serde(rename = "await")]
    pub awaits: Option<Spanned<RawAwait>>,
    /// Whether the answer goes into the golden. Streams are always included.
    /// Default: true for streams. Example: `true`.
    pub golden: Option<Spanned<bool>>,
    /// What to do on the page and what to wait for, in order.
    /// Default: `[]`. Example: `[{ click = "role:button Send" }]`.
    #[serde(rename = "do")]
    pub acts: Option<Spanned<Vec<Spanned<RawAct>>>>,
    /// The page's local storage, set before its first script runs.
    /// Default: `{}`. Example: `{ theme = "dark" }`.
    pub storage: Option<Spanned<Texts>>,
    /// The size of the page's window, in CSS pixels: its width and its height.
    /// Default: `[1280, 800]`. Example: `[390, 844]`.
    pub viewport: Option<Spanned<Vec<Spanned<u16>>>>,
    /// The colour scheme that the page is asked for.
    /// Default: the browser's own. Example: `"dark"`.
    pub colors: Option<Spanned<Colors>>,
    /// What becomes of dialogs that the page opens (`alert`, `confirm`, `prompt`): none of them keeps the page waiting.
    /// Default: `"dismiss"`. Example: `"accept"`.
    pub dialogs: Option<Spanned<Dialogs>>,
    /// Requests that the page has to make, and whose answers go into the golden; `*` matches any text without a slash.
    /// Default: `[]`. Example: `["POST /api/threads/*/runs/stream"]`.
    pub traffic: Option<Spanned<Vec<Spanned<String>>>>,
}

pub(crate) struct RawAct {
    /// Waits until a person would see this. It is found by its text, or by `role:ROLE NAME`, `label:`, `placeholder:`,
    /// `testid:` or `css:`.
    /// Example: `"{{ turn('lead_agent').text }}"`.
    pub see: Option<Spanned<String>>,
    /// Waits until nothing visible matches this.
    /// Example: `"Loading"`.
    pub unseen: Option<Spanned<String>>,
    /// Waits until exactly one visible element matches this, and a person would see it.
    /// Example: `"the first question"`.
    pub once: Option<Spanned<String>>,
    /// Waits until each of these is visible exactly once, and each is above the next.
    /// Example: `["the first question", "the second question"]`.
    pub above: Option<Spanned<Vec<Spanned<String>>>>,
    /// Clicks this element.
    /// Example: `"role:button Send"`.
    pub click: Option<Spanned<String>>,
    /// Replaces the content of this field with `text`.
    /// Example: `"placeholder:How can I help"`.
    pub fill: Option<Spanned<String>>,
    /// Moves the mouse over this element.
    /// Example: `"role:listitem First chat"`.
    pub hover: Option<Spanned<String>>,
    /// Gives `files` to this field for files.
    /// Example: `"label:Attachment"`.
    pub upload: Option<Spanned<String>>,
    /// The files for `upload`, in the scenario's folder or in `../_shared/`.
    /// Example: `["note.txt"]`.
    pub files: Option<Spanned<Vec<Spanned<String>>>>,
    /// Waits until the page has opened a dialog with this text.
    /// Example: `"Delete this chat?"`.
    pub dialog: Option<Spanned<String>>,
    /// Acts that are done one after another, and all again when one of them fails, until `within` is over.
    /// Example: `[{ click = "role:button Reload" }, { see = "done", within = "1s" }]`.
    pub retry: Option<Spanned<Vec<Spanned<RawAct>>>>,
    /// Whether the text has to be the whole one, letter by letter, and not a part of it.
    /// Default: `false`. Example: `true`.
    pub exact: Option<Spanned<bool>>,
    /// Whether the text is Markdown that the page shows rendered: then only letters and digits are compared.
    /// Default: `false`. Example: `true`.
    pub markdown: Option<Spanned<bool>>,
    /// Which of several visible matches is meant: 0 is the first, -1 the last.
    /// Example: `-1`.
    pub nth: Option<Spanned<i64>>,
    /// The element that it has to be in.
    /// Example: `{ role = "article", nth = -1 }`.
    #[serde(rename = "in")]
    pub inside: Option<Spanned<RawInside>>,
    /// The iframe of the page that the act is about, as a CSS selector.
    /// Example: `"iframe.preview"`.
    pub frame: Option<Spanned<String>>,
    /// The text for `fill`.
    /// Example: `"{{ prompt }}"`.
    pub text: Option<Spanned<String>>,
    /// Presses a key, or a combination such as `Control+A`, where the focus is.
    /// Example: `"Enter"`.
    pub press: Option<Spanned<String>>,
    /// Goes to another path of the same system.
    /// Example: `"/chats"`.
    pub goto: Option<Spanned<String>>,
    /// Reloads the page.
    /// Example: `true`.
    pub reload: Option<Spanned<bool>>,
    /// Puts the accessibility tree of a region, found by its role and name, into the golden.
    /// Example: `"main"`.
    pub aria: Option<Spanned<String>>,
    /// Takes a screenshot and saves it under this name.
    /// Example: `"answer"`.
    pub screenshot: Option<Spanned<String>>,
    /// Compares the screenshot with one of an earlier run on the same machine, once the page has come to rest.
    /// `retake test --update` renews that one.
    /// Default: `false`. Example: `true`.
    pub baseline: Option<Spanned<bool>>,
    /// The share of the pixels of a screenshot with `baseline` that may differ, from 0 to 1.
    /// Default: `0`. Example: `0.01`.
    pub tolerance: Option<Spanned<f64>>,
    /// Elements that are painted over before a screenshot with `baseline` is compared.
    /// Default: `[]`. Example: `["testid:clock"]`.
    pub mask: Option<Spanned<Vec<Spanned<String>>>>,
    /// Whether a person has to see what `see`, `once` or `above` waits for: after scrolling to it, it is painted, and neither
    /// transparent nor covered. `false` is for texts that are meant for screen readers, or lie over a picture.
    /// Default: `true`. Example: `false`.
    pub visible: Option<Spanned<bool>>,
    /// How long to wait until the act succeeds. Within `retry` the default is one second.
    /// Default: `"10s"`. Example: `"20s"`.
    pub within: Option<Spanned<RawDuration>>,
}

pub(crate) struct RawInside {
    /// The text that it shows.
    /// Example: `"Order 7"`.
    pub text: Option<Spanned<String>>,
    /// Its role and, after a space, a part of its name.
    /// Example: `"article"`.
    pub role: Option<Spanned<String>>,
    /// The label of a field.
    /// Example: `"Search"`.
    pub label: Option<Spanned<String>>,
    /// The placeholder of a field.
    /// Example: `"Search"`.
    pub placeholder: Option<Spanned<String>>,
    /// The exact value of its attribute `data-testid`.
    /// Example: `"sidebar"`.
    pub testid: Option<Spanned<String>>,
    /// A CSS selector.
    /// Example: `".sidebar"`.
    pub css: Option<Spanned<String>>,
    /// Whether the text has to be the whole one.
    /// Default: `false`. Example: `true`.
    pub exact: Option<bool>,
    /// Which of several visible matches is meant: 0 is the first, -1 the last.
    /// Example: `-1`.
    pub nth: Option<i64>,
}

pub(crate) struct RawCancel {
    /// The event at which the client leaves: its name, or a table as for `after`.
    /// Example: `"values"`.
    pub after: Spanned<RawEvent>,
}

pub(crate) struct RawAwait {
    /// The caller whose model call the step waits for.
    /// Example: `"middleware:title"`.
    pub caller: Spanned<String>,
}

pub(crate) struct RawWait {
    /// A JSON pointer into the answer.
    /// Example: `"/status"`.
    pub json: Pointer,
    /// The value to wait for at that place.
    /// Example: `"done"`.
    pub is: Spanned<RawJson>,
}
}

impl RawStep {
    /// Returns the fields that belong only to a step with a page, each with the byte offset of its value if it is set.
    pub(crate) fn page_fields(&self) -> [(&'static str, Option<usize>); 6] {
        fields!(self; acts as "do", storage, traffic, viewport, colors, dialogs)
    }

    /// Returns the fields of the request's body, each with the byte offset of its value if it is set.
    pub(crate) fn body_fields(&self) -> [(&'static str, Option<usize>); 4] {
        fields!(self; json, json_file, form, files)
    }

    /// Whether its stream stays open while the next steps run.
    pub(crate) fn listens(&self) -> bool {
        let says =
            |stream: &Spanned<RawStream>| stream.get_ref().0.as_ref().is_some_and(|ends| ends.listen == Some(true));
        self.listen.is_some() || self.stream.as_ref().is_some_and(says)
    }

    /// Returns the names that the step captures, or that the steps in its `together` capture.
    pub(crate) fn captures(&self) -> Vec<&Spanned<String>> {
        let own = self.capture.iter().flat_map(|capture| capture.get_ref().keys());
        let parts = self.together.iter().flat_map(Spanned::get_ref);
        own.chain(parts.flat_map(|part| part.get_ref().captures())).collect()
    }
}

impl RawAct {
    /// Returns the fields that say what an act does, each with the byte offset of its value if it is set. An act has exactly one.
    pub(crate) fn kinds(&self) -> [(&'static str, Option<usize>); 15] {
        fields!(self; see, unseen, once, above, click, hover, fill, upload, press, dialog, goto, reload, retry, aria, screenshot)
    }
}
