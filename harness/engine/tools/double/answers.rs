//! Chooses the recorded exchange that answers a request. Pure.

use std::collections::BTreeSet;

use super::server::Asked;
use super::streams::{opened_by, subscription_of};
use crate::tools::difference::{Difference, differences};
use retake_core::json::{Json, Layout};
use retake_core::key::{Normalizer, dates};
use retake_core::secrets::{Fired, Scrub};
use retake_model::MissReason;
use retake_wire::fixture::{Lack, ToolExchange, ToolId, ToolMessage, is_call, is_safe};

/// Whether a request says in this run what a recorded one said.
type SaysTheSame = Box<dyn Fn(&str, &str) -> bool + Send>;

/// The recorded exchanges of one server, and which of them have been served.
pub(super) struct Answers {
    exchanges: Vec<Recorded>,
    normalizer: Normalizer,
    scrub: Scrub,
    says_the_same: SaysTheSame,
}

#[derive(Debug)]
struct Recorded {
    key: String,
    /// The days and points in time of the request.
    dates: Json,
    exchange: ToolExchange,
    served: bool,
    /// Whether its days stayed in all requests that it answered, or else were as far from today; `None` if some were neither.
    stay: Option<bool>,
    /// The headers of all requests that it answered; `None` if it answered none.
    headers: Option<Vec<String>>,
    /// The ids of the request that it answered; none if it answered several with others.
    ids: Option<Vec<ToolId>>,
}

impl Answers {
    pub(super) fn new(exchanges: &[ToolExchange], normalizer: &Normalizer, scrub: &Scrub) -> Answers {
        let mut answers = Answers {
            exchanges: Vec::new(),
            normalizer: normalizer.clone(),
            scrub: scrub.clone(),
            says_the_same: Box::new(|_, _| false),
        };
        let recorded = exchanges.iter().map(|exchange| Recorded {
            key: answers.key(&exchange.method, &exchange.params),
            dates: answers.dates(&exchange.method, &exchange.params),
            exchange: exchange.clone(),
            served: false,
            stay: Some(true),
            headers: None,
            ids: None,
        });
        answers.exchanges = recorded.collect();
        answers
    }

    /// Sets the second look at a request that was not recorded: whether a recorded one says the same by what the run knows.
    pub(super) fn with_second_look(self, says_the_same: impl Fn(&str, &str) -> bool + Send + 'static) -> Answers {
        Answers { says_the_same: Box::new(says_the_same), ..self }
    }

