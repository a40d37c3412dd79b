//! Builds a system before it is started: once, and again only if its inputs have changed.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::date::Today;
use super::folder::Folder;
use super::guardian::{Exit, Order, Program};
use super::log::Log;
use super::ports::Lock;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_scenario::{CommandSpec, Context};

/// Folders that are not inputs of a build: they contain its output, or its dependencies.
const NO_INPUTS: [&str; 5] = ["node_modules", "dist", "build", "out", "target"];

/// Builds a system, unless the last build had the same files, command and variables. If another process is building it, waits
/// for that.
/// Fails if the build fails. The error quotes the end of its output.
pub(super) async fn build(name: &str, spec: &CommandSpec, root: &Path) -> Result<()> {
    let Some(cwd) = spec.cwd.as_ref().filter(|_| !spec.build.is_empty()) else { return Ok(()) };
    let cwd = root.join(cwd.source());
    let env = fixed_variables(spec);
    let folder = files::run_folder(root, "builds")?;
    std::fs::create_dir_all(&folder).map_err(|e| files::failed("make", &folder, &e))?;
    let done = folder.join(name);
    let _alone = Lock::take(&format!("build-{}", hash(&[done.display().to_string()])))?;
    let inputs = inputs(&cwd, &spec.build, &env)?;
    if std::fs::read_to_string(&done).is_ok_and(|last| last == inputs) {
        return Ok(());
    }
    run(&spec.build, &cwd, env).await.map_err(|error| error.while_doing(&format!("build system `{name}`")))?;
    files::write_whole(&done, inputs.as_bytes())
}

/// Returns the environment variables that are the same in each run.
fn fixed_variables(spec: &CommandSpec) -> Vec<(String, String)> {
    let fixed = spec.env.iter().filter_map(|(name, value)| {
        let is_fixed = value.source() == value.render_text(&Context::new()).ok()?;
        is_fixed.then(|| (name.clone(), value.source().to_owned()))
    });
    fixed.collect()
}

async fn run(command: &[String], cwd: &Path, env: Vec<(String, String)>) -> Result<()> {
    let (folder, log) = (Folder::new(), Log::new(None));
    let printed = log.clone();
    let env = folder.environment(env, &Today::default());
    let program = Program { command: command.to_vec(), cwd: cwd.to_owned(), env, ..Program::default() };
    let order = Order { folders: folder.all(), program: Some(program), ..Order::default() };
    let guarded = order.start(None, move |bytes| printed.push(bytes)).await?;
    let exit = guarded.exited().await;
    guarded.end().await;
    if exit == Some(Exit::Code(0)) {
        return Ok(());
    }
    let how = exit.map_or_else(|| "its exit status is unknown".to_owned(), |exit| exit.to_string());
    let error = Error::new(format!("`{}` failed: {how}", command.join(" ")));
    Err(log.tail().iter().fold(error, |error, line| error.help(format!("| {line}"))))
}

/// Returns a hash of all inputs of a build: its command, variables and files.
fn inputs(cwd: &Path, command: &[String], env: &[(String, String)]) -> Result<String> {
    let mut texts: Vec<String> = command.to_vec();
    texts.extend(env.iter().map(|(name, value)| format!("{name}={value}")));
    let mut found = Vec::new();
    add_files(cwd, &mut found)?;
    found.sort();
    for file in found {
        let mut content = Sha256::new();
        let mut open = std::fs::File::open(&file).map_err(|e| files::failed("read", &file, &e))?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            match open.read(&mut buffer).map_err(|e| files::failed("read", &file, &e))? {
                0 => break,
                count => content.update(&buffer[..count]),
            }
        }
        let path = file.strip_prefix(cwd).unwrap_or(&file).display();
        texts.push(format!("{path} {}", hex(&content.finalize())));
    }
    Ok(hash(&texts))
}

fn add_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|e| files::failed("read", folder, &e))?;
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let kind = entry.file_type().map_err(|e| files::failed("read", &path, &e))?;
        if kind.is_dir() && !name.starts_with('.') && !NO_INPUTS.contains(&name.as_str()) {
            add_files(&path, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

fn hash(texts: &[String]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(text.len().to_le_bytes());
        hash.update(text);
    }
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}
