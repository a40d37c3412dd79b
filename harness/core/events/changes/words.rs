//! The sentences for changes: the only place that puts one into words.

use super::{Change, Subject, VALUE, What};
use crate::events::golden::{EventIds, Repeat, Text, VARIES};
use crate::events::held::Manner;
use retake_base::cause::{Cause, CauseKind};
use retake_base::text::{apart, clipped, counted};

impl What {
    /// The kind of a cause that this is in a stream.
    pub(super) fn kind(self) -> CauseKind {
        use What::{Each, Hash, TextLine, TextOrder, Value, Words};
        match self {
            What::Status => CauseKind::Status,
            What::Media => CauseKind::ContentType,
            What::Header | What::HeaderAttribute => CauseKind::Header,
            What::Cost => CauseKind::Cost,
            What::Renamed => CauseKind::EventRenamed,
            What::Missing | What::ResponseMissing => CauseKind::EventMissing,
            What::Extra | What::ResponseExtra | What::Unknown => CauseKind::EventExtra,
            What::Moved | What::CollapsedGone | What::CollapsedMoved => CauseKind::EventOrder,
            Each | Hash | TextLine | TextOrder | Value | Words | What::Text | What::Manner(..) => CauseKind::EventValue,
            _ => CauseKind::EventShape,
        }
    }
}

impl Change {
    /// The change as the cause of a failure.
    pub fn cause(&self) -> Cause {
        Cause::new(self.kind(), self.words())
    }

    pub fn kind(&self) -> CauseKind {
        match (self.what.kind(), &self.subject) {
            (CauseKind::EventShape | CauseKind::EventValue, Subject::Body(_)) => CauseKind::Body,
            (kind, _) => kind,
        }
    }

    /// The change as a sentence, for the first line of a failure.
    pub fn words(&self) -> String {
        let also = |more: usize| format!(", also at {}", counted(more, "other place"));
        let stream = if self.stream.is_empty() { String::new() } else { format!(", in `{}`", self.stream) };
        self.sentence() + &stream + &Some(self.also).filter(|more| *more > 0).map(also).unwrap_or_default()
    }

    /// Returns it with how often its event came, if that is another number.
    pub(super) fn since(self, count: &Change) -> Change {
        let Change { before, now, .. } = count;
        let with = format!(", since it came {now}, not {before}");
        if before.is_empty() || now.is_empty() { self } else { Change { with, ..self } }
    }

    /// Says what stands at a place instead of a turn's words, which are quoted in `with`.
    fn lost_words(&self, at: &str) -> String {
        let Some((was @ Text::Turns(told, manner), now)) = &self.words else { return String::new() };
        let is_plain = told.how.suffix().is_empty() && *manner == Manner::default();
        let text = if is_plain && matches!(&told.of[..], [one] if one.part.is_empty()) { "'s text" } else { "" };
        let comma = if is_plain { "" } else { "," };
        let (is, had) = if told.how.is_beside() { ("has", "had ") } else { ("is", "was ") };
        match now {
            None => format!("{at} {is} {was}{text}{comma} no more, which says {}", apart(&self.with, "", VALUE).0),
            Some(Text::Start(now, count, ..)) => {
                let (said, cut) = apart(&self.with, now, VALUE);
                let says = format!("{at} {is} {was}{text}{comma} no more: {cut}");
                let alike = || format!("{says} goes on otherwise, to {count} characters");
                if said == cut { alike() } else { format!("{says} in place of {said}") }
            }
            Some(now) => {
                let is = if matches!(now, Text::Turns(told, _) if !told.how.is_beside()) { "is" } else { "has" };
                format!("{at} {is} {now}, where it {had}{was}{text}: {}", clipped(&self.with, VALUE))
            }
        }
    }

    fn of_header(&self, subject: &str) -> String {
        let place = &self.place;
        match (self.what, &*self.before, &*self.now) {
            (What::HeaderAttribute, lost, "") => format!("`{place}` of {subject} lost `{lost}`"),
            (What::HeaderAttribute, _, got) => format!("`{place}` of {subject} has `{got}`, which the golden lacks"),
            (_, VARIES, "") => format!("{subject} has no header `{place}` any more"),
            (_, "", now) => format!("{subject} has the header `{place}`, which the golden lacks: {now:?}"),
            (_, was, "") => format!("`{place}` of {subject}: {was:?} → gone"),
            (_, was, now) => format!("`{place}` of {subject}: {was:?} → {now:?}"),
        }
    }

