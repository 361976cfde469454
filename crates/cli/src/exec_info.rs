//! kubectl's request to its exec plugin (`KUBERNETES_EXEC_INFO`), and the response to it.
use super::error::CommandError;
use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use std::io::Write as _;

use super::token_cache::Cached;

const VARIABLE: &str = "KUBERNETES_EXEC_INFO";
pub const V1: &str = "client.authentication.k8s.io/v1";
pub const V1BETA1: &str = "client.authentication.k8s.io/v1beta1";
/// Subtracted from the expiry, so that a token does not expire in flight.
const EXPIRY_MARGIN: SignedDuration = SignedDuration::from_secs(30);

/// A request for a credential.
#[derive(Debug)]
pub struct ExecInfo {
    /// The API version of the request; the response must have the same.
    version: &'static str,
    /// Whether kubectl lets its plugin prompt the user. Older versions do not send it, which means
    /// no.
    pub interactive: bool,
    /// The API server that the credential is for, if the kubeconfig has `provideClusterInfo`.
    pub server: Option<String>,
    /// Whether kubectl runs the plugin, rather than a user at a terminal.
    pub from_kubectl: bool,
}

#[derive(Deserialize)]
struct Request {
    #[serde(rename = "apiVersion")]
    api_version: String,
    kind: Option<String>,
    #[serde(default)]
    spec: Spec,
}

#[derive(Default, Deserialize)]
struct Spec {
    #[serde(default)]
    interactive: bool,
    cluster: Option<ClusterInfo>,
}

#[derive(Deserialize)]
struct ClusterInfo {
    server: Option<String>,
}

impl ExecInfo {
    /// Reads the request from the environment.
    pub fn read() -> Result<Self, CommandError> {
        Self::parse(std::env::var(VARIABLE).ok().as_deref())
    }

    fn parse(text: Option<&str>) -> Result<Self, CommandError> {
        let Some(text) = text else {
            return Ok(Self {
                version: V1BETA1,
                interactive: false,
                server: None,
                from_kubectl: false,
            });
        };
        let request: Request = serde_json::from_str(text)
            .map_err(|error| CommandError::ExecInfo(error.to_string()))?;
        if request.kind.is_some_and(|kind| kind != "ExecCredential") {
            return Err(CommandError::ExecInfo(
                "it is not an ExecCredential".to_owned(),
            ));
        }
        let version = match request.api_version.as_str() {
            V1 => V1,
            V1BETA1 => V1BETA1,
            other => {
                return Err(CommandError::ExecInfo(format!(
                    "apiVersion {other}; {V1} and {V1BETA1} are supported: `portico kubeconfig` \
                     writes the one that your kubectl knows"
                )));
            }
        };
        Ok(Self {
            version,
            interactive: request.spec.interactive,
            server: request.spec.cluster.and_then(|cluster| cluster.server),
            from_kubectl: true,
        })
    }

    /// Writes the credential to standard output, which carries nothing else.
    pub fn answer(&self, token: &Cached) -> Result<(), CommandError> {
        let life = token.expires_at.duration_since(token.fetched_at);
        let expires_at = token.expires_at - EXPIRY_MARGIN.min(life / 6);
        let expires_at = Timestamp::from_second(expires_at.as_second()).unwrap_or(expires_at);
        let answer = serde_json::json!({
            "kind": "ExecCredential",
            "apiVersion": self.version,
            "status": {
                "token": token.token.expose_secret(),
                "expirationTimestamp": expires_at.to_string(),
            },
        });
        writeln!(std::io::stdout(), "{answer}").map_err(|source| CommandError::File {
            path: "standard output".into(),
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_of_the_version_asked() {
        let version = |text: Option<&str>| ExecInfo::parse(text).map(|info| info.version);
        assert_eq!(version(None).unwrap(), V1BETA1);
        for known in [V1, V1BETA1] {
            let asked =
                format!(r#"{{"apiVersion":"{known}","kind":"ExecCredential","spec":{{}}}}"#);
            assert_eq!(version(Some(&asked)).unwrap(), known);
        }
        for wrong in [
            r#"{"apiVersion":"client.authentication.k8s.io/v1alpha1"}"#,
            r#"{"apiVersion":"client.authentication.k8s.io/v1","kind":"Pod"}"#,
            "{",
            "",
        ] {
            assert!(version(Some(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn prompts_are_shown_only_where_kubectl_allows_them() {
        let interactive = |spec: &str| {
            let text = format!(r#"{{"apiVersion":"{V1}","spec":{spec}}}"#);
            ExecInfo::parse(Some(&text)).unwrap().interactive
        };
        assert!(interactive(r#"{"interactive":true}"#));
        assert!(!interactive(r#"{"interactive":false}"#));
        assert!(!interactive("{}"));
        assert!(!ExecInfo::parse(None).unwrap().interactive);
    }

    #[test]
    fn the_api_server_is_known_when_kubectl_passes_it() {
        let text = format!(
            r#"{{"apiVersion":"{V1}","spec":{{"cluster":{{"server":"https://a:6443","config":null}},"interactive":false}}}}"#
        );
        let info = ExecInfo::parse(Some(&text)).unwrap();
        assert_eq!(info.server.as_deref(), Some("https://a:6443"));
    }
}
