//! Symbolic links: what leads out of the project is refused, and what stays inside works.

#[cfg(unix)]
use super::spoilt::{SILENT, copies, link, only_these_fail};
#[cfg(unix)]
use crate::support::tree::Tree;

tests![a_link_that_leads_out_of_the_project_is_refused, links_inside_the_project_and_trees_of_links_work];

fn a_link_that_leads_out_of_the_project_is_refused() {
    #[cfg(unix)]
    {
        let outside = Tree::empty();
        let tree = copies(&["recorded", "compared"]);
        for name in ["body", "upload"] {
            outside.write(&format!("{name}.json"), "{\"private\": true}");
            link(&tree, &format!("scenarios/{name}/out.json"), outside.path(&format!("{name}.json")).to_str().unwrap());
        }
        tree.write("scenarios/body/scenario.toml", &format!("{SILENT}json_file = \"out.json\"\n"));
        tree.write("scenarios/upload/scenario.toml", &format!("{SILENT}files = {{ a = \"out.json\" }}\n"));
        outside.write("whole/scenario.toml", SILENT);
        link(&tree, "scenarios/whole", outside.path("whole").to_str().unwrap());
        for file in ["fixtures/recorded.json", "goldens/compared.snap"] {
            outside.write(file.split_once('/').unwrap().1, &tree.read(file));
            tree.remove(file);
            link(&tree, file, outside.path(file.split_once('/').unwrap().1).to_str().unwrap());
        }
        let run = tree.runner("oddities").run().exits(101);
        for (name, begins) in [
            ("body", "scenarios/body/scenario.toml:4:13: `out.json` is a link that leads out of the project"),
            ("upload", "scenarios/upload/scenario.toml:4:15: `out.json` is a link that leads out of the project"),
            ("whole", "scenarios/whole: a link that leads out of the project"),
            ("recorded", "fixtures/recorded.json: a link that leads out of the project"),
            ("compared", "goldens/compared.snap: a link that leads out of the project"),
        ] {
            assert!(run.failure(name).starts_with(begins), "{}", run.failure(name));
        }
        only_these_fail(&run, &["body", "upload", "whole", "recorded", "compared"]);

        // The folders that Retake writes to.
        for folder in ["goldens", "fixtures", ".retake"] {
            let (tree, outside) = (copies(&[]), Tree::empty());
            let _ = std::fs::remove_dir_all(tree.path(folder));
            link(&tree, folder, outside.root().to_str().unwrap());
            let update = tree.runner("oddities").env("UPDATE_GOLDEN", "1").run().exits(2);
            update.says(&[&format!("error: {folder}: a link that leads out of the project")]);
            assert_eq!(std::fs::read_dir(outside.root()).unwrap().count(), 0, "{folder}");
        }
    }
}

fn links_inside_the_project_and_trees_of_links_work() {
    #[cfg(unix)]
    {
        let tree = copies(&["recorded"]);
        // As Bazel lays out what a test needs: real folders, and each file a link to the same path in the workspace.
        let laid_out = Tree::empty();
        for file in tree.files().keys() {
            link(&laid_out, file, tree.path(file).to_str().unwrap());
        }
        only_these_fail(&laid_out.runner("oddities").run().exits(0), &[]);

        // As pnpm lays out a workspace: relative links from one folder of the project to another.
        tree.write("packages/store/inputs/body.json", "{}");
        link(&tree, "node_modules/inputs", "../packages/store/inputs");
        link(&tree, "scenarios/body/body.json", "../../node_modules/inputs/body.json");
        tree.write("scenarios/body/scenario.toml", &format!("{SILENT}json_file = \"body.json\"\n"));
        for file in ["fixtures/recorded.json", "goldens/recorded.snap"] {
            tree.write(&format!("packages/store/{file}"), &tree.read(file));
            tree.remove(file);
            link(&tree, file, &format!("../packages/store/{file}"));
        }
        tree.write("packages/store/recorded/scenario.toml", &tree.read("scenarios/recorded/scenario.toml"));
        std::fs::remove_dir_all(tree.path("scenarios/recorded")).unwrap();
        link(&tree, "scenarios/recorded", "../packages/store/recorded");
        only_these_fail(&tree.runner("oddities").run().exits(0), &[]);
    }
}
