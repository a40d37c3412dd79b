//! A tool that is a command: it runs in the stage's folder with its clean environment, gets the arguments as JSON on its
//! standard input, and what it prints is the observation.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt as _};

use super::targets::Target;
use crate::error::Result;
use crate::json::{Json, Layout};
use crate::scenario::{Context, Template};
use crate::system::{Exit, Guard};
use crate::tools::observed::Observed;

/// A command for one tool.
pub(crate) struct Command {
    /// Program and arguments, in which `{{ tool }}` and `{{ args.NAME }}` are of the call.
    pub(crate) command: Vec<Template>,
    pub(crate) context: Context,
    pub(crate) cwd: PathBuf,
    pub(crate) env: Vec<(String, String)>,
    /// Where the standard errors of calls are kept.
    pub(crate) errors: PathBuf,
}

impl Command {
    async fn run(&self, tool: &str, args: &Json) -> Result<Observed> {
        let mut context = self.context.clone();
        context.insert("tool", tool);
        context.insert("args", args.clone());
        let command = self.command.iter().map(|part| part.render_text(&context)).collect::<Result<_>>()?;
        let errors = self.errors.join(format!("tool-{}", uuid::Uuid::new_v4().simple()));
        let guard = Guard::default().program(command, self.cwd.clone(), self.env.clone(), Some(errors.clone()));
        let printed = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&printed);
        let output = move |bytes: &[u8]| all.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        let guarded = guard.input(args.print(Layout::Compact)).start(output).await?;
        let exit = guarded.exited().await;
        guarded.end().await;
        let printed = std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner));
        let text = String::from_utf8_lossy(&printed).into_owned();
        Ok(match exit {
            Some(Exit::Code(0)) => Observed::text(text),
            exit => {
                let how = exit.map_or_else(|| "nobody saw how".to_owned(), |exit| exit.to_string());
                let errors = std::fs::read(&errors).unwrap_or_default();
                Observed::error(format!("{text}{}[{how}]", String::from_utf8_lossy(&errors)))
            }
        })
    }
}

impl Target for Command {
    fn call<'a>(&'a self, tool: &'a str, args: &'a Json) -> BoxFuture<'a, Vec<Observed>> {
        async move { vec![self.run(tool, args).await.unwrap_or_else(|error| Observed::error(error.to_string()))] }.boxed()
    }
}
