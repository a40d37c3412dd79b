//! The traces of a file as a list.

use std::collections::BTreeSet;

use retake::__private::report::table;
use retake_base::text::clipped;
use time::OffsetDateTime;

use super::imported::Traces;
use super::{call, fields};

impl Traces {
    /// A line for each trace, under a line of titles: id, time, root span, calls, tokens, models, first words of the user.
    pub(crate) fn list(&self) -> Vec<String> {
        let titles =
            ["trace", "time (UTC)", "root span", "calls", "tokens", "models", "the user says"].map(str::to_owned);
        let mut rows = vec![titles];
        for trace in &self.all {
            let (calls, refused) = call::calls(trace);
            let known: BTreeSet<&str> = trace.iter().map(|span| span.id.as_str()).collect();
            let root = trace.iter().find(|span| !known.contains(span.parent.as_str())).unwrap_or(&trace[0]);
            let tokens: u64 =
                calls.iter().filter_map(|call| call.answer.usage).map(|usage| usage.input + usage.output).sum();
            let named = calls.iter().map(|call| call.model.as_str()).filter(|model| !model.is_empty());
            let of_spans = || trace.iter().filter_map(|span| span.first_text(fields::MODEL));
            let models: BTreeSet<&str> = if calls.is_empty() { of_spans().collect() } else { named.collect() };
            let says = calls.iter().flat_map(|call| &call.messages).find(|message| message.kind == "human");
            let says = says.map(|message| message.content.python_str()).unwrap_or_default();
            let says = says.split_whitespace().collect::<Vec<_>>().join(" ");
            let refused = if refused.is_empty() { String::new() } else { format!(" (and {} refused)", refused.len()) };
            let time =
                OffsetDateTime::from_unix_timestamp_nanos(root.start.into()).unwrap_or(OffsetDateTime::UNIX_EPOCH);
            let (hour, minute, second) = time.to_hms();
            let time = format!("{} {hour:02}:{minute:02}:{second:02}", time.date());
            rows.push([
                root.trace.clone(),
                if root.start == 0 { "-".to_owned() } else { time },
                clipped(&root.name, 30).into_owned(),
                format!("{}{refused}", calls.len()),
                tokens.to_string(),
                models.into_iter().collect::<Vec<_>>().join(", "),
                clipped(&says, 50).into_owned(),
            ]);
        }
        table(&rows)
    }
}
