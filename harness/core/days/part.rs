//! One part of a rendering of a day: the name of its weekday or month, a number of it, or its week.

use time::Date;

use super::calendar::{COMPARED, Fortnight};
use super::names::{Name, Names};

/// The days of a fortnight that a text may tell: one bit a day.
pub(super) type Mask = u16;

pub(super) const ALL_DAYS: Mask = (1 << COMPARED) - 1;

/// What a part tells of a day. A rendering tells each of these once at most.
pub(super) mod kind {
    pub(in super::super) const YEAR: u8 = 1;
    pub(in super::super) const MONTH: u8 = 2;
    pub(in super::super) const DAY: u8 = 4;
    /// The month and the day in it.
    pub(in super::super) const DATE: u8 = MONTH | DAY;
    pub(in super::super) const WEEKDAY: u8 = 8;
    pub(in super::super) const WEEK: u8 = 16;
}

/// How a part is written. With a day, it is a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Name {
        name: Name,
        of_month: bool,
    },
    Number {
        what: Field,
        width: Width,
        zero: char,
        ordinal: Ordinal,
    },
    /// Several numbers without anything between them.
    Row {
        fields: &'static [(Field, usize)],
        zero: char,
    },
    /// The number of a week, with the word or the letter that says so before or after it.
    Week {
        before: String,
        two_digits: bool,
        after: String,
    },
}

/// A number of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Year,
    /// The year that the week belongs to.
    YearOfWeek,
    Month,
    Day,
    /// The number of the weekday, which counts from Monday.
    Weekday,
}

/// How many digits a number has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// As many as it needs.
    Any,
    /// So many, with zeros in front.
    Zeros(usize),
    /// Two places, with a space in front.
    Space,
}

/// What follows the number of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ordinal {
    None,
    /// `1st`, `2nd`, `3rd`, `4th`.
    English,
    /// `1er`, then nothing.
    French,
    /// `1º`, then nothing.
    Spanish,
}

const ROWS: [&[(Field, usize)]; 7] = [
    &[(Field::Year, 4), (Field::Month, 2), (Field::Day, 2)],
    &[(Field::Day, 2), (Field::Month, 2), (Field::Year, 4)],
    &[(Field::Month, 2), (Field::Day, 2), (Field::Year, 4)],
    &[(Field::Year, 2), (Field::Month, 2), (Field::Day, 2)],
    &[(Field::Day, 2), (Field::Month, 2), (Field::Year, 2)],
    &[(Field::Month, 2), (Field::Day, 2), (Field::Year, 2)],
    &[(Field::Year, 4), (Field::Month, 2)],
];

impl Field {
    fn of(self, day: Date) -> u32 {
        let year = |year: i32| u32::try_from(year).unwrap_or_default();
        match self {
            Field::Year => year(day.year()),
            Field::YearOfWeek => year(day.to_iso_week_date().0),
            Field::Month => u32::from(u8::from(day.month())),
            Field::Day => u32::from(day.day()),
            Field::Weekday => u32::from(day.weekday().number_from_monday()),
        }
    }

    fn kind(self) -> u8 {
        match self {
            Field::Year | Field::YearOfWeek => kind::YEAR,
            Field::Month => kind::MONTH,
            Field::Day => kind::DAY,
            Field::Weekday => kind::WEEKDAY,
        }
    }
}

impl Ordinal {
    fn after(self, number: u32) -> &'static str {
        match self {
            Ordinal::English if (11..=13).contains(&(number % 100)) => "th",
            Ordinal::English => ["th", "st", "nd", "rd"].get(number as usize % 10).unwrap_or(&"th"),
            Ordinal::French if number == 1 => "er",
            Ordinal::Spanish if number == 1 => "º",
            Ordinal::None | Ordinal::French | Ordinal::Spanish => "",
        }
    }
}

impl Form {
    /// Writes the part for a day.
    pub(super) fn of(&self, day: Date) -> String {
        match self {
            Form::Name { name, .. } => Names::all().spelled(*name, self.place(day)),
            Form::Number { what, width, zero, ordinal } => {
                let value = what.of(day);
                let digits = match width {
                    Width::Any => value.to_string(),
                    Width::Zeros(width) => last_digits(value, *width),
                    Width::Space => format!("{value:2}"),
                };
                in_script(&digits, *zero) + ordinal.after(value)
            }
            Form::Row { fields, zero } => {
                let digits: String = fields.iter().map(|(field, width)| last_digits(field.of(day), *width)).collect();
                in_script(&digits, *zero)
            }
            Form::Week { before, two_digits, after } => {
                let week = day.iso_week();
                if *two_digits { format!("{before}{week:02}{after}") } else { format!("{before}{week}{after}") }
            }
        }
    }

