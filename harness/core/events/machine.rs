//! The names that machines give to themselves: platforms and time zones. They differ from machine to machine, and not
//! from run to run, so no proof can find them.

/// Platforms, and zones without an area.
const NAMES: &str = "aix alpine android arm cet cest cygwin darwin debian docker edt eest eet est fedora freebsd gmt intel ios ist java \
    jst linux localhost mac macos mdt mst msk msys netbsd nt openbsd pdt posix pst ubuntu utc windows zulu";
/// The areas of time zones: `Europe/Berlin`.
const AREAS: &str = "Africa America Antarctica Arctic Asia Atlantic Australia Etc Europe Indian Pacific US";
/// Whether a word is the name of a platform, a time zone or a host.
pub(super) fn names(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_zone = word.split_once('/').is_some_and(|(area, _)| is_in(AREAS, area));
    let host = [".local", ".lan", ".internal", ".localdomain"].iter().any(|end| lower.ends_with(end));
    is_in(NAMES, &lower) || is_zone || host
}

fn is_in(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_machines_names_for_itself_are_told_from_a_services_words() {
        for word in ["linux", "Darwin", "UTC", "Europe/Berlin", "laptop.local", "CEST"] {
            assert!(names(word), "{word}");
        }
        for word in [
            "completed",
            "ok",
            "in-progress",
            "text/plain",
            "a2a",
            "not-found",
            "is_done",
            "task.completed",
            "en",
            "en_US",
        ] {
            assert!(!names(word), "{word}");
        }
    }
}