    /// Takes the first exchange of this request that was not served yet, and returns its index with it. Requests for a list may be made
    /// any number of times, with `repeats` all requests; then the exchange is served again without what the server sent besides its
    /// answer, since it sent that once.
    /// Fails if there is none: the reason, and the evidence that a person needs.
    pub(super) fn take(
        &mut self,
        asked: &ToolExchange,
        repeats: bool,
    ) -> Result<(usize, ToolExchange), (MissReason, Vec<String>)> {
        let ToolExchange { method, params, headers, .. } = asked;
        let mut key = self.key(method, params);
        if self.exchanges.iter().all(|recorded| recorded.key != key) {
            let recorded = self.exchanges.iter().map(|recorded| &recorded.key);
            let same: BTreeSet<&String> = recorded.filter(|recorded| (self.says_the_same)(recorded, &key)).collect();
            key = same.first().filter(|_| same.len() == 1).map_or(key, |one| (*one).clone());
        }
        let dates = self.dates(method, params);
        let all = &self.exchanges;
        let told = |dates: &Json| dates.print(Layout::Compact);
        let differ = |of: &usize| all[*of].dates != dates;
        let moved = |of: &usize| differ(of) && !(self.says_the_same)(&told(&all[*of].dates), &told(&dates));
        let may_differ = |of: &usize| all[*of].exchange.dates_stay.is_none_or(|stay| !stay && !moved(of));
        let fits = |of: &usize| all[*of].key == key && (!differ(of) || may_differ(of));
        let same: Vec<usize> = (0..all.len()).filter(fits).collect();
        // Of several, the one that tells the same days, rather those that it told than those as far from today, and has no other headers.
        let lacks = |of: &usize| all[*of].exchange.headers.iter().any(|name| !headers.contains(name));
        let rank = |of: &usize| (moved(of), differ(of), lacks(of));
        let open = same.iter().copied().filter(|&of| !all[of].served).min_by_key(rank);
        // An answer to a use is served only once, unless that changes nothing over HTTP.
        let may_again = repeats || !is_use(method) || is_safe(method);
        let again = same.iter().rev().copied().filter(|_| may_again).min_by_key(rank);
        let Some(index) = open.or(again) else {
            let (call, times) = (called(method, params), same.len());
            let (differs, evidence) = self.evidence(method, params, if times == 0 { 3 } else { 0 });
            let never = MissReason::ToolNotRecorded { call: call.clone(), differs };
            return Err((if times == 0 { never } else { MissReason::ToolAllServed { call, times } }, evidence));
        };
        let (differs, moved) = (differ(&index), moved(&index));
        let recorded = &mut self.exchanges[index];
        recorded.stay = recorded.stay.filter(|_| !moved).map(|stay| stay && !differs);
        let of_all = recorded.headers.get_or_insert_with(|| headers.clone());
        of_all.retain(|name| headers.contains(name));
        let again = std::mem::replace(&mut recorded.served, true);
        let mut exchange = recorded.exchange.clone();
        if again {
            // Each request gets its own of what names the request to which it belongs.
            let is_opening = |of: &ToolMessage| opened_by(Some(&of.method), &of.params).is_some();
            exchange.messages.retain(|of| of.params.get("progressToken").is_some() || is_opening(of));
            exchange.then.clear();
        }
        Ok((index, exchange))
    }

    /// Notes the ids in a request that an exchange answers.
    pub(super) fn note_ids(&mut self, index: usize, ids: Vec<ToolId>) {
        let noted = &mut self.exchanges[index].ids;
        *noted = Some(if noted.as_ref().is_none_or(|noted| *noted == ids) { ids } else { Vec::new() });
    }

    /// Opens an exchange again, whose answer nobody got.
    pub(super) fn open(&mut self, index: usize) {
        self.exchanges[index].served = false;
    }

    /// Opens all exchanges again, for another run.
    pub(super) fn anew(&mut self) {
        self.exchanges.iter_mut().for_each(|recorded| recorded.served = false);
    }

    /// Whether the server sent something that belongs to no request and to no subscription, for which agents keep a stream open.
    pub(super) fn any_unasked(&self) -> bool {
        let mut then = self.exchanges.iter().flat_map(|recorded| &recorded.exchange.then);
        then.any(|message| subscription_of(&message.params).is_none())
    }

    /// The exchanges that were served, in recorded order, with the headers and ids of now.
    pub(super) fn served(&self) -> Vec<ToolExchange> {
        let served = self.exchanges.iter().filter(|recorded| recorded.served);
        let now = |of: &Recorded| (of.headers.clone().unwrap_or_default(), of.ids.clone().unwrap_or_default());
        let served = served.map(|of| (now(of), of.exchange.clone()));
        served.map(|((headers, ids), exchange)| ToolExchange { headers, ids, ..exchange }).collect()
    }

    /// The headers of recorded requests that those in their place lacked, each with the index of its request.
    fn lacking(&self) -> Vec<(usize, String)> {
        let lacking = |(index, recorded): (usize, &Recorded)| {
            let came = recorded.headers.as_ref()?;
            // The value of one that is gone is not told.
            let name_came = |of: &str| of.split_once(": ").is_none_or(|(name, _)| came.contains(&name.to_owned()));
            let lacks = |header: &&String| !came.contains(header) && name_came(header);
            let names = recorded.exchange.headers.iter().filter(lacks).cloned();
            Some(names.map(|name| (index, name)).collect::<Vec<_>>())
        };
        self.exchanges.iter().enumerate().filter_map(lacking).flatten().collect()
    }