    /// What the part tells of a day.
    pub(super) fn kinds(&self) -> u8 {
        match self {
            Form::Name { of_month: true, .. } => kind::MONTH,
            Form::Name { of_month: false, .. } => kind::WEEKDAY,
            Form::Number { what, .. } => what.kind(),
            Form::Row { fields, .. } => fields.iter().fold(0, |kinds, (field, _)| kinds | field.kind()),
            Form::Week { .. } => kind::WEEK,
        }
    }

    /// Whether the part tells by itself that it is about a day.
    pub(super) fn is_telling(&self) -> bool {
        !matches!(self, Form::Number { .. })
    }

    /// Whether the part tells something only beside a week.
    pub(super) fn needs_week(&self) -> bool {
        matches!(self, Form::Number { what: Field::YearOfWeek | Field::Weekday, .. })
    }

    /// Whether a number may be this part of a day, judged by its value. Cheaper than to write it.
    fn may_be(&self, value: u32, day: Date) -> bool {
        match self {
            Form::Number { what: Field::Year, width: Width::Zeros(2), .. } => Field::Year.of(day) % 100 == value,
            Form::Number { what, .. } => what.of(day) == value,
            _ => true,
        }
    }

    /// The place of a day's name in its list.
    fn place(&self, day: Date) -> usize {
        match self {
            Form::Name { of_month: true, .. } => usize::from(u8::from(day.month())) - 1,
            _ => usize::from(day.weekday().number_days_from_monday()),
        }
    }

    /// Whether the part would end within a number.
    fn splits_number(&self, written: &str, rest: &str) -> bool {
        // A row may be the beginning of a longer one: `20261124093000`.
        let long = matches!(self, Form::Row { fields, .. } if fields.len() == 3 && fields[0].1 == 4);
        let is_digit = |c: Option<char>| c.is_some_and(|c| digit(c).is_some());
        !long && is_digit(written.chars().next_back()) && is_digit(rest.chars().next())
    }

    /// Whether a text, from an offset on, has the part as it is written for a day. Returns where it ends.
    pub(super) fn ends_at(&self, text: &str, at: usize, day: Date) -> Option<usize> {
        let written = self.of(day);
        (!self.splits_number(&written, text[at..].strip_prefix(&*written)?)).then_some(at + written.len())
    }
}

/// Returns the parts that begin at an offset of a text, each with the days of which it is true and where it ends.
pub(super) fn parts_at(text: &str, at: usize, days: &Fortnight) -> Vec<(Form, Mask, usize)> {
    let rest = &text[at..];
    let Some(first) = rest.chars().next().filter(|_| may_begin(text, at)) else { return Vec::new() };
    let mut forms = Vec::new();
    let digits = rest.trim_start_matches(' ').chars().map_while(digit).take(8);
    let value = digits.fold(0, |value, (_, digit)| 10 * value + digit);
    // A space behind a word stands between it and a number.
    let is_behind_word = text[..at].ends_with(|c: char| c.is_alphanumeric() || ",.".contains(c));
    if first == ' ' && !is_behind_word {
        forms.push(Form::Number { what: Field::Day, width: Width::Space, zero: '0', ordinal: Ordinal::None });
    } else if let Some((zero, _)) = digit(first) {
        numbers(rest, zero, &mut forms);
    } else {
        weeks(rest, &mut forms);
    }
    let found = forms.into_iter().filter_map(|form| {
        // A part is written alike for all days of which it is true.
        let days = days.iter().enumerate().filter(|(_, day): &(usize, &Date)| form.may_be(value, **day));
        let mut days = days.filter_map(|(index, day)| Some((index, form.ends_at(text, at, *day)?)));
        let (first, end) = days.next()?;
        let mask = days.fold(1 << first, |mask, (index, _)| mask | 1 << index);
        Some((form, mask, end))
    });
    found.chain(names_at(text, at, days)).collect()
}

/// Returns the names that begin at an offset of a text.
fn names_at(text: &str, at: usize, days: &Fortnight) -> impl Iterator<Item = (Form, Mask, usize)> {
    let names = Names::all();
    names.at(&text[at..]).filter_map(move |(name, place, length)| {
        let form = Form::Name { name, of_month: names.is_of_month(name) };
        let is_true = |(_, day): &(usize, &Date)| form.place(**day) == place;
        let mask = days.iter().enumerate().filter(is_true).fold(0, |mask, (index, _)| mask | 1 << index);
        let (name, rest) = (&text[at..at + length], &text[at + length..]);
        // A short name may begin a longer word.
        let ends_within = || is_cased(name.chars().next_back()) && is_cased(rest.chars().next());
        let splits_word = name.chars().nth(LONG - 1).is_none() && ends_within();
        let whole = !form.splits_number(name, rest) && !splits_word;
        (mask != 0 && whole).then_some((form, mask, at + length))
    })
}

/// How many letters a name has at least to which an ending may be added: `Dienstags`, `tiistaina`.
const LONG: usize = 5;

