//! `portico` as a user of the cloud runs it, with the variables of an openrc file.
use anyhow::{Context as _, Result, ensure};
use portico_testkit::{Person, TestEnv, TestUser};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt as _;

/// The times of one run, from its start.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ran {
    /// Until the first byte on standard output.
    pub first_byte_ms: f64,
    /// Until the program has ended.
    pub total_ms: f64,
}

/// The program on the member's machine. Each run signs in with the password.
pub struct Program {
    path: PathBuf,
    person: Person,
}

impl Program {
    /// Returns the program for a user in a project.
    pub fn new(env: &TestEnv, path: &Path, user: &TestUser, project: &str) -> Result<Self> {
        let mut person = Person::new()?;
        for (name, value) in [
            ("OS_AUTH_URL", env.get("KEYSTONE_URL")?),
            ("OS_USERNAME", user.name.as_str()),
            ("OS_PASSWORD", user.password.expose_secret()),
            ("OS_USER_DOMAIN_NAME", "Default"),
            ("OS_PROJECT_ID", project),
        ] {
            person.set(name, value);
        }
        let path = path.canonicalize();
        Ok(Self {
            path: path.context("the program (build it first)")?,
            person,
        })
    }

    /// Runs `portico cluster`; returns the times and what it printed.
    pub async fn cluster(&self, words: &[&str]) -> Result<(Ran, String)> {
        let mut command = self.person.command(&self.path);
        command
            .arg("cluster")
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = Instant::now();
        let mut child = command.spawn().context("portico")?;
        let mut out = child.stdout.take().context("no standard output")?;
        let mut printed = vec![0; 1];
        let length = out.read(&mut printed).await?;
        let first_byte = started.elapsed();
        printed.truncate(length);
        out.read_to_end(&mut printed).await?;
        let output = child.wait_with_output().await?;
        let total = started.elapsed();
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success() && length > 0,
            "portico cluster {words:?}: {complaint}"
        );
        let ran = Ran {
            first_byte_ms: milliseconds(first_byte),
            total_ms: milliseconds(total),
        };
        Ok((ran, String::from_utf8(printed)?))
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
