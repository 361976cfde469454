//! A server as a separate process, and its CPU time and memory from Linux.
use anyhow::{Context as _, Result, bail};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Linux' unit in `/proc/<pid>/stat`, independent of the kernel's own tick.
const TICKS_PER_SECOND: f64 = 100.0;
/// Long enough for a program under valgrind.
const START_TIMEOUT: Duration = Duration::from_secs(90);
const LISTENING: &str = "listening on http";

/// Returns the command that runs `program` behind `wrapper` (a program and its arguments), or
/// directly if that is empty.
pub fn wrapped(wrapper: &[String], program: impl AsRef<OsStr>) -> Command {
    match wrapper {
        [] => Command::new(program),
        [first, arguments @ ..] => {
            let mut command = Command::new(first);
            command.args(arguments).arg(program);
            command
        }
    }
}

/// A running server. It ends with this value.
pub struct Server {
    child: Child,
    log: PathBuf,
    pub address: SocketAddr,
}

impl Server {
    /// Starts it and waits until its log names its listening address.
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

    /// Returns the CPU time that it has used.
    pub fn cpu(&self) -> Result<Duration> {
        cpu(self.id())
    }

    /// Its resident memory, in MB (10^6 bytes).
    pub fn rss_mb(&self) -> Result<f64> {
        rss_mb(self.id())
    }

    /// Returns the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Truncates the log, which would otherwise fill the disk, and counts its lines with `text`.
    pub fn take_log_lines(&self, text: &str) -> Result<usize> {
        let log = fs::read_to_string(&self.log)?;
        // the server appends, so it continues at the new end
        File::options().write(true).open(&self.log)?.set_len(0)?;
        Ok(log.lines().filter(|line| line.contains(text)).count())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // it may have ended already
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the CPU time that a process has used.
fn cpu(id: u32) -> Result<Duration> {
    let fields = Stat::read(id)?;
    Ok(Duration::from_secs_f64(
        fields.own_ticks as f64 / TICKS_PER_SECOND,
    ))
}

/// Returns the resident memory of a process, in MB (10^6 bytes).
fn rss_mb(id: u32) -> Result<f64> {
    kib_in(&format!("/proc/{id}/status"), "VmRSS:").map(|kib| kib * 1.024e-3)
}

/// Returns the sum of a value of `/proc/<pid>/smaps_rollup`, in MB. A page that several processes
/// share counts as a fraction in each.
fn proportional_mb(processes: &[(u32, Stat)], name: &str) -> Result<f64> {
    let mut kib = 0.0;
    for (id, _) in processes {
        kib += kib_in(&format!("/proc/{id}/smaps_rollup"), name)?;
    }
    Ok(kib * 1.024e-3)
}

/// Returns a value of a file in `/proc` that has lines of a name and kibibytes.
fn kib_in(file: &str, name: &str) -> Result<f64> {
    let text = fs::read_to_string(file)?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib = kib.with_context(|| format!("{file} has no {name}"))?;
    Ok(kib.trim().parse()?)
}

/// Fields of `/proc/<pid>/stat`, see proc_pid_stat(5).
struct Stat {
    parent: u32,
    /// User and system time.
    own_ticks: u64,
    /// The same of children that have ended.
    children_ticks: u64,
}

impl Stat {
    fn read(id: u32) -> Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
        // the name in parentheses may hold anything
        let fields = stat.rsplit_once(')').context("stat has no name")?.1;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let number = |at: usize| -> Result<u64> {
            let field = fields.get(at).context("stat is too short")?;
            Ok(field.parse()?)
        };
        Ok(Self {
            parent: u32::try_from(number(1)?)?,
            own_ticks: number(11)? + number(12)?,
            children_ticks: number(13)? + number(14)?,
        })
    }
}

/// Processes with all their descendants: a server that forks consists of all of them.
#[derive(Clone, Debug)]
pub struct Trees(pub Vec<u32>);

impl Trees {
    fn all(&self) -> Result<Vec<(u32, Stat)>> {
        let mut left = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            let id = name.to_str().and_then(|name| name.parse().ok());
            // it may have ended meanwhile
            if let Some(id) = id
                && let Ok(stat) = Stat::read(id)
            {
                left.push((id, stat));
            }
        }
        let mut known = self.0.clone();
        let mut all = Vec::new();
        loop {
            let (found, others): (Vec<_>, Vec<_>) = left
                .into_iter()
                .partition(|(id, stat)| known.contains(id) || known.contains(&stat.parent));
            if found.is_empty() {
                return Ok(all);
            }
            known.extend(found.iter().map(|(id, _)| *id));
            all.extend(found);
            left = others;
        }
    }

