//! The command line: its subcommands, and how an error is printed.

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use super::{
    accept, adopt, audit, check, completions, doctor, explain, fork, import, init, key, list, man, new, proxy, prune,
    record, reject, relay, rename, report, review, serve, shape, show, test, tools, worlds,
};
use retake::__private::report::terminal;
use retake_base::error::Result;

/// Record an agent service's model calls once; replay them forever against the real service.
#[derive(Debug, Parser)]
#[command(
    name = "retake",
    version,
    about,
    max_term_width = 80,
    after_help = "The guide, harness/guide in Retake's repository, describes every field of\n\
    suite.toml, scenario.toml and fixtures."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// Makes the type of the subcommands, and runs them.
macro_rules! subcommands {
    ($($name:ident($subcommand:ty)),+ $(,)?) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($name($subcommand),)+
            Completions(completions::Completions),
            Man(man::Man),
        }

        impl Command {
            fn run(self) -> Result<ExitCode> {
                match self {
                    $(Command::$name(subcommand) => subcommand.run(),)+
                    Command::Completions(completions) => Ok(completions.run(Arguments::command())),
                    Command::Man(man) => man.run(Arguments::command()),
                }
            }
        }
    };
}

subcommands! {
    Init(init::Init),
    New(new::New),
    Record(record::Record),
    Proxy(proxy::Proxy),
    Test(test::Test),
    List(list::List),
    Audit(audit::Audit),
    Check(check::Check),
    Fork(fork::Fork),
    Worlds(worlds::WorldsOf),
    Explain(explain::Explain),
    Show(show::Show),
    Report(report::Report),
    Review(review::Review),
    Adopt(adopt::Adopt),
    Accept(accept::Accept),
    Reject(reject::Reject),
    Prune(prune::Prune),
    Rename(rename::Rename),
    Tools(tools::Tools),
    Serve(serve::Serve),
    Import(import::Import),
    Key(key::KeyOf),
    Shape(shape::Shape),
    Doctor(doctor::Doctor),
}

/// Runs the command. Exit codes: 0 fine, 1 the check failed, 2 the usage or a file is wrong.
pub(crate) fn run() -> ExitCode {
    if let Some(done) = retake::__private::system::take_over().or_else(retake::__private::tools::take_over) {
        return done;
    }
    retake_model::clients::reach_https_by(relay::for_https);
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        // An error repeats what was typed.
        Err(error) if error.use_stderr() => {
            terminal::complaint(error.render());
            return ExitCode::from(2);
        }
        Err(help) => {
            let failed = help.print().err().filter(|failed| failed.kind() != std::io::ErrorKind::BrokenPipe);
            return ExitCode::from(if failed.is_some() { 2 } else { 0 });
        }
    };
    let done = arguments.command.run();
    let code = done.unwrap_or_else(|error| {
        terminal::error(error);
        ExitCode::from(2)
    });
    if terminal::has_lost() { ExitCode::from(2) } else { code }
}

#[cfg(test)]
mod tests;
