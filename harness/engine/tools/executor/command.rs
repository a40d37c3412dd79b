//! A tool that is a command. It runs in the stage's folder with a clean environment and reads the arguments as JSON from its
//! standard input. What it prints is the observation.

use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(unix)]
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};

#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
#[cfg(unix)]
use tokio::time::timeout;

use super::targets::Target;
use crate::system::{Egress, Exit, Guarded, Input, Order, Program};
use crate::tools::observed::Observed;
#[cfg(unix)]
use retake_base::error::Error;
use retake_base::error::Result;
use retake_base::lock::Mutex;
use retake_core::json::{Json, Layout};
use retake_scenario::{Context, Template};

/// A command that executes one tool's calls.
pub(crate) struct Command {
    /// The program and its arguments. `{{ tool }}` and `{{ args.NAME }}` stand for the tool and the arguments of the call.
    pub words: Vec<Template>,
    pub context: Context,
    pub cwd: PathBuf,
    pub env: Vec<(String, String)>,
    /// The folder in which the standard error of each call is kept.
    pub errors: PathBuf,
    /// Watches what it tries to reach.
    pub egress: Egress,
}

impl Command {
    /// Starts it, with its standard error in a file.
    async fn start(
        &self,
        context: &Context,
        errors: &Path,
        input: Input,
        output: impl FnMut(&[u8]) + Send + 'static,
    ) -> Result<Guarded> {
        let command = self.words.iter().map(|part| part.render_text(context)).collect::<Result<_>>()?;
        let (cwd, env, errors) = (self.cwd.clone(), self.env.clone(), Some(errors.to_owned()));
        let program = Program { command, cwd, env, errors, input, fence: None };
        Order { program: Some(program), ..Order::default() }.start(Some(&self.egress), output).await
    }

    async fn run(&self, tool: &str, args: &Json) -> Result<Observed> {
        let mut context = self.context.clone();
        context.insert("tool", tool);
        context.insert("args", args.clone());
        let errors = self.errors.join(format!("tool-{}", uuid::Uuid::new_v4().simple()));
        let input = Input::Text(args.print(Layout::Compact));
        let printed = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&printed);
        let output = move |bytes: &[u8]| all.lock().extend_from_slice(bytes);
        let guarded = self.start(&context, &errors, input, output).await?;
        let exit = guarded.exited().await;
        guarded.end().await;
        let printed = std::mem::take(&mut *printed.lock());
        let text = String::from_utf8_lossy(&printed).into_owned();
        Ok(match exit {
            Some(Exit::Code(0)) => Observed::text(text),
            exit => {
                let how = exit.map_or_else(|| "unknown exit".to_owned(), |exit| exit.to_string());
                let errors = std::fs::read(&errors).unwrap_or_default();
                Observed::error(format!("{text}{}[{how}]", String::from_utf8_lossy(&errors)))
            }
        })
    }
}

#[cfg(unix)]
impl Command {
    /// Starts a program that communicates over its standard input and output. Returns the process, both ends as one stream,
    /// and the file that holds its standard error.
    pub(crate) async fn speak(&self, within: Duration) -> Result<(Guarded, UnixStream, PathBuf)> {
        let name = uuid::Uuid::new_v4().simple().to_string();
        let (errors, socket) = (self.errors.join(format!("tool-{name}")), self.errors.join(&name[..8]));
        let failed = |e: std::io::Error| Error::new(format!("the pipe to it cannot be created: {e}"));
        let listener = UnixListener::bind(&socket).map_err(failed)?;
        let guarded = self.start(&self.context, &errors, Input::Socket(socket), |_| {}).await?;
        match timeout(within, listener.accept()).await {
            Ok(Ok((stream, _))) => Ok((guarded, stream, errors)),
            Ok(Err(e)) => Err(failed(e)),
            Err(_) => Err(Error::new("its input could not be opened in time")),
        }
    }
}

impl Target for Command {
    fn call<'a>(&'a self, tool: &'a str, args: &'a Json) -> BoxFuture<'a, Vec<Observed>> {
        async move { vec![self.run(tool, args).await.unwrap_or_else(|error| Observed::error(error.to_string()))] }
            .boxed()
    }
}
