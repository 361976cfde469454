//! A server under valgrind's callgrind, which counts the instructions executed outside of the
//! kernel.
use anyhow::{Context as _, Error, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use tokio::process::Command;

/// Valgrind's messages if the program uses an instruction that it cannot translate.
const UNKNOWN_INSTRUCTION: [&str; 3] = ["unhandled instruction bytes", "SIGILL", "Illegal opcode"];

/// The directory of a server's counts. Nothing is counted until [`Callgrind::switch_on`].
pub struct Callgrind {
    folder: PathBuf,
}

impl Callgrind {
    /// Creates the directory `name` in `dir`.
    pub fn create(dir: &Path, name: &str) -> Result<Self> {
        let folder = dir.join(name);
        fs::create_dir_all(&folder)?;
        Ok(Self { folder })
    }

    /// Returns the program and arguments that go before the server's own.
    pub fn wrapper(&self) -> Vec<String> {
        let folder = self.folder.display();
        vec![
            "valgrind".to_owned(),
            "--tool=callgrind".to_owned(),
            "--instr-atstart=no".to_owned(),
            // valgrind runs one thread at a time; without this one of them may wait for seconds
            "--fair-sched=try".to_owned(),
            format!("--callgrind-out-file={folder}/out"),
            format!("--log-file={folder}/valgrind.log"),
            self.pipes(),
        ]
    }

    /// Returns the option for vgdb's pipes, which are in the directory too, so that none are left
    /// behind.
    fn pipes(&self) -> String {
        format!("--vgdb-prefix={}/vgdb-pipe", self.folder.display())
    }

    /// Starts counting.
    pub async fn switch_on(&self, process: u32) -> Result<()> {
        self.control(process, &["instrumentation", "on"]).await
    }

    /// Returns what was counted since [`Callgrind::switch_on`].
    pub async fn take(&self, process: u32) -> Result<u64> {
        self.control(process, &["dump"]).await?;
        let sum = total(&self.folder)?;
        self.control(process, &["instrumentation", "off"]).await?;
        Ok(sum)
    }

    /// Sends a monitor command to the process; returns when it was executed. It uses vgdb and not
    /// `callgrind_control`, whose exit status does not show whether it was.
    async fn control(&self, process: u32, command: &[&str]) -> Result<()> {
        let mut vgdb = Command::new("vgdb");
        vgdb.arg(self.pipes()).arg(format!("--pid={process}"));
        let output = vgdb.args(command).kill_on_drop(true).output().await;
        let output = output.context("vgdb (of Debian's package valgrind)")?;
        ensure!(
            output.status.success(),
            "vgdb {}: {}",
            command.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    /// Adds what valgrind's own log contains about the cause.
    pub fn explain(&self, error: Error) -> Error {
        match fs::read_to_string(self.folder.join("valgrind.log")) {
            Ok(log) => error.context(cause(&log)),
            Err(_) => {
                error.context("valgrind did not start; is Debian's package valgrind installed?")
            }
        }
    }
}

/// Returns why a server under valgrind failed, by valgrind's log.
fn cause(log: &str) -> String {
    let unknown = |line: &&str| UNKNOWN_INSTRUCTION.iter().any(|text| line.contains(text));
    match log.lines().find(unknown) {
        Some(line) => format!(
            "valgrind does not support an instruction of this processor ({}); install a newer valgrind",
            line.trim()
        ),
        None => format!("under valgrind, whose log is: {}", log.trim()),
    }
}

/// Returns the sum of all dumps in a directory. Valgrind creates the file `out` when it starts, and
/// writes dumps to `out.1` and so on.
fn total(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_some_and(|name| name.starts_with("out.")) {
            sum +=
                counted(&fs::read_to_string(&path)?).with_context(|| path.display().to_string())?;
        }
    }
    ensure!(sum > 0, "callgrind counted no instructions");
    Ok(sum)
}

/// Returns the instructions of a dump (Callgrind Format Specification: `totals:`).
fn counted(dump: &str) -> Result<u64> {
    let totals = dump.lines().find_map(|line| line.strip_prefix("totals:"));
    let first = totals.and_then(|totals| totals.split_whitespace().next());
    let first = first.context("a dump of callgrind without totals")?;
    Ok(first.parse()?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot continue has failed")]
mod tests {
    use super::*;

    #[test]
    fn finding_o18_the_totals_of_all_dumps_are_added_up() {
        let folder = tempfile::tempdir().unwrap();
        let dump = |name, text| fs::write(folder.path().join(name), text).unwrap();
        dump("valgrind.log", "totals: 7");
        dump("out", "");
        assert!(total(folder.path()).is_err(), "no dump");
        dump("out.1", "events: Ir\nfn=(1) main\n1 5\ntotals: 319204000\n");
        dump("out.2", "events: Ir\nfn=(1) main\n1 5\ntotals: 1000\n");
        assert_eq!(total(folder.path()).unwrap(), 319_205_000);
        dump("out.3", "events: Ir\n");
        assert!(total(folder.path()).is_err(), "a dump without totals");
    }

    #[test]
    fn finding_o18_nothing_counted_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("out.1"), "events: Ir\ntotals: 0\n").unwrap();
        let error = total(folder.path()).unwrap_err().to_string();
        assert_eq!(error, "callgrind counted no instructions");
    }

    #[test]
    fn finding_o18_an_unknown_instruction_is_named_as_the_cause() {
        let log =
            "==7== Callgrind\nvex amd64->IR: unhandled instruction bytes: 0x62 0xF1\n==7== at\n";
        let text = cause(log);
        assert!(text.contains("does not support an instruction of this processor"));
        assert!(text.contains("0x62 0xF1") && text.contains("newer valgrind"));
        assert!(cause("==7== out of memory\n").ends_with("==7== out of memory"));
    }
}
