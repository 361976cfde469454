//! A real proxy of one test, in front of a gateway: nginx, HAProxy, Caddy or Apache as Debian
//! packages them.
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

use crate::env::project_root;

const START_TIMEOUT: Duration = Duration::from_secs(20);
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Which program, each with the package of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontProgram {
    Nginx,
    Haproxy,
    Caddy,
    Apache,
}

/// A proxy on a port and in a directory of its own.
#[derive(Debug)]
pub struct FrontProxy {
    directory: TempDir,
    address: SocketAddr,
    process: Option<Child>,
}

impl FrontProxy {
    /// Takes a port and a directory; the configuration that names them comes next.
    ///
    /// # Errors
    /// If the machine has neither to give.
    pub fn reserve() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let directory = tempfile::tempdir()?;
        // Apache's and nginx's workers are not root
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
        Ok(Self {
            directory,
            address: listener.local_addr()?,
            process: None,
        })
    }

    /// Returns `127.0.0.1:port`.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns where its files are.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns a file in its directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file into its directory.
    ///
    /// # Errors
    /// If that cannot be done.
    pub fn write(&self, name: &str, text: &str) -> Result<()> {
        Ok(fs::write(self.path(name), text)?)
    }

    /// Starts the program with a file of the directory and waits until it accepts connections.
    ///
    /// # Errors
    /// If it is not installed, or refuses its configuration; with its output.
    pub fn start(&mut self, program: FrontProgram, config: &str) -> Result<()> {
        let (directory, config) = (self.directory.path(), self.path(config));
        let log = fs::File::create(self.path("log"))?;
        let mut command = match program {
            FrontProgram::Nginx => {
                let mut command = Command::new("/usr/sbin/nginx");
                command.args(["-e", "stderr", "-p"]).arg(directory);
                command.arg("-c").arg(&config);
                command
            }
            FrontProgram::Haproxy => {
                let mut command = Command::new("/usr/sbin/haproxy");
                command.arg("-db").arg("-f").arg(&config);
                command
            }
            FrontProgram::Caddy => {
                let mut command = Command::new("caddy");
                command.args(["run", "--adapter", "caddyfile", "--config"]);
                command.arg(&config).env("HOME", directory);
                command
                    .env("XDG_DATA_HOME", directory)
                    .env("XDG_CONFIG_HOME", directory);
                command
            }
            FrontProgram::Apache => {
                let mut command = Command::new("/usr/sbin/apache2");
                command.arg("-d").arg(directory).arg("-f").arg(&config);
                command.arg("-DFOREGROUND");
                command
            }
        };
        let process = command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| {
                format!("{program:?} is not installed: run `scripts/packages.sh test`")
            })?;
        self.process = Some(process);
        let until = Instant::now() + START_TIMEOUT;
        while TcpStream::connect(self.address).is_err() {
            let ended = self
                .process
                .as_mut()
                .and_then(|process| process.try_wait().ok()?);
            if ended.is_some() || Instant::now() > until {
                bail!("{program:?} does not start: {}", self.log());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns its output.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

impl Drop for FrontProxy {
    fn drop(&mut self) {
        let Some(mut process) = self.process.take() else {
            return;
        };
        // killed at once, nginx and Apache would leave their workers behind
        let _ = kill_process(Pid::from_child(&process), Signal::TERM);
        let until = Instant::now() + STOP_TIMEOUT;
        while matches!(process.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// Returns a shipped configuration file with other addresses, ports and paths. Each of them must
/// occur in it, so that the test runs what is shipped.
///
/// # Errors
/// If the file cannot be read or lacks one of them.
pub fn shipped(file: &str, changes: &[(&str, &str)]) -> Result<String> {
    let path = project_root().join("deploy/forward-auth").join(file);
    let mut text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    for (from, to) in changes {
        if !text.contains(from) {
            bail!("{file} does not say {from:?}");
        }
        text = text.replace(from, to);
    }
    Ok(text)
}
