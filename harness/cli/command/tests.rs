use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use super::Arguments;
use crate::files::generated::assert_current;

const HEAD: &str = "# The command line

Exit codes: 0 fine, 1 the check failed, 2 the usage or a file is wrong.
";

#[test]
fn the_reference_of_the_command_is_current() {
    let mut command = Arguments::command().term_width(100);
    command.build();
    let mut page = HEAD.to_owned();
    for subcommand in command.get_subcommands_mut() {
        add(&mut page, subcommand);
    }
    assert_current("harness/guide/reference_command.md", &page);
}

fn add(page: &mut String, command: &mut Command) {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    write!(page, "\n## `retake {}`\n\n", command.get_name()).unwrap();
    write!(page, "{}.\n\n```text\n{usage}\n```\n", text(command.get_about())).unwrap();
    let own: Vec<&Arg> = command.get_arguments().filter(|argument| argument.get_id() != "help").collect();
    if !own.is_empty() {
        *page += "\n| argument | default | |\n|---|---|---|\n";
    }
    for argument in own {
        let defaults = argument.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy()));
        let takes = argument.get_num_args().is_some_and(|count| count.takes_values());
        let defaults = if takes { defaults.collect::<Vec<_>>().join(" ") } else { String::new() };
        let words = argument.get_possible_values();
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.get_name())).collect();
        let words = if takes && !words.is_empty() { format!(" One of {}.", words.join(", ")) } else { String::new() };
        let cells = [format!("`{argument}`"), defaults, format!("{}.{words}", text(argument.get_help()))];
        writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")).unwrap();
    }
    if let Some(after) = command.get_after_help() {
        write!(page, "\n```text\n{}\n```\n", after.to_string().trim_end()).unwrap();
    }
}

fn text(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(|help| help.to_string().split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default()
}
