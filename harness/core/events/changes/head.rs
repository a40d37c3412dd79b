//! What stands above the events of a response: its status, its content type, its headers; and the lines of a page.

use std::collections::BTreeSet;

use super::{ChangeAt, VALUE};
use crate::events::written::{IN_PIECES, Written};
use retake_base::cause::CauseKind;
use retake_base::text::apart;

/// Returns the changes of everything but the events.
pub(super) fn changes(old: &Written<'_>, new: &Written<'_>) -> Vec<ChangeAt> {
    let mut found = Vec::new();
    let mut say = |kind, what: String| found.push(ChangeAt::new(kind, ("", ""), what));
    if old.status != new.status {
        say(CauseKind::Status, format!("the status is {}, not {}", new.status, old.status));
    }
    let ((is, is_ids, is_pieces), (was, was_ids, was_pieces)) = (parts(new.content_type), parts(old.content_type));
    match (was_pieces, is_pieces) {
        (true, false) => {
            say(CauseKind::EventShape, "the stream comes in one piece at its end, not event by event".to_owned());
        }
        (false, true) => {
            say(CauseKind::EventShape, "the stream comes event by event, not in one piece at its end".to_owned());
        }
        _ => {}
    }
    if is != was {
        let named = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
        say(CauseKind::ContentType, format!("the content type is {}, not {}", named(is), named(was)));
    } else if is_ids != was_ids {
        let what = match is_ids {
            "" => "the events of the stream have no ids any more",
            "some with ids" => "only some events of the stream have ids",
            _ => "the events of the stream have ids now",
        };
        say(CauseKind::EventShape, what.to_owned());
    }
    if old.headers != new.headers {
        say(CauseKind::Header, headers(old, new));
    }
    if old.tree != new.tree {
        say(CauseKind::EventShape, page(old, new));
    }
    found
}

/// Splits the text next to the status: the media type, which events have ids, and whether the stream came in pieces.
fn parts(content_type: &str) -> (&str, &str, bool) {
    let text = content_type.strip_suffix(IN_PIECES).unwrap_or(content_type);
    let (media, ids) = text.split_once(", ").unwrap_or((text, ""));
    (media, ids, text.len() < content_type.len())
}

/// Describes the first header that differs, and what it lost or got.
fn headers(old: &Written<'_>, new: &Written<'_>) -> String {
    let gone = old.headers.iter().find(|line| !new.headers.contains(line));
    let come = new.headers.iter().find(|line| !old.headers.contains(line));
    let named = |line: &str| line.split(['=', ';']).next().unwrap_or_default().to_owned();
    let of = format!("the answer to `{}`", new.request);
    match (gone, come) {
        (Some(was), Some(is)) if named(was) == named(is) => {
            let parts = |line: &str| line.split(';').map(|part| part.trim().to_owned()).collect::<BTreeSet<_>>();
            let (was_parts, is_parts) = (parts(was), parts(is));
            match (was_parts.difference(&is_parts).next(), is_parts.difference(&was_parts).next()) {
                (Some(lost), None) => format!("`{}` of {of} lost `{lost}`", named(was)),
                (None, Some(got)) => format!("`{}` of {of} has `{got}`, which the golden lacks", named(was)),
                _ => format!("the header `{is}` of {of} was `{was}`"),
            }
        }
        (Some(was), Some(is)) => format!("the header `{is}` of {of} was `{was}`"),
        (Some(was), None) => format!("{of} has no header `{was}`"),
        (None, Some(is)) => format!("{of} has the header `{is}`, which the golden lacks"),
        (None, None) => format!("{of} has a header more or less often"),
    }
}

/// Describes the first line of a page that differs.
fn page(old: &Written<'_>, new: &Written<'_>) -> String {
    let page = old.request;
    let gone = old.tree.iter().find(|line| !new.tree.contains(line)).map(|line| line.trim());
    let come = new.tree.iter().find(|line| !old.tree.contains(line)).map(|line| line.trim());
    let (was, is) = apart(gone.unwrap_or_default(), come.unwrap_or_default(), VALUE);
    match (gone, come) {
        (Some(_), Some(_)) => format!("`{page}` shows `{is}`, not `{was}`"),
        (Some(_), None) => format!("`{page}` shows no `{was}`"),
        (None, Some(_)) => format!("`{page}` shows `{is}`, which the golden lacks"),
        (None, None) => format!("`{page}` shows the same in a different order"),
    }
}
