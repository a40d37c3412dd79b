//! Checks what the pages of the project refer to: files, pages of the guide, and what is installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regex::Regex;

tests!(every_link_of_a_page_leads_somewhere, every_page_of_the_guide_has_a_name, what_a_page_installs_can_be_installed);

/// Whether releases can be installed by name. Until then, pages install what a checkout has.
const RELEASED: bool = false;
/// How releases are installed, and where they are found.
const OF_RELEASES: [&str; 8] = [
    "pip install retake-cli",
    "pip install --quiet retake-cli",
    "uvx retake",
    "--from retake-cli",
    "npm install --save-dev retake",
    "cargo install retake-cli",
    "https://docs.rs/retake",
    "https://crates.io/crates/retake",
];

fn every_link_of_a_page_leads_somewhere() {
    let mut links = 0;
    let inline = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let by_name = Regex::new(r"\]\[([a-zA-Z_:#]+)\]").unwrap();
    let definition = Regex::new(r"(?m)^\[([^\]]+)\]: (\S+)$").unwrap();
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let defined: BTreeMap<&str, &str> = definition
            .captures_iter(&text)
            .map(|found| found.extract())
            .map(|(_, [name, target])| (name, target))
            .collect();
        let named = by_name.captures_iter(&text).map(|found| found.extract::<1>().1[0]).map(|name| {
            *defined.get(name).unwrap_or_else(|| panic!("{}: nothing says where `[{name}]` leads", page.display()))
        });
        let targets = inline.captures_iter(&text).map(|found| found.extract::<1>().1[0]).chain(named);
        // Other addresses would need the network.
        for target in targets.filter(|target| !target.starts_with("https://")) {
            let (file, place) = target.split_once('#').map_or((target, None), |(file, place)| (file, Some(place)));
            let file = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(file.exists(), "{}: the link to `{target}` leads nowhere", page.display());
            if let Some(place) = place {
                let text = std::fs::read_to_string(&file).unwrap();
                let mut titles = text.lines().filter(|line| line.starts_with('#')).map(place_of);
                assert!(titles.any(|title| title == place), "{}: there is no `{target}`", page.display());
            }
            links += 1;
        }
    }
    assert!(links > 80, "only {links} links were found");
}

/// The place that a title has in a link, as GitHub and rustdoc write it.
fn place_of(title: &str) -> String {
    let kept = title.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// The same on GitHub as on docs.rs: a page has a name there that `links.md` leads to.
fn every_page_of_the_guide_has_a_name() {
    let names = std::fs::read_to_string(project().join("harness/guide/links.md")).unwrap();
    for page in pages().iter().filter(|page| page.parent() == Some(&project().join("harness/guide"))) {
        let stem = page.file_stem().unwrap().to_string_lossy().into_owned();
        if !matches!(&*stem, "README" | "links") {
            assert!(names.contains(&format!("[{stem}]: ")), "links.md lacks {stem}");
        }
    }
}

fn what_a_page_installs_can_be_installed() {
    let of_path = Regex::new(r"cargo install --path (\S+?)[`\s]").unwrap();
    for page in pages().iter().filter(|page| !page.ends_with("CHANGELOG.md") && !page.ends_with("CONTRIBUTING.md")) {
        let text = std::fs::read_to_string(page).unwrap();
        let early = OF_RELEASES.iter().find(|found| !RELEASED && text.contains(**found));
        assert_eq!(early, None, "{}: it leads nowhere before a release", page.display());
        for (_, [path]) in of_path.captures_iter(&text).map(|found| found.extract()) {
            assert!(project().join(path).join("Cargo.toml").is_file(), "{}: there is no {path}", page.display());
        }
    }
    assert!(project().join("packages/build").is_file());
}

/// Returns the pages that people read.
fn pages() -> Vec<PathBuf> {
    let guide = std::fs::read_dir(project().join("harness/guide")).unwrap().map(|entry| entry.unwrap().path());
    let guide = guide.filter(|file| file.extension().is_some_and(|extension| extension == "md"));
    let others = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "tests/README.md",
        "packages/python/README.md",
        "packages/node/README.md",
    ];
    guide.chain(others.map(|page| project().join(page))).collect()
}

fn project() -> &'static Path {
    crate::support::tree::repository()
}