    /// Adds what is known of the recorded requests, and of those that they answered, to what the doubles of a stage were asked.
    pub(super) fn told_to(&self, asked: &mut Asked, server: &str) {
        let at = |index| (server.to_owned(), index);
        for (index, line) in self.unused() {
            asked.unused_at.push(at(index));
            asked.unused.push(format!("`{server}`: {line}"));
        }
        asked.dates_stay.extend(self.dates_stay().map(|(index, stay)| (at(index), stay)));
        asked.lacking.extend(self.lacking().into_iter().map(|(index, header)| (at(index), Lack::Header(header))));
        let with_ids = |of: &Recorded| of.ids.clone().filter(|ids| !ids.is_empty());
        let all = self.exchanges.iter().enumerate();
        asked.ids.extend(all.filter_map(|(index, of)| Some((at(index), of.key.clone(), with_ids(of)?))));
    }

    /// Describes the recorded calls, reads and prompts that no request asked for, each with its index. What changes nothing over HTTP may
    /// be asked less often, as it may be asked again, if its answers are the same.
    fn unused(&self) -> Vec<(usize, String)> {
        let is_same = |one: &Recorded, other: &Recorded| {
            (&one.key, &one.dates, &one.exchange.answer) == (&other.key, &other.dates, &other.exchange.answer)
        };
        let is_known = |one: &Recorded| self.exchanges.iter().any(|other| other.served && is_same(one, other));
        let unused = self.exchanges.iter().enumerate();
        let unused = unused.filter(|(_, recorded)| !recorded.served && is_use(&recorded.exchange.method));
        let unused = unused.filter(|(_, recorded)| !(is_safe(&recorded.exchange.method) && is_known(recorded)));
        unused.map(|(index, recorded)| (index, asked(&recorded.exchange.method, &recorded.exchange.params))).collect()
    }

    /// The indices of the recorded requests with days in whose place were made only such with the same days, or with days as far from
    /// today, each with whether they are the same.
    fn dates_stay(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        let dated = self.exchanges.iter().enumerate().filter(|(_, recorded)| recorded.dates.is_truthy());
        dated.filter_map(|(index, recorded)| Some((index, recorded.stay?)))
    }

    /// The days and points in time of a request, as far as no rule of the suite replaces them. MCP's versions are dates.
    fn dates(&self, method: &str, params: &Json) -> Json {
        let mut params = if method == "initialize" { Json::Null } else { params.clone() };
        self.normalizer.own_in(&mut params, true);
        dates(&params.print(Layout::Compact))
    }

    /// Returns the key of a request. Requests that count as the same have the same key.
    fn key(&self, method: &str, params: &Json) -> String {
        // The parameters of `initialize` hold the client's version, which changes with every update of the client.
        if method == "initialize" {
            return method.to_owned();
        }
        format!("{method} {}", self.reduced(params).print(Layout::Compact))
    }

    fn reduced(&self, params: &Json) -> Json {
        let mut params = params.clone();
        self.reduce(&mut params);
        // Some clients leave out what has nothing in it.
        if params == Json::Null { Json::object::<String>([]) } else { params }
    }

    /// Removes from a value what may differ from run to run.
    pub(super) fn reduce(&self, json: &mut Json) {
        self.scrub.json(json, &mut Fired::new());
        crate::tools::comparison::normalize(json, &self.normalizer);
    }