    #[expect(clippy::too_many_lines, reason = "a line for each kind of change")]
    fn sentence(&self) -> String {
        let Change { subject, place, with, before, now, more, others, .. } = self;
        let named = match subject {
            Subject::Event(label) if !with.is_empty() => format!("the event `{label} {with}`"),
            subject => subject.words(),
        };
        let subject = subject.words();
        let more = if *more > 0 { format!(", and {more} more{others}") } else { String::new() };
        let shape = format!("{subject} has a different shape:");
        // Both sides, cut to where they differ.
        let (was, is) = apart(before, now, VALUE);
        match (self.what, before.as_str(), now.as_str()) {
            (What::Cost, ..) => with.clone(),
            (What::Request, ..) => format!("the request is `{now}`, not `{before}`"),
            (What::ResponseMissing, ..) => format!("the response to `{before}` is missing"),
            (What::ResponseExtra, ..) => format!("the response to `{now}` is not in the golden"),
            (What::Status, ..) => format!("the status is {now}, not {before}, in {subject}"),
            (What::Media, before, now) => {
                let named = |media: &'_ str| if media.is_empty() { "none".to_owned() } else { media.to_owned() };
                format!("the content type is {}, not {}, in {subject}", named(now), named(before))
            }
            (What::AtItsEnd(of), ..) => format!("text of the answer comes only when the model has ended (turn {of})"),
            (What::Early(turn), ..) => format!("a part of the answer comes before the model has ended (turn {turn})"),
            (What::EventIds(EventIds::None), ..) => "the events of the stream have no ids any more".to_owned(),
            (What::EventIds(EventIds::Some), ..) => "only some events of the stream have ids".to_owned(),
            (What::EventIds(EventIds::All), ..) => "the events of the stream have ids now".to_owned(),
            (What::IdsRepeat(was, is), ..) => ids_repeat(was, is),
            (What::Header | What::HeaderAttribute, ..) => self.of_header(&subject),
            (What::Page, "", "") => format!("`{place}` shows the same in a different order"),
            (What::Page, _, "") => format!("`{place}` shows no `{was}`"),
            (What::Page, "", _) => format!("`{place}` shows `{is}`, which the golden lacks"),
            (What::Page, ..) => format!("`{place}` shows `{is}`, not `{was}`"),
            (What::Ending, was, "") => format!("the stream no longer {was}"),
            (What::Ending, _, is) => format!("the stream now {is}"),
            (What::Renamed, ..) => format!("the event `{before}` is now called `{now}`"),
            (What::Unknown, ..) => format!("the event `{now}` came, which the golden lacks"),
            (What::Missing | What::Extra, _, "") => format!("{named} did not come"),
            (What::Missing | What::Extra, "", _) => format!("{named} came, which the golden lacks"),
            (What::Missing | What::Extra, was, is) => format!("{named} came {is}, not {was}"),
            (What::Moved, was, place) if !was.is_empty() => {
                format!("{subject} came in a different place: {place}, not {was}")
            }
            (What::Moved, _, place) if with.is_empty() => format!("{subject} came in a different place: {place}{more}"),
            (What::Moved, _, place) => format!("{subject} with `{with}` came in a different place: {place}{more}"),
            (What::CollapsedGone, was, _) => format!("{subject} no longer comes {was}"),
            (What::CollapsedMoved, _, place) => format!("{subject} also comes {place}"),
            (What::Top, was, "") if !was.is_empty() => format!("{subject} is empty, where it was `{was}`"),
            (What::Top | What::Length, ..) => format!("{subject} is `{is}`, not `{was}`"),
            (What::NamelessTop, ..) => format!("{subject} is `{now}`"),
            (What::SameNow, ..) => format!("the events {before} are `{now}` now"),
            (What::Keys, was, "") => format!("{shape} `/{was}` is gone"),
            (What::Keys, "", is) => format!("{shape} `/{is}` is new"),
            (What::Keys, was, is) => format!("{shape} `/{was}` is gone, and `/{is}` is new"),
            (What::Shape, _, "") => format!("{shape} `{place}` is gone{more}"),
            (What::Shape, "", _) => format!("{shape} `{place}` is new{more}"),
            (What::Shape, ..) if place.is_empty() => format!("{shape} it is `{is}`, not `{was}`"),
            (What::Shape, _, "\"\"") => format!("{shape} `{place}` is an empty text, not `{was}`{more}{with}"),
            (What::Shape, ..) => format!("{shape} `{place}` is `{is}`, not `{was}`{more}{with}"),
            (What::Counts, from, now) if now.contains(" | ") => {
                format!("{shape} `{place}` does not count one by one {from} any more: {is}{more}")
            }
            (What::Counts, ..) => format!("{shape} `{place}` is {is} each time, where it counted one by one{more}"),
            (What::Order, ..) => {
                let all = if place.is_empty() { "its elements" } else { &format!("the elements of `{place}`") };
                format!("{subject} has {all} in another order, or their values mixed up{more}")
            }
            (What::ShapeRenamed, _, is) => format!("{shape} `{place}` is now called `{is}`{more}"),
            (What::NullGone, ..) => format!("{shape} `{place}` is gone where it was null{more}"),
            (What::NullNew, ..) => format!("{shape} `{place}` is null where it was absent{more}"),
            (What::Value, was, "") => format!("{subject} has no value at `/{place}`, which was {was}"),
            (What::Value, "", is) => format!("{subject} has a value at `/{place}` that the golden lacks: {is}"),
            (What::Value, ..) => format!("{subject} has a different `/{place}`: {is}, not {was}"),
            (What::TextLine, ..) => format!("{subject} has a different line {}: {is}, not {was}", self.more + 1),
            (What::Text, _, turn) if self.words.is_some() => {
                format!("{subject} has {turn}, at `{place}`, which was not there: {}", clipped(with, VALUE))
            }
            (What::Text, ..) if !with.is_empty() => {
                format!("{subject} has the text at `{place}` in another Unicode form: {with}")
            }
            (What::Text, text, "") => format!("{subject} lacks the text at `{place}`: {text}"),
            (What::Text, "", text) => format!("{subject} has a text at `{place}` that the golden lacks: {text}"),
            (What::Text, was, is) if place.is_empty() => format!("{subject} has a different text: {is}, not {was}"),
            (What::Text, was, is) => format!("{subject} has a different text at `{place}`: {is}, not {was}"),
            (What::Words, ..) if ["", "\"\""].contains(&&**place) => self.lost_words(&subject),
            (What::Words, ..) => self.lost_words(&format!("`{place}` of {subject}")),
            (What::Manner(was, is), ..) => format!("{subject}: {}", manner(was, is, place)),
            (What::TextOrder, ..) => format!("{subject} has the same texts in a different order or number"),
            (What::Hash, ..) => {
                format!("{subject} has the same values, but at different places, in a different order or number")
            }
            (What::Each, ..) => format!("{subject} has the same values, but other ones stand together in one event"),
            (What::Ids, was, is) => {
                let what = match (was, is) {
                    (EACH_OTHER, "") => "they are no longer the same each time".to_owned(),
                    ("", EACH_OTHER) => "they are the same each time now".to_owned(),
                    (was, "") => format!("they are no longer those at {was}"),
                    ("", is) => format!("they are also those at {is} now"),
                    (was, is) => format!("they are those at {is}, not those at {was}"),
                };
                format!("{subject} has other ids at `{place}`: {what}")
            }
            (What::Something, ..) => "the run differs from the golden".to_owned(),
        }
    }
}

