//! The stack's kubectl, with an administrator's kubeconfig.
use crate::TestEnv;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use tokio::process::Command;

/// kubectl with one kubeconfig.
#[derive(Clone, Debug)]
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
}

impl Kubectl {
    /// As administrator of the cluster with nodes.
    ///
    /// # Errors
    /// If the stack has no cluster.
    pub fn admin(env: &TestEnv) -> Result<Self> {
        Ok(Self {
            program: env.get("KUBECTL")?.into(),
            kubeconfig: env.get("KUBE_ADMIN_KUBECONFIG")?.into(),
        })
    }

    /// Runs it and returns its output.
    ///
    /// # Errors
    /// If it fails; the message holds its output.
    pub async fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new(&self.program)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(arguments)
            .output()
            .await
            .with_context(|| self.program.display().to_string())?;
        if !output.status.success() {
            bail!(
                "kubectl: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
