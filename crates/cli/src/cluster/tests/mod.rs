use super::arguments::ClusterArgs;
use super::connection::Connection;
use super::console::Console;
use super::creation::{AttemptFile, Attempts};
use super::{dispatch, finish, specification};
use api_server::ApiServer;
use clap::Parser;
use portico_clock::Clock;
use portico_cluster_operations::Drivers;
use serde_json::Value;
use stand_in::StandIn;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Compares what a command wrote with its snapshot.
macro_rules! assert_ran {
    ($name:expr, $ran:expr) => {
        portico_testkit::snapshot_settings().bind(|| {
            insta::assert_snapshot!($name, $ran.snapshot());
        })
    };
}

mod api_server;
mod authorities;
mod autoscale;
mod changes;
mod creation;
mod deletion;
mod describe;
mod drain;
mod drivers;
mod dry_runs;
mod heal;
mod import;
mod kubeconfig;
mod leftovers;
mod node_groups;
mod nodes;
mod reading;
mod stand_in;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    cluster: ClusterArgs,
}

#[derive(Clone, Default)]
pub struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// What a command wrote, and its exit code.
struct Ran {
    code: u8,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }

    /// Returns all that a user sees: the exit code, and what is on standard output and error.
    fn snapshot(&self) -> String {
        let part = |name: &str, text: &str| match text {
            "" => String::new(),
            text => format!("--- {name}\n{text}"),
        };
        let (out, err) = (part("output", &self.out), part("error", &self.err));
        format!("exit code {}\n{out}{err}", self.code)
    }
}

/// A machine with its stored attempts.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn attempts(&self) -> Attempts {
        Attempts {
            directory: self.0.path().join("creations"),
            patience: Duration::from_millis(300),
        }
    }

    /// Writes a file, and returns its path.
    fn file(&self, name: &str, content: &str) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    async fn attempt(&self, cloud: &StandIn, name: &str) -> AttemptFile {
        let connection = Connection::of(cloud.access().await, Drivers::default(), &Clock::system());
        AttemptFile::of(&self.attempts(), &connection, name).unwrap()
    }

    /// Runs a command; `typed` is what the user answers, `None`: there is no terminal.
    async fn run(&self, cloud: &StandIn, words: &[&str], typed: Option<&str>) -> Ran {
        run(&self.attempts(), cloud, None, words, typed).await
    }

    /// Runs a command of a user with access to the API server of the cluster.
    async fn run_inside(
        &self,
        cloud: &StandIn,
        api_server: &ApiServer,
        words: &[&str],
        typed: Option<&str>,
    ) -> Ran {
        run(&self.attempts(), cloud, Some(api_server), words, typed).await
    }
}

async fn run(
    attempts: &Attempts,
    cloud: &StandIn,
    api_server: Option<&ApiServer>,
    words: &[&str],
    typed: Option<&str>,
) -> Ran {
    let (out, err) = (Buffer::default(), Buffer::default());
    let typed = typed.map(str::to_owned);
    let mut console = Console {
        out: Box::new(out.clone()),
        err: Box::new(err.clone()),
        read_line: typed.map(|typed| Box::new(move || Ok(format!("{typed}\n"))) as _),
        is_terminal: false,
    };
    let words = std::iter::once("portico").chain(words.iter().copied());
    let command = Program::try_parse_from(words).unwrap().cluster.command;
    let result = match specification(&command) {
        Ok(specification) => {
            let drivers = command.shared().drivers();
            let mut connection = Connection::of(cloud.access().await, drivers, &Clock::system());
            connection.api_server = api_server.map(ApiServer::url);
            let specification = specification.as_ref();
            dispatch(
                &command,
                &mut connection,
                &mut console,
                specification,
                attempts,
            )
            .await
        }
        Err(error) => Err(error),
    };
    let code = finish(&mut console, command.shared().output, result);
    Ran {
        code,
        out: out.text(),
        err: err.text(),
    }
}
