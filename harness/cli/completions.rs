use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use retake::__private::report::terminal;

/// Print the script with which a shell completes the command
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake completions bash >~/.local/share/bash-completion/completions/retake\n  \
    retake completions zsh >~/.zfunc/_retake\n  retake completions fish >~/.config/fish/completions/retake.fish\n\n\
    In bash, zsh and fish, the names of the project's scenarios are completed too.")]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, mut command: clap::Command) -> ExitCode {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "retake", &mut script);
        let script = String::from_utf8_lossy(&script);
        terminal::out(with_names(self.shell, &script).trim_end());
        ExitCode::SUCCESS
    }
}

/// The subcommands whose arguments are names of scenarios.
const OF_SCENARIOS: [&str; 9] = ["accept", "audit", "explain", "list", "record", "reject", "show", "test", "tools"];

/// Adds the names of scenarios to a script. They are asked for when a name is typed.
fn with_names(shell: Shell, script: &str) -> String {
    let names = "retake list --names 2>/dev/null";
    match shell {
        Shell::Bash => {
            let own = format!(
                "_retake_with_names() {{\n    _retake \"$@\"\n    case \"${{COMP_WORDS[1]}}\" in\n        {})\n            \
                 if [[ \"$2\" != -* && ${{COMP_CWORD}} -ge 2 ]]; then\n                \
                 COMPREPLY+=( $(compgen -W \"$({names})\" -- \"$2\") )\n            fi\n            ;;\n    esac\n}}\n\n",
                OF_SCENARIOS.join("|")
            );
            let (functions, registered) = script.rsplit_once("\nif [[ \"${BASH_VERSINFO").unwrap_or((script, ""));
            let registered = registered.replace("complete -F _retake ", "complete -F _retake_with_names ");
            format!("{functions}\n{own}if [[ \"${{BASH_VERSINFO{registered}")
        }
        Shell::Zsh => {
            let mut subcommand = "";
            let mut lines: Vec<String> = Vec::new();
            for line in script.lines() {
                // Each subcommand begins with its name in parentheses, and each positional argument with a colon.
                if let Some(name) = line.trim().strip_prefix('(').and_then(|line| line.strip_suffix(')')) {
                    subcommand = name;
                }
                let positional = line.starts_with("':") || line.starts_with("'*:");
                let of_scenarios = OF_SCENARIOS.contains(&subcommand) && positional;
                let completed =
                    |line: &str| line.replace(":_default'", ":_retake_names'").replace(":_files'", ":_retake_names'");
                lines.push(if of_scenarios { completed(line) } else { line.to_owned() });
            }
            let own = format!(
                "_retake_names() {{\n    local -a names\n    names=(${{(f)\"$({names})\"}})\n    compadd -a names\n    _files\n}}\n"
            );
            lines.join("\n").replacen("\n_retake() {", &format!("\n{own}\n_retake() {{"), 1)
        }
        Shell::Fish => {
            let of = OF_SCENARIOS.join(" ");
            format!("{script}complete -c retake -n \"__fish_seen_subcommand_from {of}\" -f -a \"({names})\"\n")
        }
        _ => script.to_owned(),
    }
}
