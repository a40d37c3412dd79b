//! The names of weekdays and months in many languages, and their words for week. `names.txt` is generated from CLDR, which a test
//! compares it with.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The table: one list a line. A list of twelve names is of months, one of seven is of weekdays from Monday on, and one of up to two
/// is of words for week.
const TABLE: &str = include_str!("names.txt");

/// All lists, and where a name may begin.
pub(super) struct Names {
    lists: Vec<Vec<String>>,
    /// From a name's first two letters, in lower case, to its list and its place there.
    by_first: HashMap<Beginning, Vec<(usize, usize)>>,
    /// The words for week by their first letter, in lower case.
    weeks: HashMap<char, Vec<String>>,
}

/// The first letter and the second, if there is one, in lower case.
type Beginning = (char, Option<char>);

/// A name in one list, as it is spelled in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    list: usize,
    letters: Letters,
}

/// How a name is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letters {
    AsListed,
    Lower,
    Upper,
    /// The first letter is a capital.
    Title,
}

impl Letters {
    const ALL: [Letters; 4] = [Letters::AsListed, Letters::Lower, Letters::Upper, Letters::Title];

    fn spell(self, name: &str) -> String {
        match self {
            Letters::AsListed => name.to_owned(),
            Letters::Lower => name.to_lowercase(),
            Letters::Upper => name.to_uppercase(),
            Letters::Title => {
                let mut letters = name.chars();
                let first = letters.next().into_iter().flat_map(char::to_uppercase);
                first.chain(letters.flat_map(char::to_lowercase)).collect()
            }
        }
    }
}

impl Names {
    /// The names of all languages.
    pub(super) fn all() -> &'static Names {
        static ALL: LazyLock<Names> = LazyLock::new(|| Names::read(TABLE));
        &ALL
    }

    fn read(table: &str) -> Names {
        let mut names = Names { lists: Vec::new(), by_first: HashMap::new(), weeks: HashMap::new() };
        for line in table.lines() {
            let list: Vec<String> = line.split('|').map(str::to_owned).collect();
            if matches!(list.len(), 7 | 12) {
                // Who has no CLDR writes no dots.
                let plain: Vec<String> = list.iter().map(|name| name.replace('.', "")).collect();
                let with_dots = plain != list;
                names.lists.push(list);
                names.lists.extend(with_dots.then_some(plain));
            } else {
                for word in list {
                    names.weeks.entry(first(&word)).or_default().push(word.trim_end_matches('.').to_owned());
                }
            }
        }
        for (index, list) in names.lists.iter().enumerate() {
            for (place, name) in list.iter().enumerate() {
                names.by_first.entry(first_two(name)).or_default().push((index, place));
            }
        }
        names
    }

    /// Returns the names that a text begins with: each with its place in its list, from 0, and its length in bytes.
    pub(super) fn at<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (Name, usize, usize)> + 'a {
        let (one, two) = first_two(text);
        let short = two.and_then(|_| self.by_first.get(&(one, None)));
        self.by_first.get(&(one, two)).into_iter().chain(short).flatten().flat_map(move |&(list, place)| {
            let name = &self.lists[list][place];
            let length = same_letters(text, name).unwrap_or_default();
            let spelled = &text[..length];
            let letters = Letters::ALL.into_iter().filter(move |letters| length > 0 && letters.spell(name) == spelled);
            letters.map(move |letters| (Name { list, letters }, place, length))
        })
    }

    /// Whether a name is one of a month; else it is one of a weekday.
    pub(super) fn is_of_month(&self, name: Name) -> bool {
        self.lists[name.list].len() == 12
    }

    /// Returns the name at another place of a list, spelled alike.
    pub(super) fn spelled(&self, name: Name, place: usize) -> String {
        name.letters.spell(&self.lists[name.list][place])
    }

    /// Returns the length of the words for week that a text begins with.
    pub(super) fn weeks_at<'a>(&'a self, text: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.weeks.get(&first(text)).into_iter().flatten().filter_map(move |word| same_letters(text, word))
    }
}

/// The first letter of a text in lower case.
fn first(text: &str) -> char {
    text.chars().next().and_then(|first| first.to_lowercase().next()).unwrap_or_default()
}

/// The first two letters of a text in lower case.
fn first_two(text: &str) -> Beginning {
    let mut letters = text.chars();
    letters.next();
    (first(text), letters.next().and_then(|second| second.to_lowercase().next()))
}

/// Returns the length of the beginning of a text that is a name, in any case; `None` if the text does not begin with it.
fn same_letters(text: &str, name: &str) -> Option<usize> {
    let (mut length, mut letters) = (0, text.chars());
    for expected in name.chars() {
        let found = letters.next()?;
        if found != expected && !found.to_lowercase().eq(expected.to_lowercase()) {
            return None;
        }
        length += found.len_utf8();
    }
    Some(length)
}

#[cfg(test)]
mod tests;
