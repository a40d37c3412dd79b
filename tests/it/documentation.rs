//! Checks what the pages of the project refer to: files, pages of the guide, and measured figures.

use std::path::{Path, PathBuf};

tests!(
    every_link_of_a_page_leads_to_a_file_or_a_page_of_the_guide,
    the_figures_of_the_readme_are_those_of_the_benchmark
);

/// The address of the published guide. The name of a page follows it.
const GUIDE: &str = "https://docs.rs/retake/latest/retake/guide/";

fn every_link_of_a_page_leads_to_a_file_or_a_page_of_the_guide() {
    let mut links = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        for target in targets.filter(|target| !target.is_empty() && !target.starts_with('#')) {
            let file = match target.strip_prefix(GUIDE) {
                Some("") => project().join("harness/guide/mod.rs"),
                Some(name) => project().join(format!("harness/guide/{}.md", name.trim_end_matches('/'))),
                // rustdoc checks Rust paths, and other addresses would need the network.
                None if target.contains("::") || target.starts_with("mod@") || target.starts_with("https://") => {
                    continue;
                }
                None => page.parent().unwrap().join(target.split('#').next().unwrap_or(target)),
            };
            assert!(file.exists(), "{}: the link to `{target}` leads nowhere", page.display());
            links += 1;
        }
    }
    assert!(links > 15, "only {links} links were found");
}

fn the_figures_of_the_readme_are_those_of_the_benchmark() {
    let rows = |file: &str| -> Vec<String> {
        let text = std::fs::read_to_string(project().join(file)).unwrap();
        text.lines().filter(|line| line.starts_with("| ")).map(str::to_owned).collect()
    };
    let measured = rows("tests/bench/figures.md");
    let readme = rows("README.md");
    let shown: Vec<&String> = readme.iter().skip_while(|row| *row != &measured[0]).skip(1).collect();
    assert!(shown.len() >= 5, "README.md has only {} figures", shown.len());
    for row in shown {
        assert!(measured.contains(row), "README.md shows a figure that is not in tests/bench/figures.md:\n{row}");
    }
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