/// Whether a part may begin at an offset of a text: not within a number, nor within a word. Scripts without capitals write names and
/// other words together.
pub(super) fn may_begin(text: &str, at: usize) -> bool {
    let Some(first) = text[at..].chars().next() else { return false };
    let mut back = text[..at].chars().rev();
    let before = back.next();
    if digit(first).is_some() {
        return before.is_none_or(|before| digit(before).is_none());
    }
    // In the JSON of a message, a letter after a backslash is an escape: `\nTuesday`.
    first == ' ' || (first.is_alphabetic() && !(is_cased(Some(first)) && is_cased(before) && back.next() != Some('\\')))
}

fn is_cased(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_lowercase() || c.is_uppercase())
}

/// Adds the forms that the number at the beginning of a text may have.
fn numbers(text: &str, zero: char, forms: &mut Vec<Form>) {
    let digits = text.chars().take_while(|c| digit(*c).is_some_and(|(of, _)| of == zero)).count();
    let number = |what, width| Form::Number { what, width, zero, ordinal: Ordinal::None };
    match digits {
        1 | 2 => {
            for what in [Field::Month, Field::Day] {
                forms.extend([Width::Any, Width::Zeros(2)].map(|width| number(what, width)));
            }
            for ordinal in [Ordinal::English, Ordinal::French, Ordinal::Spanish] {
                forms.push(Form::Number { what: Field::Day, width: Width::Any, zero, ordinal });
            }
            let others = [(Field::Day, Width::Space), (Field::Year, Width::Zeros(2)), (Field::Weekday, Width::Any)];
            forms.extend(others.map(|(what, width)| number(what, width)));
            week_before_its_word(text, digits, forms);
        }
        4 => forms.extend([Field::Year, Field::YearOfWeek].map(|what| number(what, Width::Zeros(4)))),
        _ => {
            let row = |fields: &'static [(Field, usize)]| {
                let width: usize = fields.iter().map(|(_, width)| width).sum();
                (width == digits || (width == 8 && digits >= 12 && fields[0].1 == 4))
                    .then_some(Form::Row { fields, zero })
            };
            forms.extend(ROWS.into_iter().filter_map(row));
        }
    }
}

/// The most characters between a number and the word for week.
const BETWEEN: usize = 2;

/// Adds weeks whose word or letter is before their number: `W48`, `week 48`.
fn weeks(text: &str, forms: &mut Vec<Form>) {
    let letter = text.starts_with(['W', 'w']).then_some(1);
    for word in letter.into_iter().chain(Names::all().weeks_at(text)) {
        let gap = gap(&text[word..]);
        // The letter alone stands at its number.
        if (Some(word) == letter && gap > 0) || !text[word + gap..].starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        forms.extend(week(&text[..word + gap], ""));
    }
}

/// The number of a week, with two digits and with as many as it needs, between what stands before and after it.
fn week(before: &str, after: &str) -> [Form; 2] {
    [true, false].map(|two_digits| Form::Week { before: before.to_owned(), two_digits, after: after.to_owned() })
}

/// Adds weeks whose word is after their number: `48. Woche`.
fn week_before_its_word(text: &str, digits: usize, forms: &mut Vec<Form>) {
    let rest = text.get(digits..).unwrap_or_default();
    let gap = gap(rest);
    for word in Names::all().weeks_at(&rest[gap..]) {
        forms.extend(week("", &rest[..gap + word]));
    }
}

/// Returns the length of the few characters at the beginning of a text that are neither letters nor digits.
fn gap(text: &str) -> usize {
    text.chars().take(BETWEEN).take_while(|c| !c.is_alphanumeric()).map(char::len_utf8).sum()
}

/// Returns the last digits of a number, with zeros in front.
fn last_digits(value: u32, width: usize) -> String {
    let digits = format!("{value:0width$}");
    digits[digits.len() - width..].to_owned()
}

/// The zeros of scripts in which dates are written.
const ZEROS: [char; 14] = [
    '0', '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{a66}', '\u{ae6}', '\u{b66}', '\u{be6}', '\u{c66}', '\u{ce6}',
    '\u{e50}', '\u{1040}', '\u{ff10}',
];

/// Returns the zero of a digit's script, and the digit's value.
pub(super) fn digit(c: char) -> Option<(char, u32)> {
    let value = |zero: &char| (c as u32).checked_sub(*zero as u32).filter(|of| *of < 10).map(|of| (*zero, of));
    if c.is_ascii() { c.to_digit(10).map(|value| ('0', value)) } else { ZEROS.iter().find_map(value) }
}

/// Returns ASCII digits in another script.
fn in_script(digits: &str, zero: char) -> String {
    let written = |c: char| c.to_digit(10).and_then(|value| char::from_u32(zero as u32 + value)).unwrap_or(c);
    digits.chars().map(written).collect()
}
