//! A Redis of one test, which may be stopped, killed and started again.
use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A real `redis-server` (Debian's package of that name) on a port and in a directory of its own.
/// Unless its options change that, each write is in its append-only file before it is acknowledged.
#[derive(Debug)]
pub struct RedisServer {
    directory: TempDir,
    port: u16,
    options: Vec<String>,
    tls: bool,
    process: Option<Child>,
}

impl RedisServer {
    /// Starts one.
    ///
    /// # Errors
    /// If `redis-server` is not installed or does not start.
    pub fn start() -> Result<Self> {
        Self::with(&[])
    }

    /// Starts one with options of `redis.conf`, such as `["--requirepass", "secret"]`.
    ///
    /// # Errors
    /// If `redis-server` is not installed or does not start.
    pub fn with(options: &[&str]) -> Result<Self> {
        Self::launch(options, false)
    }

    /// Starts one with TLS only; the options name certificate and key.
    ///
    /// # Errors
    /// If `redis-server` is not installed or does not start.
    pub fn with_tls(options: &[&str]) -> Result<Self> {
        Self::launch(options, true)
    }

    fn launch(options: &[&str], tls: bool) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let mut server = Self {
            directory: tempfile::tempdir()?,
            port: listener.local_addr()?.port(),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            tls,
            process: None,
        };
        drop(listener);
        server.start_again()?;
        Ok(server)
    }

    /// Returns `redis://127.0.0.1:port/0`.
    pub fn url(&self) -> String {
        format!("redis://{}/0", self.address())
    }

    /// Returns `127.0.0.1:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Returns the directory of its files.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Suspends the process: connections stay open and nothing responds.
    ///
    /// # Errors
    /// If it does not run.
    pub fn freeze(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// Resumes a suspended process.
    ///
    /// # Errors
    /// If it does not run.
    pub fn thaw(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// Kills the process, as a crash would.
    ///
    /// # Errors
    /// If it does not run.
    pub fn kill(&mut self) -> Result<()> {
        let mut process = self.process.take().context("Redis does not run")?;
        process.kill()?;
        process.wait()?;
        Ok(())
    }

    /// Starts it after a kill, on the same port and files.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_again(&mut self) -> Result<()> {
        let mut command = Command::new("redis-server");
        command
            .args(["--bind", "127.0.0.1", "--save", "", "--loglevel", "warning"])
            .args(["--appendonly", "yes", "--appendfsync", "always"])
            .arg("--dir")
            .arg(self.directory.path());
        let port = self.port.to_string();
        if self.tls {
            command.args(["--port", "0", "--tls-port", &port]);
        } else {
            command.args(["--port", &port]);
        }
        command.args(&self.options);
        let process = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("redis-server: install the package redis-server")?;
        self.process = Some(process);
        let until = Instant::now() + START_TIMEOUT;
        while !self.answers() {
            if Instant::now() > until {
                bail!("redis-server on port {} does not answer", self.port);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Returns whether it accepts commands: no response starts with `-LOADING`. One with TLS need
    /// only be running.
    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)) else {
            return false;
        };
        if self.tls {
            return true;
        }
        let mut answer = [0; 5];
        stream
            .set_read_timeout(Some(Duration::from_secs(1)))
            .is_ok()
            && stream.write_all(b"PING\r\n").is_ok()
            && stream.read_exact(&mut answer).is_ok()
            && (&answer == b"+PONG" || &answer == b"-NOAU")
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let process = self.process.as_ref().context("Redis does not run")?;
        Ok(kill_process(Pid::from_child(process), signal)?)
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        if self.process.is_some() {
            // a frozen process can be killed too
            let _ = self.kill();
        }
    }
}