    /// Describes the request, the nearest recorded request for the same tool, and where the two differ: in short, if the two are
    /// alike, and in lines, at `shown` places.
    fn evidence(&self, method: &str, params: &Json, shown: usize) -> (Option<String>, Vec<String>) {
        let mut lines = vec![format!("asked      {}", asked(method, params))];
        let same_tool = self.exchanges.iter().enumerate().filter(|(_, recorded)| {
            let exchange = &recorded.exchange;
            exchange.method == method && exchange.params.get("name") == params.get("name")
        });
        let now = self.reduced(params);
        let others = || self.exchanges.iter().filter(|of| !of.served && of.exchange.method != method);
        let at = |path| others().find(|of| self.reduced(&of.exchange.params).get("path") == Some(path));
        if let Some(of) = now.get("path").and_then(at) {
            lines.push(format!("recorded   {}", asked(&of.exchange.method, &of.exchange.params)));
            return (Some(format!("was recorded as `{}`", of.exchange.method)), lines);
        }
        let parting = |recorded: &Recorded| {
            let found = differences("", Some(&self.reduced(&recorded.exchange.params)), Some(&now));
            let all = differences("", Some(&recorded.exchange.params), Some(params)).into_iter();
            let days = all.filter(|one| one.shown(usize::MAX).iter().any(|text| dates(text).is_truthy()));
            if found.is_empty() { days.collect() } else { found }
        };
        // A request of another path that differs in more than its path is another request.
        let is_other = |found: &[Difference]| found.len() > 1 && found.iter().any(|one| one.pointer == "/path");
        // Of equally near ones, the one that is due; if that is another request, one that was made: this one comes on top of it.
        let due = self.unused().first().map(|(index, _)| *index);
        let rank = |index, recorded: &Recorded| (Some(index) != due, !recorded.served);
        let nearest = same_tool.map(|(index, recorded)| (parting(recorded), rank(index, recorded), recorded));
        let nearest = nearest.min_by_key(|(found, rank, _)| (is_other(found), found.len(), *rank));
        let Some((found, _, recorded)) = nearest else {
            let is_tool = params.get("name").is_some();
            let none = if is_tool { "request for this tool".to_owned() } else { format!("`{method}` at all") };
            lines.push(format!("recorded   no {none}"));
            return (None, lines);
        };
        lines.push(format!("recorded   {}", asked(method, &recorded.exchange.params)));
        for difference in found.iter().take(shown) {
            let [then, now] = difference.shown(usize::MAX);
            lines.push(format!("difference at {}: {then} → {now}", difference.pointer));
        }
        let body = now.str_of("text").and_then(|text| Json::parse(text.as_bytes()).ok());
        if found.len() == 2
            && body.is_some_and(|body| self.reduced(&recorded.exchange.params).get("json") == Some(&body))
        {
            return (Some("has the recorded body, but no content type of JSON any more".to_owned()), lines);
        }
        let elsewhere = called(method, params) != called(method, &recorded.exchange.params);
        let first = found.first().filter(|_| !(is_other(&found) || recorded.served && elsewhere)).map(|first| {
            let ([then, now], at) = (first.shown(SHORT), &first.pointer);
            let more = if found.len() > 1 { format!(", and {} more", found.len() - 1) } else { String::new() };
            let how = match (recorded.served, &first.actual) {
                (false, _) => format!("has a different `{at}` than recorded ({then} → {now})"),
                (true, Some(_)) => format!("was never recorded with `{at}` {now}"),
                (true, None) => format!("was never recorded without `{at}`"),
            };
            how + &more
        });
        (first, lines)
    }
}

/// How much of a value is in the first line of a miss.
const SHORT: usize = 40;

/// Whether a request is for what a server does or holds, and not for what it lists.
pub(super) fn is_use(method: &str) -> bool {
    is_call(method) || matches!(method, "resources/read" | "prompts/get" | "completion/complete")
}

/// Describes a request in a few words: `` `tools/call` of `read_file` ``.
fn called(method: &str, params: &Json) -> String {
    let name = ["name", "uri", "path"].into_iter().find_map(|field| params.str_of(field));
    name.map_or_else(|| format!("`{method}`"), |name| format!("`{method}` of `{name}`"))
}

/// Describes a request in one line: its method and the beginning of its parameters.
pub(super) fn asked(method: &str, params: &Json) -> String {
    let text = params.print(Layout::Python);
    format!("{method} {}", retake_base::text::clipped(&text, 200))
}

#[cfg(test)]
mod tests;
