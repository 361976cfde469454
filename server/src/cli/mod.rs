//! The command line: commands and exit codes.
mod app_policy;
mod arguments;
mod audit;
mod cluster;
mod completion;
mod config;
mod doctor;
mod enrolment;
mod error;
mod init;
mod keys;
mod kube_auth;
mod migrate;
mod operator;
mod policy;
mod routes;
mod serve;
mod service_account;
mod sessions;
mod sync;
mod version;

use crate::config::{Config, Role};
use anyhow::Context as _;
use arguments::{Arguments, Command, KubeAuthCommand};
use error::CliError;
use portico_cli::{exit_code, output};
use portico_clock::Clock;
use portico_runtime::telemetry::WorkerGuard;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// How long the end of the process waits for work on blocking threads.
const TASKS_END_TIMEOUT: Duration = Duration::from_secs(1);

/// Runs the command on the command line.
pub fn run() -> ExitCode {
    portico_runtime::install_crypto_provider();
    let arguments = arguments::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(&CliError::Other(anyhow::Error::new(error))),
    };
    let mut log = None;
    let ended = runtime.block_on(dispatch(arguments, &mut log));
    if log.is_some() {
        // tasks that still run are dropped, and some of them log that
        runtime.shutdown_timeout(TASKS_END_TIMEOUT);
    }
    // writes the last lines, before the reason for the end
    drop(log);
    match ended {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

/// Runs the command. A command that starts the log leaves its guard in `log`.
async fn dispatch(
    arguments: Arguments,
    log: &mut Option<WorkerGuard>,
) -> Result<ExitCode, CliError> {
    let files = arguments.config;
    let clock = Clock::system();
    match arguments.command {
        Command::All => serve::serve(&files, load(&files, &Role::ALL)?, &Role::ALL, log).await?,
        Command::Gateway => serve_one(&files, Role::Gateway, log).await?,
        Command::Panel => serve_one(&files, Role::Panel, log).await?,
        Command::KubeAuth { command } => match command {
            None | Some(KubeAuthCommand::Serve) => serve_one(&files, Role::KubeAuth, log).await?,
            Some(KubeAuthCommand::Config(arguments)) => {
                kube_auth::config(&Config::load(&files)?, &arguments)?;
            }
            Some(KubeAuthCommand::Bootstrap(arguments)) => {
                kube_auth::bootstrap(&files, arguments, log).await?;
            }
            Some(KubeAuthCommand::Sync(arguments)) => {
                return sync::sync(&files, *arguments, log).await;
            }
            Some(KubeAuthCommand::Policy { command }) => return policy::policy(&command),
        },
        Command::Migrate => migrate::migrate(&Config::load(&files)?).await?,
        Command::Policy { command } => return app_policy::policy(&command, &files),
        Command::Config { command } => config::config(&command, &files)?,
        Command::Sessions { command } => {
            sessions::sessions(&Config::load(&files)?, &command).await?
        }
        Command::Enrolment { command } => {
            enrolment::enrolment(&Config::load(&files)?, &command).await?;
        }
        Command::Audit { command } => audit::audit(&Config::load(&files)?, &command).await?,
        Command::Init(arguments) => init::init(*arguments).await?,
        Command::Keys { command } => keys::keys(&command)?,
        Command::Doctor(arguments) => return doctor::doctor(&files, &arguments).await,
        Command::Routes => routes::routes()?,
        Command::WhoAmI(arguments) => {
            let account = portico_cli::whoami(&arguments, &clock).await?;
            print(&output::list(arguments.output, &[account])?)?;
        }
        Command::Status(arguments) => return status(&arguments, &clock).await,
        Command::Clusters(arguments) => {
            let clusters = portico_cli::clusters(&arguments, &clock).await?;
            print(&output::list(arguments.output, &clusters)?)?;
        }
        Command::Cluster(arguments) => {
            let code = portico_cli::cluster(&arguments, &clock).await;
            return Ok(ExitCode::from(code));
        }
        Command::Completion(arguments) => completion::completion(&arguments)?,
        Command::Version(arguments) => print(&output::list(
            arguments.output,
            &[version::Version::current()],
        )?)?,
        Command::Login(arguments) => portico_cli::login(arguments, &clock).await?,
        Command::Logout(arguments) => portico_cli::logout(arguments, &clock).await?,
        Command::Kubeconfig(arguments) => portico_cli::kubeconfig(arguments, &clock).await?,
        Command::Credential(arguments) => portico_cli::credential(arguments, &clock).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the sign-ins of this machine; fails if none is valid.
async fn status(arguments: &portico_cli::StatusArgs, clock: &Clock) -> Result<ExitCode, CliError> {
    let all = portico_cli::status(clock).await?;
    print(&output::list(arguments.output, &all)?)?;
    let valid = |one: &portico_cli::SignIn| {
        matches!(
            one.state,
            portico_cli::State::SignedIn | portico_cli::State::Pinned
        )
    };
    if all.iter().any(valid) {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(exit_code::NOT_PERMITTED))
}

async fn serve_one(
    files: &[PathBuf],
    role: Role,
    log: &mut Option<WorkerGuard>,
) -> Result<(), CliError> {
    serve::serve(files, load(files, &[role])?, &[role], log).await
}

fn load(files: &[PathBuf], roles: &[Role]) -> Result<Config, CliError> {
    let config = Config::load(files)?;
    config.validate(roles)?;
    Ok(config)
}

fn fail(error: &CliError) -> ExitCode {
    // messages quote what servers sent; if standard error is closed, nothing is left to do
    let text = portico_cli::printable(&error.to_string());
    let _ = writeln!(std::io::stderr(), "portico: {text}");
    error.exit_code()
}

/// Appends a line of output: quoted names and messages can neither control the terminal nor look
/// like another line.
fn line(text: &mut String, quoted: std::fmt::Arguments<'_>) {
    text.push_str(&portico_cli::one_line(&quoted.to_string()));
    text.push('\n');
}

/// Reads a file of at most `max_bytes`.
fn read_text(path: &Path, max_bytes: u64) -> anyhow::Result<String> {
    let read = || -> std::io::Result<String> {
        let mut text = String::new();
        let file = std::fs::File::open(path)?;
        file.take(max_bytes + 1).read_to_string(&mut text)?;
        if text.len() as u64 > max_bytes {
            return Err(std::io::Error::other(format!(
                "larger than {max_bytes} bytes"
            )));
        }
        Ok(text)
    };
    read().with_context(|| format!("read {}", path.display()))
}

/// Writes names of users, projects and programs to standard output, without terminal control
/// characters, since their owners chose them.
fn print_for_people(text: &str) -> Result<(), CliError> {
    print(&portico_cli::printable(text))
}

/// Writes to standard output; a closed reader is not an error.
fn print(text: &str) -> Result<(), CliError> {
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CliError::Other(error.into()))
        }
        _ => Ok(()),
    }
}
