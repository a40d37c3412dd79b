//! Remembers the checks of recent calls. An agent sends the same prompt and the same tools with each call, and both are long.

use std::sync::Arc;

use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_core::key::{Check, CheckTexts, Checks, Hash, Normalizer};
use retake_wire::Call;

/// The texts of a call's checks, and their hashes.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The normalized texts.
    pub texts: CheckTexts,
    /// Their hashes.
    pub hashes: Checks,
}

impl From<CheckTexts> for Checked {
    fn from(texts: CheckTexts) -> Checked {
        Checked { hashes: texts.hashes(), texts }
    }
}

impl Checked {
    /// Adds what differs from call to call.
    pub(super) fn with_extra_and_dates(&self, normalizer: &Normalizer, extra: Option<Json>, dates: Json) -> Checked {
        let texts = self.texts.clone().with_dates(normalizer, dates);
        let texts = extra.into_iter().fold(texts, |texts, extra| texts.with_extra(normalizer, extra));
        let hash = |check| texts.of(check).map(|text| Hash::of(text.as_bytes()));
        Checked { hashes: Checks { extra: hash(Check::Extra), dates: hash(Check::Dates), ..self.hashes }, texts }
    }
}

/// How many combinations of prompt, tools, model and settings are remembered: about as many as a system has callers.
const REMEMBERED: usize = 16;

/// The checks of recent calls.
#[derive(Debug, Default)]
pub(super) struct RecentChecks(Mutex<Vec<Recent>>);

#[derive(Debug)]
struct Recent {
    /// The prompt and the model, the tools, the settings and the form.
    of: ([String; 2], [Json; 3]),
    checked: Arc<Checked>,
}

impl RecentChecks {
    /// Returns the checks of a call. `results` is the text of the check of its tool results; it is empty for most calls.
    pub(super) fn of(&self, call: &Call, results: &str, normalizer: &Normalizer) -> Arc<Checked> {
        let checked = self.of_all_but_results(call, normalizer);
        if results.is_empty() {
            return checked;
        }
        Arc::new(Checked::from(checked.texts.clone().with(Check::Results, results.into())))
    }

    fn of_all_but_results(&self, call: &Call, normalizer: &Normalizer) -> Arc<Checked> {
        let of = ([&call.system, &call.model], [&call.tools, &call.settings, &call.form]);
        let same = |Recent { of: (texts, json), .. }: &Recent| (texts.each_ref(), json.each_ref()) == of;
        let mut all = self.0.lock();
        if let Some(known) = all.iter().rposition(same) {
            return all[known].checked.clone();
        }
        let checked = Arc::new(Checked::from(call.checks_but_results(normalizer)));
        if all.len() == REMEMBERED {
            all.remove(0);
        }
        all.push(Recent { of: (of.0.map(Clone::clone), of.1.map(Clone::clone)), checked: checked.clone() });
        checked
    }
}
