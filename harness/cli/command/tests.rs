#[path = "../../../tests/support/generated.rs"]
mod generated;

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory as _};

use super::Arguments;
use generated::assert_current;

const HEAD: &str = "# The command line

Exit codes: 0 fine, 1 the check failed, 2 the usage or a file is wrong.
";

#[test]
fn the_reference_page_of_the_command_is_current() {
    let mut command = Arguments::command().term_width(100);
    command.build();
    let mut page = HEAD.to_owned();
    for subcommand in command.get_subcommands_mut() {
        add(&mut page, subcommand);
    }
    assert_current("harness/guide/reference_command.md", &page);
}

#[cfg(feature = "schema")]
#[test]
fn the_reference_schema_of_the_data_of_runs_is_current() {
    assert_current("harness/guide/schema/run.schema.json", &retake::__private::report::run_schema());
}

/// Examples are not broken, as paragraphs are, but would be in a terminal of 80 columns.
#[test]
fn examples_and_notes_of_each_help_text_fit_80_columns() {
    let command = Arguments::command();
    let nested = command.get_subcommands().flat_map(Command::get_subcommands);
    for subcommand in command.get_subcommands().chain(nested).chain([&command]) {
        let after = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
        for line in after.lines().filter(|line| line.starts_with(' ')) {
            assert!(line.chars().count() <= 80, "{}: {line}", subcommand.get_name());
        }
    }
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
        let help = text(argument.get_help());
        // A default that clap does not know is at the end of the text, in the form that clap uses.
        let (help, described) =
            help.strip_suffix(']').and_then(|help| help.split_once(" [default: ")).unwrap_or((&help, ""));
        let defaults = argument.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy()));
        let takes = argument.get_num_args().is_some_and(|count| count.takes_values());
        let defaults = if takes { defaults.collect::<Vec<_>>().join(" ") } else { String::new() };
        let defaults = format!("{defaults}{described}");
        let words = argument.get_possible_values();
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.get_name())).collect();
        let words = if takes && !words.is_empty() { format!(" One of {}.", words.join(", ")) } else { String::new() };
        let cells = [format!("`{argument}`"), defaults, format!("{help}.{words}")];
        writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | ")).unwrap();
    }
    if command.get_after_help().is_some() {
        let after = command.clone().term_width(80).help_template("{after-help}").render_help().to_string();
        write!(page, "\n```text\n{}\n```\n", after.trim_start_matches('\n').trim_end()).unwrap();
    }
}

fn text(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(|help| help.to_string().split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default()
}
