//! A user with a terminal: kubectl with a token of their own.
use crate::stack::Stack;
use portico_assertion::PublicKey;
use secrecy::{ExposeSecret as _, SecretString};
use server::kube::credential;
use tokio::process::Command;

pub struct Terminal<'a> {
    stack: &'a Stack,
    token: SecretString,
}

impl<'a> Terminal<'a> {
    pub async fn of(stack: &'a Stack, user: &str) -> Self {
        let caller = stack.caller(user).await;
        let cluster = stack.services.cluster(&caller, stack.acme()).unwrap();
        let key = PublicKey::read(&cluster.record().sealing_key_file).unwrap();
        let now = jiff::Timestamp::now();
        let token = caller.token().unwrap();
        let sealed = credential::fresh(stack.acme(), &key, token, now).unwrap();
        Self {
            stack,
            token: sealed.token,
        }
    }

    /// Returns the kubectl of the live cluster's version, for acme's cluster.
    pub fn kubectl(&self) -> Command {
        let mut command = Command::new(self.stack.var("KUBECTL"));
        command
            .env_clear()
            .env("HOME", "/nonexistent")
            .args(["--kubeconfig", "/dev/null"])
            .args(["--server", self.stack.var("KUBE_API_URL")])
            .args(["--certificate-authority", self.stack.var("KUBE_CA_FILE")])
            .args(["--token", self.token.expose_secret()]);
        command
    }
}
