//! What stands above the events of a response: its status, its content type, its headers; and the lines of a page.

use std::collections::BTreeSet;

use super::{Change, Subject, What};
use crate::events::golden::{Block, Header, VARIES};

const CONTENT_TYPE: &str = "content-type";

/// Returns the changes of everything but the events.
pub(super) fn changes(old: &Block, new: &Block) -> Vec<Change> {
    let mut found = Vec::new();
    let (was, is) = (old.head.clone().unwrap_or_default(), new.head.clone().unwrap_or_default());
    let answer = || Subject::Answer(new.request.clone());
    if was.status != is.status {
        found.push(Change::new(What::Status, answer(), "").between(was.status, is.status));
    }
    let only_in = |early: &[usize], other: &[usize]| early.iter().copied().find(|turn| !other.contains(turn));
    let lost = only_in(&was.early, &is.early).map(What::AtItsEnd);
    found.extend(lost.or(only_in(&is.early, &was.early).map(What::Early)).map(Change::of_response));
    let is_other_media = was.media != is.media;
    if is_other_media {
        let same = format!("{} {}", was.media, is.media);
        found.push(Change { same, ..Change::new(What::Media, answer(), "").between(was.media, is.media) });
    } else if was.ids != is.ids {
        found.push(Change::of_response(What::EventIds(is.ids)));
    }
    if was.ids_repeat != is.ids_repeat {
        found.push(Change::of_response(What::IdsRepeat(was.ids_repeat, is.ids_repeat)));
    }
    let is_told = |header: &&Header| header.name == CONTENT_TYPE && is_other_media;
    let of = |block: &Block, other: &Block| -> Vec<Header> {
        block.headers.iter().filter(|header| !is_told(header) && !other.headers.contains(header)).cloned().collect()
    };
    found.extend(headers(of(old, new), of(new, old), &new.request));
    if old.page != new.page {
        let line = |of: &Block, other: &Block| {
            let line = of.page.iter().find(|line| !other.page.contains(line));
            line.map(|line| line.trim().to_owned()).unwrap_or_default()
        };
        found.push(Change::new(What::Page, Subject::Response, &old.request).between(line(old, new), line(new, old)));
    }
    found
}

/// Returns the headers that differ, and what each lost or got.
fn headers(gone: Vec<Header>, mut come: Vec<Header>, request: &str) -> Vec<Change> {
    let change = |what, header: &Header, was: &str, is: &str| {
        let change = Change::new(what, Subject::Answer(request.to_owned()), header.subject()).between(was, is);
        Change { same: format!("{}\n{was}\n{is}", change.place), ..change }
    };
    let mut found = Vec::new();
    for was in gone {
        let at = come.iter().position(|is| is.subject() == was.subject());
        let Some(is) = at.map(|at| come.remove(at)) else {
            found.push(change(What::Header, &was, was.text(), ""));
            continue;
        };
        let (before, now) = (was.attributes(), is.attributes());
        let lost: Vec<&str> = before.difference(&now).copied().collect();
        let got: Vec<&str> = now.difference(&before).copied().collect();
        found.push(match (&lost[..], &got[..]) {
            _ if before.len() < 2 => change(What::Header, &was, was.text(), is.text()),
            ([lost, ..], []) => change(What::HeaderAttribute, &was, lost, ""),
            ([], [got, ..]) => change(What::HeaderAttribute, &was, "", got),
            ([lost], [got]) => change(What::Header, &was, lost, got),
            _ => change(What::Header, &was, was.text(), is.text()),
        });
    }
    found.extend(come.iter().map(|is| change(What::Header, is, "", is.text())));
    found
}

impl Header {
    fn text(&self) -> &str {
        self.value.as_deref().unwrap_or(VARIES)
    }

    fn attributes(&self) -> BTreeSet<&str> {
        self.value.iter().flat_map(|value| value.split(';')).map(str::trim).collect()
    }
}
