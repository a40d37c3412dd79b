//! Finds today's date in texts.

use std::cell::LazyCell;

use regex::Regex;
use time::{Date, Duration, OffsetDateTime};

use retake_core::json::Json;
use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

/// The names of tools whose recorded results contain today's date in a form that keys do not replace, in the order of their
/// calls.
pub(super) fn tools_with_today(fixture: &Fixture, rules: &Rules) -> Vec<String> {
    let today = OffsetDateTime::now_utc().date();
    // In some time zones it is still yesterday or already tomorrow.
    let days = [today - Duration::DAY, today, today + Duration::DAY];
    // Each form ends or begins with the year. To compile them takes longer than to read all results without it.
    let years = days.map(|day| format!("{:02}", day.year() % 100));
    let forms: LazyCell<Vec<Regex>, _> = LazyCell::new(|| days.into_iter().flat_map(forms).collect());
    let mut tools: Vec<String> = Vec::new();
    for index in 0..fixture.table.turns().len() {
        let messages = fixture.conversation(index, rules).unwrap_or_default();
        for message in messages.iter().filter(|message| message.str_of("type") == Some("tool")) {
            let name = message.str_of("name").unwrap_or("unknown").to_owned();
            let content = message.get("content").and_then(Json::as_str).unwrap_or_default();
            let may_tell_it = years.iter().any(|year| content.contains(year));
            if may_tell_it && !tools.contains(&name) && forms.iter().any(|form| form.is_match(content)) {
                tools.push(name);
            }
        }
    }
    tools
}

/// Patterns of a day in all forms except the one that keys replace.
fn forms(day: Date) -> Vec<Regex> {
    let (year, month, of_month) = (day.year(), u8::from(day.month()), day.day());
    let name: String = day.month().to_string().chars().take(3).collect();
    let forms = [
        format!(r"\b{year}{month:02}{of_month:02}"),
        format!(r"\b{year}[/.]0?{month}[/.]0?{of_month}\b"),
        format!(r"\b0?{of_month}[/.]0?{month}[/.](?:{year}|{:02})\b", year % 100),
        format!(r"\b0?{month}/0?{of_month}/(?:{year}|{:02})\b", year % 100),
        format!(r"(?i)\b{name}[a-z]*\.? +0?{of_month}(?:st|nd|rd|th)?,? (?:\d\d:\d\d:\d\d )?(?:[A-Z]+ )?{year}\b"),
        // Names of months in any language.
        format!(r"\b0?{of_month}(?:st|nd|rd|th|\.)?[ -](?:de |of )?\p{{L}}{{3,12}}\.?,?[ -](?:de )?{year}\b"),
        format!("{year}年0?{month}月0?{of_month}日"),
    ];
    forms.iter().filter_map(|form| Regex::new(form).ok()).collect()
}

#[cfg(test)]
mod tests;
