//! A server as a process of its own, and what Linux says of it.
use anyhow::{Context as _, Result, bail};
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Linux' unit in `/proc/<pid>/stat`, whatever the kernel's own tick is.
const TICKS_PER_SECOND: f64 = 100.0;
const START_TIMEOUT: Duration = Duration::from_secs(20);
const LISTENING: &str = "listening on https://";

/// A running server. It ends with this value.
pub struct Server {
    child: Child,
    log: PathBuf,
    pub address: SocketAddr,
}

impl Server {
    /// Starts it and waits until its log names the address it listens at.
    pub async fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let file = File::options().create(true).append(true).open(log)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn()
            .with_context(|| format!("start {:?}", command.get_program()))?;
        let mut server = Self {
            child,
            log: log.to_owned(),
            address: ([127, 0, 0, 1], 0).into(),
        };
        let started = Instant::now();
        loop {
            let text = fs::read_to_string(log)?;
            if let Some(address) = address_in(&text) {
                server.address = address;
                return Ok(server);
            }
            let ended = server.child.try_wait()?;
            if ended.is_some() || started.elapsed() > START_TIMEOUT {
                bail!("the server did not start ({ended:?}); its log: {text}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The CPU time that it has used.
    pub fn cpu(&self) -> Result<Duration> {
        let stat = fs::read_to_string(self.proc("stat"))?;
        // the name in parentheses may hold anything
        let fields = stat.rsplit_once(')').context("stat has no name")?.1;
        let mut numbers = fields.split_whitespace().skip(11).map(str::parse::<u64>);
        let (Some(user), Some(system)) = (numbers.next(), numbers.next()) else {
            bail!("stat has no times");
        };
        Ok(Duration::from_secs_f64(
            (user? + system?) as f64 / TICKS_PER_SECOND,
        ))
    }

    /// Its resident memory, in MB (10^6 bytes).
    pub fn rss_mb(&self) -> Result<f64> {
        let status = fs::read_to_string(self.proc("status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        Ok(kib.context("status has no VmRSS")?.trim().parse::<f64>()? * 1.024e-3)
    }

    /// Ends the log's old part, which a benchmark would fill the disk with, and counts its lines
    /// with `text`.
    pub fn take_log_lines(&self, text: &str) -> Result<usize> {
        let log = fs::read_to_string(&self.log)?;
        // the server appends, so it goes on at the new end
        File::options().write(true).open(&self.log)?.set_len(0)?;
        Ok(log.lines().filter(|line| line.contains(text)).count())
    }

    fn proc(&self, file: &str) -> String {
        format!("/proc/{}/{file}", self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // it may have ended already
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn address_in(log: &str) -> Option<SocketAddr> {
    let rest = log.split_once(LISTENING)?.1;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':')?;
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_either_kind_of_log() {
        let json = r#"{"message":"listening on https://127.0.0.1:4711","role":"kube-auth"}"#;
        let expected = "127.0.0.1:4711".parse().ok();
        assert_eq!(address_in(json), expected);
        assert_eq!(
            address_in("listening on https://127.0.0.1:4711\n"),
            expected
        );
        // cut in the middle of a number
        assert_eq!(address_in("listening on https://127.0.0.1:47"), None);
    }
}
