//! The names that machines give to themselves: platforms, time zones and locales. They differ from machine to machine, and not
//! from run to run, so no proof can find them.

/// Platforms, and zones without an area.
const NAMES: &str = "aix alpine android arm cet cest cygwin darwin debian docker edt eest eet est fedora freebsd gmt intel ios ist java \
    jst linux localhost mac macos mdt mst msk msys netbsd nt openbsd pdt posix pst ubuntu utc windows zulu";
/// The areas of time zones: `Europe/Berlin`.
const AREAS: &str = "Africa America Antarctica Arctic Asia Atlantic Australia Etc Europe Indian Pacific US";
/// Languages whose codes stand alone often.
const LANGUAGES: &str = "ar cs da de el en es fi fr hu it ja ko nl pl pt ru sv tr zh";

/// Whether a word is the name of a platform, a time zone, a locale or a host.
pub(super) fn names(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_zone = word.split_once('/').is_some_and(|(area, _)| is_in(AREAS, area));
    let host = [".local", ".lan", ".internal", ".localdomain"].iter().any(|end| lower.ends_with(end));
    is_in(NAMES, &lower) || is_zone || host || is_locale(word)
}

fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// Whether a word is a language, possibly with a script, a country and an encoding: `en`, `en_US.UTF-8`, `zh-Hans-CN`.
fn is_locale(word: &str) -> bool {
    let word = word.split('.').next().unwrap_or_default();
    let mut parts = word.split(['_', '-']);
    let language = parts.next().unwrap_or_default();
    let lower = |part: &str| part.bytes().all(|c| c.is_ascii_lowercase());
    let upper = |part: &str| part.len() == 2 && part.bytes().all(|c| c.is_ascii_uppercase());
    let script = |part: &str| part.len() == 4 && upper(&part[..1].repeat(2)) && lower(&part[1..]);
    let more: Vec<&str> = parts.collect();
    match &more[..] {
        [] => is_in(LANGUAGES, language),
        more => {
            matches!(language.len(), 2 | 3) && lower(language) && more.iter().all(|part| upper(part) || script(part))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_machines_names_for_itself_are_told_from_a_services_words() {
        for word in
            ["linux", "Darwin", "UTC", "Europe/Berlin", "en", "en_US", "en-US", "zh-Hans-CN", "laptop.local", "CEST"]
        {
            assert!(names(word), "{word}");
        }
        for word in ["completed", "ok", "in-progress", "text/plain", "a2a", "not-found", "is_done", "task.completed"] {
            assert!(!names(word), "{word}");
        }
    }
}
