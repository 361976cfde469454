//! Chromium, driven by a script of its own process: one JSON object a line each way.
use super::portico::Portico;
use anyhow::{Context as _, Result, bail};
use portico_testkit::{TestUser, project_root};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const SCRIPT: &str = "end2end/bench/panel.mjs";
/// An upper bound for one command, which measures nothing.
const TIMEOUT: Duration = Duration::from_secs(180);

#[derive(Deserialize)]
struct Started {
    browser: String,
}

/// The browser. It ends with the value.
pub struct Driver {
    _process: Child,
    commands: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl Driver {
    /// Starts a browser and signs a user in; returns the browser's name and version too.
    pub async fn start(portico: &Portico, user: &TestUser) -> Result<(Self, String)> {
        let mut process = Command::new("node")
            .arg(SCRIPT)
            .current_dir(project_root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("node")?;
        let commands = process.stdin.take().context("no standard input")?;
        let answers = process.stdout.take().context("no standard output")?;
        let mut driver = Self {
            _process: process,
            commands,
            answers: BufReader::new(answers).lines(),
        };
        let start = json!({
            "do": "start",
            "url": portico.url,
            "certificate": portico.certificate,
            "user": user.name,
            "password": user.password.expose_secret(),
        });
        let started: Started = driver.ask(&start).await?;
        Ok((driver, started.browser))
    }

    /// Sends a command and returns its result.
    pub async fn ask<T: DeserializeOwned>(&mut self, command: &Value) -> Result<T> {
        let mut line = command.to_string();
        line.push('\n');
        self.commands.write_all(line.as_bytes()).await?;
        let answer = tokio::time::timeout(TIMEOUT, self.answers.next_line());
        let answer = answer
            .await
            .with_context(|| format!("no answer to {}", command["do"]))??;
        let answer: Value = serde_json::from_str(&answer.context("the browser's script ended")?)?;
        if let Some(error) = answer.get("error") {
            bail!("{}: {error}", command["do"]);
        }
        serde_json::from_value(answer).with_context(|| format!("answer to {}", command["do"]))
    }

    /// Sends a command without a result.
    pub async fn tell(&mut self, command: &Value) -> Result<()> {
        self.ask::<Value>(command).await.map(drop)
    }
}