/// What a client that comes back with an id gets now.
fn ids_repeat(was: Repeat, is: Repeat) -> String {
    let what = match is {
        Repeat::From(is) => {
            let was = if let Repeat::From(was) = was { format!(", not at {was}") } else { String::new() };
            return format!("the ids of the stream's events begin at {is}{was}");
        }
        Repeat::No if matches!(was, Repeat::From(_)) => {
            "the ids of the stream's events do not count one by one any more"
        }
        Repeat::Yes => "an id of the stream's events is sent twice",
        Repeat::Varies => "ids of the stream's events may be sent twice",
        Repeat::Falls => "the ids of the stream's events do not rise from event to event",
        Repeat::No => "no id of the stream's events is sent twice or lower than one before it any more",
    };
    what.to_owned()
}

/// What happened to the pieces of a text at a place.
fn manner(was: Manner, is: Manner, place: &str) -> String {
    match (was, is) {
        (_, Manner { twice: true, .. }) => format!("each piece of `{place}` comes twice"),
        (_, Manner { grows: true, .. }) => format!("each piece of `{place}` repeats everything before it"),
        (_, Manner { then_whole: true, .. }) => {
            format!("the text at `{place}` comes again as a whole after its pieces")
        }
        (Manner { twice: true, .. }, _) => format!("each piece of `{place}` comes once"),
        (Manner { grows: true, .. }, _) => format!("no piece of `{place}` repeats those before it any more"),
        _ => format!("the text at `{place}` does not come again after its pieces"),
    }
}

/// What is said of ids that have the same place as themselves.
pub(super) const EACH_OTHER: &str = "each other";

impl Subject {
    pub(super) fn words(&self) -> String {
        match self {
            Subject::Response => "the response".to_owned(),
            Subject::Answer(request) => format!("the answer to `{request}`"),
            Subject::Body(request) => format!("the body of `{request}`"),
            Subject::Event(label) => format!("the event `{label}`"),
        }
    }
}