    /// Returns the CPU time that they have used, those that have ended included.
    pub fn cpu(&self) -> Result<Duration> {
        let ticks: u64 = self
            .all()?
            .iter()
            .map(|(_, stat)| stat.own_ticks + stat.children_ticks)
            .sum();
        Ok(Duration::from_secs_f64(ticks as f64 / TICKS_PER_SECOND))
    }

    /// Returns the resident memory in MB; pages that several processes of one server share count
    /// once.
    pub fn rss_mb(&self) -> Result<f64> {
        let all = self.all()?;
        if let [(id, _)] = all.as_slice() {
            return rss_mb(*id);
        }
        proportional_mb(&all, "Pss:")
    }

    /// Returns the anonymous part of the resident memory in MB, which is what they have allocated
    /// (heap, stacks, changed data). The rest are pages of files: of the program and its libraries.
    pub fn anonymous_mb(&self) -> Result<f64> {
        proportional_mb(&self.all()?, "Pss_Anon:")
    }
}

/// A server with child processes: it is asked to stop, and stops them.
pub struct Forking {
    child: Child,
}

impl Forking {
    /// Starts it in the foreground and waits until it accepts connections at `address`.
    pub async fn start(command: &mut Command, address: SocketAddr, log: &Path) -> Result<Self> {
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(log)?)
            .spawn()
            .with_context(|| format!("start {:?}", command.get_program()))?;
        let mut server = Self { child };
        let started = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            let ended = server.child.try_wait()?;
            if ended.is_some() || started.elapsed() > START_TIMEOUT {
                let message = fs::read_to_string(log)?;
                bail!(
                    "{:?} did not start ({ended:?}): {message}",
                    command.get_program()
                );
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(server)
    }

    /// Returns the first process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Forking {
    fn drop(&mut self) {
        let id = i32::try_from(self.child.id()).ok();
        if let Some(id) = id.and_then(rustix::process::Pid::from_raw) {
            // it may have ended already
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
        let _ = self.child.wait();
    }
}

fn address_in(log: &str) -> Option<SocketAddr> {
    let rest = log.split_once(LISTENING)?.1;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix("://")?;
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':')?;
    rest[..end].parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
mod tests {
    use super::*;

    #[test]
    fn children_count_with_their_parent() {
        let mut child = Command::new("sleep").arg("20").spawn().unwrap();
        let here = Trees(vec![std::process::id()]);
        let ids: Vec<u32> = here.all().unwrap().iter().map(|(id, _)| *id).collect();
        assert!(ids.contains(&child.id()) && ids.contains(&std::process::id()));
        let (rss, anonymous) = (here.rss_mb().unwrap(), here.anonymous_mb().unwrap());
        assert!(rss > 1.0);
        assert!(anonymous > 0.0 && anonymous < rss, "{anonymous} of {rss}");
        assert_eq!(Trees(vec![child.id()]).all().unwrap().len(), 1);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn the_address_is_read_from_either_kind_of_log() {
        let json = r#"{"message":"listening on https://127.0.0.1:4711","role":"kube-auth"}"#;
        let expected = "127.0.0.1:4711".parse().ok();
        assert_eq!(address_in(json), expected);
        assert_eq!(
            address_in("listening on https://127.0.0.1:4711\n"),
            expected
        );
        assert_eq!(address_in("listening on http://127.0.0.1:4711\n"), expected);
        // cut in the middle of a number
        assert_eq!(address_in("listening on https://127.0.0.1:47"), None);
    }
}
