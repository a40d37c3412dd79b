use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

use retake::__private::report::terminal;

/// Print the script with which a shell completes the command
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake completions bash >~/.local/share/bash-completion/completions/retake\n  \
    retake completions zsh >~/.zfunc/_retake\n  retake completions fish >~/.config/fish/completions/retake.fish")]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(&self, mut command: clap::Command) -> ExitCode {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "retake", &mut script);
        terminal::out(String::from_utf8_lossy(&script).trim_end());
        ExitCode::SUCCESS
    }
}
