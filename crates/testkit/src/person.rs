//! A user's own machine: a home directory, an environment, and the program under test.
use crate::gateway::Cloud;
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tempfile::TempDir;
use tokio::process::Command;

/// The output of a program.
#[derive(Clone, Debug)]
pub struct CommandOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl CommandOutput {
    /// Returns the token of an ExecCredential.
    ///
    /// # Errors
    /// If the program failed, or wrote other output too.
    pub fn token(&self) -> Result<String> {
        if self.code != 0 {
            bail!("exit code {}: {}", self.code, self.err);
        }
        let answer: Value =
            serde_json::from_str(&self.out).context("standard output is not JSON")?;
        let token = answer["status"]["token"].as_str().context("no token")?;
        Ok(token.to_owned())
    }
}

/// A user with a home directory of their own.
#[derive(Debug)]
pub struct Person {
    directory: TempDir,
    variables: BTreeMap<String, String>,
}

impl Person {
    /// Makes a user with an empty home directory and none of this process's variables except
    /// `PATH`.
    ///
    /// # Errors
    /// If no directory can be made.
    pub fn new() -> Result<Self> {
        Ok(Self {
            directory: tempfile::tempdir()?,
            variables: BTreeMap::new(),
        })
    }

    /// Makes a user with the variables of an openrc file for a project of this cloud.
    ///
    /// # Errors
    /// If no directory can be made.
    pub fn with_openrc(cloud: &Cloud, user: &str, password: &str, project: &str) -> Result<Self> {
        let mut person = Self::new()?;
        person.set("OS_AUTH_URL", &cloud.keystone.url());
        person.set("OS_USERNAME", user);
        person.set("OS_PASSWORD", password);
        person.set("OS_USER_DOMAIN_NAME", "Default");
        person.set("OS_PROJECT_NAME", project);
        person.set("OS_PROJECT_DOMAIN_ID", "default");
        Ok(person)
    }

    /// Sets a variable of the environment.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Removes a variable.
    pub fn unset(&mut self, name: &str) {
        self.variables.remove(name);
    }

    /// Returns the home directory.
    pub fn home(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the cache directory of the commands.
    pub fn cache(&self) -> PathBuf {
        self.home().join(".cache/portico")
    }

    /// Writes a file below the home.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<PathBuf> {
        let path = self.home().join(path);
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory)?;
        }
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// Returns a command with this user's home directory and environment.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .envs(&self.variables)
            .current_dir(self.home())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Runs `portico`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub async fn portico(&self, arguments: &[&str]) -> Result<CommandOutput> {
        let mut command = self.command(&crate::program("portico")?);
        Ok(command_output(command.args(arguments).output().await?))
    }

    /// Pins the cloud of the `OS_*` variables, or another.
    ///
    /// # Errors
    /// If the program fails.
    pub async fn pin(&self, cloud: &Cloud, name: &str) -> Result<()> {
        let ca_file = cloud.gateway.ca_file.to_str().context("a path")?;
        let url = cloud.gateway.url.as_str();
        let command_output = self
            .portico(&["login", "--cloud", name, url, "--ca-file", ca_file])
            .await?;
        if command_output.code != 0 {
            bail!("portico login --cloud: {}", command_output.err);
        }
        Ok(())
    }

    /// Runs `portico credential` as kubectl would, for a cluster at an API server.
    ///
    /// # Errors
    /// If it cannot be started.
    pub async fn credential(
        &self,
        cloud: &str,
        cluster: &str,
        server: &str,
    ) -> Result<CommandOutput> {
        let info = exec_info(
            "v1",
            &json!({ "interactive": false, "cluster": { "server": server } }),
        );
        self.credential_with(cloud, cluster, &info).await
    }

    /// Returns the same with any `KUBERNETES_EXEC_INFO`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub async fn credential_with(
        &self,
        cloud: &str,
        cluster: &str,
        info: &str,
    ) -> Result<CommandOutput> {
        let mut command = self.command(&crate::program("portico")?);
        command
            .args(["credential", "--cloud", cloud, "--cluster", cluster])
            .env("KUBERNETES_EXEC_INFO", info);
        Ok(command_output(command.output().await?))
    }

    /// Runs kubectl with this user's kubeconfig.
    ///
    /// # Errors
    /// If it cannot be started.
    pub async fn kubectl(&self, program: &str, arguments: &[&str]) -> Result<CommandOutput> {
        let mut command = self.command(Path::new(program));
        Ok(command_output(command.args(arguments).output().await?))
    }
}

/// Returns what kubectl puts into `KUBERNETES_EXEC_INFO`.
pub fn exec_info(version: &str, spec: &Value) -> String {
    json!({
        "kind": "ExecCredential",
        "apiVersion": format!("client.authentication.k8s.io/{version}"),
        "spec": spec,
    })
    .to_string()
}

fn command_output(output: Output) -> CommandOutput {
    CommandOutput {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
