//! What stands above the events of a response: its status, its content type, its headers; and the lines of a page.

use std::collections::BTreeSet;

use super::{Change, Subject, What};
use crate::events::golden::{Block, Header};

/// Returns the changes of everything but the events.
pub(super) fn changes(old: &Block, new: &Block) -> Vec<Change> {
    let mut found = Vec::new();
    let (was, is) = (old.head.clone().unwrap_or_default(), new.head.clone().unwrap_or_default());
    if was.status != is.status {
        found.push(Change::of_response(What::Status).between(was.status, is.status));
    }
    if was.in_pieces != is.in_pieces {
        found.push(Change::of_response(if is.in_pieces { What::InPieces } else { What::AtOnce }));
    }
    if was.media != is.media {
        found.push(Change::of_response(What::Media).between(was.media, is.media));
    } else if was.ids != is.ids {
        found.push(Change::of_response(What::EventIds(is.ids)));
    }
    if old.headers != new.headers {
        found.push(headers(old, new));
    }
    if old.page != new.page {
        let line = |of: &Block, other: &Block| {
            let line = of.page.iter().find(|line| !other.page.contains(line));
            line.map(|line| line.trim().to_owned()).unwrap_or_default()
        };
        let page = Change::new(What::Page, Subject::Response, &old.request);
        found.push(page.between(line(old, new), line(new, old)));
    }
    found
}

/// Finds the first header that differs, and what it lost or got.
fn headers(old: &Block, new: &Block) -> Change {
    let gone = old.headers.iter().find(|header| !new.headers.contains(header));
    let come = new.headers.iter().find(|header| !old.headers.contains(header));
    let text = |header: Option<&Header>| header.map(ToString::to_string).unwrap_or_default();
    let change = |what| Change::new(what, Subject::Answer(new.request.clone()), "");
    if let (Some(was), Some(is)) = (gone, come)
        && was.subject() == is.subject()
    {
        let (was, is) = (was.attributes(), is.attributes());
        let (lost, got) = (was.difference(&is).next(), is.difference(&was).next());
        if lost.is_none() != got.is_none() {
            let part = |part: Option<&&str>| part.map(|part| (*part).to_owned()).unwrap_or_default();
            let change =
                Change { place: come.map(Header::subject).unwrap_or_default(), ..change(What::HeaderAttribute) };
            return change.between(part(lost), part(got));
        }
    }
    change(What::Header).between(text(gone), text(come))
}

impl Header {
    /// Returns what the header is about: its name, and that of its cookie or first directive.
    fn subject(&self) -> String {
        format!("{}: {}", self.name, self.value.split(['=', ';']).next().unwrap_or_default())
    }

    fn attributes(&self) -> BTreeSet<&str> {
        self.value.split(';').map(str::trim).collect()
    }
}
