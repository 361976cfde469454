//! `portico credential`: kubectl's exec plugin (client.authentication.k8s.io). Standard output
//! carries the credential and nothing else; it never asks a question.
use super::{
    PeopleError,
    api::Session,
    private_file,
    profile::{self, Profile},
};
use clap::Args;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize, Serializer};
use std::io::Write as _;
use uuid::Uuid;

/// What is left of a token when a new one is fetched; shorter lives keep a third.
const EARLY_SECONDS: i64 = 120;
const V1: &str = "client.authentication.k8s.io/v1";
const V1BETA1: &str = "client.authentication.k8s.io/v1beta1";

/// Prints a cluster token for kubectl (its exec plugin; you need not run it yourself)
#[derive(Args, Debug)]
pub struct CredentialArgs {
    /// The gateway that this machine signed in at
    #[arg(long, value_name = "URL")]
    pub gateway: Option<String>,
    /// The cluster's UUID
    #[arg(long, value_name = "ID")]
    pub cluster: Uuid,
}

/// A token as it lies in the cache.
#[derive(Serialize, Deserialize)]
struct Cached {
    #[serde(serialize_with = "expose")]
    token: SecretString,
    expires_at: Timestamp,
    fetched_at: Timestamp,
}

fn expose<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
}

impl Cached {
    fn fresh(&self, now: Timestamp) -> bool {
        let life = self.expires_at.as_second() - self.fetched_at.as_second();
        self.expires_at.as_second() - now.as_second() > EARLY_SECONDS.min(life / 3)
    }
}

/// Runs `portico credential`.
pub async fn credential(args: CredentialArgs) -> Result<(), PeopleError> {
    let version = asked_version(std::env::var("KUBERNETES_EXEC_INFO").ok().as_deref())?;
    let profile = Profile::choose(args.gateway.as_deref())?;
    let token = token(profile, args.cluster).await?;
    let answer = serde_json::json!({
        "kind": "ExecCredential",
        "apiVersion": version,
        "status": {"token": token.token.expose_secret(), "expirationTimestamp": token.expires_at.round(jiff::Unit::Second).unwrap_or(token.expires_at).to_string()},
    });
    writeln!(std::io::stdout(), "{answer}").map_err(|source| PeopleError::File {
        path: "standard output".into(),
        source,
    })
}

async fn token(profile: Profile, cluster: Uuid) -> Result<Cached, PeopleError> {
    let directory = profile::token_cache()?;
    private_file::private_directory(&directory)?;
    // the session's refresh token is not part of the name: it changes, the token stays good
    let name = profile::file_hash(&[profile.gateway.as_str(), &cluster.to_string()]);
    let path = directory.join(format!("{name}.json"));
    let cached = || -> Result<Option<Cached>, PeopleError> {
        let known =
            private_file::read(&path)?.and_then(|text| serde_json::from_str::<Cached>(&text).ok());
        Ok(known.filter(|known| known.fresh(Timestamp::now())))
    };
    if let Some(known) = cached()? {
        return Ok(known);
    }
    // of twenty kubectl processes one asks, the others find what it got
    let _lock = private_file::lock(&path).await?;
    if let Some(known) = cached()? {
        return Ok(known);
    }
    let got = Session::new(profile)?.cluster_token(cluster).await?;
    let fresh = Cached {
        token: got.token,
        expires_at: got.expires_at,
        fetched_at: Timestamp::now(),
    };
    let text = serde_json::to_string(&fresh).map_err(|error| PeopleError::Content {
        path: path.clone(),
        detail: error.to_string(),
    })?;
    private_file::replace(&path, &text)?;
    Ok(fresh)
}

/// The version that kubectl asks for; the answer must be of the same.
fn asked_version(info: Option<&str>) -> Result<&'static str, PeopleError> {
    #[derive(Deserialize)]
    struct Info {
        #[serde(rename = "apiVersion")]
        api_version: String,
    }
    let Some(info) = info else { return Ok(V1BETA1) };
    let info: Info =
        serde_json::from_str(info).map_err(|error| PeopleError::ExecInfo(error.to_string()))?;
    match info.api_version.as_str() {
        V1 => Ok(V1),
        V1BETA1 => Ok(V1BETA1),
        other => Err(PeopleError::ExecInfo(format!(
            "apiVersion {other}; {V1} and {V1BETA1} are spoken here"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_is_of_the_version_asked() {
        assert_eq!(asked_version(None).unwrap(), V1BETA1);
        assert_eq!(
            asked_version(Some(&format!(r#"{{"apiVersion":"{V1}","spec":{{}}}}"#))).unwrap(),
            V1
        );
        assert_eq!(
            asked_version(Some(&format!(r#"{{"apiVersion":"{V1BETA1}"}}"#))).unwrap(),
            V1BETA1
        );
        assert!(
            asked_version(Some(
                r#"{"apiVersion":"client.authentication.k8s.io/v1alpha1"}"#
            ))
            .is_err()
        );
        assert!(asked_version(Some("{")).is_err());
    }

    #[test]
    fn a_token_is_renewed_before_its_end() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let cached = Cached {
            token: SecretString::from("t"),
            expires_at: at(900),
            fetched_at: at(0),
        };
        assert!(cached.fresh(at(700)));
        assert!(!cached.fresh(at(790)));
        let short = Cached {
            token: SecretString::from("t"),
            expires_at: at(60),
            fetched_at: at(0),
        };
        assert!(short.fresh(at(30)));
        assert!(!short.fresh(at(45)));
    }
}
