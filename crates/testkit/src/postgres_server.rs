//! A PostgreSQL of one test, which may be stopped, killed and started again.
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Debian's user of its package.
const USER: &str = "postgres";

/// A real PostgreSQL (Debian's package of that name) on a port and in a directory of its own.
#[derive(Debug)]
pub struct PostgresServer {
    directory: TempDir,
    programs: PathBuf,
    port: u16,
    process: Option<Child>,
}

impl PostgresServer {
    /// Starts one.
    ///
    /// # Errors
    /// If PostgreSQL is not installed or does not start.
    pub fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let mut server = Self {
            // a state directory may lie in root's home, which its user may not enter
            directory: tempfile::tempdir_in("/var/tmp")?,
            programs: programs()?,
            port: listener.local_addr()?.port(),
            process: None,
        };
        drop(listener);
        if is_root() {
            run(Command::new("chown").arg(USER).arg(server.directory.path()))?;
        }
        run(server
            .program("initdb")
            .arg("--pgdata")
            .arg(server.data())
            .args(["--auth", "trust", "--username", USER, "--no-sync"]))?;
        server.start_again()?;
        Ok(server)
    }

    /// Returns `postgres://postgres@127.0.0.1:port/postgres`.
    pub fn url(&self) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/postgres", self.port)
    }

    /// Suspends all its processes: connections stay open and nothing responds.
    ///
    /// # Errors
    /// If it does not run.
    pub fn freeze(&self) -> Result<()> {
        self.signal_all(Signal::STOP)
    }

    /// Resumes suspended processes.
    ///
    /// # Errors
    /// If it does not run.
    pub fn thaw(&self) -> Result<()> {
        self.signal_all(Signal::CONT)
    }

    /// Ends it at once without a checkpoint (`pg_ctl stop --mode immediate`): it recovers when it
    /// starts, as after a crash.
    ///
    /// # Errors
    /// If it does not run.
    pub fn kill(&mut self) -> Result<()> {
        let mut process = self.process.take().context("PostgreSQL does not run")?;
        kill_process(Pid::from_child(&process), Signal::QUIT)?;
        process.wait()?;
        Ok(())
    }

    /// Starts it after a kill, on the same port and data.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_again(&mut self) -> Result<()> {
        let process = self
            .program("postgres")
            .arg("-D")
            .arg(self.data())
            .args(["-p", &self.port.to_string()])
            .args(["-c", "listen_addresses=127.0.0.1"])
            .args(["-c", "unix_socket_directories="])
            .args(["-c", "fsync=off"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        self.process = Some(process);
        let until = Instant::now() + START_TIMEOUT;
        loop {
            let port = self.port.to_string();
            let mut ready = Command::new(self.programs.join("pg_isready"));
            ready.args(["--host", "127.0.0.1", "--port", &port]);
            if ready.stdout(Stdio::null()).status()?.success() {
                return Ok(());
            }
            if Instant::now() > until {
                bail!("PostgreSQL on port {} does not answer", self.port);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Returns a command for a program of it, as an unprivileged user: it refuses to run as root.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args([&format!("--reuid={USER}"), &format!("--regid={USER}")]);
            command.arg("--init-groups").arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir("/");
        command
    }

    fn signal_all(&self, signal: Signal) -> Result<()> {
        let process = self.process.as_ref().context("PostgreSQL does not run")?;
        let id = process.id();
        kill_process(Pid::from_child(process), signal)?;
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"))?;
        for child in children.split_whitespace() {
            if let Some(child) = Pid::from_raw(child.parse()?) {
                // one that has ended meanwhile needs no signal
                let _ = kill_process(child, signal);
            }
        }
        Ok(())
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if self.process.is_some() {
            let _ = self.thaw();
            let _ = self.kill();
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn programs() -> Result<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .context("PostgreSQL is missing: install the package postgresql")?;
    let mut found: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .filter(|bin: &PathBuf| Path::is_file(&bin.join("initdb")))
        .collect();
    found.sort();
    found.pop().context("no version of PostgreSQL has initdb")
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
